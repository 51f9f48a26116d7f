#include "runtime/fast/lanes/pixel_sums.h"

#include "runtime/fast/lanes/lane_math.h"

namespace nnefc::runtime::NNEFC_LANES_NAMESPACE {

namespace {

// `map` is called with a distance and its accumulator.
template <typename Map>
void SumPixels(const PixelDistances& given, float* out, const Map& map) {
  constexpr int kSums = 4;  // independent partial sums
  RunInLanes([&]() NNEFC_IN_LANES {
    const PixelDistances call = given;  // local copy, to exclude aliasing
    for (int64_t lane = 0; lane < kBlockColumns; lane += kLanes) {
      const LaneFloats from = *reinterpret_cast<const Lanes*>(call.from + lane);
      const float* x = call.x + lane;
      LaneFloats sums[kSums] = {};
      int64_t pixel = 0;
      for (; pixel + kSums <= call.pixels; pixel += kSums, x += kSums * kBlockColumns) {
#pragma GCC unroll 4
        for (int i = 0; i < kSums; ++i)
          map(*reinterpret_cast<const Lanes*>(x + i * kBlockColumns) - from, sums[i]);
      }
      for (; pixel < call.pixels; ++pixel, x += kBlockColumns)
        map(*reinterpret_cast<const Lanes*>(x) - from, sums[0]);
      *reinterpret_cast<Lanes*>(out + lane) = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
  });
}

}  // namespace

void SumDistances(const PixelDistances& pixels, float* sums) {
  SumPixels(pixels, sums, [](const LaneFloats& x, LaneFloats& sum) NNEFC_IN_LANES { sum += x; });
}

void SumSquaredDistances(const PixelDistances& pixels, float* sums) {
  SumPixels(pixels, sums, [](const LaneFloats& x, LaneFloats& sum) NNEFC_IN_LANES { sum += x * x; });
}

}  // namespace nnefc::runtime::NNEFC_LANES_NAMESPACE
