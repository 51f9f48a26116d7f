// Packing of attention operands for GEMM microkernels, and the softmax.
#pragma once

#include "runtime/fast/simd/gemm/gemm_microkernel.h"

namespace nnefc::runtime::fast::simd {

// A matrix of `rows` rows with `columns` elements and a row stride.
struct StridedRows {
  const float* data;
  int64_t stride;
  int64_t rows, columns;

  const float* At(int64_t row) const { return data + row * stride; }
};

// Packs keys as transposed tiles [keys / 32, width, 32], zero-padded.
NNEFC_SIMD_FUNCTION(PackKeys, void(const StridedRows& keys, float* to));
// Packs values as column tiles [columns / 32, keys, 32], whose last block is zero-padded.
NNEFC_SIMD_FUNCTION(PackValues, void(const StridedRows& values, float* to));
// Packs queries multiplied by `scale` in column blocks.
NNEFC_SIMD_FUNCTION(PackQueries, void(const StridedRows& queries, float scale, float* to));

// Scores of queries and keys in blocks. Padding of the last block is ignored.
struct AttentionScores {
  BlockedMatrix<float> scores;
  int64_t rows, keys;
  const float* mask;  // additive mask of the first row, or null
  int64_t mask_stride;
};
// Replaces scores by their exponentials, and computes the sum of each row.
NNEFC_SIMD_FUNCTION(SoftmaxOfScores, void(const AttentionScores& given, float* sums));

// Divides each of `rows` rows of blocks by its number.
NNEFC_SIMD_FUNCTION(DivideRows, void(const BlockedMatrix<float>& matrix, int64_t rows, int64_t blocks,
                                     const float* numbers));

}  // namespace nnefc::runtime::fast::simd
