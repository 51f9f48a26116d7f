#pragma once

#include <cstdint>

#include "compiler/support/tensor/compressed_floats.h"

namespace nnefc::runtime::fast::gemm {

// Compressed weight rows, decompressed in registers with sequential memory access. `HasCompressedRows` checks
// the processor features.
bool HasCompressedRows();

// Maximum number of left rows per call.
inline constexpr int64_t kMaxLeftRows = 7;

// sums[r] = sum over k of x[r * stride + k] * row[k], for `rows` rows of `count` elements. The weight row
// starts at element `first`.
struct LeftFactors {
  const float* x;
  int64_t stride, rows;
};
void DotCompressedRow(CompressedFloats::Form form, const std::byte* weights, int64_t first, int64_t count,
                      const LeftFactors& left, float* sums);
// The same for kRowsTogether rows of weights, one after another, and a single left row: one sum for each.
inline constexpr int64_t kRowsTogether = 4;
void DotCompressedRows(CompressedFloats::Form form, const std::byte* weights, int64_t first, int64_t count,
                       const float* x, float* sums);
// sums[r * stride_of_sums + k] += factors[r] * row[k].
struct RowSums {
  float* sums;
  int64_t stride, rows;
};
void AddCompressedRow(CompressedFloats::Form form, const std::byte* weights, int64_t first, int64_t count,
                      const float* factors, const RowSums& sums);

}  // namespace nnefc::runtime::fast::gemm
