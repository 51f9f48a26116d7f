#pragma once

#include "runtime/fast/simd/dispatch.h"

namespace nnefc::runtime {

// Transposes [rows, columns] with row stride `from_stride` to [columns, rows] with `to_stride`.
struct TransposedMatrix {
  const float* from;
  int64_t from_stride;
  float* to;
  int64_t to_stride;
  int64_t rows, columns;
};
NNEFC_SIMD_FUNCTION(TransposeMatrix, void(const TransposedMatrix& matrix));

}  // namespace nnefc::runtime
