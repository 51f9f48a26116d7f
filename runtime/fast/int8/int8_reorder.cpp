// Reorders and dequantization of int8 images.

#include "runtime/fast/int8/int8_reorder.h"

#include <algorithm>
#include <array>

#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/simd/dispatch.h"
#include "runtime/fast/simd/int8/uint8_transpose_microkernel.h"
#include "runtime/fast/simd/loop_math.h"
#include "runtime/fast/simd/pointwise/transpose_microkernel.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime::fast::int8 {

using memory::kChannelBlock;

namespace {

// The layout of images.
enum class ImageOrder : uint8_t { kRows, kChannelsLast16, kBlocks };

std::optional<ImageOrder> OrderOf(const memory::BlockedFormat& format) {
  const llvm::ArrayRef<int64_t> shape = format.shape();
  const memory::StorageType type = format.type;
  if (format == memory::RowMajorFormat(shape, type)) return ImageOrder::kRows;
  if (shape.size() < 3 || shape.size() > 5) return std::nullopt;
  if (format == memory::ChannelsLastFormat(shape, type)) return ImageOrder::kChannelsLast16;
  if (type == memory::StorageType::kF32 && format == memory::ChannelBlockedFormat(shape))
    return ImageOrder::kBlocks;
  return std::nullopt;
}

// The sizes of images.
struct ImageSizes {
  int64_t images, channels, pixels;

  // Returns the offset of a channel of an image.
  int64_t BeginOf(ImageOrder order, int64_t image, int64_t channel) const {
    switch (order) {
      case ImageOrder::kRows:
        return (image * channels + channel) * pixels;
      case ImageOrder::kChannelsLast16:
        return image * channels * pixels + channel;
      case ImageOrder::kBlocks:
        break;
    }
    const int64_t blocks = tensor::CeilDivide(channels, kChannelBlock);
    return (image * blocks + channel / kChannelBlock) * kChannelBlock * pixels + channel % kChannelBlock;
  }
  int64_t StepOf(ImageOrder order) const {
    return order == ImageOrder::kRows ? 1 : order == ImageOrder::kBlocks ? kChannelBlock : channels;
  }
};

template <typename Number>
class Int8Reorder final : public kernels::Kernel {
 public:
  Int8Reorder(const ImageSizes& sizes, ImageOrder from, ImageOrder to, const memory::ValueQuantization& codes)
      : sizes_(sizes), from_(from), to_(to), codes_(codes) {}

  std::string implementation() const override { return "nnefc:int8_reorder"; }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const auto* in = reinterpret_cast<const uint8_t*>(run.input(0).bytes());
    auto* out = reinterpret_cast<Number*>(run.output().mutable_bytes());
    if (from_ == to_) {
      tensor::ParallelParts(
          sizes_.images * sizes_.channels * sizes_.pixels,
          [=, this](int64_t begin, int64_t end) { Copy<1>(in + begin, 1, end - begin, out + begin, 1); });
      return Success();
    }
    if (from_ == ImageOrder::kRows && to_ == ImageOrder::kChannelsLast16 && sizes_.channels == kColors)
      return Interleave(in, out);
    if (std::is_same_v<Number, uint8_t> && from_ == ImageOrder::kRows && to_ == ImageOrder::kChannelsLast16 &&
        sizes_.pixels <= kFewPixels)
      return InterleaveFewPixels(in, out);
    // Partitions pixels: in NHWC layout several channel blocks share a cache line, which would cause false
    // sharing.
    constexpr int64_t kMinPixels = 2 * simd::kUint8Tile, kMaxPixels = 256;
    const int64_t parts = tensor::CeilDivide(
        sizes_.pixels, std::clamp(tensor::kParallelGrain / sizes_.channels, kMinPixels, kMaxPixels));
    tensor::ParallelFor(sizes_.images * parts, sizes_.pixels / parts * sizes_.channels, [&](int64_t task) {
      const simd::IndexRange pixels = simd::IndexRange{0, sizes_.pixels}.Part(parts, task % parts);
      if (TransposesTiles(pixels)) return Transpose(in, out, task / parts, pixels);
      for (int64_t channel = 0; channel < sizes_.channels; channel += kChannelBlock)
        CopyBlock(in, out, task / parts, channel, pixels);
    });
    return Success();
  }

 private:
  static constexpr int64_t kColors = 3, kFewChannels = 4, kFewPixels = 8, kTilePixels = 64;

  // Returns whether these pixels are transposed between planes and NHWC in whole tiles.
  bool TransposesTiles(const simd::IndexRange& pixels) const {
    const bool from_planes = from_ == ImageOrder::kRows && to_ == ImageOrder::kChannelsLast16;
    const bool to_planes = from_ == ImageOrder::kChannelsLast16 && to_ == ImageOrder::kRows;
    return simd::HasSimd() && (to_planes || (from_planes && std::is_same_v<Number, uint8_t>)) &&
           std::min(sizes_.channels, pixels.count()) >= simd::kUint8Tile;
  }

  void Transpose(const uint8_t* in, Number* out, int64_t image, const simd::IndexRange& pixels) const {
    const bool from_planes = from_ == ImageOrder::kRows;
    const int64_t out_step = sizes_.StepOf(to_);
    const simd::Uint8Matrix matrix = {
        .from = in + sizes_.BeginOf(from_, image, 0) + pixels.begin * sizes_.StepOf(from_),
        .from_stride = from_planes ? sizes_.pixels : sizes_.channels,
        .rows = from_planes ? sizes_.channels : pixels.count(),
        .columns = from_planes ? pixels.count() : sizes_.channels};
    Number* to = out + sizes_.BeginOf(to_, image, 0) + pixels.begin * out_step;
    const int64_t stride = from_planes ? sizes_.channels : sizes_.pixels;
    if constexpr (std::is_same_v<Number, float>) {
      simd::TransposeUint8ToFloats(matrix, {.scale = codes_.scale, .zero = codes_.zero}, to, stride);
    } else {
      simd::TransposeUint8(matrix, to, stride);
    }
  }

  // Interleaves images of a few pixels, too few for vectors.
  kernels::FaultOr<Success> InterleaveFewPixels(const uint8_t* in, Number* out) const {
    const int64_t channels = sizes_.channels, pixels = sizes_.pixels;
    tensor::ParallelFor(sizes_.images, channels * pixels, [=, this](int64_t image) {
      const auto number_of = NumberMaker();
      const uint8_t* from = in + image * channels * pixels;
      Number* to = out + image * channels * pixels;
      for (int64_t pixel = 0; pixel < pixels; ++pixel, to += channels) {
        for (int64_t channel = 0; channel < channels; ++channel)
          to[channel] = number_of(from[channel * pixels + pixel]);
      }
    });
    return Success();
  }

  // Interleaves images with three channels, typical network inputs.
  kernels::FaultOr<Success> Interleave(const uint8_t* in, Number* out) const {
    const int64_t pixels = sizes_.pixels;
    tensor::ParallelParts(sizes_.images * pixels, [=, this](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end;) {
        const int64_t pixel = i % pixels, count = std::min(end - i, pixels - pixel);
        const uint8_t* from = in + i / pixels * kColors * pixels + pixel;
        const uint8_t* colors[] = {from, from + pixels, from + 2 * pixels};
        CopyPixels(colors, count, out + i * kColors);
        i += count;
      }
    });
    return Success();
  }

  void CopyPixels(const uint8_t* const (&colors)[kColors], int64_t count, Number* out) const {
    const uint8_t *first = colors[0], *second = colors[1], *third = colors[2];
    const auto number_of = NumberMaker();
    for (int64_t i = 0; i < count; ++i, out += kColors) {
      const Number a = number_of(first[i]), b = number_of(second[i]), c = number_of(third[i]);
      out[0] = a;
      out[1] = b;
      out[2] = c;
    }
  }

  auto NumberMaker() const {
    const int zero = std::is_same_v<Number, float> ? codes_.zero : 0;
    const float scale = codes_.scale;
    return [=](uint8_t code) __attribute__((always_inline)) {
      if constexpr (std::is_same_v<Number, float>) {
        return scale * static_cast<float>(int{code} - zero);
      } else {
        return code;
      }
    };
  }

  // Copies up to kChannelBlock channels of several pixels; padding channels become 0.
  void CopyBlock(const uint8_t* in, Number* out, int64_t image, int64_t first,
                 const simd::IndexRange& pixels) const {
    const int64_t step = sizes_.StepOf(from_), out_step = sizes_.StepOf(to_);
    const auto from = [&](int64_t channel) {
      return in + sizes_.BeginOf(from_, image, channel) + pixels.begin * step;
    };
    const auto to = [&](int64_t channel) {
      return out + sizes_.BeginOf(to_, image, channel) + pixels.begin * out_step;
    };
    const int64_t count = std::min(kChannelBlock, sizes_.channels - first);
    if (from_ != ImageOrder::kRows && to_ != ImageOrder::kRows && count == kChannelBlock)
      return Copy<kChannelBlock>(from(first), step, pixels.count(), to(first), out_step);
    if (from_ == ImageOrder::kChannelsLast16 && to_ == ImageOrder::kBlocks) {
      // Whole blocks are read where they end within the images.
      const int64_t offset = sizes_.BeginOf(from_, image, first) + pixels.begin * step,
                    size = sizes_.images * sizes_.channels * sizes_.pixels;
      const int64_t within = size - offset < kChannelBlock ? 0 : (size - offset - kChannelBlock) / step + 1;
      const int64_t whole = std::min(pixels.count(), within);
      CopyPadded(in + offset, count, whole, to(first));
      for (int64_t pixel = whole; pixel < pixels.count(); ++pixel) {
        uint8_t codes[kChannelBlock] = {};
        std::copy_n(in + offset + pixel * step, count, codes);
        CopyPadded(codes, count, 1, to(first) + pixel * kChannelBlock);
      }
      return;
    }
    if (simd::HasSimd() && count >= kFewChannels &&
        (from_ == ImageOrder::kRows) != (to_ == ImageOrder::kRows)) {
      for (int64_t pixel = 0; pixel < pixels.count(); pixel += kTilePixels) {
        const int64_t some = std::min(kTilePixels, pixels.count() - pixel);
        TransposeTile(from(first) + pixel * step, {count, some}, to(first) + pixel * out_step);
      }
      if (to_ == ImageOrder::kBlocks) FillPadding(to(first), count, pixels.count());
      return;
    }
    for (int64_t channel = first; channel < first + count; ++channel)
      Copy<1>(from(channel), step, pixels.count(), to(channel), out_step);
    if (to_ == ImageOrder::kBlocks) FillPadding(to(first), count, pixels.count());
  }

  // Sets the channels of a block from `count` on to 0.
  static void FillPadding(Number* block, int64_t count, int64_t pixels) {
    for (int64_t channel = count; channel < kChannelBlock; ++channel) {
      for (int64_t pixel = 0; pixel < pixels; ++pixel) block[pixel * kChannelBlock + channel] = 0;
    }
  }

  struct Tile {
    int64_t channels, pixels;
  };
  // Transposes up to kChannelBlock channels of kTilePixels pixels as f32 in registers: between row-major
  // order and another one.
  void TransposeTile(const uint8_t* from, const Tile& tile, Number* to) const {
    const bool is_from_rows = from_ == ImageOrder::kRows;
    const int64_t in_lines = is_from_rows ? tile.channels : tile.pixels,
                  in_columns = is_from_rows ? tile.pixels : tile.channels;
    const int64_t in_step = is_from_rows ? sizes_.pixels : sizes_.channels,
                  out_step = to_ == ImageOrder::kRows ? sizes_.pixels : sizes_.StepOf(to_);
    std::array<float, kTilePixels * kChannelBlock> numbers, transposed;
    const auto maker = NumberMaker();
    simd::Vectorized([=, out = numbers.data()] {
      const auto number_of = maker;
      for (int64_t line = 0; line < in_lines; ++line) {
        const uint8_t* codes = from + line * in_step;
        float* values = out + line * in_columns;
        for (int64_t i = 0; i < in_columns; ++i) values[i] = static_cast<float>(number_of(codes[i]));
      }
    });
    constexpr bool kIsF32 = std::is_same_v<Number, float>;
    float* result = transposed.data();
    if constexpr (kIsF32) result = to;
    const int64_t stride = kIsF32 ? out_step : in_lines;
    simd::TransposeMatrix({.from = numbers.data(),
                           .from_stride = in_columns,
                           .to = result,
                           .to_stride = stride,
                           .rows = in_lines,
                           .columns = in_columns});
    if constexpr (!kIsF32) {
      simd::Vectorized([=] {
        for (int64_t line = 0; line < in_columns; ++line) {
          const float* values = result + line * in_lines;
          Number* codes = to + line * out_step;
          for (int64_t i = 0; i < in_lines; ++i)
            codes[i] = static_cast<uint8_t>(static_cast<int32_t>(values[i]));
        }
      });
    }
  }

  // Copies the first `count` channels of a block of several pixels, and zeros for the others. Reads whole
  // blocks.
  void CopyPadded(const uint8_t* from, int64_t count, int64_t pixels, Number* to) const {
    const auto maker = NumberMaker();
    const int64_t given_step = sizes_.channels;
    simd::Vectorized([=] {
      // Local copies, to exclude aliasing with stores.
      const auto number_of = maker;
      const uint8_t* in = from;
      Number* out = to;
      const int64_t step = given_step, end = pixels;
      const auto channels = static_cast<int32_t>(count);
      for (int64_t pixel = 0; pixel < end; ++pixel, in += step, out += kChannelBlock) {
        for (int32_t each = 0; each < int32_t{kChannelBlock}; ++each)
          out[each] = each < channels ? number_of(in[each]) : Number{0};
      }
    });
  }

  // Copies `kEach` elements at each of `count` positions.
  template <int64_t kEach>
  void Copy(const uint8_t* from, int64_t step, int64_t count, Number* to, int64_t out_step) const {
    const auto maker = NumberMaker();
    simd::Vectorized([=] {
      // Local copies, to exclude aliasing with stores.
      const auto number_of = maker;
      const uint8_t* in = from;
      Number* out = to;
      const int64_t places = count, in_step = step, step_of_out = out_step;
      if (kEach == 1 && in_step == 1 && step_of_out == 1) {
        for (int64_t i = 0; i < places; ++i) out[i] = number_of(in[i]);
        return;
      }
      for (int64_t i = 0; i < places; ++i, in += in_step, out += step_of_out) {
        for (int64_t each = 0; each < kEach; ++each) out[each] = number_of(in[each]);
      }
    });
  }

  ImageSizes sizes_;
  ImageOrder from_, to_;
  memory::ValueQuantization codes_;
};

}  // namespace

std::shared_ptr<const kernels::Kernel> MakeInt8Reorder(const memory::BlockedFormat& from,
                                                       const memory::ValueQuantization& codes,
                                                       const memory::BlockedFormat& to, bool to_codes) {
  const llvm::ArrayRef<int64_t> shape = from.shape();
  if (to.shape() != shape || from.type != memory::StorageType::kU8) return nullptr;
  if (to.type != (to_codes ? memory::StorageType::kU8 : memory::StorageType::kF32)) return nullptr;
  const std::optional<ImageOrder> order = OrderOf(from), wanted = OrderOf(to);
  if (!order || !wanted) return nullptr;
  ImageSizes sizes{.images = 1, .channels = 1, .pixels = 1};
  for (size_t axis = 0; axis < shape.size(); ++axis)
    (axis == 0 ? sizes.images : axis == 1 ? sizes.channels : sizes.pixels) *= shape[axis];
  if (to_codes) return std::make_shared<Int8Reorder<uint8_t>>(sizes, *order, *wanted, codes);
  return std::make_shared<Int8Reorder<float>>(sizes, *order, *wanted, codes);
}

}  // namespace nnefc::runtime::fast::int8
