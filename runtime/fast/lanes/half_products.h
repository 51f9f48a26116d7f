// Additions of Strassen's algorithm before and after the seven half-size multiplications.
#pragma once

#include "runtime/fast/lanes/product_tile.h"

namespace nnefc::runtime {

inline constexpr int64_t kHalfProducts = 7;

// The left factors for a block of terms in both halves, and rows in both halves. A missing row of the second
// half counts as zeros.
struct HalfFactors {
  const float* left;  // the block's first row in the first half
  int64_t row_stride;
  int64_t second_rows, second_terms;  // offsets of the second half's rows and terms
  int64_t rows, rows_of_second;
  // Consecutive blocks of each factor in this order, `stride` floats apart.
  //     a11 + a22, a21 + a22, a11, a22, a11 + a12, a21 - a11, a12 - a22
  float* out;
  int64_t stride;
};
NNEFC_LANE_FUNCTION(MakeHalfFactors, void(const HalfFactors& factors));

// Sums or differences of packed weights of two quarters, `blocks` blocks of each row of kTileColumns.
struct WeightSums {
  const float *first, *second;
  float sign;  // 1 or -1, for the second
  int64_t terms, blocks;
  float* out;
};
NNEFC_LANE_FUNCTION(MakeWeightSums, void(const WeightSums& sums));

// The combination of the products with quarters of the weights, in rows of kTileColumns:
//     first rows:  p0 + p3 - p4 + p6 | p2 + p4
//     second rows: p1 + p3           | p0 - p1 + p2 + p5
struct CombinedProducts {
  const float* products;
  int64_t stride;  // between products
  int64_t rows, rows_of_second;
  int64_t blocks, right_blocks;  // blocks of the left half and of the right, possibly smaller half
  BlockedMatrix<float> out;      // the first block of the first row
  int64_t second_rows;           // offset of the second half's rows in the result
  // Added values: per-column bias, elements in the layout of `out`, both or neither.
  const float* bias = nullptr;
  const float* start = nullptr;
  Limits limits = {};
};
NNEFC_LANE_FUNCTION(CombineProducts, void(const CombinedProducts& products));

}  // namespace nnefc::runtime
