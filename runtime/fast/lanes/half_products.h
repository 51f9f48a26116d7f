// What Strassen's way adds before seven products of halves of matrices, and behind them.
#pragma once

#include "runtime/fast/lanes/product_tile.h"

namespace nnefc::runtime {

inline constexpr int64_t kHalfProducts = 7;

// Of a block of terms of the first half and its counterpart in the second, for rows of the first half and
// their counterparts. A row that the second half has not counts as zeros.
struct HalfFactors {
  const float* left;  // the block's first row of the first half
  int64_t row_stride;
  int64_t second_rows, second_terms;  // how far those are
  int64_t rows, rows_of_second;
  // Blocks one behind the other, of each factor in this order; `stride` floats from one to the next.
  //   a11 + a22, a21 + a22, a11, a22, a11 + a12, a21 - a11, a12 - a22
  float* out;
  int64_t stride;
};
NNEFC_LANE_FUNCTION(MakeHalfFactors, void(const HalfFactors& factors));

// Weights of a tile: sums or differences of those of two places, `blocks` blocks of each row of kTileColumns.
struct WeightSums {
  const float *first, *second;
  float sign;  // 1 or -1, of the second
  int64_t terms, blocks;
  float* out;
};
NNEFC_LANE_FUNCTION(MakeWeightSums, void(const WeightSums& sums));

// Products of those with quarters of the weights, in rows of kTileColumns, added up to
//   first rows:  p0 + p3 - p4 + p6 | p2 + p4
//   second rows: p1 + p3           | p0 - p1 + p2 + p5
struct CombinedProducts {
  const float* products;
  int64_t stride;  // from one to the next
  int64_t rows, rows_of_second;
  int64_t blocks, right_blocks;  // of the left half and of the right, which may have fewer
  BlockedMatrix<float> out;      // the first block of the first row
  int64_t second_rows;           // how far those are in the result
  // What is added: a number for each column, elements that lie as `out` does, both or nothing.
  const float* bias = nullptr;
  const float* start = nullptr;
  Limits limits = {};
};
NNEFC_LANE_FUNCTION(CombineProducts, void(const CombinedProducts& products));

}  // namespace nnefc::runtime
