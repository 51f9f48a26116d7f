// Transposition of matrices in registers.

#include "runtime/fast/simd/pointwise/transpose_microkernel.h"

#include <algorithm>

#include "runtime/fast/simd/simd_math.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

NNEFC_SIMD_INLINE inline void TransposeBlocks(const TransposedMatrix& matrix) {
  for (int64_t row = 0; row < matrix.rows; row += kSimdWidth) {
    for (int64_t column = 0; column < matrix.columns; column += kSimdWidth) {
      const int64_t rows = std::min(kSimdWidth, matrix.rows - row);
      const int64_t columns = std::min(kSimdWidth, matrix.columns - column);
      const float* from = matrix.from + row * matrix.from_stride + column;
      float* to = matrix.to + column * matrix.to_stride + row;
      if (rows == kSimdWidth && columns == kSimdWidth) {
        FloatVector lanes[kSimdWidth];
#pragma GCC unroll 16
        for (int64_t i = 0; i < kSimdWidth; ++i)
          lanes[i] = *reinterpret_cast<const UnalignedFloatVector*>(from + i * matrix.from_stride);
        TransposeVectors(lanes);
#pragma GCC unroll 16
        for (int64_t i = 0; i < kSimdWidth; ++i)
          *reinterpret_cast<UnalignedFloatVector*>(to + i * matrix.to_stride) = lanes[i];
        continue;
      }
      for (int64_t y = 0; y < columns; ++y) {
        for (int64_t x = 0; x < rows; ++x) to[y * matrix.to_stride + x] = from[x * matrix.from_stride + y];
      }
    }
  }
}

}  // namespace

void TransposeMatrix(const TransposedMatrix& given) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const TransposedMatrix matrix = given;  // local copy, to exclude aliasing
    TransposeBlocks(matrix);
  });
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE
