// Operands of attention laid out for tiles of products, and its softmax.
#pragma once

#include "runtime/fast/lanes/product_tile.h"

namespace nnefc::runtime {

// `rows` rows of `columns` numbers, so far apart.
struct RowsOfNumbers {
  const float* data;
  int64_t stride;
  int64_t rows, columns;

  const float* At(int64_t row) const { return data + row * stride; }
};

// Keys as tiles of their transposes: [keys / 32, width, 32], zeros behind the last key.
NNEFC_LANE_FUNCTION(LayOutKeys, void(const RowsOfNumbers& keys, float* to));
// Values as tiles of columns: [columns / 32, keys, 32]. Columns in whole blocks.
NNEFC_LANE_FUNCTION(LayOutValues, void(const RowsOfNumbers& values, float* to));
// Queries times `scale`, in blocks of columns.
NNEFC_LANE_FUNCTION(LayOutQueries, void(const RowsOfNumbers& queries, float scale, float* to));

// Scores of queries with keys, in blocks; what fills the last block counts for nothing.
struct AttentionScores {
  BlockedMatrix<float> scores;
  int64_t rows, keys;
  const float* mask;  // for the first row, added to its scores; or null
  int64_t mask_stride;
};
// Makes exponentials of them, and the sum of those of each row.
NNEFC_LANE_FUNCTION(SoftmaxOfScores, void(const AttentionScores& given, float* sums));

// Divides `rows` rows of blocks by a number each.
NNEFC_LANE_FUNCTION(DivideRows, void(const BlockedMatrix<float>& matrix, int64_t rows, int64_t blocks,
                                     const float* numbers));

}  // namespace nnefc::runtime
