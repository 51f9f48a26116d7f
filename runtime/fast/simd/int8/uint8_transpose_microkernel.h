// Transposition of 8-bit values in registers, such as those of images between planes and NHWC.
#pragma once

#include "runtime/fast/simd/dispatch.h"

namespace nnefc::runtime::fast::simd {

// Rows and columns that are transposed at a time.
inline constexpr int64_t kUint8Tile = 16;

// A matrix of at least kUint8Tile rows and columns. Pointers may be unaligned.
struct Uint8Matrix {
  const uint8_t* from;  // [rows, columns]
  int64_t from_stride;  // values from one row to the next
  int64_t rows, columns;
};

// Writes the transpose to `to`, whose rows are `to_stride` values apart and do not overlap the matrix.
NNEFC_SIMD_FUNCTION(TransposeUint8, void(const Uint8Matrix& matrix, uint8_t* to, int64_t to_stride));

// Values scale * (code - zero).
struct Uint8Scale {
  float scale;
  int32_t zero;
};
// Writes the values of the transposed codes.
NNEFC_SIMD_FUNCTION(TransposeUint8ToFloats,
                    void(const Uint8Matrix& matrix, const Uint8Scale& scale, float* to, int64_t to_stride));

}  // namespace nnefc::runtime::fast::simd
