// The loop that measures a core's peak: its result and the number of operations it reports.

#include "runtime/fast/simd/fma_throughput.h"

#include "tests/unit/runtime/fast/simd/simd_test.h"

namespace nnefc::runtime::fast::simd {
namespace {

using MultiplyAddTest = SimdTest;

// Ten sums of a lane: x + i, which each round multiplies by 2^-20 and increments by 1.
TEST_P(MultiplyAddTest, SumsOfRounds) {
  for (int64_t rounds : {0, 1, 2, 7}) {
    GuardedArray<float> out = DrawIntegers(kMaxSimdWidth);
    const std::vector<float> before(out.begin(), out.end());
    const double operations = Of(MeasureFmaThroughput)(rounds, out.data());
    EXPECT_EQ(operations, 2.0 * 10 * static_cast<double>(lanes() * rounds));
    for (int64_t i = 0; i < kMaxSimdWidth; ++i) {
      double expected = 0;
      for (int sum = 0; sum < 10; ++sum) {
        double x = double{before[static_cast<size_t>(i)]} + sum;
        for (int64_t round = 0; round < rounds; ++round) x = x * 0x1p-20 + 1;
        expected += x;
      }
      // Lanes that a register does not have stay. Eleven roundings of sums up to 200.
      if (i >= lanes()) expected = before[static_cast<size_t>(i)];
      ASSERT_TRUE(IsNear(out[i], expected, i < lanes() ? 11 * 200 * kRounding : 0))
          << rounds << " rounds, " << i;
    }
  }
}

// The results depend on the product in each round, not only on the sum.
TEST_P(MultiplyAddTest, LargeNumbersAreMultiplied) {
  GuardedArray<float> out = Array(kMaxSimdWidth, 0x1p40F);
  Of(MeasureFmaThroughput)(1, out.data());
  for (int64_t i = 0; i < lanes(); ++i)
    ASSERT_TRUE(IsNear(out[i], 10 * (0x1p20 + 1), 11 * 0x1p24 * kRounding)) << i;
}

NNEFC_INSTANTIATE_LANE_TESTS(MultiplyAddTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
