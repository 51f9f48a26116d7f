// i32 convolution and matmul by microkernels with 16-bit operands.

#include "runtime/fast/int8/integer_gemm.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "llvm/ADT/SmallVector.h"
#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/int8/convolution/convolution_shape.h"
#include "runtime/fast/int8/dot4_gemm.h"
#include "runtime/fast/int8/int8_epilogue.h"
#include "runtime/fast/int8/integer_weights.h"
#include "runtime/fast/processor.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/int8/dot2_microkernel.h"
#include "runtime/fast/simd/loop_math.h"
#include "runtime/fast/simd/pointwise/transpose_microkernel.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/round_up.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime::fast::int8 {

using kernels::Reason;
using simd::kBlockColumns;

namespace {

constexpr int64_t kMaxIntegerCode = 255;
constexpr int64_t kIntegerImageAlignment = 64;  // bytes of a cache line

// The range of some numbers and 0.
struct IntegerRange {
  int32_t least = 0, most = 0;

  IntegerRange With(const IntegerRange& other) const {
    return {std::min(least, other.least), std::max(most, other.most)};
  }
};

IntegerRange RangeOf(std::span<const int32_t> numbers) {
  IntegerRange range;
  simd::Vectorized([&, from = numbers.data(), count = numbers.size()] {
    int32_t low = 0, high = 0;
    for (size_t i = 0; i < count; ++i) {
      low = from[i] < low ? from[i] : low;
      high = from[i] > high ? from[i] : high;
    }
    range = {low, high};
  });
  return range;
}

IntegerRange RangeInParts(std::span<const int32_t> numbers) {
  constexpr size_t kPart = size_t{1} << 16;
  std::vector<IntegerRange> ranges((numbers.size() + kPart - 1) / kPart);
  tensor::ParallelFor(static_cast<int64_t>(ranges.size()), static_cast<int64_t>(kPart), [&](int64_t part) {
    const size_t begin = static_cast<size_t>(part) * kPart;
    ranges[static_cast<size_t>(part)] =
        RangeOf(numbers.subspan(begin, std::min(kPart, numbers.size() - begin)));
  });
  IntegerRange range;
  for (const IntegerRange& part : ranges) range = range.With(part);
  return range;
}

IntegerRange RangeOf(const TensorValue& constant) {
  const TensorValue aligned = constant.Loaded().Aligned(alignof(int32_t));
  return RangeInParts(aligned.elements<int32_t>());
}

template <typename Number>
bool Fits(const IntegerRange& range) {
  return range.least >= std::numeric_limits<Number>::min() &&
         range.most <= std::numeric_limits<Number>::max();
}

// Converts `count` numbers to 16 bits, `stride` apart in `out`; returns true if all fit.
bool Narrow(const int32_t* in, int64_t count, int64_t stride, int16_t* out) {
  uint32_t beyond = 0;
  simd::Vectorized([&] {
    constexpr uint32_t kHalf = 1U << 15, kNumber = 0xFFFF;
    const auto narrow = [&](int64_t step) __attribute__((always_inline)) {
      uint32_t more = 0;
      for (int64_t i = 0; i < count; ++i) {
        more |= (static_cast<uint32_t>(in[i]) + kHalf) & ~kNumber;
        out[i * step] = static_cast<int16_t>(in[i]);
      }
      beyond = more;
    };
    stride == 1 ? narrow(1) : narrow(stride);
  });
  return beyond == 0;
}

// Integer convolution of images in NCHW, or matmul: rows are then pixels of a single column in NHWC.
template <typename Weight>
class IntegerGemm final : public kernels::Kernel {
 public:
  IntegerGemm(const Int8ConvolutionShape& form, bool is_rows, const WeightSizes& sizes)
      : form_(form),
        is_rows_(is_rows),
        sizes_(sizes),
        grid_(Int8Grid::Of(form, {.bytes = simd::L2Bytes(),
                                  .number_bytes = sizeof(int16_t),
                                  .cuts_rows_first = sizes.together == simd::kQuad && HasVnni()})),
        seen_(grid_.FirstTapOffsets(form)),
        strips_(TapStrips::Of(form)) {
    if (sizes.together == simd::kQuad) fours_.emplace(form, grid_);
  }

