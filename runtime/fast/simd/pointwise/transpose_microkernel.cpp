// Transposition of matrices in registers.

#include "runtime/fast/simd/pointwise/transpose_microkernel.h"

#include <algorithm>

#include "runtime/fast/simd/simd_math.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

// Transposes up to kSimdWidth rows and columns.
NNEFC_SIMD_INLINE inline void TransposePart(const float* from, int64_t from_stride, int64_t rows,
                                            int64_t columns, float* to, int64_t to_stride) {
  // Single numbers take less time than a transpose of whole vectors. Measured on Zen 5, whose masked stores
  // of 512 bits are slow.
  constexpr int64_t kFew = kSimdWidth == 16 ? 8 : 3;
  // With whole rows or columns of results there are no such stores.
  constexpr int64_t kMinColumns = 4, kHalf = 8;
  if (rows == kSimdWidth && columns >= kMinColumns) {
    FloatVector lanes[kSimdWidth];
#pragma GCC unroll 16
    for (int64_t i = 0; i < kSimdWidth; ++i) LoadFirst(lanes[i], from + i * from_stride, columns, 0);
    TransposeVectors(lanes);
#pragma GCC unroll 16
    for (int64_t i = 0; i < kSimdWidth; ++i) {
      if (i < columns) *reinterpret_cast<UnalignedFloatVector*>(to + i * to_stride) = lanes[i];
    }
    return;
  }
  if (kHalf < kSimdWidth && columns == kSimdWidth && rows == kHalf) {
    FloatVector lanes[kSimdWidth] = {};
#pragma GCC unroll 8
    for (int64_t i = 0; i < kHalf; ++i)
      lanes[i] = *reinterpret_cast<const UnalignedFloatVector*>(from + i * from_stride);
    TransposeVectors(lanes);
#pragma GCC unroll 16
    for (int64_t i = 0; i < kSimdWidth; ++i)
      __builtin_memcpy(to + i * to_stride, &lanes[i], kHalf * sizeof(float));
    return;
  }
  if (rows <= kFew || columns <= kFew) {
    for (int64_t y = 0; y < columns; ++y) {
      for (int64_t x = 0; x < rows; ++x) to[y * to_stride + x] = from[x * from_stride + y];
    }
    return;
  }
  FloatVector lanes[kSimdWidth];
#pragma GCC unroll 16
  for (int64_t i = 0; i < kSimdWidth; ++i)
    LoadFirst(lanes[i], from + i * from_stride, i < rows ? columns : 0, 0);
  TransposeVectors(lanes);
#pragma GCC unroll 16
  for (int64_t i = 0; i < kSimdWidth; ++i) {
    if (i < columns) StoreFirst(lanes[i], rows, to + i * to_stride);
  }
}

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
      } else {
        TransposePart(from, matrix.from_stride, rows, columns, to, matrix.to_stride);
      }
    }
  }
}

// Splits pixels of kColors adjacent numbers, such as images in NHWC, into planes. Compilers vectorize loops
// of constant strides.
template <int64_t kColors>
NNEFC_SIMD_INLINE inline void SplitColors(const TransposedMatrix& matrix) {
  const float* from = matrix.from;
  for (int64_t color = 0; color < kColors; ++color) {
    float* to = matrix.to + color * matrix.to_stride;
    for (int64_t pixel = 0; pixel < matrix.rows; ++pixel) to[pixel] = from[pixel * kColors + color];
  }
}
// The reverse.
template <int64_t kColors>
NNEFC_SIMD_INLINE inline void JoinColors(const TransposedMatrix& matrix) {
  const float* planes[kColors];
  for (int64_t color = 0; color < kColors; ++color) planes[color] = matrix.from + color * matrix.from_stride;
  float* to = matrix.to;
  for (int64_t pixel = 0; pixel < matrix.columns; ++pixel) {
    for (int64_t color = 0; color < kColors; ++color) to[pixel * kColors + color] = planes[color][pixel];
  }
}

// Returns false if there is no loop for these sizes.
NNEFC_SIMD_INLINE inline bool TransposeColors(const TransposedMatrix& matrix) {
  const bool splits = matrix.from_stride == matrix.columns, joins = matrix.to_stride == matrix.rows;
  if (splits && matrix.columns == 2) return SplitColors<2>(matrix), true;
  if (splits && matrix.columns == 3) return SplitColors<3>(matrix), true;
  if (joins && matrix.rows == 2) return JoinColors<2>(matrix), true;
  if (joins && matrix.rows == 3) return JoinColors<3>(matrix), true;
  return false;
}

}  // namespace

void TransposeMatrix(const TransposedMatrix& given) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const TransposedMatrix matrix = given;  // local copy, to exclude aliasing
    if (!TransposeColors(matrix)) TransposeBlocks(matrix);
  });
}

void EmptyPartialBlock(const float* block, int64_t width, int64_t pixels, float* to, int64_t stride) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const float* from = block;
    float* out = to;
    const int64_t count = width, step = stride;
    for (int64_t pixel = 0; pixel < pixels; ++pixel, from += kBlockColumns, out += step) {
#pragma GCC unroll 2
      for (int64_t lane = 0; lane < kBlockColumns; lane += kSimdWidth) {
        const FloatVector x = *reinterpret_cast<const UnalignedFloatVector*>(from + lane);
        StoreFirst(x, count - lane, out + lane);
      }
    }
  });
}

void FillPartialBlock(const float* from, int64_t stride, int64_t width, int64_t pixels, float* block) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const float* in = from;
    float* to = block;
    const int64_t count = width, step = stride;
    for (int64_t pixel = 0; pixel < pixels; ++pixel, in += step, to += kBlockColumns) {
#pragma GCC unroll 2
      for (int64_t lane = 0; lane < kBlockColumns; lane += kSimdWidth) {
        FloatVector x;
        LoadFirst(x, in + lane, count - lane, 0);
        *reinterpret_cast<UnalignedFloatVector*>(to + lane) = x;
      }
    }
  });
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE
