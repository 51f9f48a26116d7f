// The sums of Strassen's algorithm before and after its seven products, each against its formula.

#include "runtime/fast/lanes/half_products.h"

#include "tests/unit/runtime/fast/lanes/lane_test.h"

namespace nnefc::runtime {
namespace {

using HalfProductsTest = LaneTest;

TEST_P(HalfProductsTest, FactorsOfTheLeftMatrix) {
  for (int64_t rows : {0, 1, 2, 5}) {
    for (int64_t rows_of_second = 0; rows_of_second <= rows; ++rows_of_second) {
      for (int64_t row_stride : {16, 37}) {
        // Quarters after one another: first terms of all rows, then second terms.
        const int64_t second_rows = rows * row_stride, second_terms = 2 * rows * row_stride + 9;
        const int64_t last_row = std::max(rows - 1, rows_of_second == 0 ? 0 : rows + rows_of_second - 1);
        const int64_t size = rows == 0 ? 0 : second_terms + last_row * row_stride + kBlockColumns;
        const GuardedArray<float> left = DrawIntegers(size);
        const int64_t stride = rows * kBlockColumns + 3;
        GuardedArray<float> out = Untouched((kHalfProducts - 1) * stride + rows * kBlockColumns);
        Of(MakeHalfFactors)({.left = left.data(),
                             .row_stride = row_stride,
                             .second_rows = second_rows,
                             .second_terms = second_terms,
                             .rows = rows,
                             .rows_of_second = rows_of_second,
                             .out = out.data(),
                             .stride = stride});
        for (int64_t at = 0; at < out.size(); ++at) {
          const int64_t place = at % stride, row = place / kBlockColumns;
          if (row >= rows) {
            ASSERT_EQ(out[at], kUntouched);
            continue;
          }
          const int64_t from = row * row_stride + place % kBlockColumns;
          const bool has_second = row < rows_of_second;
          const float a11 = left[from], a12 = left[from + second_terms];
          const float a21 = has_second ? left[from + second_rows] : 0;
          const float a22 = has_second ? left[from + second_rows + second_terms] : 0;
          const std::array<float, kHalfProducts> expected = {a11 + a22, a21 + a22, a11,      a22,
                                                             a11 + a12, a21 - a11, a12 - a22};
          ASSERT_EQ(out[at], expected[static_cast<size_t>(at / stride)])
              << rows << " rows, " << rows_of_second << " of the second half: " << at;
        }
      }
    }
  }
}

TEST_P(HalfProductsTest, SumsOfWeights) {
  for (int64_t terms : {0, 1, 2, 17}) {
    for (int64_t blocks : {1, 2}) {
      for (float sign : {1.0F, -1.0F}) {
        const GuardedArray<float> first = DrawIntegers(terms * kTileColumns),
                                  second = DrawIntegers(first.size());
        GuardedArray<float> out = Untouched(first.size());
        Of(MakeWeightSums)({.first = first.data(),
                            .second = second.data(),
                            .sign = sign,
                            .terms = terms,
                            .blocks = blocks,
                            .out = out.data()});
        for (int64_t i = 0; i < out.size(); ++i)
          ASSERT_EQ(out[i],
                    i % kTileColumns < blocks * kBlockColumns ? first[i] + sign * second[i] : kUntouched);
      }
    }
  }
}

class CombinedProductsTest : public LaneTest {
 protected:
  struct Case {
    int64_t rows = 1, rows_of_second = 1, blocks = 1, right_blocks = 1;
    bool is_blocked = false, has_bias = false, has_start = false;
    Limits limits = {};
    float special = 0;  // the last number of the last product, if it is not 0
  };

  void Check(const Case& given) {
    const int64_t left = given.blocks * kBlockColumns, right = given.right_blocks * kBlockColumns;
    const int64_t stride = given.rows * kTileColumns + 5, all_blocks = given.blocks + given.right_blocks;
    const int64_t row_stride = given.is_blocked ? kBlockColumns : all_blocks * kBlockColumns + 3;
    const int64_t all_rows = given.rows + given.rows_of_second;
    const int64_t block_stride = given.is_blocked ? all_rows * kBlockColumns + 1 : kBlockColumns;
    const int64_t second_rows = given.rows * row_stride;
    GuardedArray<float> products = DrawIntegers((kHalfProducts - 1) * stride + given.rows * kTileColumns);
    if (given.special != 0) products[products.size() - 1] = given.special;
    const int64_t size = (all_rows - 1) * row_stride + (all_blocks - 1) * block_stride + kBlockColumns;
    const GuardedArray<float> bias = DrawIntegers(left + right), start = DrawIntegers(size);
    GuardedArray<float> out = Untouched(size);
    Of(CombineProducts)({.products = products.data(),
                         .stride = stride,
                         .rows = given.rows,
                         .rows_of_second = given.rows_of_second,
                         .blocks = given.blocks,
                         .right_blocks = given.right_blocks,
                         .out = {out.data(), row_stride, block_stride},
                         .second_rows = second_rows,
                         .bias = given.has_bias ? bias.data() : nullptr,
                         .start = given.has_start ? start.data() : nullptr,
                         .limits = given.limits});
    std::vector<double> expected(static_cast<size_t>(size), kUntouched);
    for (int64_t i = 0; i < all_rows * (left + right); ++i) {
      const int64_t row = i / (left + right), column = i % (left + right);
      const bool is_second = row >= given.rows, is_right = column >= left;
      const int64_t from =
          (is_second ? row - given.rows : row) * kTileColumns + (is_right ? column - left : column);
      const auto p = [&](int64_t index) { return double{products[index * stride + from]}; };
      const int64_t at = row * row_stride + column / kBlockColumns * block_stride + column % kBlockColumns;
      const double sum = is_second ? (is_right ? p(0) - p(1) + p(2) + p(5) : p(1) + p(3))
                                   : (is_right ? p(2) + p(4) : p(0) + p(3) - p(4) + p(6));
      expected[static_cast<size_t>(at)] = Limited(
          given.limits, sum + (given.has_bias ? bias[column] : 0) + (given.has_start ? start[at] : 0));
    }
    for (int64_t at = 0; at < size; ++at)
      ASSERT_TRUE(IsNear(out[at], expected[static_cast<size_t>(at)], 0))
          << given.rows << " and " << given.rows_of_second << " rows, " << given.blocks << " and "
          << given.right_blocks << " blocks: " << at;
  }
};

TEST_P(CombinedProductsTest, RowsAndBlocks) {
  for (int64_t rows : {1, 2, 4}) {
    for (int64_t rows_of_second = 0; rows_of_second <= rows; ++rows_of_second) {
      for (int64_t blocks : {1, 2}) {
        for (int64_t right_blocks = 0; right_blocks <= blocks; ++right_blocks) {
          for (bool is_blocked : {false, true})
            Check({.rows = rows,
                   .rows_of_second = rows_of_second,
                   .blocks = blocks,
                   .right_blocks = right_blocks,
                   .is_blocked = is_blocked,
                   .has_bias = true,
                   .has_start = true});
        }
      }
    }
  }
}

TEST_P(CombinedProductsTest, WhatIsAddedAndLimits) {
  for (const Limits& limits : AllLimits(-8, 11)) {
    for (int64_t i = 0; i < 8; ++i)
      Check({.rows = 3,
             .rows_of_second = 2,
             .blocks = 2,
             .right_blocks = 1 + i / 4,
             .has_bias = i % 2 == 1,
             .has_start = i / 2 % 2 == 1,
             .limits = limits});
  }
}

TEST_P(CombinedProductsTest, Specials) {
  for (float special : {kNan, kInfinity, -kInfinity}) {
    for (const Limits& limits : AllLimits(-8, 11))
      Check({.rows = 2,
             .rows_of_second = 2,
             .blocks = 2,
             .right_blocks = 2,
             .limits = limits,
             .special = special});
  }
}

NNEFC_INSTANTIATE_LANE_TESTS(HalfProductsTest);
NNEFC_INSTANTIATE_LANE_TESTS(CombinedProductsTest);

}  // namespace
}  // namespace nnefc::runtime
