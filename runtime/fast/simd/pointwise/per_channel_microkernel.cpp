// Microkernels that combine a channel block with per-channel operands.

#include "runtime/fast/simd/pointwise/per_channel_microkernel.h"

#include "runtime/fast/simd/simd_math.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

template <typename Function>
void MapPixels(const PerChannelPixels& given, const Function& function) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const PerChannelPixels call = given;  // local copy, to exclude aliasing
    const Function own_function = function;
    DispatchLimits(call.limits, [&](const auto& limit) NNEFC_SIMD_INLINE {
      FloatVector numbers[kVectorsPerBlock];
      for (int64_t part = 0; part < kVectorsPerBlock; ++part)
        numbers[part] = *reinterpret_cast<const UnalignedFloatVector*>(call.numbers + part * kSimdWidth);
      for (int64_t at = 0; at < call.pixels * kBlockColumns; at += kBlockColumns) {
#pragma GCC unroll 2
        for (int64_t part = 0; part < kVectorsPerBlock; ++part) {
          FloatVector y = *reinterpret_cast<const UnalignedFloatVector*>(call.x + at + part * kSimdWidth);
          own_function(y, numbers[part]);
          limit(y);
          *reinterpret_cast<UnalignedFloatVector*>(call.out + at + part * kSimdWidth) = y;
        }
      }
    });
  });
}

}  // namespace

void ApplyPerChannel(ChannelFunction function, const PerChannelPixels& pixels) {
  switch (function) {
    case ChannelFunction::kMultiply:
      return MapPixels(pixels,
                       [](FloatVector& x, const FloatVector& number) NNEFC_SIMD_INLINE { x = x * number; });
    case ChannelFunction::kAdd:
      return MapPixels(pixels,
                       [](FloatVector& x, const FloatVector& number) NNEFC_SIMD_INLINE { x = x + number; });
    case ChannelFunction::kSubtract:
      return MapPixels(pixels,
                       [](FloatVector& x, const FloatVector& number) NNEFC_SIMD_INLINE { x = x - number; });
    case ChannelFunction::kSubtractFrom:
      return MapPixels(pixels,
                       [](FloatVector& x, const FloatVector& number) NNEFC_SIMD_INLINE { x = number - x; });
    case ChannelFunction::kDivide:
      return MapPixels(pixels,
                       [](FloatVector& x, const FloatVector& number) NNEFC_SIMD_INLINE { x = x / number; });
    case ChannelFunction::kPRelu:
      return MapPixels(pixels, [](FloatVector& x, const FloatVector& number)
                                   NNEFC_SIMD_INLINE { x = x < 0.0f ? x * number : x; });
  }
}

void NormalizeChannels(const NormalizedPixels& given) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const NormalizedPixels call = given;  // local copy, to exclude aliasing
    DispatchLimits(call.limits, [&](const auto& limit) NNEFC_SIMD_INLINE {
      for (int64_t lane = 0; lane < kBlockColumns; lane += kSimdWidth) {
        const FloatVector mean = *reinterpret_cast<const UnalignedFloatVector*>(call.mean + lane);
        const FloatVector factor = *reinterpret_cast<const UnalignedFloatVector*>(call.factor + lane);
        const FloatVector shift = *reinterpret_cast<const UnalignedFloatVector*>(call.shift + lane);
        for (int64_t at = lane; at < call.pixels * kBlockColumns; at += kBlockColumns) {
          FloatVector y =
              (*reinterpret_cast<const UnalignedFloatVector*>(call.x + at) - mean) * factor + shift;
          limit(y);
          *reinterpret_cast<UnalignedFloatVector*>(call.out + at) = y;
        }
      }
    });
  });
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE
