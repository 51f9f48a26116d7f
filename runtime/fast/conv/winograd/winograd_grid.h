// The partition of images into tiles, by default of kWinogradResults x kWinogradResults results.
#pragma once

#include <algorithm>

#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/simd/conv/winograd_microkernel.h"

namespace nnefc::runtime::fast::conv {

struct WinogradGrid {
  int64_t images, rows, columns;  // tiles per image

  static WinogradGrid Of(int64_t images, const kernels::WindowAxis& rows, const kernels::WindowAxis& columns,
                         int64_t row_results = simd::kWinogradResults,
                         int64_t column_results = simd::kWinogradResults) {
    return {images, tensor::CeilDivide(rows.output, row_results),
            tensor::CeilDivide(columns.output, column_results)};
  }

  // Returns the number of tiles of all images, in row order.
  int64_t tiles() const { return images * rows * columns; }

  // Calls work(image, row, column, count, index) for horizontally adjacent tiles of a span; `index` is that
  // of the first one in the span.
  template <typename Work>
  void ForRows(const simd::IndexRange& span, const Work& work) const {
    for (int64_t tile = span.begin; tile < span.end;) {
      const int64_t column = tile % columns, count = std::min(columns - column, span.end - tile);
      work(tile / columns / rows, tile / columns % rows, column, count, tile - span.begin);
      tile += count;
    }
  }
};

}  // namespace nnefc::runtime::fast::conv
