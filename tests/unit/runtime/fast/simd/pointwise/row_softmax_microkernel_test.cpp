// SoftMax of rows against its formula in f64.

#include "runtime/fast/simd/pointwise/row_softmax_microkernel.h"

#include "tests/unit/runtime/fast/simd/simd_test.h"

namespace nnefc::runtime::fast::simd {
namespace {

// Lengths at the ends of what one to four vectors and groups of them hold, and of sums in f32.
constexpr std::array<int64_t, 30> kTerms = {1,  2,   7,   8,   9,   15,   16,   17,   23,   24,
                                            25, 31,  32,  33,  47,  48,   49,   63,   64,   65,
                                            95, 127, 128, 129, 255, 1000, 4095, 4096, 4097, 8200};

class RowSoftmaxTest : public SimdTest {
 protected:
  static std::vector<double> Expected(const GuardedArray<float>& x, int64_t rows, int64_t terms) {
    std::vector<double> found;
    for (int64_t row = 0; row < rows; ++row) {
      double largest = -std::numeric_limits<double>::infinity(), sum = 0;
      for (int64_t i = 0; i < terms; ++i) largest = std::max(largest, double{x[row * terms + i]});
      for (int64_t i = 0; i < terms; ++i) sum += std::exp(x[row * terms + i] - largest);
      for (int64_t i = 0; i < terms; ++i) found.push_back(std::exp(x[row * terms + i] - largest) / sum);
    }
    return found;
  }
  // Compares results to a relative error of 1e-6 and the error of the exponents, or the smallest power.
  void Check(const GuardedArray<float>& x, int64_t rows, int64_t terms) {
    const std::vector<double> expected = Expected(x, rows, terms);
    GuardedArray<float> out = Untouched(rows * terms);
    Of(ComputeSoftmaxRows)({x.data(), out.data(), rows, terms});
    for (int64_t i = 0; i < rows * terms; ++i) {
      const double wanted = expected[static_cast<size_t>(i)];
      const double exponent = wanted > 0 ? -std::log(wanted) : 0;
      ASSERT_TRUE(IsNear(out[i], wanted, wanted * (1e-6 + 2 * exponent * kRounding) + 0x1p-124))
          << terms << " terms, element " << i;
    }
  }
};

TEST_P(RowSoftmaxTest, Lengths) {
  for (int64_t terms : kTerms) {
    for (int64_t rows : {1, 3}) {
      for (float scale : {1.0F, 30.0F, 200.0F}) {
        GuardedArray<float> x = DrawReals(rows * terms);
        for (float& number : x) number *= scale;
        Check(x, rows, terms);
      }
    }
  }
}

// The largest element at each place of short rows, and at the ends of long ones.
TEST_P(RowSoftmaxTest, PlacesOfTheLargest) {
  for (int64_t terms : {5, 16, 17, 33, 64, 65, 100, 300}) {
    for (int64_t place = 0; place < terms; ++place) {
      GuardedArray<float> x = Array(terms, -50.0F);
      x[place] = 40;
      Check(x, 1, terms);
    }
  }
}

// Rows whose elements are all negative, equal or of the largest magnitudes.
TEST_P(RowSoftmaxTest, Magnitudes) {
  const float largest = std::numeric_limits<float>::max();
  for (int64_t terms : {1, 15, 16, 64, 65, 200}) {
    for (float number : {0.0F, -0.0F, -1000.0F, 1e-40F, largest, -largest}) {
      const GuardedArray<float> equal = Array(terms, number);
      Check(equal, 1, terms);
    }
    GuardedArray<float> ends = Array(terms, -largest);
    ends[terms / 2] = largest;
    Check(ends, 1, terms);
  }
}

// Negative infinities are zeros. A row with NaN, infinity or nothing else is NaN, and others are not.
TEST_P(RowSoftmaxTest, SpecialNumbers) {
  for (int64_t terms : {1, 7, 8, 15, 16, 17, 32, 64, 65, 130, 5000}) {
    for (int64_t place : {int64_t{0}, terms / 2, terms - 1}) {
      for (float special : {kNan, kInfinity, -kInfinity}) {
        GuardedArray<float> x = DrawReals(3 * terms);
        x[terms + place] = special;
        GuardedArray<float> out = Untouched(3 * terms);
        Of(ComputeSoftmaxRows)({x.data(), out.data(), 3, terms});
        const bool is_nan = special != -kInfinity || terms == 1;
        for (int64_t i = 0; i < 3 * terms; ++i) {
          const bool is_second = i / terms == 1;
          ASSERT_EQ(std::isnan(out[i]), is_second && is_nan) << terms << " terms, " << special << ": " << i;
          if (is_second && !is_nan && i - terms == place) {
            ASSERT_EQ(out[i], 0.0F);
          }
        }
      }
    }
    const GuardedArray<float> x = Array(terms, -kInfinity);
    GuardedArray<float> out = Untouched(terms);
    Of(ComputeSoftmaxRows)({x.data(), out.data(), 1, terms});
    for (float number : out) ASSERT_TRUE(std::isnan(number)) << terms;
  }
}

TEST_P(RowSoftmaxTest, InPlace) {
  for (int64_t terms : {7, 16, 33, 64, 65, 4097}) {
    GuardedArray<float> x = DrawReals(2 * terms);
    GuardedArray<float> out = Untouched(2 * terms);
    Of(ComputeSoftmaxRows)({x.data(), out.data(), 2, terms});
    Of(ComputeSoftmaxRows)({x.data(), x.data(), 2, terms});
    for (int64_t i = 0; i < 2 * terms; ++i) ASSERT_EQ(x[i], out[i]) << terms << ": " << i;
  }
}

TEST_P(RowSoftmaxTest, NoRows) {
  GuardedArray<float> out = Untouched(0);
  Of(ComputeSoftmaxRows)({out.data(), out.data(), 0, 5});
}

NNEFC_INSTANTIATE_LANE_TESTS(RowSoftmaxTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
