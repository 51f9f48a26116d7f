#include "runtime/fast/gathered_windows.h"

#include <algorithm>
#include <cstring>

#include "runtime/fast/dense_product.h"
#include "runtime/fast/direct_convolution.h"
#include "runtime/fast/ways.h"
#include "runtime/fast/window_tiles.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime {

namespace {

constexpr int64_t kPixelBytes = kBlockColumns * sizeof(float);

// Returns true for row lengths that fill narrow tiles badly: seven pixels make tiles of three or four.
bool FillsTilesBadly(int64_t columns) {
  constexpr int64_t kFewPixels = 4;
  return columns >= kFewPixels && DividedUp(columns, DividedUp(columns, TilePixels())) <= kFewPixels;
}

}  // namespace

void GatheredWindows::Gather(const float* images, float* to) const {
  const int64_t plane = rows_.input * columns_.input * kBlockColumns;
  ParallelFor(images_ * blocks_ * taps(), pixels() * kBlockColumns, [&](int64_t task) {
    const int64_t tap = task % taps(), block = task / taps() % blocks_, image = task / taps() / blocks_;
    GatherTap(images + (image * blocks_ + block) * plane, tap,
              to + ((image * taps() + tap) * blocks_ + block) * pixels() * kBlockColumns);
  });
}

void GatheredWindows::GatherTap(const float* plane, int64_t tap, float* to) const {
  const int64_t row_tap = tap / columns_.size, column_tap = tap % columns_.size;
  const Span rows = SeeingPlaces(rows_, row_tap), columns = SeeingPlaces(columns_, column_tap);
  const int64_t step = columns_.stride * kBlockColumns;
  for (int64_t row = 0; row < rows_.output; ++row, to += columns_.output * kBlockColumns) {
    if (!rows.Has(row) || columns.count() == 0) {
      std::fill_n(to, columns_.output * kBlockColumns, 0.0f);
      continue;
    }
    const int64_t in_row = SeenBy(rows_, row, row_tap);
    const int64_t in_column = SeenBy(columns_, columns.begin, column_tap);
    const float* from = plane + (in_row * columns_.input + in_column) * kBlockColumns;
    std::fill_n(to, columns.begin * kBlockColumns, 0.0f);
    for (int64_t column = columns.begin; column < columns.end; ++column, from += step)
      std::memcpy(to + column * kBlockColumns, from, kPixelBytes);
    std::fill(to + columns.end * kBlockColumns, to + columns_.output * kBlockColumns, 0.0f);
  }
}

std::optional<PreparedKernel> MakeGatheredConvolution(const KernelRequest& request) {
  if (!request.way.empty() && request.way != kGathered) return std::nullopt;
  const llvm::ArrayRef<int64_t> filter = request.inputs[1].shape;
  const llvm::ArrayRef<int64_t> input = request.inputs[0].shape;
  if (filter.size() != 4 || filter[0] < kBlockColumns || filter[1] % kBlockColumns != 0 ||
      request.inputs[1].constant == nullptr)
    return std::nullopt;
  const Window window = WindowOfConvolution(request);
  const WindowAxis &rows = window[1], &columns = window[2];
  const bool is_pixel =
      rows.size * columns.size == 1 && rows.before + rows.after + columns.before + columns.after == 0;
  // Wide tiles hold the pixels of two such rows.
  const bool is_worth = LaneCount() == kNarrowLanes && (is_pixel || FillsTilesBadly(columns.output));
  if (request.way.empty() && !is_worth) return std::nullopt;
  const GatheredWindows windows(input[0], filter[1], rows, columns);
  // For many or large images one copy per tap is too expensive.
  constexpr int64_t kMostFloats = int64_t{4} << 20;
  if (windows.floats() > kMostFloats) return std::nullopt;
  const DenseSizes sizes{.images = input[0],
                         .rows = windows.pixels(),
                         .terms = windows.terms(),
                         .outputs = filter[0],
                         .is_blocked = true,
                         .inputs_first = false};
  KernelRequest product = request;
  product.way = {};
  return MakeDenseProduct(product, sizes, {.windows = windows, .filter = BlockedFilterLayout(filter)},
                          request.posts);
}

}  // namespace nnefc::runtime
