// Tiles of a matrix multiplication against loops over their terms.

#include "runtime/fast/simd/gemm/gemm_microkernel.h"

#include "tests/unit/runtime/fast/simd/simd_test.h"

namespace nnefc::runtime::fast::simd {
namespace {

class ProductTileTest : public SimdTest {
 protected:
  struct Case {
    int64_t rows = 1, blocks = 1, terms = 1, tiles = 1;
    bool has_bias = false, has_start = false, is_blocked = false;
    Limits limits = {};
    float special = 0;  // a number of the last term of the last row, if it is not 0
    int64_t next_lines = 0;
  };

  void Check(const Case& given) {
    const int64_t rows = given.rows * given.tiles, columns = given.blocks * kBlockColumns;
    const int64_t left_stride = (rows + 1) * kBlockColumns, gap = given.is_blocked ? 0 : 5;
    const int64_t row_stride = given.is_blocked ? kBlockColumns : columns + gap;
    const int64_t block_stride = given.is_blocked ? rows * kBlockColumns + 3 : kBlockColumns;
    const auto left_at = [&](int64_t row, int64_t term) {
      return term / kBlockColumns * left_stride + row * kBlockColumns + term % kBlockColumns;
    };
    // NaN where the definition does not read.
    GuardedArray<float> left = Array(given.terms == 0 ? 0 : left_at(rows - 1, given.terms - 1) + 1, kNan);
    for (int64_t i = 0; i < rows * given.terms; ++i)
      left[left_at(i / given.terms, i % given.terms)] = static_cast<float>(DrawOne(-9, 9));
    if (given.special != 0) left[left_at(rows - 1, given.terms - 1)] = given.special;
    GuardedArray<float> weights = DrawIntegers(given.terms * kTileColumns);
    for (int64_t i = 0; i < weights.size(); ++i) {
      if (i % kTileColumns >= columns) weights[i] = kNan;
    }
    const int64_t out_size = (rows - 1) * row_stride + (given.blocks - 1) * block_stride + kBlockColumns;
    const GuardedArray<float> bias = DrawIntegers(columns), start = DrawIntegers(out_size);
    GuardedArray<float> out = Untouched(out_size);
    Of(RunTile)(given.rows, given.blocks,
                {.left = left.data(),
                 .left_stride = left_stride,
                 .terms = given.terms,
                 .weights = weights.data(),
                 .bias = given.has_bias ? bias.data() : nullptr,
                 .start = given.has_start ? start.data() : nullptr,
                 .out = {out.data(), row_stride, block_stride},
                 .limits = given.limits,
                 .next = weights.data(),
                 .next_lines = given.next_lines,
                 .tiles = given.tiles});
    std::vector<double> expected(static_cast<size_t>(out_size), kUntouched);
    for (int64_t i = 0; i < rows * columns; ++i) {
      const int64_t row = i / columns, column = i % columns;
      const int64_t at = row * row_stride + column / kBlockColumns * block_stride + column % kBlockColumns;
      double sum = (given.has_bias ? double{bias[column]} : 0) + (given.has_start ? double{start[at]} : 0);
      for (int64_t term = 0; term < given.terms; ++term)
        sum += double{left[left_at(row, term)]} * weights[term * kTileColumns + column];
      expected[static_cast<size_t>(at)] = Limited(given.limits, sum);
    }
    for (int64_t at = 0; at < out_size; ++at)
      ASSERT_TRUE(IsNear(out[at], expected[static_cast<size_t>(at)], 0))
          << given.rows << " rows, " << given.blocks << " blocks, " << given.terms << " terms, "
          << given.tiles << " tiles: " << at;
  }
};

TEST_P(ProductTileTest, EachNumberOfRowsAndTerms) {
  for (int64_t rows = 1; rows <= tile_rows(); ++rows) {
    for (int64_t blocks : {1, 2}) {
      for (int64_t terms : {0, 1, 3, 4, 5, 15, 16, 17, 20, 31, 32, 33, 48, 49})
        Check({.rows = rows, .blocks = blocks, .terms = terms, .is_blocked = terms % 2 == 0});
    }
  }
}

TEST_P(ProductTileTest, WhatSumsBeginWithAndLimits) {
  for (int64_t rows = 1; rows <= tile_rows(); ++rows) {
    for (int64_t blocks : {1, 2}) {
      for (const Limits& limits : AllLimits(-40, 55)) {
        for (int64_t i = 0; i < 8; ++i)
          Check({.rows = rows,
                 .blocks = blocks,
                 .terms = 18,
                 .has_bias = i % 2 == 1,
                 .has_start = i / 2 % 2 == 1,
                 .is_blocked = i / 4 == 1,
                 .limits = limits});
      }
    }
  }
}

TEST_P(ProductTileTest, SeveralTiles) {
  for (int64_t rows : {int64_t{1}, int64_t{2}, tile_rows()}) {
    for (int64_t blocks : {1, 2}) {
      for (int64_t tiles : {1, 2, 3}) {
        for (bool is_blocked : {false, true})
          Check({.rows = rows,
                 .blocks = blocks,
                 .terms = 35,
                 .tiles = tiles,
                 .has_bias = true,
                 .has_start = tiles != 2,
                 .is_blocked = is_blocked,
                 .next_lines = 2});
      }
    }
  }
}

TEST_P(ProductTileTest, Specials) {
  for (int64_t blocks : {1, 2}) {
    for (int64_t terms : {1, 16, 19}) {
      for (float special : {kNan, kInfinity, -kInfinity}) {
        for (const Limits& limits : AllLimits(-40, 55))
          Check({.rows = 3, .blocks = blocks, .terms = terms, .limits = limits, .special = special});
      }
    }
  }
}

// Sums that stay below the normal numbers are kept, and zeros keep the sign that a sum with 0 has.
TEST_P(ProductTileTest, DenormalsAndZeros) {
  const GuardedArray<float> left = Array(1, 0x1p-70F), bias = Array(kBlockColumns, -0.0F);
  GuardedArray<float> weights = Array(kTileColumns, 0x1p-72F), out = Untouched(kBlockColumns);
  GemmTile call{.left = left.data(),
                .left_stride = kBlockColumns,
                .terms = 1,
                .weights = weights.data(),
                .out = {out.data(), kBlockColumns, kBlockColumns}};
  Of(RunTile)(1, 1, call);
  for (float sum : out) EXPECT_EQ(sum, 0x1p-142F);
  std::fill(weights.begin(), weights.end(), -0.0F);
  Of(RunTile)(1, 1, call);
  for (float sum : out) EXPECT_TRUE(IsSame(sum, 0.0));
  call.bias = bias.data();
  Of(RunTile)(1, 1, call);
  for (float sum : out) EXPECT_TRUE(IsSame(sum, -0.0));
}

NNEFC_INSTANTIATE_LANE_TESTS(ProductTileTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
