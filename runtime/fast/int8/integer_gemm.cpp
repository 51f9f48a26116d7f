// i32 convolution and matmul by microkernels with 16-bit operands.

#include "runtime/fast/int8/integer_gemm.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "fmt/core.h"
#include "llvm/ADT/SmallVector.h"
#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/int8/convolution/convolution_shape.h"
#include "runtime/fast/int8/dot4_gemm.h"
#include "runtime/fast/int8/int8_epilogue.h"
#include "runtime/fast/processor.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/int8/dot2_microkernel.h"
#include "runtime/fast/simd/loop_math.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/round_up.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime::fast::int8 {

using kernels::Reason;
using simd::kBlockColumns;

namespace {

// The extents of integer weights, and their strides in the constant.
struct WeightSizes {
  int64_t outputs, inputs, taps;
  int64_t output_stride, input_stride;  // taps are contiguous
  bool fit_bytes;
  int64_t together;  // interleaved inputs: 2 or kQuad
  // Subtracted from the weights of a matmul, so that those with a zero point of their own fit bytes. The sum
  // of a row times this number is added to its results.
  int32_t offset = 0;

  int64_t tiles() const { return tensor::CeilDivide(outputs, kBlockColumns); }
  int64_t padded_inputs() const { return tensor::RoundUp(inputs, together); }
  int64_t numbers_of_tile() const { return taps * padded_inputs() * kBlockColumns; }
  int64_t numbers() const { return tiles() * numbers_of_tile(); }
  // After the weights, if interleaved by four: the negative sum of the weights of each output.
  int64_t sums() const { return together == simd::kQuad ? tiles() * kBlockColumns : 0; }
  // Returns the offset of the first output of a tile; consecutive outputs are `together` apart.
  int64_t PlaceOf(int64_t tap, int64_t input) const {
    const int64_t first = tap * padded_inputs() + input / together * together;
    return first * kBlockColumns + input % together;
  }
  bool operator==(const WeightSizes&) const = default;
};

// The packing for Dot2Tile and Dot4Tile: tiles of outputs, then taps, then interleaved inputs.
class IntegerWeights final : public tensor::OpaqueLayout {
 public:
  explicit IntegerWeights(const WeightSizes& sizes) : sizes_(sizes) {}

  const WeightSizes& sizes() const { return sizes_; }
  size_t byte_size() const override {
    return static_cast<size_t>(sizes_.numbers()) * (sizes_.fit_bytes ? sizeof(int8_t) : sizeof(int16_t)) +
           static_cast<size_t>(sizes_.sums()) * sizeof(int32_t);
  }
  bool Equals(const tensor::OpaqueLayout& other) const override {
    const auto* same = dynamic_cast<const IntegerWeights*>(&other);
    return same != nullptr && same->sizes_ == sizes_;
  }
  std::string ToString() const override {
    return sizes_.together == simd::kQuad ? "fours of i8" : sizes_.fit_bytes ? "pairs of i8" : "pairs of i16";
  }
  std::string Key() const override {
    return fmt::format("integer weights {} {} {} {} {} {} {} {}", sizes_.outputs, sizes_.inputs, sizes_.taps,
                       sizes_.output_stride, sizes_.input_stride, sizes_.fit_bytes, sizes_.together,
                       sizes_.offset);
  }

 private:
  WeightSizes sizes_;
};

class IntegerReorder final : public kernels::Kernel {
 public:
  explicit IntegerReorder(const WeightSizes& sizes) : sizes_(sizes) {}
  std::string implementation() const override { return "nnefc:pairs"; }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const auto* in = run.input(0).data<int32_t>();
    std::byte* out = run.output().mutable_bytes();
    sizes_.fit_bytes ? Pack(in, reinterpret_cast<int8_t*>(out)) : Pack(in, reinterpret_cast<int16_t*>(out));
    return Success();
  }

 private:
  template <typename Weight>
  void Pack(const int32_t* in, Weight* out) const {
    const int64_t of_tile = sizes_.numbers_of_tile();
    tensor::ParallelFor(sizes_.tiles(), of_tile, [&](int64_t tile) {
      const int64_t first = tile * kBlockColumns;
      const int64_t outputs = std::min(kBlockColumns, sizes_.outputs - first);
      Weight* to = out + tile * of_tile;
      std::fill_n(to, of_tile, Weight{0});
      for (int64_t tap = 0; tap < sizes_.taps; ++tap) {
        for (int64_t input = 0; input < sizes_.inputs; ++input) {
          const int32_t* from = in + first * sizes_.output_stride + input * sizes_.input_stride + tap;
          Weight* place = to + sizes_.PlaceOf(tap, input);
          for (int64_t i = 0; i < outputs; ++i)
            place[sizes_.together * i] = static_cast<Weight>(from[i * sizes_.output_stride] - sizes_.offset);
        }
      }
      if (sizes_.sums() == 0) return;
      auto* sums = reinterpret_cast<int32_t*>(out + sizes_.numbers()) + first;
      std::fill_n(sums, kBlockColumns, 0);
      for (int64_t i = 0; i < of_tile; ++i) sums[i / simd::kQuad % kBlockColumns] -= to[i];
    });
  }