  std::string implementation() const override { return "nnefc:integers"; }
  size_t scratch_bytes() const {
    return static_cast<size_t>(form_.threads * ThreadBytes() + ImageSumBytes() + ImageCodeBytes());
  }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const tensor::ThreadScope scope(form_.threads);
    Call call{.in = run.input(0).data<int32_t>(),
              .weights = reinterpret_cast<const Weight*>(run.input(1).bytes()),
              .out = run.output().mutable_data<int32_t>()};
    if (has_images())
      ReadImages(call, reinterpret_cast<std::byte*>(run.scratch) + form_.threads * ThreadBytes());
    llvm::SmallVector<QuantizedRows, 16> codes(static_cast<size_t>(form_.threads));
    tensor::RunTasks(grid_.Tasks(form_), form_.threads, [&](int64_t task, int member) {
      Part part{grid_.PartOf(form_, tiles(), task)};
      std::byte* own = reinterpret_cast<std::byte*>(run.scratch) + member * ThreadBytes();
      llvm::SmallVector<uint32_t, 512> offsets;
      if (call.sums != nullptr) {
        FindWindowSums(call, part, offsets);
        part.offsets = offsets.data();
      }
      RunPart(call, part, codes[static_cast<size_t>(member)], own);
      if (sizes_.offset != 0 && is_rows_) AddOffsets(call, part);
    });
    return Success();
  }

 private:
  struct Call {
    const int32_t* in;
    const Weight* weights;
    int32_t* out;
    // Images in fours: the sums of the channels of each pixel if the weights have an offset, and NHWC images
    // less their minimum, null if the range of the numbers is larger than 8 bits.
    const uint32_t* sums = nullptr;
    const uint8_t* codes = nullptr;
    int32_t least = 0;
  };
  struct Part : Int8Grid::Part {
    const uint32_t* offsets = nullptr;  // added to the results of each pixel of an image; null for zeros
  };
  // The cached result of FindQuantizedNodes: the first row, whether the rows fit 8 bits (now in scratch
  // memory), and the minimum, quantized to 0.
  struct QuantizedRows {
    int64_t row = -1;
    bool are_codes = false;
    int32_t least = 0;
  };

  int64_t tiles() const { return tensor::CeilDivide(form_.outputs, kBlockColumns); }
  // All are multiples of a cache line.
  int64_t NumberBytes() const { return grid_.ThreadValues(form_) * int64_t{sizeof(int16_t)}; }
  int64_t CodeBytes() const { return fours_ && is_rows_ ? NumberBytes() : 0; }
  bool has_images() const { return fours_ && !is_rows_; }
  int64_t ImageSumBytes() const {
    const bool has_sums = has_images() && sizes_.offset != 0;
    return has_sums ? tensor::RoundUp(form_.images * in_pixels() * int64_t{sizeof(uint32_t)},
                                      kIntegerImageAlignment)
                    : 0;
  }
  int64_t ImageCodeBytes() const {
    return has_images() ? tensor::RoundUp(form_.images * form_.in_size(), kIntegerImageAlignment) : 0;
  }
  int64_t ThreadBytes() const { return NumberBytes() + CodeBytes() + (fours_ ? fours_->scratch_bytes() : 0); }
  int64_t in_pixels() const { return form_.rows.input * form_.columns.input; }
  const int32_t* ImageOf(const Call& call, int64_t image) const { return call.in + image * form_.in_size(); }

  void RunPart(const Call& call, const Part& part, QuantizedRows& codes, std::byte* own) const {
    auto* numbers = reinterpret_cast<int16_t*>(own);
    if (call.codes != nullptr) {
      fours_->SumQuantized(PartOf(call, part, own + NumberBytes()), call.codes + part.image * form_.in_size(),
                           -call.least, StoreOf(call, part));
      return;
    }
    if (fours_ && is_rows_ && RunQuantizedRows(call, part, codes, own + NumberBytes())) return;
    const bool fit = Fill(call, part, numbers);
    if (fours_ && fit) return RunFours(call, part, numbers, own + NumberBytes());
    for (int64_t tile = part.tiles.begin; tile < part.tiles.end; ++tile)
      RunTile(call, part, tile, fit ? numbers : nullptr);
  }

  // Reads NCHW images for products in fours: the members of the call after `out`.
  void ReadImages(Call& call, std::byte* scratch) const {
    constexpr int64_t kPixels = 16;  // pixels at once, with all channels in the first cache
    auto* sums = reinterpret_cast<uint32_t*>(scratch);
    auto* codes = reinterpret_cast<uint8_t*>(scratch + ImageSumBytes());
    const IntegerRange range = RangeInParts({call.in, static_cast<size_t>(form_.images * form_.in_size())});
    if (int64_t{range.most} - range.least <= kMaxIntegerCode) {
      call.codes = codes;
      call.least = range.least;
    }
    if (sizes_.offset != 0) call.sums = sums;
    const int64_t channels = form_.channels, pixels = in_pixels();
    const int64_t parts = tensor::CeilDivide(pixels, kPixels);
    tensor::ParallelFor(form_.images * parts, kPixels * channels, [&](int64_t task) {
      const int64_t image = task / parts, first = task % parts * kPixels;
      const int64_t count = std::min(kPixels, pixels - first);
      const int32_t* from = ImageOf(call, image) + first;
      if (sizes_.offset != 0) AddChannels(from, count, sums + image * pixels + first);
      if (call.codes == nullptr) return;
      llvm::SmallVector<float, 4096> transposed(static_cast<size_t>(count * channels));
      simd::TransposeMatrix({.from = reinterpret_cast<const float*>(from),
                             .from_stride = pixels,
                             .to = transposed.data(),
                             .to_stride = channels,
                             .rows = channels,
                             .columns = count});
      NarrowToBytes(reinterpret_cast<const int32_t*>(transposed.data()), count * channels, range.least,
                    codes + image * form_.in_size() + first * channels);
    });
  }
  static void NarrowToBytes(const int32_t* from, int64_t count, int32_t least, uint8_t* to) {
    simd::Vectorized([=] {
      // Local copies, to exclude aliasing.
      const int32_t* in = from;
      uint8_t* out = to;
      const int64_t numbers = count;
      const auto less = static_cast<uint32_t>(least);
      for (int64_t i = 0; i < numbers; ++i)
        out[i] = static_cast<uint8_t>(static_cast<uint32_t>(in[i]) - less);
    });
  }
  void AddChannels(const int32_t* from, int64_t pixels, uint32_t* sums) const {
    simd::Vectorized([=, channels = form_.channels, stride = in_pixels()] {
      for (int64_t i = 0; i < pixels; ++i) sums[i] = 0;
      for (int64_t channel = 0; channel < channels; ++channel) {
        const int32_t* numbers = from + channel * stride;
        for (int64_t i = 0; i < pixels; ++i) sums[i] += static_cast<uint32_t>(numbers[i]);
      }
    });
  }
  // Finds the sums of the windows of the pixels of a part, times the offset.
  void FindWindowSums(const Call& call, const Part& part, llvm::SmallVectorImpl<uint32_t>& offsets) const {
    const kernels::WindowAxis &rows = form_.rows, &columns = form_.columns;
    const uint32_t* sums = call.sums + part.image * in_pixels();
    for (int64_t y = part.rows.begin; y < part.rows.end; ++y) {
      for (int64_t x = 0; x < columns.output; ++x) {
        uint32_t sum = 0;
        for (int64_t i = 0; i < rows.size; ++i) {
          const int64_t row = gemm::InputPosition(rows, y, i);
          if (row < 0 || row >= rows.input) continue;
          for (int64_t j = 0; j < columns.size; ++j) {
            const int64_t column = gemm::InputPosition(columns, x, j);
            if (column >= 0 && column < columns.input) sum += sums[row * columns.input + column];
          }
        }
        offsets.push_back(sum * static_cast<uint32_t>(sizes_.offset));
      }
    }
  }

  // Adds the products of rows with the offset of the weights, modulo 2^32.
  void AddOffsets(const Call& call, const Part& part) const {
    const int64_t first = part.tiles.begin * kBlockColumns;
    simd::Vectorized([&, channels = form_.channels, offset = static_cast<uint32_t>(sizes_.offset),
                      count = std::min(form_.outputs, part.tiles.end * kBlockColumns) - first] {
      for (int64_t row = part.rows.begin; row < part.rows.end; ++row) {
        const int32_t* in = call.in + row * channels;
        uint32_t sum = 0;
        for (int64_t i = 0; i < channels; ++i) sum += static_cast<uint32_t>(in[i]);
        sum *= offset;
        int32_t* out = call.out + row * form_.outputs + first;
        for (int64_t i = 0; i < count; ++i)
          out[i] = static_cast<int32_t>(static_cast<uint32_t>(out[i]) + sum);
      }
    });
  }

  // Uses the 8-bit kernel for rows with a range of at most 8 bits, relative to a zero point. Returns false
  // without any effect if the range is larger or, without VNNI, if many values are far from the zero point.
  bool RunQuantizedRows(const Call& call, const Part& part, QuantizedRows& own, std::byte* scratch) const {
    auto* codes = reinterpret_cast<uint8_t*>(scratch);
    if (own.row != part.rows.begin) own = FindQuantizedNodes(call, part.rows, codes);
    return own.are_codes &&
           fours_->SumQuantized(PartOf(call, part, scratch), codes, -own.least, StoreOf(call, part));
  }
  QuantizedRows FindQuantizedNodes(const Call& call, const simd::IndexRange& rows, uint8_t* codes) const {
    const int64_t count = rows.count() * form_.channels;
    const int32_t* in = call.in + rows.begin * form_.channels;
    const IntegerRange range = RangeOf({in, static_cast<size_t>(count)});
    if (int64_t{range.most} - range.least > kMaxIntegerCode) return {.row = rows.begin};
    NarrowToBytes(in, count, range.least, codes);
    return {rows.begin, true, range.least};
  }

  void RunFours(const Call& call, const Part& part, const int16_t* numbers, std::byte* scratch) const {
    fours_->SumNumbers(PartOf(call, part, scratch), numbers, StoreOf(call, part));
  }

  // The part, relative to its own rows unless these are read in an image of codes.
  Dot4Gemm::Part PartOf(const Call& call, const Part& part, std::byte* scratch) const {
    return {.rows = call.codes != nullptr ? part.rows : simd::IndexRange{0, part.rows.count()},
            .tiles = part.tiles,
            .weights = reinterpret_cast<const int8_t*>(call.weights),
            .less_weights = reinterpret_cast<const int32_t*>(call.weights + sizes_.numbers()),
            .scratch = scratch + CodeBytes(),
            .out = is_rows_ ? call.out + part.rows.begin * form_.outputs : nullptr,
            .direct_tiles = is_rows_ ? form_.outputs / kBlockColumns : 0};
  }
  auto StoreOf(const Call& call, const Part& part) const {
    return [this, &call, &part](int64_t tile, const simd::IndexRange& pixels, const int32_t* sums) {
      Store(call, part, pixels.begin, pixels.count(), tile, sums);
    };
  }

  // Copies the input rows of a part as 16-bit numbers; returns true if all fit.
  bool Fill(const Call& call, const Part& part, int16_t* numbers) const {
    const int64_t first = gemm::InputPosition(form_.rows, part.rows.begin, 0),
                  count = form_.InputRowsFor(part.rows.count());
    const int64_t padded = form_.padded_channels, channels = form_.channels;
    const int32_t* image = ImageOf(call, part.image);
    if (padded != channels || !is_rows_) std::fill_n(numbers, count * form_.row_numbers(), int16_t{0});
    bool fit = true;
    if (is_rows_) {
      for (int64_t row = 0; row < count; ++row)
        fit &= Narrow(image + (first + row) * channels, channels, 1, numbers + row * padded);
      return fit;
    }
    if (form_.columns.output == 1 && form_.columns.size == 1 && form_.rows.size == 1 &&
        form_.rows.stride == 1) {
      for (int64_t channel = 0; channel < channels; ++channel)
        fit &= Narrow(image + channel * in_pixels() + first, count, padded, numbers + channel);
      return fit;
    }
    const kernels::WindowAxis& columns = form_.columns;
    const auto [begin, end] = form_.InputColumns();
    for (int64_t row = std::max<int64_t>(0, -first); row < std::min(count, form_.rows.input - first); ++row) {
      const int32_t* from = image + (first + row) * columns.input + begin - columns.before;
      int16_t* to = numbers + row * form_.row_numbers() + begin * padded;
      for (int64_t channel = 0; channel < channels; ++channel)
        fit &= Narrow(from + channel * in_pixels(), end - begin, padded, to + channel);
    }
    return fit;
  }

  // Computes pixels one after another in panels.
  void RunTile(const Call& call, const Part& part, int64_t tile, const int16_t* numbers) const {
    const auto strips = static_cast<int64_t>(strips_.places.size());
    const Weight* weights = call.weights + tile * sizes_.numbers_of_tile();
    std::array<int32_t, kMaxStoredPixels * kBlockColumns> sums;
    const int64_t pixels = part.rows.count() * form_.columns.output;
    const gemm::TilePanels panels(pixels);
    for (int64_t panel = 0; panel < panels.count(); ++panel) {
      const int64_t pixel = panels.Begin(panel), count = panels.RowsOf(panel);
      if (numbers == nullptr) {
        for (int64_t i = 0; i < count; ++i)
          SumOne(call, part, pixel + i, weights, sums.data() + i * kBlockColumns);
      } else {
        RunTileOf(count, {.numbers = numbers,
                          .seen = seen_.data() + pixel,
                          .strips = strips_.places.data(),
                          .strip_count = strips,
                          .pairs = strips_.pairs(),
                          .weights = weights,
                          .sums = sums.data()});
      }
      Store(call, part, pixel, count, tile, sums.data());
    }
  }

  static void RunTileOf(int64_t pixels, const simd::Dot2Tile<Weight>& tile) {
    if constexpr (std::is_same_v<Weight, int8_t>) {
      simd::RunInt8Dot2Microkernel(pixels, tile);
    } else {
      simd::RunInt16Dot2Microkernel(pixels, tile);
    }
  }

  void SumOne(const Call& call, const Part& part, int64_t pixel, const Weight* weights, int32_t* sums) const {
    const kernels::WindowAxis &rows = form_.rows, &columns = form_.columns;
    const int64_t place = part.rows.begin * columns.output + pixel;
    const int64_t channel_stride = is_rows_ ? 1 : in_pixels(), pixel_stride = is_rows_ ? form_.channels : 1;
    std::array<uint32_t, kBlockColumns> own = {};
    for (int64_t tap = 0; tap < rows.size * columns.size; ++tap) {
      const int64_t row = gemm::InputPosition(rows, place / columns.output, tap / columns.size);
      const int64_t column = gemm::InputPosition(columns, place % columns.output, tap % columns.size);
      if (row < 0 || row >= rows.input || column < 0 || column >= columns.input) continue;
      const int32_t* in = ImageOf(call, part.image) + (row * columns.input + column) * pixel_stride;
      for (int64_t channel = 0; channel < form_.channels; ++channel) {
        const Weight* own_weights = weights + sizes_.PlaceOf(tap, channel);
        const auto number = static_cast<uint32_t>(in[channel * channel_stride]);
        for (size_t i = 0; i < own.size(); ++i)
          own[i] +=
              number * static_cast<uint32_t>(int32_t{own_weights[static_cast<size_t>(sizes_.together) * i]});
      }
    }
    std::memcpy(sums, own.data(), sizeof(own));
  }

  void Store(const Call& call, const Part& part, int64_t first, int64_t pixels, int64_t tile,
             const int32_t* sums) const {
    const int64_t place = part.rows.begin * form_.columns.output + first, of_image = form_.out_pixels();
    const int64_t outputs = std::min(kBlockColumns, form_.outputs - tile * kBlockColumns);
    const int64_t output_stride = is_rows_ ? 1 : of_image, pixel_stride = is_rows_ ? form_.outputs : 1;
    int32_t* out = call.out + part.image * of_image * form_.outputs + place * pixel_stride +
                   tile * kBlockColumns * output_stride;
    if (is_rows_) {
      const auto store = [&](int64_t count) __attribute__((always_inline)) {
        for (int64_t pixel = 0; pixel < pixels; ++pixel)
          std::copy_n(sums + pixel * kBlockColumns, count, out + pixel * pixel_stride);
      };
      return outputs == kBlockColumns ? store(kBlockColumns) : store(outputs);
    }
    simd::TransposeMatrix({.from = reinterpret_cast<const float*>(sums),
                           .from_stride = kBlockColumns,
                           .to = reinterpret_cast<float*>(out),
                           .to_stride = output_stride,
                           .rows = pixels,
                           .columns = outputs});
    if (part.offsets == nullptr) return;
    simd::Vectorized([=, offsets = part.offsets + first] {
      for (int64_t output = 0; output < outputs; ++output) {
        int32_t* results = out + output * output_stride;
        for (int64_t pixel = 0; pixel < pixels; ++pixel)
          results[pixel] = static_cast<int32_t>(static_cast<uint32_t>(results[pixel]) + offsets[pixel]);
      }
    });
  }

  Int8ConvolutionShape form_;
  bool is_rows_;
  WeightSizes sizes_;
  Int8Grid grid_;
  std::vector<int32_t> seen_;
  TapStrips strips_;
  std::optional<Dot4Gemm> fours_;
};

Reason AreIntegers(const kernels::KernelRequest& request) {
  const auto is_plain = [](const kernels::ValueInfo& value) {
    return value.type == ElementType::kI32 && Volume(value.shape).value_or(0) > 0;
  };
  if (!simd::HasSimd()) return kNeedsSimd;
  if (!request.posts.empty() || request.inputs.size() != 2) return Reason("a fused operation");
  if (!is_plain(request.inputs[0]) || !is_plain(request.inputs[1]) || !is_plain(request.outputs[0]))
    return Reason("an operand or the result is empty or not i32");
  return request.inputs[1].constant == nullptr ? Reason("the right operand is not constant") : Reason();
}

kernels::KernelOrReason Prepare(const kernels::KernelRequest& request, const Int8ConvolutionShape& form,
                                bool is_rows, WeightSizes sizes) {
  constexpr int64_t kMaxNumbers = int64_t{1} << 30;  // within reach of 32-bit offsets
  if (form.InputRowsFor(form.rows.output) > kMaxNumbers / form.row_numbers())
    return Reason("an image with more than {} elements", kMaxNumbers);
  const IntegerRange range = RangeOf(*request.inputs[1].constant);
  if (!Fits<int16_t>(range)) return Reason("constants that do not fit into 16 bits");
  sizes.fit_bytes = Fits<int8_t>(range);
  constexpr int32_t kLeast = std::numeric_limits<int8_t>::min();
  const bool is_of_fours =
      (is_rows || HasVnni()) && form.channels % simd::kQuad == 0 && Dot4Gemm::Suits(form);
  if (!sizes.fit_bytes && is_of_fours && range.most - range.least <= kMaxIntegerCode) {
    sizes.offset = range.least - kLeast;
    sizes.fit_bytes = true;
  }
  if (sizes.fit_bytes && is_of_fours) sizes.together = simd::kQuad;
  kernels::PreparedKernel prepared;
  prepared.inputs = {nullptr, std::make_shared<IntegerWeights>(sizes)};
  prepared.outputs.resize(1);
  const auto finish = [&](auto kernel) {
    prepared.scratch_bytes = kernel->scratch_bytes();
    prepared.kernel = std::move(kernel);
  };
  if (sizes.fit_bytes) {
    finish(std::make_shared<IntegerGemm<int8_t>>(form, is_rows, sizes));
  } else {
    finish(std::make_shared<IntegerGemm<int16_t>>(form, is_rows, sizes));
  }
  return prepared;
}

}  // namespace

Reason IntegerConvolutionApplies(const kernels::KernelRequest& request) {
  const int64_t axes = static_cast<int64_t>(request.inputs[0].shape.size()) - 2;
  if (axes < 1 || axes > 2) return Reason("{} spatial axes", axes);
  return AreIntegers(request);
}

kernels::KernelOrReason MakeIntegerConvolution(const kernels::KernelRequest& request) {
  const llvm::ArrayRef<int64_t> input = request.inputs[0].shape, filter = request.inputs[1].shape;
  const kernels::Window window = gemm::WindowOfConvolution(request);
  const int64_t taps = *Volume(filter.drop_front(2));
  const WeightSizes sizes{.outputs = filter[0],
                          .inputs = filter[1],
                          .taps = taps,
                          .output_stride = filter[1] * taps,
                          .input_stride = taps,
                          .fit_bytes = false,
                          .together = 2};
  Int8ConvolutionShape form{.images = input[0],
                            .channels = filter[1],
                            .outputs = filter[0],
                            .padded_channels = tensor::RoundUp(filter[1], 2),
                            .rows = window[1],
                            .columns = window[2],
                            .zero = 0,
                            .threads = tensor::CurrentThreads()};
  form.MergePixelsIntoColumn();
  return Prepare(request, form, false, sizes);
}

Reason IntegerMatmulApplies(const kernels::KernelRequest& request) {
  const Shape &left = request.inputs[0].shape, &right = request.inputs[1].shape;
  if (left.size() < 2) return Reason("the left operand is a vector");
  if (right.size() != 2) return Reason("the right operand has {} axes", static_cast<int64_t>(right.size()));
  if (request.node->Bool("transpose_a")) return Reason("the left operand is transposed");
  return AreIntegers(request);
}

kernels::KernelOrReason MakeIntegerMatmul(const kernels::KernelRequest& request) {
  const llvm::ArrayRef<int64_t> left = request.inputs[0].shape, right = request.inputs[1].shape;
  const bool outputs_first = request.node->Bool("transpose_b");
  const int64_t outputs = right[outputs_first ? 0 : 1], inputs = right[outputs_first ? 1 : 0];
  const int64_t rows = *Volume(left.drop_back());
  const WeightSizes sizes{.outputs = outputs,
                          .inputs = inputs,
                          .taps = 1,
                          .output_stride = outputs_first ? inputs : 1,
                          .input_stride = outputs_first ? 1 : outputs,
                          .fit_bytes = false,
                          .together = 2};
  const Int8ConvolutionShape form{.images = 1,
                                  .channels = inputs,
                                  .outputs = outputs,
                                  .padded_channels = tensor::RoundUp(inputs, 2),
                                  .rows = {.input = rows, .output = rows},
                                  .columns = {},
                                  .zero = 0,
                                  .threads = tensor::CurrentThreads()};
  return Prepare(request, form, true, sizes);
}

}  // namespace nnefc::runtime::fast::int8
