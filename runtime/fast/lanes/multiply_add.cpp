#include "runtime/fast/lanes/multiply_add.h"

#include "runtime/fast/lanes/lane_math.h"

namespace nnefc::runtime::NNEFC_LANES_NAMESPACE {

double MultiplyAndAdd(int64_t rounds, float* out) {
  constexpr int kSums = 10;  // enough to hide the latency of an FMA
  RunInLanes([&]() NNEFC_IN_LANES {
    LaneFloats sums[kSums];  // distinct values, otherwise compilers would merge them
#pragma GCC unroll 10
    for (int i = 0; i < kSums; ++i) sums[i] = *reinterpret_cast<const Lanes*>(out) + static_cast<float>(i);
    const float step = 0x1p-20F;
    for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 10
      for (int i = 0; i < kSums; ++i) sums[i] = sums[i] * step + 1.0F;
    }
#pragma GCC unroll 10
    for (int i = 1; i < kSums; ++i) sums[0] += sums[i];
    *reinterpret_cast<Lanes*>(out) = sums[0];
  });
  return 2.0 * kSums * static_cast<double>(kLanes * rounds);
}

}  // namespace nnefc::runtime::NNEFC_LANES_NAMESPACE