  WeightSizes sizes_;
};

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

IntegerRange RangeOf(const TensorValue& constant) {
  const TensorValue aligned = constant.Loaded().Aligned(alignof(int32_t));
  const std::span<const int32_t> numbers = aligned.elements<int32_t>();
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
  size_t scratch_bytes() const { return static_cast<size_t>(form_.threads * ThreadBytes()); }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const tensor::ThreadScope scope(form_.threads);
    const Call call{run.input(0).data<int32_t>(), reinterpret_cast<const Weight*>(run.input(1).bytes()),
                    run.output().mutable_data<int32_t>()};
    const int64_t of_image = grid_.row_parts * grid_.tile_parts;
    llvm::SmallVector<QuantizedRows, 16> codes(static_cast<size_t>(form_.threads));
    tensor::RunTasks(form_.images * of_image, form_.threads, [&](int64_t task, int member) {
      const Part part{.image = task / of_image,
                      .rows = simd::IndexRange{0, form_.rows.output}.Part(grid_.row_parts,
                                                                          task % of_image / grid_.tile_parts),
                      .tiles = simd::IndexRange{0, tiles()}.Part(grid_.tile_parts, task % grid_.tile_parts)};
      RunPart(call, part, codes[static_cast<size_t>(member)],
              reinterpret_cast<std::byte*>(run.scratch) + member * ThreadBytes());
      if (sizes_.offset != 0) AddOffsets(call, part);
    });
    return Success();
  }

 private:
  struct Call {
    const int32_t* in;
    const Weight* weights;
    int32_t* out;
  };
  struct Part {
    int64_t image;
    simd::IndexRange rows, tiles;
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
  int64_t CodeBytes() const { return fours_ ? NumberBytes() : 0; }
  int64_t ThreadBytes() const { return NumberBytes() + CodeBytes() + (fours_ ? fours_->scratch_bytes() : 0); }
  int64_t in_pixels() const { return form_.rows.input * form_.columns.input; }
  const int32_t* ImageOf(const Call& call, int64_t image) const { return call.in + image * form_.in_size(); }

  void RunPart(const Call& call, const Part& part, QuantizedRows& codes, std::byte* own) const {
    auto* numbers = reinterpret_cast<int16_t*>(own);
    if (fours_ && RunQuantizedRows(call, part, codes, own + NumberBytes())) return;
    const bool fit = Fill(call, part, numbers);
    if (fours_ && fit) return RunFours(call, part, numbers, own + NumberBytes());
    for (int64_t tile = part.tiles.begin; tile < part.tiles.end; ++tile)
      RunTile(call, part, tile, fit ? numbers : nullptr);
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
    constexpr int64_t kMaxCode = 255;
    if (int64_t{range.most} - range.least > kMaxCode) return {.row = rows.begin};
    simd::Vectorized([&] {
      const auto* from = in;  // local copy, to exclude aliasing
      auto* to = codes;
      const auto least = static_cast<uint32_t>(range.least);
      for (int64_t i = 0, numbers = count; i < numbers; ++i)
        to[i] = static_cast<uint8_t>(static_cast<uint32_t>(from[i]) - least);
    });
    return {rows.begin, true, range.least};
  }

  void RunFours(const Call& call, const Part& part, const int16_t* numbers, std::byte* scratch) const {
    fours_->SumNumbers(PartOf(call, part, scratch), numbers, StoreOf(call, part));
  }

  // The part relative to its own rows.
  Dot4Gemm::Part PartOf(const Call& call, const Part& part, std::byte* scratch) const {
    return {.rows = {0, part.rows.count()},
            .tiles = part.tiles,
            .weights = reinterpret_cast<const int8_t*>(call.weights),
            .less_weights = reinterpret_cast<const int32_t*>(call.weights + sizes_.numbers()),
            .scratch = scratch + CodeBytes(),
            .out = call.out + part.rows.begin * form_.outputs,
            .direct_tiles = form_.outputs / kBlockColumns};
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
    for (int64_t output = 0; output < outputs; ++output) {
      for (int64_t pixel = 0; pixel < pixels; ++pixel)
        out[output * output_stride + pixel] = sums[pixel * kBlockColumns + output];
    }
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
  constexpr int32_t kMaxRange = 255, kLeast = std::numeric_limits<int8_t>::min();
  const bool is_of_fours = is_rows && form.channels % simd::kQuad == 0 && Dot4Gemm::Suits(form);
  if (!sizes.fit_bytes && is_of_fours && range.most - range.least <= kMaxRange) {
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

std::shared_ptr<const kernels::Kernel> MakeIntegerReorder(ElementType type, const tensor::Layout& from,
                                                          const tensor::Layout& to) {
  const auto* weights = dynamic_cast<const IntegerWeights*>(to.get());
  if (weights == nullptr || type != ElementType::kI32 || from != nullptr) return nullptr;
  return std::make_shared<IntegerReorder>(weights->sizes());
}

}  // namespace nnefc::runtime::fast::int8
