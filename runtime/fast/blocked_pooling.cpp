#include "runtime/fast/blocked_pooling.h"

#include <algorithm>
#include <array>

#include "runtime/fast/dnnl_kernel.h"
#include "runtime/fast/lanes/pooling_tile.h"
#include "runtime/fast/window_tiles.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime {

namespace {

// An output position along an axis: its valid taps, and its divisor for averages.
struct PoolPlace {
  Span taps;
  int64_t in;  // input position of the first valid tap
  int64_t counted;
};

std::vector<PoolPlace> PlacesOf(const WindowAxis& axis, Pooled pooled) {
  std::vector<PoolPlace> places;
  for (int64_t i = 0; i < axis.output; ++i) {
    PoolPlace place{.taps = SeeingTaps(axis, i)};
    const int64_t first = i * axis.stride - axis.before;
    place.in = first + place.taps.begin * axis.dilation;
    // With rounding_type ceil, windows may extend past the padding; these elements do not count.
    const int64_t padded = std::min(axis.size, DividedUp(axis.input + axis.after - first, axis.dilation));
    place.counted = pooled == Pooled::kMeanOfPadding ? padded : place.taps.count();
    places.push_back(place);
  }
  return places;
}

struct PoolForm {
  Pooled pooled;
  int64_t images, channels;
  WindowAxis slices, rows, columns;
  int threads;

