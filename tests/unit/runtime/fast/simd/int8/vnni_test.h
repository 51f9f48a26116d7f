// The fixture of the tests of microkernels that need VNNI.
#pragma once

#include "compiler/support/x86.h"

#if defined(NNEFC_X86)
#include <cpuid.h>
#endif

#include "runtime/fast/simd/int8/dot2_microkernel.h"
#include "tests/unit/runtime/fast/simd/simd_test.h"

namespace nnefc::runtime::fast::simd {

// Returns whether the processor has VNNI for vectors of that many floats.
inline bool HasInstruction(int64_t lanes) {
#if defined(NNEFC_X86)
  if (lanes == kSimdWidth512) return __builtin_cpu_supports("avx512vnni") != 0;
  // AVX-VNNI, for which not all compilers have a name.
  constexpr unsigned kFeatures = 7, kVnni = 1U << 4;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(kFeatures, 1, &a, &b, &c, &d) != 0 && (a & kVnni) != 0;
#else
  return lanes > 0;  // portable code
#endif
}

// The parameters of requantized results with limits and, with `has_others`, a sum.
inline RequantizedResults LimitedResults(const float* scales, const float* bias, uint8_t* out, int64_t stride,
                                         bool has_others) {
  return {.sums = nullptr,
          .pixels = 0,
          .channels = kBlockColumns,
          .scales = scales,
          .bias = bias,
          .low = 20,
          .high = 230,
          .out = out,
          .stride = stride,
          .has_others = has_others,
          .factor = 0.5F,
          .offset = 3,
          .other_factor = 0.25F,
          .other_zero = 100};
}

class VnniTest : public SimdTest {
 protected:
  void SetUp() override {
    SimdTest::SetUp();
    if (!IsSkipped() && !HasInstruction(lanes()))
      GTEST_SKIP() << "the processor has no VNNI of " << 32 * lanes() << " bits";
  }
};

}  // namespace nnefc::runtime::fast::simd
