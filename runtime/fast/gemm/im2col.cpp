// im2col matrices of nChw16c images.

#include "runtime/fast/gemm/im2col.h"

#include <algorithm>
#include <cstring>

#include "runtime/fast/gemm/tiling.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime::fast::gemm {

using simd::kBlockColumns;

namespace {

constexpr int64_t kPixelBytes = kBlockColumns * sizeof(float);

}  // namespace

void Im2col::Gather(const float* images, float* to) const {
  const int64_t plane = rows_.input * columns_.input * kBlockColumns;
  tensor::ParallelFor(images_ * blocks_ * taps(), pixels() * kBlockColumns, [&](int64_t task) {
    const int64_t tap = task % taps(), block = task / taps() % blocks_, image = task / taps() / blocks_;
    GatherTap(images + (image * blocks_ + block) * plane, tap,
              to + ((image * taps() + tap) * blocks_ + block) * pixels() * kBlockColumns);
  });
}

void Im2col::GatherTap(const float* plane, int64_t tap, float* to) const {
  const int64_t row_tap = tap / columns_.size, column_tap = tap % columns_.size;
  const simd::IndexRange rows = ValidOutputs(rows_, row_tap), columns = ValidOutputs(columns_, column_tap);
  const int64_t step = columns_.stride * kBlockColumns;
  for (int64_t row = 0; row < rows_.output; ++row, to += columns_.output * kBlockColumns) {
    if (!rows.Has(row) || columns.count() == 0) {
      std::fill_n(to, columns_.output * kBlockColumns, 0.0f);
      continue;
    }
    const int64_t in_row = InputPosition(rows_, row, row_tap);
    const int64_t in_column = InputPosition(columns_, columns.begin, column_tap);
    const float* from = plane + (in_row * columns_.input + in_column) * kBlockColumns;
    std::fill_n(to, columns.begin * kBlockColumns, 0.0f);
    for (int64_t column = columns.begin; column < columns.end; ++column, from += step)
      std::memcpy(to + column * kBlockColumns, from, kPixelBytes);
    std::fill(to + columns.end * kBlockColumns, to + columns_.output * kBlockColumns, 0.0f);
  }
}

}  // namespace nnefc::runtime::fast::gemm