  int64_t blocks() const { return DividedUp(channels, kChannelBlock); }
  int64_t in_row() const { return columns.input * kChannelBlock; }
  int64_t in_slice() const { return rows.input * in_row(); }
  int64_t in_size() const { return slices.input * in_slice(); }
  // Returns the number of channels in a block of an image.
  int64_t ChannelsOf(int64_t plane) const {
    return std::min(kChannelBlock, channels - plane % blocks() * kChannelBlock);
  }
};

class BlockedPooling final : public Kernel {
 public:
  explicit BlockedPooling(const PoolForm& form)
      : form_(form),
        slices_(PlacesOf(form.slices, form.pooled)),
        rows_(PlacesOf(form.rows, form.pooled)),
        columns_(PlacesOf(form.columns, form.pooled)) {
    const auto sees_all = [&](const PoolPlace& place) {
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

  FaultOr<Success> Run(const KernelRun& run) const override {
    const ThreadScope scope(form_.threads);
    const auto* in = reinterpret_cast<const float*>(run.input(0).bytes());
    auto* out = reinterpret_cast<float*>(run.output().mutable_bytes());
    const int64_t slices = form_.slices.output, rows = form_.rows.output;
    const int64_t taps = form_.slices.size * form_.rows.size * form_.columns.size;
    ParallelFor(form_.images * form_.blocks() * slices * rows, form_.columns.output * taps * kChannelBlock,
                [&](int64_t index) {
                  const int64_t plane = index / (slices * rows);
                  const PoolPlace& slice = slices_[static_cast<size_t>(index / rows % slices)];
                  RunRow(in + plane * form_.in_size(), slice, rows_[static_cast<size_t>(index % rows)], plane,
                         out + index * form_.columns.output * kChannelBlock);
                });
    return Success();
  }

 private:
  void RunRow(const float* in, const PoolPlace& slice, const PoolPlace& row, int64_t plane,
              float* out) const {
    const PooledNumber pooled =
        form_.pooled == Pooled::kMaximum ? PooledNumber::kMaximum : PooledNumber::kMean;
    const float* first = in + slice.in * form_.in_slice() + row.in * form_.in_row();
    const int64_t end = inner_.end;
    PoolTile of_row = TileOf(slice, row);
    of_row.channels = form_.ChannelsOf(plane);
    const auto run = [&](int64_t pixels, int64_t column) {
      const PoolPlace& place = columns_[static_cast<size_t>(column)];
      PoolTile tile = of_row;
      tile.in = first + place.in * kChannelBlock;
      tile.columns = place.taps.count();
      tile.out = out + column * kChannelBlock;
      tile.counted *= static_cast<float>(place.counted);
      tile.next = first + (column * next_lines_ + next_pixels_) * kChannelBlock;
      RunPoolTile(pooled, pixels, tile);
    };
    int64_t column = 0;
    for (; column < inner_.begin; ++column) run(1, column);
    for (; column + kManyPooled <= end; column += kManyPooled) run(kManyPooled, column);
    // The last pixels are computed twice rather than one by one.
    for (; column < end && inner_.count() >= kSomePooled; column += kSomePooled)
      run(kSomePooled, std::min(column, end - kSomePooled));
    for (column = std::min(column, end); column < form_.columns.output; ++column) run(1, column);
  }

  // Returns the tile arguments common to all positions of a result row.
  PoolTile TileOf(const PoolPlace& slice, const PoolPlace& row) const {
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
  std::vector<PoolPlace> slices_, rows_, columns_;
  // Prefetch for large images, because rows are too short for the hardware prefetcher.
  static constexpr int64_t kLargeImages = int64_t{1} << 20, kPixelsAhead = 192;
  int64_t next_lines_ = 0, next_pixels_ = 0;
  Span inner_;  // positions along a row with all taps inside the input
};

// Global pooling: a row-major matrix with one number per image and channel.
class NumberOfImages final : public Kernel {
 public:
  explicit NumberOfImages(const PoolForm& form) : form_(form) {}

  std::string implementation() const override { return "nnefc:pooling"; }

  FaultOr<Success> Run(const KernelRun& run) const override {
    const ThreadScope scope(form_.threads);
    const auto* in = reinterpret_cast<const float*>(run.input(0).bytes());
    auto* out = reinterpret_cast<float*>(run.output().mutable_bytes());
    ParallelFor(form_.images * form_.blocks(), form_.in_size(), [&](int64_t plane) {
      const int64_t block = plane % form_.blocks(), image = plane / form_.blocks();
      std::array<float, kChannelBlock> numbers;
      const float* pixels = in + plane * form_.in_size();
      form_.pooled == Pooled::kMaximum ? TakeMaxima(pixels, numbers.data()) : TakeMeans(pixels, numbers);
      std::copy_n(numbers.data(), form_.ChannelsOf(plane),
                  out + image * form_.channels + block * kChannelBlock);
    });
    return Success();
  }

 private:
  int64_t pixels() const { return form_.in_size() / kChannelBlock; }
  // Accumulates in f32 for up to kMost pixels, a number without relevant loss of precision, then in f64.
  void TakeMeans(const float* in, std::array<float, kChannelBlock>& out) const {
    constexpr int64_t kMost = 512;
    if (pixels() <= kMost) return MeanOfPixels(in, pixels(), out.data());
    std::array<double, kChannelBlock> sums = {};
    for (int64_t pixel = 0; pixel < pixels(); pixel += kMost) {
      const int64_t count = std::min(kMost, pixels() - pixel);
      MeanOfPixels(in + pixel * kChannelBlock, count, out.data());
      for (size_t i = 0; i < sums.size(); ++i)
        sums[i] += static_cast<double>(out[i]) * static_cast<double>(count);
    }
    for (size_t i = 0; i < sums.size(); ++i)
      out[i] = static_cast<float>(sums[i] / static_cast<double>(pixels()));
  }
  // Treats all pixels as one row in order.
  void TakeMaxima(const float* pixels, float* out) const {
    RunPoolTile(PooledNumber::kMaximum, 1,
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
  const auto is_whole = [&](const WindowAxis& axis) {
    const bool counts_all = form.pooled != Pooled::kMeanOfPadding || axis.after >= 0;
    return counts_all && axis.output == 1 && axis.size == axis.input && axis.before == 0 &&
           axis.dilation == 1;
  };
  return is_whole(form.slices) && is_whole(form.rows) && is_whole(form.columns);
}

// Returns true if a row-major input is worth a reorder to nChw16c, because the alternative processes each
// image separately, about fifty times slower.
bool IsWorthBlocks(const ValueInfo& input) {
  constexpr int64_t kLeastChannels = 4;  // out of kBlockColumns
  return input.layout == nullptr && input.shape[1] >= kLeastChannels;
}

}  // namespace

std::optional<PreparedKernel> MakeBlockedPooling(const KernelRequest& request, Pooled pooled,
                                                 const Window& window) {
  using dnnl::memory;
  const ValueInfo& input = request.inputs[0];
  const size_t rank = input.shape.size();
  if (!HasLanes() || rank < 3 || rank > 5) return std::nullopt;
  const PoolForm form{.pooled = pooled,
                      .images = input.shape[0],
                      .channels = input.shape[1],
                      .slices = window[0],
                      .rows = window[1],
                      .columns = window[2],
                      .threads = CurrentThreads()};
  const bool is_whole = IsOfWholeImages(form);
  if (!LiesInBlocks(input) && (is_whole || !IsWorthBlocks(input))) return std::nullopt;
  PreparedKernel prepared;
  prepared.inputs.resize(request.inputs.size());
  prepared.inputs[0] = LiesInBlocks(input) ? input.layout : LayoutOf(ChannelBlockedDesc(input.shape));
  prepared.outputs.resize(request.outputs.size());
  if (is_whole) {
    prepared.kernel = std::make_shared<NumberOfImages>(form);
    return prepared;
  }
  if (request.outputs[0].shape.size() != rank) return std::nullopt;
  prepared.outputs[0] = LayoutOf(ChannelBlockedDesc(request.outputs[0].shape));
  prepared.kernel = std::make_shared<BlockedPooling>(form);
  return prepared;
}

}  // namespace nnefc::runtime
