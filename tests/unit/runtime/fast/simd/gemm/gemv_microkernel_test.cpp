// Products of a row with rows of a matrix against loops in f64.

#include "runtime/fast/simd/gemm/gemv_microkernel.h"

#include "tests/unit/runtime/fast/simd/simd_test.h"

namespace nnefc::runtime::fast::simd {
namespace {

class RowDotsTest : public SimdTest {
 protected:
  void Check(const GuardedArray<float>& x, const GuardedArray<float>& rows, int64_t first, int64_t last,
             double tolerance) {
    const int64_t inputs = x.size();
    GuardedArray<float> sums = Untouched(kBlockColumns);
    Of(RunGemvMicrokernel)({.x = x.data(),
                            .rows = rows.data(),
                            .inputs = inputs,
                            .first = first,
                            .last = last,
                            .sums = sums.data()});
    for (int64_t i = 0; i < kBlockColumns; ++i) {
      double sum = 0;
      for (int64_t k = 0; k < inputs; ++k) sum += double{x[k]} * rows[std::min(first + i, last) * inputs + k];
      ASSERT_TRUE(IsNear(sums[i], sum, tolerance))
          << inputs << " inputs, row " << first + i << " of " << last;
    }
  }
};

TEST_P(RowDotsTest, EachNumberOfInputs) {
  for (int64_t inputs : {0, 1, 2, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 1535, 1536, 1537}) {
    for (int64_t last : {0, 6, 7, 8, 15, 16, 20}) {
      const GuardedArray<float> x = DrawIntegers(inputs), rows = DrawIntegers((last + 1) * inputs);
      for (int64_t first = 0; first <= last; first += 5) Check(x, rows, first, last, 0);
    }
  }
}

TEST_P(RowDotsTest, Specials) {
  constexpr int64_t kInputs = 19;
  for (int64_t at = 0; at < kInputs; ++at) {
    for (float special : {kNan, kInfinity, -kInfinity}) {
      GuardedArray<float> x = DrawIntegers(kInputs), rows = DrawIntegers(16 * kInputs);
      rows[(at % 16) * kInputs + at] = special;
      x[at] = 2;
      Check(x, rows, 0, 15, 0);
      x[at] = 0;  // times an infinity: NaN
      Check(x, rows, 0, 15, 0);
      x[at] = special;
      Check(x, rows, 0, 15, 0);
    }
  }
}

// Products below the normal numbers are kept.
TEST_P(RowDotsTest, Denormals) {
  const GuardedArray<float> x = Array(17, 0x1p-70F), rows = Array(16 * 17, 0x1p-72F);
  Check(x, rows, 0, 15, 0);
}

NNEFC_INSTANTIATE_LANE_TESTS(RowDotsTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
