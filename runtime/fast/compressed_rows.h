#pragma once

#include <cstdint>

#include "compiler/support/tensor/compressed_floats.h"

namespace nnefc::runtime {

// Rows of compressed floats as factors, unpacked in registers: memory is read as it
// lies, from begin to end. `HasCompressedRows` tells whether the processor has what it
// takes.
bool HasCompressedRows();

// More rows of left factors are not taken at once.
inline constexpr int64_t kMostFactors = 7;

// sums[r] = sum over k of x[r * stride + k] * row[k], for `rows` rows of `count` numbers;
// the row of weights begins at float `first`.
struct LeftFactors {
  const float* x;
  int64_t stride, rows;
};
void DotCompressedRow(CompressedFloats::Form form, const std::byte* weights, int64_t first, int64_t count,
                      const LeftFactors& left, float* sums);
// sums[r * stride_of_sums + k] += factors[r] * row[k].
struct RowSums {
  float* sums;
  int64_t stride, rows;
};
void AddCompressedRow(CompressedFloats::Form form, const std::byte* weights, int64_t first, int64_t count,
                      const float* factors, const RowSums& sums);

}  // namespace nnefc::runtime
