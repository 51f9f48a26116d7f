#include "runtime/fast/blocked_pooling.h"

#include <algorithm>
#include <limits>

#include "runtime/fast/dnnl_kernel.h"
#include "runtime/fast/dots.h"
#include "runtime/fast/lane_math.h"
#include "runtime/fast/window_tiles.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime {

namespace {

const Lanes& PooledLanes(const float* from) {
  return *reinterpret_cast<const Lanes*>(from);
}

// A place of a window along an axis: the taps that see the input, and how many elements a mean is of.
struct PoolPlace {
  Span taps;
  int64_t in;  // where the first of them sees it
  int64_t counted;
};

std::vector<PoolPlace> PlacesOf(const WindowAxis& axis, Pooled pooled) {
  std::vector<PoolPlace> places;
  for (int64_t i = 0; i < axis.output; ++i) {
    PoolPlace place{.taps = SeeingTaps(axis, i)};
    const int64_t first = i * axis.stride - axis.before;
    place.in = first + place.taps.begin * axis.dilation;
    // A window that is rounded up to reaches beyond the padding, which does not count.
    const int64_t padded = std::min(axis.size, DividedUp(axis.input + axis.after - first, axis.dilation));
    place.counted = pooled == Pooled::kMeanOfPadding ? padded : place.taps.count();
    places.push_back(place);
  }
  return places;
}

// Pixels of a row that see the same taps, each `in_pixel` behind the one before.
struct PoolTile {
  const float* in;
  int64_t in_pixel;
  int64_t rows, columns, in_row, in_column;
  float* out;
  float counted;
  // What windows behind these see, so many lines of a cache for each pixel.
  const float* next;
  int64_t next_lines;
};

struct MaximumOfLanes {
  static constexpr float kStart = -std::numeric_limits<float>::infinity();
  // Of equal ones the first stays, and NaN is passed over.
  NNEFC_IN_LANES static void Add(LaneSums& most, LaneSums x) {
    LimitFromBelow(x, most);
    most = x;
  }
  NNEFC_IN_LANES static void Finish(LaneSums&, float) {}
};

struct MeanOfLanes {
  static constexpr float kStart = 0;
  NNEFC_IN_LANES static void Add(LaneSums& sum, const LaneSums& x) { sum += x; }
  // sum / counted, rounded once, in less time than a division takes (VectorQuotient).
  NNEFC_IN_LANES static void Finish(LaneSums& sum, float counted) {
    if (counted == 0) {
      sum = LaneSums{};
      return;
    }
    const float inverse = 1.0f / counted;
    const LaneSums quotient = sum * inverse;
    const LaneSums rest = sum - quotient * counted;  // NaN of infinities
    sum = rest == rest ? quotient + rest * inverse : quotient;
  }
};

template <typename Of, int kPixels>
NNEFC_IN_LANES inline void PoolPixels(const PoolTile& tile, int64_t channels) {
  LaneSums sums[kPixels];
#pragma GCC unroll 8
  for (int i = 0; i < kPixels; ++i) sums[i] = LaneSums{} + Of::kStart;
  for (int64_t line = 0; line < tile.next_lines * kPixels; ++line)
    __builtin_prefetch(tile.next + line * kChannelBlock);
  for (int64_t row = 0; row < tile.rows; ++row) {
    const float* in = tile.in + row * tile.in_row;
    for (int64_t column = 0; column < tile.columns; ++column, in += tile.in_column) {
#pragma GCC unroll 8
      for (int i = 0; i < kPixels; ++i) {
        const LaneSums x = PooledLanes(in + i * tile.in_pixel);
        Of::Add(sums[i], x);
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kPixels; ++i) {
    Of::Finish(sums[i], tile.counted);
    if (channels < kChannelBlock) KeepLanes(sums[i], channels, 0);
    *reinterpret_cast<Lanes*>(tile.out + i * kChannelBlock) = sums[i];
  }
}

struct PoolForm {
  Pooled pooled;
  int64_t images, channels;
  WindowAxis rows, columns;
  int threads;

  int64_t blocks() const { return DividedUp(channels, kChannelBlock); }
  int64_t in_size() const { return rows.input * columns.input * kChannelBlock; }
  int64_t out_size() const { return rows.output * columns.output * kChannelBlock; }
  // Channels of a block of an image.
  int64_t ChannelsOf(int64_t plane) const {
    return std::min(kChannelBlock, channels - plane % blocks() * kChannelBlock);
  }
};

class BlockedPooling final : public Kernel {
 public:
  explicit BlockedPooling(const PoolForm& form)
      : form_(form), rows_(PlacesOf(form.rows, form.pooled)), columns_(PlacesOf(form.columns, form.pooled)) {
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
    const int64_t rows = form_.rows.output, taps = form_.rows.size * form_.columns.size;
    ParallelFor(form_.images * form_.blocks() * rows, form_.columns.output * taps * kChannelBlock,
                [&](int64_t index) {
                  const int64_t plane = index / rows, row = index % rows;
                  const float* from = in + plane * form_.in_size();
                  float* to = out + plane * form_.out_size() + row * form_.columns.output * kChannelBlock;
                  RunInLanes([&]() NNEFC_IN_LANES {
                    if (form_.pooled == Pooled::kMaximum) {
                      RunRow<MaximumOfLanes>(from, rows_[static_cast<size_t>(row)], plane, to);
                    } else {
                      RunRow<MeanOfLanes>(from, rows_[static_cast<size_t>(row)], plane, to);
                    }
                  });
                });
    return Success();
  }

 private:
  template <typename Of>
  NNEFC_IN_LANES void RunRow(const float* in, const PoolPlace& row, int64_t plane, float* out) const {
    constexpr int64_t kMany = 8, kSome = 4;
    const int64_t channels = form_.ChannelsOf(plane), end = inner_.end;
    int64_t column = 0;
    for (; column < inner_.begin; ++column) PoolPixels<Of, 1>(TileOf(in, row, column, out), channels);
    for (; column + kMany <= end; column += kMany)
      PoolPixels<Of, kMany>(TileOf(in, row, column, out), channels);
    // The last of some are made twice rather than few by themselves.
    for (; column < end && inner_.count() >= kSome; column += kSome)
      PoolPixels<Of, kSome>(TileOf(in, row, std::min(column, end - kSome), out), channels);
    for (column = std::min(column, end); column < form_.columns.output; ++column)
      PoolPixels<Of, 1>(TileOf(in, row, column, out), channels);
  }

  NNEFC_IN_LANES PoolTile TileOf(const float* in, const PoolPlace& row, int64_t place, float* out) const {
    const PoolPlace& column = columns_[static_cast<size_t>(place)];
    const int64_t pixel = row.in * form_.columns.input + place * next_lines_;
    return {.in = in + (row.in * form_.columns.input + column.in) * kChannelBlock,
            .in_pixel = form_.columns.stride * kChannelBlock,
            .rows = row.taps.count(),
            .columns = column.taps.count(),
            .in_row = form_.rows.dilation * form_.columns.input * kChannelBlock,
            .in_column = form_.columns.dilation * kChannelBlock,
            .out = out + place * kChannelBlock,
            .counted = static_cast<float>(row.counted * column.counted),
            .next = in + (pixel + next_pixels_) * kChannelBlock,
            .next_lines = next_lines_};
  }

  PoolForm form_;
  std::vector<PoolPlace> rows_, columns_;
  // Large images come from memory: their rows are too short for processors to see where this goes on.
  static constexpr int64_t kLargeImages = int64_t{1} << 20, kPixelsAhead = 192;
  int64_t next_lines_ = 0, next_pixels_ = 0;
  Span inner_;  // places along a row whose windows see the input by all taps
};

// Of whole images: a row-major matrix of a number for each image and channel.
class MeanOfImages final : public Kernel {
 public:
  explicit MeanOfImages(const PoolForm& form) : form_(form) {}

  std::string implementation() const override { return "nnefc:pooling"; }

  FaultOr<Success> Run(const KernelRun& run) const override {
    const ThreadScope scope(form_.threads);
    const auto* in = reinterpret_cast<const float*>(run.input(0).bytes());
    auto* out = reinterpret_cast<float*>(run.output().mutable_bytes());
    ParallelFor(form_.images * form_.blocks(), form_.in_size(), [&](int64_t plane) {
      const int64_t block = plane % form_.blocks(), image = plane / form_.blocks();
      LaneSums mean;
      AddPixels(in + plane * form_.in_size(), mean);
      std::copy_n(reinterpret_cast<const float*>(&mean), form_.ChannelsOf(plane),
                  out + image * form_.channels + block * kChannelBlock);
    });
    return Success();
  }

 private:
  void AddPixels(const float* in, LaneSums& mean) const {
    constexpr int kSums = 8;  // which do not wait for one another
    const int64_t pixels = form_.rows.input * form_.columns.input;
    RunInLanes([&]() NNEFC_IN_LANES {
      LaneSums sums[kSums] = {};
      int64_t pixel = 0;
      for (; pixel + kSums <= pixels; pixel += kSums) {
#pragma GCC unroll 8
        for (int i = 0; i < kSums; ++i) sums[i] += PooledLanes(in + (pixel + i) * kChannelBlock);
      }
      for (; pixel < pixels; ++pixel) sums[0] += PooledLanes(in + pixel * kChannelBlock);
#pragma GCC unroll 8
      for (int i = 1; i < kSums; ++i) sums[0] += sums[i];
      mean = sums[0] / static_cast<float>(pixels);
    });
  }

  PoolForm form_;
};

bool IsOfWholeImages(const PoolForm& form) {
  const auto is_whole = [](const WindowAxis& axis) {
    return axis.output == 1 && axis.size == axis.input && axis.before == 0 && axis.dilation == 1;
  };
  const bool counts_all =
      form.pooled == Pooled::kMeanOfInput ||
      (form.pooled == Pooled::kMeanOfPadding && form.rows.after >= 0 && form.columns.after >= 0);
  return counts_all && is_whole(form.rows) && is_whole(form.columns);
}

}  // namespace

std::optional<PreparedKernel> MakeBlockedPooling(const KernelRequest& request, Pooled pooled,
                                                 const Window& window) {
  using dnnl::memory;
  const ValueInfo& input = request.inputs[0];
  const size_t rank = input.shape.size();
  if (rank < 3 || rank > 4 || CodesOf(input) != nullptr || !HasLanes()) return std::nullopt;
  if (input.layout == nullptr || DescOf(input) != ChannelBlockedDesc(input.shape)) return std::nullopt;
  const PoolForm form{.pooled = pooled,
                      .images = input.shape[0],
                      .channels = input.shape[1],
                      .rows = window[1],
                      .columns = window[2],
                      .threads = CurrentThreads()};
  PreparedKernel prepared;
  prepared.inputs.resize(request.inputs.size());
  prepared.inputs[0] = input.layout;
  prepared.outputs.resize(request.outputs.size());
  if (IsOfWholeImages(form)) {
    prepared.kernel = std::make_shared<MeanOfImages>(form);
    return prepared;
  }
  if (request.outputs[0].shape.size() != rank) return std::nullopt;
  prepared.outputs[0] = LayoutOf(ChannelBlockedDesc(request.outputs[0].shape));
  prepared.kernel = std::make_shared<BlockedPooling>(form);
  return prepared;
}

}  // namespace nnefc::runtime
