// The image of the tests of Winograd microkernels.
#pragma once

#include "runtime/fast/simd/conv/winograd_microkernel.h"
#include "tests/unit/runtime/fast/simd/simd_test.h"

namespace nnefc::runtime::fast::simd {

// Rows of blocks of channels, with gaps between pixels and rows.
struct WinogradImage {
  int64_t rows, columns, pixel_stride = kBlockColumns;

  int64_t row_stride() const { return columns * pixel_stride + 5; }
  int64_t size() const { return (rows - 1) * row_stride() + (columns - 1) * pixel_stride + kBlockColumns; }
  bool Contains(int64_t row, int64_t column) const {
    return row >= 0 && row < rows && column >= 0 && column < columns;
  }
  // Returns `count` tiles whose first pixel may be in the border; their products are contiguous in `out`.
  ImageTiles TilesAt(const float* image, int64_t row, int64_t column, int64_t results, int64_t count,
                     float* out) const {
    return {.image = image,
            .row_stride = row_stride(),
            .pixel_stride = pixel_stride,
            .rows = rows,
            .columns = columns,
            .row = row,
            .column = column,
            .results = results,
            .count = count,
            .out = out,
            .stride = count * kBlockColumns};
  }
};

}  // namespace nnefc::runtime::fast::simd
