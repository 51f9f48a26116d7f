// Reductions of rows in f64 against loops, at the ends of what vectors hold.

#include "runtime/fast/pointwise/row_moments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "runtime/fast/pointwise/l2_normalization.h"
#include "runtime/fast/pointwise/reduce_row.h"
#include "tests/unit/runtime/fast/random_numbers.h"

namespace nnefc::runtime::fast::pointwise {
namespace {

constexpr float kMomentNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kMomentInfinity = std::numeric_limits<float>::infinity();

TEST(RowMomentsTest, MeanAndVariance) {
  for (int64_t terms : {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100}) {
    for (float offset : {0.0F, 1e6F}) {
      std::vector<float> x = RandomNumbers(terms, static_cast<unsigned>(terms));
      double mean = 0, variance = 0;
      for (float& number : x) {
        number += offset;
        mean += number / static_cast<double>(terms);
      }
      for (float number : x) variance += (number - mean) * (number - mean) / static_cast<double>(terms);
      const Moments moments = MomentsOf(x.data(), terms);
      // Sums of f64.
      EXPECT_NEAR(moments.mean, mean, 1e-15 * (1 + std::abs(mean)) * static_cast<double>(terms)) << terms;
      EXPECT_NEAR(moments.variance, variance, 1e-9) << terms;
      EXPECT_GE(moments.variance, 0);
    }
  }
}

TEST(RowMomentsTest, SpecialNumbers) {
  for (int64_t at = 0; at < 20; ++at) {
    std::vector<float> x(20, 1.0F);
    x[static_cast<size_t>(at)] = kMomentInfinity;
    EXPECT_EQ(MomentsOf(x.data(), 20).mean, kMomentInfinity) << at;
    x[static_cast<size_t>(at)] = kMomentNan;
    EXPECT_TRUE(std::isnan(MomentsOf(x.data(), 20).mean)) << at;
  }
  const std::vector<float> equal(20, 0.1F);
  EXPECT_EQ(MomentsOf(equal.data(), 20).variance, 0);
}

TEST(RowMomentsTest, MomentsOfSeveralParts) {
  const std::vector<float> x = RandomNumbers(40, 3);
  const int64_t ends[] = {0, 3, 20, 40};
  std::vector<Moments> parts;
  parts.reserve(3);
  for (int part = 0; part < 3; ++part)
    parts.push_back(MomentsOf(x.data() + ends[part], ends[part + 1] - ends[part]));
  const Moments all = MomentsOf(x.data(), 40);
  const Moments of_parts =
      MomentsOfParts(parts.data(), 3, [&](int64_t part) { return ends[part + 1] - ends[part]; });
  EXPECT_NEAR(of_parts.mean, all.mean, 1e-14);
  EXPECT_NEAR(of_parts.variance, all.variance, 1e-14);
}

TEST(RowMomentsTest, FactorsOfDistances) {
  EXPECT_EQ((MvnFactor{.epsilon = 1, .normalizes = false, .inside = true}.Of(9)), 1);
  EXPECT_DOUBLE_EQ((MvnFactor{.epsilon = 7, .normalizes = true, .inside = true}.Of(9)), 0.25);
  EXPECT_DOUBLE_EQ((MvnFactor{.epsilon = 7, .normalizes = true, .inside = false}.Of(9)), 0.1);
}

TEST(RowMomentsTest, ShiftedAndScaledRows) {
  for (int64_t terms : {0, 1, 7, 8, 9, 16, 17}) {
    const std::vector<float> x = RandomNumbers(terms, 5);
    std::vector<float> to(static_cast<size_t>(terms) + 1, 77);
    ShiftAndScale(x.data(), terms, 0.25, 3, to.data());
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_EQ(to[i], static_cast<float>((double{x[i]} - 0.25) * 3)) << terms;
    EXPECT_EQ(to.back(), 77);
  }
}

TEST(RowMomentsTest, ReducedRows) {
  for (int64_t count : {0, 1, 2, 15, 16, 17, 31, 32, 33, 100}) {
    const std::vector<float> x = RandomNumbers(count, 9);
    double sum = 0, squares = 0;
    float largest = -kMomentInfinity;
    for (float number : x) {
      sum += number;
      squares += double{number} * number;
      largest = std::max(largest, number);
    }
    EXPECT_NEAR(ReduceRow(x.data(), count, Sum()), sum, 1e-14 * static_cast<double>(count)) << count;
    EXPECT_NEAR(ReduceRow(x.data(), count, SumOfSquares()), squares, 1e-14 * static_cast<double>(count))
        << count;
    EXPECT_EQ(ReduceRow(x.data(), count, LargestOf<float>()), largest) << count;
    EXPECT_EQ(ReduceRow(x.data(), count, LargestOf<double>()), largest) << count;
  }
  for (size_t at = 0; at < 33; ++at) {
    std::vector<float> x(33, -2.0F);
    x[at] = kMomentNan;
    EXPECT_EQ(ReduceRow(x.data(), 33, LargestOf<float>()), -2.0F) << "NaN is passed over: " << at;
    x[at] = 3;
    EXPECT_EQ(ReduceRow(x.data(), 33, LargestOf<float>()), 3.0F) << at;
  }
}

TEST(RowMomentsTest, RowsDividedByTheirNorms) {
  for (int64_t terms : {1, 15, 16, 17, 40}) {
    const std::vector<float> x = RandomNumbers(terms, 4);
    double squares = 0;
    for (float number : x) squares += double{number} * number;
    for (double eps : {0.0, 0.5, 1000.0}) {
      for (bool adds : {false, true}) {
        const double root = std::sqrt(adds ? squares + eps : std::max(squares, eps));
        std::vector<float> out(x.size() + 1, 77);
        NormalizeRow(x.data(), terms, {.eps = eps, .adds = adds}, out.data());
        // The factor and the product are rounded to f32.
        for (size_t i = 0; i < x.size(); ++i)
          EXPECT_NEAR(out[i], x[i] / root, std::abs(x[i] / root) * 0x1p-22) << terms;
        EXPECT_EQ(out.back(), 77);
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::fast::pointwise
