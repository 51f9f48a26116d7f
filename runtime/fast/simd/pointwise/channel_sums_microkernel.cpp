// Microkernel for sums over the pixels of nChw16c images.

#include "runtime/fast/simd/pointwise/channel_sums_microkernel.h"

#include "runtime/fast/simd/simd_math.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

// `map` is called with a distance and its accumulator.
template <typename Map>
void SumPixels(const PixelDeviations& given, float* out, const Map& map) {
  constexpr int kSums = 4;  // independent partial sums
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const PixelDeviations call = given;  // local copy, to exclude aliasing
    for (int64_t lane = 0; lane < kBlockColumns; lane += kSimdWidth) {
      const FloatVector from = *reinterpret_cast<const UnalignedFloatVector*>(call.from + lane);
      const float* x = call.x + lane;
      FloatVector sums[kSums] = {};
      int64_t pixel = 0;
      for (; pixel + kSums <= call.pixels; pixel += kSums, x += kSums * kBlockColumns) {
#pragma GCC unroll 4
        for (int i = 0; i < kSums; ++i)
          map(*reinterpret_cast<const UnalignedFloatVector*>(x + i * kBlockColumns) - from, sums[i]);
      }
      for (; pixel < call.pixels; ++pixel, x += kBlockColumns)
        map(*reinterpret_cast<const UnalignedFloatVector*>(x) - from, sums[0]);
      *reinterpret_cast<UnalignedFloatVector*>(out + lane) = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
  });
}

}  // namespace

void SumDeviations(const PixelDeviations& pixels, float* sums) {
  SumPixels(pixels, sums, [](const FloatVector& x, FloatVector& sum) NNEFC_SIMD_INLINE { sum += x; });
}

void SumSquaredDeviations(const PixelDeviations& pixels, float* sums) {
  SumPixels(pixels, sums, [](const FloatVector& x, FloatVector& sum) NNEFC_SIMD_INLINE { sum += x * x; });
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE
