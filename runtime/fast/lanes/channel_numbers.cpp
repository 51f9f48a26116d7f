#include "runtime/fast/lanes/channel_numbers.h"

#include "runtime/fast/lanes/lane_math.h"

namespace nnefc::runtime::NNEFC_LANES_NAMESPACE {

namespace {

template <typename Function>
void MapPixels(const NumberedPixels& given, const Function& function) {
  RunInLanes([&]() NNEFC_IN_LANES {
    const NumberedPixels call = given;  // local copy, to exclude aliasing
    const Function own_function = function;
    WithLimits(call.limits, [&](const auto& limit) NNEFC_IN_LANES {
      LaneFloats numbers[kLanesOfBlock];
      for (int64_t part = 0; part < kLanesOfBlock; ++part)
        numbers[part] = *reinterpret_cast<const Lanes*>(call.numbers + part * kLanes);
      for (int64_t at = 0; at < call.pixels * kBlockColumns; at += kBlockColumns) {
#pragma GCC unroll 2
        for (int64_t part = 0; part < kLanesOfBlock; ++part) {
          LaneFloats y = *reinterpret_cast<const Lanes*>(call.x + at + part * kLanes);
          own_function(y, numbers[part]);
          limit(y);
          *reinterpret_cast<Lanes*>(call.out + at + part * kLanes) = y;
        }
      }
    });
  });
}

}  // namespace

void ApplyChannelNumbers(ChannelFunction function, const NumberedPixels& pixels) {
  switch (function) {
    case ChannelFunction::kMultiply:
      return MapPixels(pixels,
                       [](LaneFloats& x, const LaneFloats& number) NNEFC_IN_LANES { x = x * number; });
    case ChannelFunction::kAdd:
      return MapPixels(pixels,
                       [](LaneFloats& x, const LaneFloats& number) NNEFC_IN_LANES { x = x + number; });
    case ChannelFunction::kSubtract:
      return MapPixels(pixels,
                       [](LaneFloats& x, const LaneFloats& number) NNEFC_IN_LANES { x = x - number; });
    case ChannelFunction::kSubtractFrom:
      return MapPixels(pixels,
                       [](LaneFloats& x, const LaneFloats& number) NNEFC_IN_LANES { x = number - x; });
    case ChannelFunction::kDivide:
      return MapPixels(pixels,
                       [](LaneFloats& x, const LaneFloats& number) NNEFC_IN_LANES { x = x / number; });
    case ChannelFunction::kPRelu:
      return MapPixels(pixels, [](LaneFloats& x, const LaneFloats& number)
                                   NNEFC_IN_LANES { x = x < 0.0f ? x * number : x; });
  }
}

void NormalizeChannels(const NormalizedPixels& given) {
  RunInLanes([&]() NNEFC_IN_LANES {
    const NormalizedPixels call = given;  // local copy, to exclude aliasing
    WithLimits(call.limits, [&](const auto& limit) NNEFC_IN_LANES {
      for (int64_t lane = 0; lane < kBlockColumns; lane += kLanes) {
        const LaneFloats mean = *reinterpret_cast<const Lanes*>(call.mean + lane);
        const LaneFloats factor = *reinterpret_cast<const Lanes*>(call.factor + lane);
        const LaneFloats shift = *reinterpret_cast<const Lanes*>(call.shift + lane);
        for (int64_t at = lane; at < call.pixels * kBlockColumns; at += kBlockColumns) {
          LaneFloats y = (*reinterpret_cast<const Lanes*>(call.x + at) - mean) * factor + shift;
          limit(y);
          *reinterpret_cast<Lanes*>(call.out + at) = y;
        }
      }
    });
  });
}

}  // namespace nnefc::runtime::NNEFC_LANES_NAMESPACE
