#pragma once

#include "runtime/fast/simd/dispatch.h"

namespace nnefc::runtime::fast::simd {

// A matrix and the location of its transpose, which must not overlap it. Pointers may be unaligned.
struct TransposedMatrix {
  const float* from;      // [rows, columns]
  int64_t from_stride;    // floats from one row of `from` to the next
  float* to;              // [columns, rows]
  int64_t to_stride;      // floats from one row of `to` to the next
  int64_t rows, columns;  // of `from`; any counts
};
// Writes the transpose. Floats between the rows of `to` are not changed.
NNEFC_SIMD_FUNCTION(TransposeMatrix, void(const TransposedMatrix& matrix));

}  // namespace nnefc::runtime::fast::simd
