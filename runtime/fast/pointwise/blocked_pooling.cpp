// Max and average pooling of nChw16c images.

#include "runtime/fast/pointwise/blocked_pooling.h"

#include <algorithm>
#include <array>

#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/pointwise/pooling_microkernel.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime::fast::pointwise {

using kernels::Reason;
using memory::kChannelBlock;

namespace {

// An output position along an axis: its valid taps, and its divisor for averages.
struct PoolingPosition {
  simd::IndexRange taps;
  int64_t in;  // input position of the first valid tap
  int64_t counted;
};

std::vector<PoolingPosition> PlacesOf(const kernels::WindowAxis& axis, PoolingKind pooled) {
  std::vector<PoolingPosition> places;
  for (int64_t i = 0; i < axis.output; ++i) {
    PoolingPosition place{.taps = gemm::ValidTaps(axis, i)};
    const int64_t first = i * axis.stride - axis.before;
    place.in = first + place.taps.begin * axis.dilation;
    // With rounding_type ceil, windows may extend past the padding; these elements do not count.
    const int64_t padded =
        std::min(axis.size, tensor::CeilDivide(axis.input + axis.after - first, axis.dilation));
    place.counted = pooled == PoolingKind::kAverageIncludingPadding ? padded : place.taps.count();
    places.push_back(place);
  }
  return places;
}

struct PoolForm {
  PoolingKind pooled;
  int64_t images, channels;
  kernels::WindowAxis slices, rows, columns;
  int threads;

  int64_t blocks() const { return tensor::CeilDivide(channels, kChannelBlock); }
  int64_t in_row() const { return columns.input * kChannelBlock; }
  int64_t in_slice() const { return rows.input * in_row(); }
  int64_t in_size() const { return slices.input * in_slice(); }
  // Returns the number of channels in a block of an image.
  int64_t ChannelsOf(int64_t plane) const {
    return std::min(kChannelBlock, channels - plane % blocks() * kChannelBlock);
  }
};

class BlockedPooling final : public kernels::Kernel {
 public:
  explicit BlockedPooling(const PoolForm& form)
      : form_(form),
        slices_(PlacesOf(form.slices, form.pooled)),
        rows_(PlacesOf(form.rows, form.pooled)),
        columns_(PlacesOf(form.columns, form.pooled)) {
    const auto sees_all = [&](const PoolingPosition& place) {
      return place.taps.count() == form.columns.size && place.counted == form.columns.size;
    };
    const auto begin = std::find_if(columns_.begin(), columns_.end(), sees_all);
    const auto end = std::find_if_not(begin, columns_.end(), sees_all);
    inner_ = {begin - columns_.begin(), end - columns_.begin()};
    const int64_t bytes = form.images * form.blocks() * form.in_size() * int64_t{sizeof(float)};
    if (bytes > kLargeImages) next_lines_ = form.rows.stride * form.columns.stride;
    next_pixels_ = std::max(kPixelsAhead, form.rows.reach() * form.columns.input);
  }

  std::string implementation() const override { return "nnefc:pooling"; }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const tensor::ThreadScope scope(form_.threads);
    const auto* in = reinterpret_cast<const float*>(run.input(0).bytes());
    auto* out = reinterpret_cast<float*>(run.output().mutable_bytes());
    const int64_t slices = form_.slices.output, rows = form_.rows.output;
    const int64_t taps = form_.slices.size * form_.rows.size * form_.columns.size;
    tensor::ParallelFor(form_.images * form_.blocks() * slices * rows,
                        form_.columns.output * taps * kChannelBlock, [&](int64_t index) {
                          const int64_t plane = index / (slices * rows);
                          const PoolingPosition& slice = slices_[static_cast<size_t>(index / rows % slices)];
                          RunRow(in + plane * form_.in_size(), slice,
                                 rows_[static_cast<size_t>(index % rows)], plane,
                                 out + index * form_.columns.output * kChannelBlock);
                        });
    return Success();
  }

 private:
  void RunRow(const float* in, const PoolingPosition& slice, const PoolingPosition& row, int64_t plane,
              float* out) const {
    const simd::PoolingReduction pooled = form_.pooled == PoolingKind::kMaximum
                                              ? simd::PoolingReduction::kMaximum
                                              : simd::PoolingReduction::kMean;
    const float* first = in + slice.in * form_.in_slice() + row.in * form_.in_row();
    const int64_t end = inner_.end;
    simd::PoolingTile of_row = TileOf(slice, row);
    of_row.channels = form_.ChannelsOf(plane);
    const auto run = [&](int64_t pixels, int64_t column) {
      const PoolingPosition& place = columns_[static_cast<size_t>(column)];
      simd::PoolingTile tile = of_row;
      tile.in = first + place.in * kChannelBlock;
      tile.columns = place.taps.count();
      tile.out = out + column * kChannelBlock;
      tile.counted *= static_cast<float>(place.counted);
      tile.next = first + (column * next_lines_ + next_pixels_) * kChannelBlock;
      simd::RunPoolingMicrokernel(pooled, pixels, tile);
    };
    int64_t column = 0;
    for (; column < inner_.begin; ++column) run(1, column);
    for (; column + simd::kPooledPixels8 <= end; column += simd::kPooledPixels8)
      run(simd::kPooledPixels8, column);
    // The last pixels are computed twice rather than one by one.
    for (; column < end && inner_.count() >= simd::kPooledPixels4; column += simd::kPooledPixels4)
      run(simd::kPooledPixels4, std::min(column, end - simd::kPooledPixels4));
    for (column = std::min(column, end); column < form_.columns.output; ++column) run(1, column);
  }

  // Returns the tile arguments common to all positions of a result row.
  simd::PoolingTile TileOf(const PoolingPosition& slice, const PoolingPosition& row) const {
    return {.in = nullptr,
            .in_pixel = form_.columns.stride * kChannelBlock,
            .slices = slice.taps.count(),
            .rows = row.taps.count(),
            .columns = 0,
            .in_slice = form_.slices.dilation * form_.in_slice(),
            .in_row = form_.rows.dilation * form_.in_row(),
            .in_column = form_.columns.dilation * kChannelBlock,
            .out = nullptr,
            .counted = static_cast<float>(slice.counted * row.counted),
            .channels = kChannelBlock,
            .next = nullptr,
            .next_lines = next_lines_};
  }

  PoolForm form_;
  std::vector<PoolingPosition> slices_, rows_, columns_;
  // Prefetch for large images, because rows are too short for the hardware prefetcher.
  static constexpr int64_t kLargeImages = int64_t{1} << 20, kPixelsAhead = 192;
  int64_t next_lines_ = 0, next_pixels_ = 0;
  simd::IndexRange inner_;  // positions along a row with all taps inside the input
};

// Global pooling: a row-major matrix with one number per image and channel.
class NumberOfImages final : public kernels::Kernel {
 public:
  explicit NumberOfImages(const PoolForm& form) : form_(form) {}

  std::string implementation() const override { return "nnefc:pooling"; }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const tensor::ThreadScope scope(form_.threads);
    const auto* in = reinterpret_cast<const float*>(run.input(0).bytes());
    auto* out = reinterpret_cast<float*>(run.output().mutable_bytes());
    tensor::ParallelFor(form_.images * form_.blocks(), form_.in_size(), [&](int64_t plane) {
      const int64_t block = plane % form_.blocks(), image = plane / form_.blocks();
      std::array<float, kChannelBlock> numbers;
      const float* pixels = in + plane * form_.in_size();
      form_.pooled == PoolingKind::kMaximum ? TakeMaxima(pixels, numbers.data()) : TakeMeans(pixels, numbers);
      std::copy_n(numbers.data(), form_.ChannelsOf(plane),
                  out + image * form_.channels + block * kChannelBlock);
    });
    return Success();
  }

 private:
  int64_t pixels() const { return form_.in_size() / kChannelBlock; }
  // Accumulates in f32 for up to kMax pixels, a number without relevant loss of precision, then in f64.
  void TakeMeans(const float* in, std::array<float, kChannelBlock>& out) const {
    constexpr int64_t kMax = 512;
    if (pixels() <= kMax) return simd::AveragePixels(in, pixels(), out.data());
    std::array<double, kChannelBlock> sums = {};
    for (int64_t pixel = 0; pixel < pixels(); pixel += kMax) {
      const int64_t count = std::min(kMax, pixels() - pixel);
      simd::AveragePixels(in + pixel * kChannelBlock, count, out.data());
      for (size_t i = 0; i < sums.size(); ++i)
        sums[i] += static_cast<double>(out[i]) * static_cast<double>(count);
    }
    for (size_t i = 0; i < sums.size(); ++i)
      out[i] = static_cast<float>(sums[i] / static_cast<double>(pixels()));
  }
  // Treats all pixels as one row in order.
  void TakeMaxima(const float* pixels, float* out) const {
    simd::RunPoolingMicrokernel(simd::PoolingReduction::kMaximum, 1,
                                {.in = pixels,
                                 .in_pixel = kChannelBlock,
                                 .slices = 1,
                                 .rows = 1,
                                 .columns = this->pixels(),
                                 .in_slice = 0,
                                 .in_row = 0,
                                 .in_column = kChannelBlock,
                                 .out = out,
                                 .counted = 1,
                                 .channels = kChannelBlock,
                                 .next = pixels,
                                 .next_lines = 0});
  }

  PoolForm form_;
};

bool IsOfWholeImages(const PoolForm& form) {
  const auto is_whole = [&](const kernels::WindowAxis& axis) {
    const bool counts_all = form.pooled != PoolingKind::kAverageIncludingPadding || axis.after >= 0;
    return counts_all && axis.output == 1 && axis.size == axis.input && axis.before == 0 &&
           axis.dilation == 1;
  };
  return is_whole(form.slices) && is_whole(form.rows) && is_whole(form.columns);
}

PoolForm PoolFormOf(const kernels::KernelRequest& request, PoolingKind pooled,
                    const kernels::Window& window) {
  return {.pooled = pooled,
          .images = request.inputs[0].shape[0],
          .channels = request.inputs[0].shape[1],
          .slices = window[0],
          .rows = window[1],
          .columns = window[2],
          .threads = tensor::CurrentThreads()};
}

}  // namespace

Reason BlockedPoolingApplies(const kernels::KernelRequest& request, PoolingKind pooled,
                             const kernels::Window& window) {
  const kernels::ValueInfo& input = request.inputs[0];
  const size_t rank = input.shape.size();
  if (!simd::HasSimd()) return kNeedsSimd;
  if (rank < 3 || rank > 5) return Reason("{} spatial axes", static_cast<int64_t>(rank) - 2);
  const bool is_whole = IsOfWholeImages(PoolFormOf(request, pooled, window));
  if (is_whole && !memory::IsChannelBlocked(input)) return Reason("whole images that are not nChw16c");
  if (!memory::IsChannelBlocked(input) && input.layout != nullptr)
    return Reason("the input is neither nChw16c nor row-major");
  if (!is_whole && request.outputs[0].shape.size() != rank) return Reason("the result has fewer axes");
  return Reason();
}

// A row-major input is worth a reorder to nChw16c, because the alternative processes each image separately,
// about fifty times slower (processor not recorded).
kernels::Cost BlockedPoolingCost(const kernels::KernelRequest& request) {
  constexpr int64_t kMinChannels = 4;  // out of kBlockColumns
  const kernels::ValueInfo& input = request.inputs[0];
  if (memory::IsChannelBlocked(input) || input.shape[1] >= kMinChannels) return {1};
  return kernels::Cost::NotByDefault(Reason("{} channels, fewer than {}", input.shape[1], kMinChannels));
}

kernels::PreparedKernel MakeBlockedPooling(const kernels::KernelRequest& request, PoolingKind pooled,
                                           const kernels::Window& window) {
  const kernels::ValueInfo& input = request.inputs[0];
  const PoolForm form = PoolFormOf(request, pooled, window);
  kernels::PreparedKernel prepared;
  prepared.inputs.resize(request.inputs.size());
  prepared.inputs[0] = memory::IsChannelBlocked(input)
                           ? input.layout
                           : memory::LayoutOf(memory::ChannelBlockedFormat(input.shape));
  prepared.outputs.resize(request.outputs.size());
  if (IsOfWholeImages(form)) {
    prepared.kernel = std::make_shared<NumberOfImages>(form);
    return prepared;
  }
  prepared.outputs[0] = memory::LayoutOf(memory::ChannelBlockedFormat(request.outputs[0].shape));
  prepared.kernel = std::make_shared<BlockedPooling>(form);
  return prepared;
}

}  // namespace nnefc::runtime::fast::pointwise
