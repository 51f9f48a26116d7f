// Depthwise int8 convolution with VNNI.

#include "runtime/fast/int8/convolution/dot4_depthwise.h"

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/processor.h"
#include "runtime/fast/simd/int8/dot4_depthwise_microkernel.h"
#include "runtime/tensor/round_up.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime::fast::int8 {

using kernels::Reason;
using simd::IndexRange;
using simd::kBlockColumns;
using simd::kQuad;
using simd::kQuadWeights;
using tensor::CeilDivide;
using tensor::RoundUp;

namespace {

constexpr int64_t kDepthwiseLineBytes = 64;  // cache line

// Returns the groups of taps per row. With stride 1 the odd results have their taps one position later.
int64_t TapQuadsOf(const kernels::WindowAxis& columns) {
  return CeilDivide(columns.size + (columns.stride == 1 ? 1 : 0), kQuad);
}

// Divides rows so that the images and results of all channels stay in a core's cache for all tiles.
Int8Grid DepthwiseGridOf(Int8ConvolutionShape form, int64_t element_bytes) {
  form.padded_channels = form.channels;
  return Int8Grid::Of(form, {.bytes = simd::L2Bytes(),
                             .number_bytes = sizeof(uint8_t),
                             .result_bytes = form.channels * element_bytes});
}

}  // namespace

Reason Dot4Depthwise::Applies(const Int8ConvolutionShape& form) {
  const kernels::WindowAxis& columns = form.columns;
  if (!HasVnni()) return Reason("needs VNNI");
  if (columns.size < 2) return Reason("a window of a single column");
  if (columns.dilation != 1) return Reason("a dilation of columns");
  return columns.stride <= 2 ? Reason() : Reason("a stride of {} columns, more than 2", columns.stride);
}

bool Dot4Depthwise::SwapColumn(Int8ConvolutionShape& form) {
  const kernels::WindowAxis& columns = form.columns;
  if (columns.input != 1 || columns.output != 1 || columns.size != 1 || columns.before != 0) return false;
  std::swap(form.rows, form.columns);
  return true;
}

tensor::Layout Dot4Depthwise::FilterLayout(llvm::ArrayRef<int64_t> filter, const Int8ConvolutionShape& form,
                                           bool is_swapped, memory::BlockedLayout::Form codes) {
  constexpr int kGroupsAndOutputs = 3;  // a bit for each axis
  const size_t taps = is_swapped ? filter.size() - 2 : filter.size() - 1;
  memory::BlockedFormat format = memory::RowMajorFormat(filter, memory::StorageType::kS8);
  format.padded_extents[0] = RoundUp(filter[0], kBlockColumns);
  format.padded_extents[taps] = TapQuadsOf(form.columns) * kQuad;
  format.num_blocks = 2;
  format.blocks[0] = {0, kBlockColumns};
  format.blocks[1] = {static_cast<int64_t>(taps), kQuad};
  int64_t stride = kQuadWeights;
  format.strides[taps] = stride;
  stride *= TapQuadsOf(form.columns);
  for (size_t axis = filter.size(); axis-- > 1;) {
    if (axis == taps) continue;
    format.strides[axis] = stride;
    stride *= filter[axis];
  }
  format.strides[0] = stride;
  format.sum_axes = kGroupsAndOutputs;
  return std::make_shared<memory::BlockedLayout>(std::move(format), std::move(codes));
}

Dot4Depthwise::Dot4Depthwise(const Int8ConvolutionShape& form, Int8Epilogue results,
                             llvm::ArrayRef<int32_t> zeros)
    : form_(form),
      grid_(DepthwiseGridOf(form, results.element_bytes())),
      column_parts_(1),
      sum_rows_(0),
      results_(std::move(results)),
      zeros_(zeros.begin(), zeros.end()) {
  if (zeros_.empty()) zeros_.assign(static_cast<size_t>(form.channels), form.zero);
  zeros_.resize(static_cast<size_t>(tiles() * kBlockColumns));
  // Interleaved rows stay in L1.
  constexpr int64_t kRingBytes = int64_t{20} << 10, kMinColumns = 24;
  const int64_t quads_of_row = kRingBytes / kQuadWeights / form_.rows.reach() - 2 * (quads() - 1);
  const int64_t columns = std::max(kMinColumns, form_.columns.stride == 1 ? 2 * quads_of_row : quads_of_row);
  column_parts_ = CeilDivide(form_.columns.output, columns);
  constexpr int64_t kPixels = 64;  // results whose accumulators stay in L1
  if (!results_.is_folded())
    sum_rows_ = column_parts_ > 1 ? 1 : std::max<int64_t>(1, kPixels / form_.columns.output);
}

int64_t Dot4Depthwise::tiles() const {
  return CeilDivide(form_.channels, kBlockColumns);
}
int64_t Dot4Depthwise::quads() const {
  return TapQuadsOf(form_.columns);
}
// Returns the groups of pixels that results of these columns need.
int64_t Dot4Depthwise::RowQuads(int64_t columns) const {
  return (form_.columns.stride == 1 ? CeilDivide(columns, 2) : columns) + 2 * (quads() - 1);
}
int64_t Dot4Depthwise::RowBytes() const {
  return RowQuads(CeilDivide(form_.columns.output, column_parts_)) * kQuadWeights;
}
int64_t Dot4Depthwise::ThreadBytes() const {
  const int64_t pixels = sum_rows_ * CeilDivide(form_.columns.output, column_parts_);
  return form_.rows.reach() * RowBytes() + pixels * kBlockColumns * int64_t{sizeof(int32_t)};
}

size_t Dot4Depthwise::scratch_bytes() const {
  return static_cast<size_t>(results_.scratch_floats()) * sizeof(float) +
         static_cast<size_t>(form_.threads * ThreadBytes() + kDepthwiseLineBytes);
}

kernels::FaultOr<Success> Dot4Depthwise::Run(const kernels::KernelRun& run) const {
  const tensor::ThreadScope scope(form_.threads);
  auto* columns = reinterpret_cast<float*>(run.scratch);
  const Call call = results_.CallOf(run, columns);
  auto address = reinterpret_cast<uintptr_t>(columns + results_.scratch_floats());
  address = (address + kDepthwiseLineBytes - 1) / kDepthwiseLineBytes * kDepthwiseLineBytes;
  auto* members = reinterpret_cast<uint8_t*>(address);
  tensor::RunTasks(grid_.Tasks(form_), form_.threads, [&](int64_t task, int member) {
    const auto [image, rows, tiles] = grid_.PartOf(form_, this->tiles(), task);
    uint8_t* own = members + member * ThreadBytes();
    const Buffers buffers{own, reinterpret_cast<int32_t*>(own + form_.rows.reach() * RowBytes())};
    Part part{.image = image, .tile = tiles.begin, .rows = rows, .columns = {}};
    for (; part.tile < tiles.end; ++part.tile) {
      for (int64_t i = 0; i < column_parts_; ++i) {
        part.columns = IndexRange{0, form_.columns.output}.Part(column_parts_, i);
        RunPart(call, part, buffers);
      }
    }
  });
  return Success();
}

void Dot4Depthwise::RunPart(const Call& call, const Part& part, const Buffers& buffers) const {
  const kernels::WindowAxis &rows = form_.rows, &columns = form_.columns;
  const int64_t channel = part.tile * kBlockColumns, weights_of_tile = rows.size * quads() * kQuadWeights;
  const int32_t* zeros = zeros_.data() + channel;
  const auto* less = reinterpret_cast<const int32_t*>(call.weights + tiles() * weights_of_tile) + channel;
  std::array<int32_t, kBlockColumns> start;
  std::array<uint8_t, kBlockColumns> border;
  for (size_t i = 0; i < start.size(); ++i) {
    start[i] = zeros[i] * less[i];
    border[i] = static_cast<uint8_t>(zeros[i]);
  }
  simd::PixelQuads quads{.pixels = nullptr,
                         .inputs = columns.input,
                         .stride = form_.channels,
                         .channels = std::min(kBlockColumns, form_.channels - channel),
                         .first = gemm::InputPosition(columns, part.columns.begin, 0),
                         .border = border.data(),
                         .quads = RowQuads(part.columns.count()),
                         .out = nullptr};
  const uint8_t* image = call.in + part.image * form_.in_size() + channel;
  llvm::SmallVector<const uint8_t*, 8> window(static_cast<size_t>(rows.size));
  simd::Dot4DepthwiseRow sums{.rows = window.data(),
                              .row_count = rows.size,
                              .quads = this->quads(),
                              .weights = call.weights + part.tile * weights_of_tile,
                              .start = start.data(),
                              .stride = columns.stride,
                              .pixels = part.columns.count(),
                              .sums = buffers.sums};
  // Row i of the part is interleaved at index i modulo reach: `oldest` is that of the window's first row.
  const int64_t reach = rows.reach(), row_bytes = RowBytes();
  const auto wrap = [&](int64_t index) { return index < reach ? index : index - reach; };
  int64_t next = gemm::InputPosition(rows, part.rows.begin, 0), next_index = 0, oldest = 0, stored = 0;
  for (int64_t row = part.rows.begin; row < part.rows.end; ++row) {
    const int64_t first = gemm::InputPosition(rows, row, 0);
    if (next < first) {  // rows between windows
      next = first;
      next_index = oldest;
    }
    for (; next < first + reach; ++next, next_index = wrap(next_index + 1)) {
      quads.pixels = next < 0 || next >= rows.input ? nullptr : image + next * columns.input * form_.channels;
      quads.out = buffers.rows + next_index * row_bytes;
      simd::InterleavePixels(quads);
    }
    for (int64_t tap = 0; tap < rows.size; ++tap)
      window[static_cast<size_t>(tap)] = buffers.rows + wrap(oldest + tap * rows.dilation) * row_bytes;
    oldest = rows.stride < reach ? wrap(oldest + rows.stride) : oldest;
    TilePosition at{part.image, row * columns.output + part.columns.begin, sums.pixels, part.tile};
    if (results_.is_folded()) {
      const simd::RequantizedResults codes = results_.MakerOf(at, call.out);
      sums.codes = &codes;
      simd::RunDot4Depthwise(sums);
      continue;
    }
    sums.sums = buffers.sums + stored * sums.pixels * kBlockColumns;
    simd::RunDot4Depthwise(sums);
    ++stored;
    if (stored < sum_rows_ && row + 1 < part.rows.end) continue;
    at.pixel -= (stored - 1) * columns.output;
    at.pixels = stored * sums.pixels;
    results_.Store(buffers.sums, at, call);
    stored = 0;
  }
}

}  // namespace nnefc::runtime::fast::int8
