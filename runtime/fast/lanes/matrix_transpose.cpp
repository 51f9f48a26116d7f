#include "runtime/fast/lanes/matrix_transpose.h"

#include <algorithm>

#include "runtime/fast/lanes/lane_math.h"

namespace nnefc::runtime::NNEFC_LANES_NAMESPACE {

namespace {

NNEFC_IN_LANES inline void TransposeInLanes(const TransposedMatrix& matrix) {
  for (int64_t row = 0; row < matrix.rows; row += kLanes) {
    for (int64_t column = 0; column < matrix.columns; column += kLanes) {
      const int64_t rows = std::min(kLanes, matrix.rows - row);
      const int64_t columns = std::min(kLanes, matrix.columns - column);
      const float* from = matrix.from + row * matrix.from_stride + column;
      float* to = matrix.to + column * matrix.to_stride + row;
      if (rows == kLanes && columns == kLanes) {
        LaneFloats lanes[kLanes];
#pragma GCC unroll 16
        for (int64_t i = 0; i < kLanes; ++i)
          lanes[i] = *reinterpret_cast<const Lanes*>(from + i * matrix.from_stride);
        TransposeLanes(lanes);
#pragma GCC unroll 16
        for (int64_t i = 0; i < kLanes; ++i) *reinterpret_cast<Lanes*>(to + i * matrix.to_stride) = lanes[i];
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
  RunInLanes([&]() NNEFC_IN_LANES {
    const TransposedMatrix matrix = given;  // local copy, to exclude aliasing
    TransposeInLanes(matrix);
  });
}

}  // namespace nnefc::runtime::NNEFC_LANES_NAMESPACE
