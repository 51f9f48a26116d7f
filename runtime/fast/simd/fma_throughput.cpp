// A benchmark of the throughput of FMA instructions.

#include "runtime/fast/simd/fma_throughput.h"

#include "runtime/fast/simd/simd_math.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

double MeasureFmaThroughput(int64_t rounds, float* out) {
  constexpr int kSums = 10;  // enough to hide the latency of an FMA
  RunSimd([&]() NNEFC_SIMD_INLINE {
    FloatVector sums[kSums];  // distinct values, otherwise compilers would merge them
#pragma GCC unroll 10
    for (int i = 0; i < kSums; ++i)
      sums[i] = *reinterpret_cast<const UnalignedFloatVector*>(out) + static_cast<float>(i);
    const float step = 0x1p-20F;
    for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 10
      for (int i = 0; i < kSums; ++i) sums[i] = sums[i] * step + 1.0F;
    }
#pragma GCC unroll 10
    for (int i = 1; i < kSums; ++i) sums[0] += sums[i];
    *reinterpret_cast<UnalignedFloatVector*>(out) = sums[0];
  });
  return 2.0 * kSums * static_cast<double>(kSimdWidth * rounds);
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE
