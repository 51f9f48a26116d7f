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

// Copies the first `width` of kBlockColumns channels of consecutive pixels of a block to pixels that are
// `stride` floats apart, and back. The other channels of a block become 0.
NNEFC_SIMD_FUNCTION(EmptyPartialBlock,
                    void(const float* block, int64_t width, int64_t pixels, float* to, int64_t stride));
NNEFC_SIMD_FUNCTION(FillPartialBlock,
                    void(const float* from, int64_t stride, int64_t width, int64_t pixels, float* block));

}  // namespace nnefc::runtime::fast::simd
