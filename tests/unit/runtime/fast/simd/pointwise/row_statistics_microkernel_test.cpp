// Means, variances and norms of rows against sums in f64.

#include "runtime/fast/simd/pointwise/row_statistics_microkernel.h"

#include "tests/unit/runtime/fast/simd/simd_test.h"

namespace nnefc::runtime::fast::simd {
namespace {

// Rows that fit (FitsFloatSums), at the ends of what a vector and four of them hold.
constexpr std::array<int64_t, 14> kRowTerms = {16, 17, 23, 24, 25, 31, 32, 33, 47, 48, 49, 64, 65, 4096};

class RowStatisticsTest : public SimdTest {
 protected:
  // The largest relative error of a sum of magnitudes: vectors are added, then their lanes.
  double SumError(int64_t terms) const {
    return (static_cast<double>(terms) / static_cast<double>(lanes()) + 8) * kRounding;
  }
};

TEST_P(RowStatisticsTest, LengthsThatFit) {
  EXPECT_FALSE(FitsFloatSums(0));
  EXPECT_FALSE(FitsFloatSums(15));
  EXPECT_EQ(FitsFloatSums(16), HasSimd());
  EXPECT_EQ(FitsFloatSums(4096), HasSimd());
  EXPECT_FALSE(FitsFloatSums(4097));
}

TEST_P(RowStatisticsTest, MeansAndVariances) {
  for (int64_t terms : kRowTerms) {
    for (float offset : {0.0F, 1000.0F, -3e6F}) {
      GuardedArray<float> x = DrawReals(terms);
      for (float& number : x) number += offset;
      double mean = 0, variance = 0;
      for (float number : x) mean += number / static_cast<double>(terms);
      for (float number : x) variance += (number - mean) * (number - mean) / static_cast<double>(terms);
      const std::optional<FloatMoments> found = Of(ComputeFloatMoments)(x.data(), terms);
      ASSERT_TRUE(found.has_value());
      // Distances from the first number are below 2, and added with one rounding each.
      EXPECT_NEAR(double{found->mean} + found->rest, mean, 2.0 * static_cast<double>(terms) * kRounding)
          << terms;
      EXPECT_LE(std::abs(found->rest), std::abs(found->mean) * kRounding * 2) << "the mean is rounded to f32";
      // The mean is farther off for large numbers, and its error is part of the distances.
      const double distance_error = std::abs(offset) * kRounding;
      EXPECT_NEAR(found->variance, variance,
                  variance * SumError(terms) + 2 * distance_error * distance_error +
                      2 * std::sqrt(variance) * distance_error * 1e-3)
          << terms << " terms, offset " << offset;
    }
  }
}

// Integers, whose sums are exact: the mean of all terms, none of them twice.
TEST_P(RowStatisticsTest, ExactMeans) {
  for (int64_t terms : kRowTerms) {
    const GuardedArray<float> x = DrawIntegers(terms);
    double sum = 0, squares = 0;
    for (float number : x) sum += number;
    const double mean = sum / static_cast<double>(terms);
    for (float number : x) squares += (number - mean) * (number - mean);
    const std::optional<FloatMoments> found = Of(ComputeFloatMoments)(x.data(), terms);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->mean, static_cast<float>(mean));
    EXPECT_NEAR(found->rest, mean - double{static_cast<float>(mean)}, 1e-14);  // of f64
    EXPECT_NEAR(found->variance, squares / static_cast<double>(terms), found->variance * SumError(terms))
        << terms;
  }
}

TEST_P(RowStatisticsTest, SquaresOutOfRange) {
  for (int64_t terms : {int64_t{16}, int64_t{21}, int64_t{64}}) {
    for (int64_t at : {int64_t{0}, int64_t{5}, terms - 1}) {
      for (float special : {kNan, kInfinity, -kInfinity, 1e30F}) {
        GuardedArray<float> x = DrawIntegers(terms);
        x[at] = special;
        EXPECT_FALSE(Of(ComputeFloatMoments)(x.data(), terms).has_value()) << terms << ", " << special;
      }
    }
    const GuardedArray<float> equal = Array(terms, 3.0F);
    EXPECT_FALSE(Of(ComputeFloatMoments)(equal.data(), terms).has_value()) << "squares of 0";
    GuardedArray<float> tiny = Array(terms);
    for (int64_t i = 0; i < terms; ++i) tiny[i] = i % 2 == 0 ? 1e-15F : -1e-15F;
    EXPECT_FALSE(Of(ComputeFloatMoments)(tiny.data(), terms).has_value()) << "squares of 16e-30 and more";
    for (float& number : tiny) number *= 100;
    EXPECT_TRUE(Of(ComputeFloatMoments)(tiny.data(), terms).has_value()) << "squares of 16e-26 and more";
  }
}

TEST_P(RowStatisticsTest, ShiftedAndScaled) {
  for (int64_t terms : {0, 1, 7, 8, 9, 15, 16, 17, 33, 100}) {
    const GuardedArray<float> x = DrawIntegers(terms);
    GuardedArray<float> to = Untouched(terms);
    const FloatMoments moments = {.mean = 3, .rest = 0.25F, .variance = 0};
    Of(ShiftAndScaleFloats)(x.data(), terms, moments, 1.5F, to.data());
    for (int64_t i = 0; i < terms; ++i) ASSERT_EQ(to[i], (x[i] - 3.25F) * 1.5F) << terms << ": " << i;
  }
  const GuardedArray<float> specials = DrawSpecials(40);
  GuardedArray<float> to = Untouched(40);
  Of(ShiftAndScaleFloats)(specials.data(), 40, {.mean = 0, .rest = 0, .variance = 0}, 0.5F, to.data());
  for (int64_t i = 0; i < 40; ++i) ASSERT_TRUE(IsNear(to[i], specials[i] * 0.5, 1e-45)) << specials[i];
}

class NormalizedRowsTest : public RowStatisticsTest {
 protected:
  // Checks the first `done` rows, and that the others are not written.
  void Check(const GuardedArray<float>& x, const NormalizedRows& given, int64_t done) {
    GuardedArray<float> out = Untouched(given.rows * given.terms);
    NormalizedRows call = given;
    call.x = x.data();
    call.out = out.data();
    ASSERT_EQ(Of(NormalizeRows)(call), done) << given.rows << " rows of " << given.terms;
    for (int64_t i = 0; i < out.size(); ++i) {
      const int64_t row = i / given.terms;
      double squares = 0;
      for (int64_t k = 0; k < given.terms; ++k) squares += std::pow(x[row * given.stride + k], 2.0);
      const double root = std::sqrt(given.adds ? squares + given.eps : std::max<double>(squares, given.eps));
      const double expected = x[row * given.stride + i % given.terms] / root;
      const double error = row < done ? std::abs(expected) * SumError(given.terms) : 0;
      ASSERT_TRUE(IsNear(out[i], row < done ? expected : kUntouched, error))
          << given.rows << " rows of " << given.terms << ": " << i;
    }
  }
  NormalizedRows Rows(int64_t rows, int64_t terms, float eps = 0, bool adds = true, int64_t gap = 0) const {
    return {.x = nullptr,
            .stride = terms + gap,
            .out = nullptr,
            .rows = rows,
            .terms = terms,
            .eps = eps,
            .adds = adds};
  }
};

TEST_P(NormalizedRowsTest, RowsAndTerms) {
  for (int64_t rows : {0, 1, 2, 7, 8, 9, 15, 16, 17, 33}) {
    for (int64_t terms : {16, 17, 31, 32, 33, 40, 64, 65}) {
      for (int64_t gap : {0, 3})
        Check(DrawReals(rows == 0 ? 0 : (rows - 1) * (terms + gap) + terms),
              Rows(rows, terms, 0.25F, gap == 0, gap), rows);
    }
  }
}

// Sums of squares are near `eps`: it is added to some, and replaces smaller ones.
TEST_P(NormalizedRowsTest, Eps) {
  for (float eps : {0.0F, 1e-6F, 5.0F, 100.0F}) {
    for (bool adds : {false, true}) Check(DrawReals(17 * 20), Rows(17, 20, eps, adds), 17);
  }
}

TEST_P(NormalizedRowsTest, RowsBeforeOneOutOfRange) {
  constexpr int64_t kRows = 40, kTerms = 18;
  for (int64_t row = 0; row < kRows; row += 3) {
    for (float special : {kNan, kInfinity, -kInfinity, 1e30F}) {
      GuardedArray<float> x = DrawReals(kRows * kTerms);
      x[row * kTerms + row % kTerms] = special;
      Check(x, Rows(kRows, kTerms), row / lanes() * lanes());
    }
    for (float small : {0.0F, 1e-16F}) {
      GuardedArray<float> x = DrawReals(kRows * kTerms);
      std::fill_n(x.data() + row * kTerms, kTerms, small);
      Check(x, Rows(kRows, kTerms), row / lanes() * lanes());
    }
  }
}

// A row that is not there must not count as one whose squares are 0, nor hide one that is out of range.
TEST_P(NormalizedRowsTest, LastRows) {
  for (int64_t rows = 1; rows <= 17; ++rows) {
    GuardedArray<float> x = DrawReals(rows * 16);
    for (float& number : x) number *= 1e-3F;
    Check(x, Rows(rows, 16), rows);
    x[x.size() - 1] = kNan;
    Check(x, Rows(rows, 16), (rows - 1) / lanes() * lanes());
  }
}

class CentredRowsTest : public RowStatisticsTest {
 protected:
  // Checks the first `done` rows, and that the others are not written.
  void Check(const GuardedArray<float>& x, const CentredRows& given, int64_t done, double offset = 0) {
    GuardedArray<float> out = Untouched(given.rows * given.terms);
    CentredRows call = given;
    call.x = x.data();
    call.out = out.data();
    ASSERT_EQ(Of(CentreRows)(call), done) << given.rows << " rows of " << given.terms;
    for (int64_t row = 0; row < given.rows; ++row) {
      const float* of_row = x.data() + row * given.terms;
      const auto count = static_cast<double>(given.terms);
      double mean = 0, variance = 0;
      for (int64_t k = 0; k < given.terms; ++k) mean += of_row[k] / count;
      for (int64_t k = 0; k < given.terms; ++k) variance += (of_row[k] - mean) * (of_row[k] - mean) / count;
      const double deviation =
          given.inside ? std::sqrt(variance + given.eps) : std::sqrt(variance) + given.eps;
      for (int64_t k = 0; k < given.terms; ++k) {
        const double expected = (of_row[k] - mean) / deviation;
        // The mean is off by the rounding of distances; for large numbers it is part of the variance.
        const double error = (std::abs(expected) + 4) * SumError(given.terms) + offset * kRounding * 1e-3;
        ASSERT_TRUE(
            IsNear(out[row * given.terms + k], row < done ? expected : kUntouched, row < done ? error : 0))
            << given.rows << " rows of " << given.terms << ": " << row << ", " << k;
      }
    }
  }
  CentredRows Rows(int64_t rows, int64_t terms, float eps = 1e-5F, bool inside = true) const {
    return {.x = nullptr, .out = nullptr, .rows = rows, .terms = terms, .eps = eps, .inside = inside};
  }
};

TEST_P(CentredRowsTest, RowsAndTerms) {
  for (const int64_t rows : {0, 1, 2, 7, 8, 9, 15, 16, 17, 33}) {
    for (const int64_t terms : {16, 17, 31, 32, 33, 40, 64, 65}) {
      for (const bool inside : {false, true})
        Check(DrawReals(rows * terms), Rows(rows, terms, 0.25F, inside), rows);
    }
  }
  Check(DrawReals(3 * 4096), Rows(3, 4096), 3);
}

TEST_P(CentredRowsTest, EpsAndOffsets) {
  for (const float offset : {0.0F, -1.0F, 1000.0F, 3e4F}) {
    GuardedArray<float> x = DrawReals(18 * 40);
    for (float& number : x) number += offset;
    for (const float eps : {0.0F, 1e-6F, 5.0F}) {
      for (const bool inside : {false, true}) Check(x, Rows(18, 40, eps, inside), 18, std::abs(offset));
    }
  }
}

TEST_P(CentredRowsTest, RowsBeforeOneOutOfRange) {
  constexpr int64_t kRows = 40, kTerms = 18;
  for (int64_t row = 0; row < kRows; row += 3) {
    for (const float special : {kNan, kInfinity, -kInfinity, 1e30F}) {
      GuardedArray<float> x = DrawReals(kRows * kTerms);
      x[row * kTerms + row % kTerms] = special;
      Check(x, Rows(kRows, kTerms), row / lanes() * lanes());
    }
    // Equal numbers, whose squares are 0.
    GuardedArray<float> x = DrawReals(kRows * kTerms);
    std::fill_n(x.data() + row * kTerms, kTerms, 3.0F);
    Check(x, Rows(kRows, kTerms), row / lanes() * lanes());
  }
}

TEST_P(CentredRowsTest, LastRows) {
  for (int64_t rows = 1; rows <= 17; ++rows) {
    GuardedArray<float> x = DrawReals(rows * 16);
    Check(x, Rows(rows, 16), rows);
    x[x.size() - 1] = kNan;
    Check(x, Rows(rows, 16), (rows - 1) / lanes() * lanes());
  }
}

// The rows may be replaced.
TEST_P(CentredRowsTest, InPlace) {
  GuardedArray<float> x = DrawReals(19 * 37), out = Untouched(19 * 37);
  CentredRows call = Rows(19, 37);
  call.x = x.data();
  call.out = out.data();
  ASSERT_EQ(Of(CentreRows)(call), 19);
  call.out = x.data();
  ASSERT_EQ(Of(CentreRows)(call), 19);
  for (int64_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], out[i]);
}

NNEFC_INSTANTIATE_LANE_TESTS(RowStatisticsTest);
NNEFC_INSTANTIATE_LANE_TESTS(CentredRowsTest);
NNEFC_INSTANTIATE_LANE_TESTS(NormalizedRowsTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
