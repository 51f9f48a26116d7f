// Depthwise convolution of quantized images with an f32 filter.

#include "runtime/fast/int8/convolution/mixed_depthwise.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/fast/conv/depthwise_rows.h"
#include "runtime/fast/gemm/epilogue.h"
#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/int8/convolution/convolution_shape.h"
#include "runtime/fast/int8/quantization.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/processor.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/conv/depthwise_microkernel.h"
#include "runtime/fast/simd/conv/depthwise_rows_microkernel.h"
#include "runtime/fast/simd/int8/dot4_depthwise_microkernel.h"
#include "runtime/fast/simd/int8/quantized_results_microkernel.h"
#include "runtime/tensor/round_up.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime::fast::int8 {

using kernels::KernelRequest;
using kernels::Reason;
using simd::IndexRange;
using simd::kBlockColumns;

namespace {

// The columns of widened rows, whose borders are stored.
kernels::WindowAxis StoredColumns(const Int8ConvolutionShape& form) {
  kernels::WindowAxis columns = form.columns;
  columns.input = form.row_numbers() / form.padded_channels;
  columns.before = columns.after = 0;
  return columns;
}

class MixedDepthwise final : public kernels::Kernel {
 public:
  MixedDepthwise(const Int8ConvolutionShape& form, float scale, gemm::Epilogue steps,
                 std::optional<ChannelQuantization> quantization)
      : form_(form),
        scale_(scale),
        grid_(Int8Grid::Of(form, {.bytes = kBytes,
                                  .number_bytes = sizeof(float),
                                  .result_bytes = kBlockColumns * int64_t{sizeof(float)}})),
        columns_(gemm::DivideColumns(StoredColumns(form))),
        steps_(std::move(steps)),
        quantization_(std::move(quantization)) {
    is_by_rows_ = conv::HasRowsMicrokernel(form.rows, form.columns).empty() && steps_.start() < 0 &&
                  !(quantization_ && steps_.has_functions());
    if (is_by_rows_)
      border_.assign(static_cast<size_t>(form.columns.input * form.channels + kBlockColumns),
                     static_cast<uint8_t>(form.zero));
    if (!quantization_) return;
    const auto padded = static_cast<size_t>(tiles() * kBlockColumns);
    quantization_->factors.resize(padded);
    quantization_->offsets.resize(padded);
  }

  std::string implementation() const override { return "nnefc:mixed_depthwise"; }
  // Returns whether the window moves along rows of the image itself: without post-ops that a microkernel of
  // rows does not have.
  bool is_by_rows() const { return is_by_rows_; }
  size_t scratch_bytes() const {
    const int64_t of_threads = is_by_rows_ ? 0 : form_.threads * ThreadFloats();
    return static_cast<size_t>(steps_.column_floats(form_.channels) + of_threads) * sizeof(float);
  }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const tensor::ThreadScope scope(form_.threads);
    auto* scratch = reinterpret_cast<float*>(run.scratch);
    const Call call{.in = reinterpret_cast<const uint8_t*>(run.input(0).bytes()),
                    .weights = reinterpret_cast<const float*>(run.input(1).bytes()),
                    .out = run.output().mutable_bytes(),
                    .operands = steps_.OperandsOf(run, form_.channels, scratch)};
    float* members = scratch + steps_.column_floats(form_.channels);
    tensor::RunTasks(grid_.Tasks(form_), form_.threads, [&](int64_t task, int member) {
      const auto [image, rows, tiles] = grid_.PartOf(form_, this->tiles(), task);
      if (is_by_rows_) {
        for (int64_t tile = tiles.begin; tile < tiles.end; ++tile) RunByRows(call, rows, image, tile);
        return;
      }
      float* own = members + member * ThreadFloats();
      for (int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
        Widen(call, rows, image, tile, own);
        const Part part{.rows = rows, .numbers = own, .image = image, .tile = tile};
        for (int64_t row = rows.begin; row < rows.end; row += RowsTogether())
          RunRows(call, part, {row, std::min(row + RowsTogether(), rows.end)},
                  own + grid_.ThreadValues(form_));
      }
    });
    return Success();
  }

 private:
  static constexpr int64_t kBytes = int64_t{64} << 10;  // read fast enough from L2

  struct Call {
    const uint8_t* in;
    const float* weights;
    std::byte* out;
    gemm::Epilogue::Operands operands;
  };

  // Result rows of a tile of channels, and the f32 values that they read.
  struct Part {
    IndexRange rows;
    const float* numbers;
    int64_t image, tile;
  };

  int64_t tiles() const { return tensor::CeilDivide(form_.channels, kBlockColumns); }
  int64_t row_floats() const { return form_.columns.output * kBlockColumns; }
  // Returns the result rows that are finished together, which stay in L1.
  int64_t RowsTogether() const {
    constexpr int64_t kFloats = 4096;
    return std::max<int64_t>(1, kFloats / row_floats());
  }
  int64_t ThreadFloats() const {
    constexpr int64_t kLine = 16;  // elements of a cache line
    const int64_t results = quantization_ ? RowsTogether() * row_floats() : 0;
    return tensor::RoundUp(grid_.ThreadValues(form_) + results, kLine);
  }

  // Converts the receptive field of rows to f32, with zeros in borders.
  void Widen(const Call& call, const IndexRange& rows, int64_t image, int64_t tile, float* numbers) const {
    const kernels::WindowAxis& columns = form_.columns;
    const int64_t first = gemm::InputPosition(form_.rows, rows.begin, 0), size = form_.row_numbers();
    const auto [begin, end] = form_.InputColumns();
    simd::WidenedPixels pixels{.pixels = nullptr,
                               .count = end - begin,
                               .stride = form_.channels,
                               .channels = std::min(kBlockColumns, form_.channels - tile * kBlockColumns),
                               .zero = form_.zero,
                               .scale = scale_,
                               .out = nullptr};
    const uint8_t* in = call.in + image * form_.in_size() + tile * kBlockColumns;
    for (int64_t row = 0; row < form_.InputRowsFor(rows.count()); ++row, numbers += size) {
      const int64_t from = first + row;
      if (from < 0 || from >= form_.rows.input) {
        std::fill_n(numbers, size, 0.0F);
        continue;
      }
      std::fill_n(numbers, begin * kBlockColumns, 0.0F);
      pixels.pixels = in + (from * columns.input + begin - columns.before) * form_.channels;
      pixels.out = numbers + begin * kBlockColumns;
      simd::WidenPixels(pixels);
      std::fill(numbers + end * kBlockColumns, numbers + size, 0.0F);
    }
  }

  // Computes result rows of a tile of channels from the quantized image.
  void RunByRows(const Call& call, const IndexRange& rows, int64_t image, int64_t tile) const {
    const int64_t column = tile * kBlockColumns, together = simd::DepthwiseRowsTogether(form_.rows.size),
                  in_row = form_.columns.input * form_.channels;
    const uint8_t* first = call.in + image * form_.in_size() + column;
    std::array<const uint8_t*, simd::kMaxDepthwiseInputRows> in;
    for (int64_t row = rows.begin; row < rows.end; row += together) {
      const int64_t count = std::min(together, rows.end - row);
      for (int64_t i = 0; i < form_.InputRowsFor(count); ++i) {
        const int64_t from = gemm::InputPosition(form_.rows, row, 0) + i;
        in[static_cast<size_t>(i)] =
            from < 0 || from >= form_.rows.input ? border_.data() : first + from * in_row;
      }
      quantization_ ? StoreCodes(call, in.data(), {row, row + count}, image, tile)
                    : StoreNumbers(call, in.data(), {row, row + count}, image, tile);
    }
  }
  template <typename Out>
  simd::DepthwiseRows<uint8_t, Out> RowsOf(const Call& call, const uint8_t* const* in, int64_t count,
                                           int64_t tile) const {
    const kernels::WindowAxis& columns = form_.columns;
    const int64_t column = tile * kBlockColumns;
    return {.count = count,
            .size = columns.size,
            .stride = columns.stride,
            .in = in,
            .in_columns = columns.input,
            .in_pixel = form_.channels,
            .before = columns.before,
            .columns = columns.output,
            .channels = std::min(kBlockColumns, form_.channels - column),
            .weights = call.weights + column * columns.size * columns.size,
            .bias = call.operands.ColumnsOf(steps_.bias(), column),
            .limits = steps_.limits(),
            .out = nullptr,
            .out_row = 0,
            .out_pixel = 0,
            .zero = form_.zero,
            .scale = scale_};
  }
  void StoreCodes(const Call& call, const uint8_t* const* in, const IndexRange& rows, int64_t image,
                  int64_t tile) const {
    const int64_t column = tile * kBlockColumns;
    simd::DepthwiseRows<uint8_t, uint8_t> results = RowsOf<uint8_t>(call, in, rows.count(), tile);
    results.out_pixel = form_.channels;
    results.out_row = form_.columns.output * form_.channels;
    results.out = reinterpret_cast<uint8_t*>(call.out) +
                  (image * form_.rows.output + rows.begin) * results.out_row + column;
    results.factors = quantization_->factors.data() + column;
    results.offsets = quantization_->offsets.data() + column;
    simd::RunQuantizedDepthwiseRows(results);
  }
  void StoreNumbers(const Call& call, const uint8_t* const* in, const IndexRange& rows, int64_t image,
                    int64_t tile) const {
    simd::DepthwiseRows<uint8_t, float> results = RowsOf<float>(call, in, rows.count(), tile);
    results.out_pixel = kBlockColumns;
    results.out_row = row_floats();
    const int64_t offset =
        (image * tiles() + tile) * form_.out_pixels() * kBlockColumns + rows.begin * results.out_row;
    results.out = reinterpret_cast<float*>(call.out) + offset;
    simd::RunDequantizingDepthwiseRows(results);
    steps_.Finish({.out = {results.out, kBlockColumns, 0},
                   .offset = offset,
                   .column = tile * kBlockColumns,
                   .rows = rows.count() * form_.columns.output,
                   .blocks = 1},
                  form_.channels, call.operands);
  }

  void RunRows(const Call& call, const Part& part, const IndexRange& rows, float* block) const {
    const kernels::WindowAxis& columns = form_.columns;
    const int64_t image = part.image, tile = part.tile;
    const int64_t column = tile * kBlockColumns, pixel = rows.begin * columns.output;
    const int64_t offset = ((image * tiles() + tile) * form_.out_pixels() + pixel) * kBlockColumns;
    float* out = quantization_ ? block : reinterpret_cast<float*>(call.out) + offset;
    const float* start = call.operands.ElementsOf(steps_.start(), offset);
    simd::DepthwiseArguments sums{
        .in = nullptr,
        .in_pixel = columns.stride * kBlockColumns,
        .slices = 1,
        .rows = form_.rows.size,
        .columns = columns.size,
        .in_slice = 0,
        .in_row = form_.rows.dilation * form_.row_numbers(),
        .in_column = columns.dilation * kBlockColumns,
        .seeing = nullptr,
        .weights = call.weights + tile * form_.rows.size * columns.size * kBlockColumns,
        .weights_slice = 0,
        .weights_row = columns.size * kBlockColumns,
        .bias = call.operands.ColumnsOf(steps_.bias(), column),
        .out = nullptr,
        .limits = steps_.limits()};
    for (const gemm::TileColumns& place : columns_) {
      sums.seeing = place.seeing.data();
      for (int64_t row = rows.begin; row < rows.end; ++row) {
        const int64_t at = ((row - rows.begin) * columns.output + place.places.begin) * kBlockColumns;
        sums.in = part.numbers + (row - part.rows.begin) * form_.rows.stride * form_.row_numbers() +
                  place.places.begin * sums.in_pixel;
        if (start != nullptr) sums.start = start + at;
        sums.out = out + at;
        simd::RunDepthwiseMicrokernel(place.places.count(), sums);
      }
    }
    const int64_t pixels = rows.count() * columns.output;
    steps_.Finish(
        {.out = {out, kBlockColumns, 0}, .offset = offset, .column = column, .rows = pixels, .blocks = 1},
        form_.channels, call.operands);
    if (!quantization_) return;
    simd::StoreQuantizedBlock(block, {.pixels = pixels,
                                      .channels = std::min(kBlockColumns, form_.channels - column),
                                      .factors = quantization_->factors.data() + column,
                                      .offsets = quantization_->offsets.data() + column,
                                      .out = reinterpret_cast<uint8_t*>(call.out) +
                                             (image * form_.out_pixels() + pixel) * form_.channels + column,
                                      .stride = form_.channels});
  }

  Int8ConvolutionShape form_;
  float scale_;
  Int8Grid grid_;
  std::vector<gemm::TileColumns> columns_;
  gemm::Epilogue steps_;
  std::optional<ChannelQuantization> quantization_;
  bool is_by_rows_;
  std::vector<uint8_t> border_;  // an input row of zeros
};

Int8ConvolutionShape MixedFormOf(const KernelRequest& given) {
  const llvm::ArrayRef<int64_t> input = given.inputs[0].shape;
  const kernels::Window window = gemm::WindowOfConvolution(given);
  return {.images = input[0],
          .channels = input[1],
          .outputs = input[1],
          .padded_channels = kBlockColumns,
          .rows = window[1],
          .columns = window[2],
          .zero = memory::QuantizationOf(given.inputs[0])->zero,
          .threads = tensor::CurrentThreads()};
}

}  // namespace

Reason ServesMixedDepthwise(const KernelRequest& given) {
  if (!memory::IsDenseF32(given.inputs[0]) || !memory::IsDenseF32(given.outputs[0])) return kNotF32;
  if (memory::QuantizationOf(given.inputs[0]) == nullptr) return Reason("the input is not quantized");
  return given.filter_scales.empty() ? Reason() : Reason("the filter is quantized");
}

Reason MixedDepthwiseApplies(const KernelRequest& given) {
  constexpr size_t kMaxAxes = 2;
  const llvm::ArrayRef<int64_t> filter = given.inputs[1].shape;
  if (!simd::HasSimd()) return kNeedsSimd;
  if (given.inputs[1].constant == nullptr) return kNeedsConstantFilter;
  if (given.inputs[0].shape.size() - 2 > kMaxAxes) return Reason("more than {} spatial axes", kMaxAxes);
  if (filter[1] != 1 || filter[2] != 1)
    return Reason("groups of {} input and {} output channels", filter[2], filter[1]);
  return Reason();
}

Reason MixedDepthwiseRowsApply(const KernelRequest& given) {
  const Reason reason = MixedDepthwiseApplies(given);
  if (!reason.empty()) return reason;
  const kernels::Window window = gemm::WindowOfConvolution(given);
  return conv::HasRowsMicrokernel(window[1], window[2]);
}

// Relative to the other implementations for quantized filters. Measured on Zen 5: four taps of a channel in
// an instruction take less time in long rows, and oneDNN for strides and many channels.
kernels::Cost MixedDepthwiseRowsCost(const KernelRequest& given) {
  constexpr double kTime = 0.55;
  constexpr int64_t kLongRow = 32, kManyChannels = 64;
  if (!HasVnni() || simd::SimdWidth() != simd::kSimdWidth512)
    return kernels::Cost::NotByDefault(Reason("not measured without VNNI of 512 bits"));
  const kernels::WindowAxis columns = gemm::WindowOfConvolution(given)[2];
  if (columns.size == 1) return {kTime};
  if (columns.stride == 1 && columns.output > kLongRow)
    return kernels::Cost::NotByDefault(Reason("rows of {} results, more than {}", columns.output, kLongRow));
  if (columns.stride > 1 && given.inputs[0].shape[1] > kManyChannels)
    return kernels::Cost::NotByDefault(
        Reason("{} channels, more than {}", given.inputs[0].shape[1], kManyChannels));
  return {kTime};
}

namespace {

kernels::KernelOrReason MakeMixed(const KernelRequest& given, bool needs_rows) {
  const Int8Request coded(given);
  kernels::OrReason<gemm::Epilogue> steps = gemm::Epilogue::Make(coded.request, coded.request.posts, 1);
  if (!steps) return steps.reason();
  const bool has_elements = !steps->element_inputs().empty() || steps->start() >= 0;
  if (coded.range && (has_elements || coded.sum)) return Reason("a quantized result after a sum");
  const Int8ConvolutionShape form = MixedFormOf(given);
  kernels::PreparedKernel prepared = gemm::PrepareConvolution(
      given, *steps, form.channels,
      memory::LayoutOf(memory::AxisBlockedFormat(given.inputs[1].shape, 0, memory::kChannelBlock)));
  const auto channels_last = [](const kernels::ValueInfo& value, const memory::ValueQuantization& codes) {
    return memory::QuantizedLayout(memory::ChannelsLastFormat(value.shape, memory::StorageType::kF32), codes);
  };
  prepared.inputs[0] = channels_last(given.inputs[0], *memory::QuantizationOf(given.inputs[0]));
  std::optional<ChannelQuantization> quantization;
  if (coded.range) {
    prepared.outputs[0] = channels_last(given.outputs[0], coded.range->codes);
    quantization.emplace(*coded.range, form.channels);
  }
  auto kernel = std::make_shared<MixedDepthwise>(form, memory::QuantizationOf(given.inputs[0])->scale,
                                                 std::move(*steps), std::move(quantization));
  if (needs_rows && !kernel->is_by_rows()) return kHasFusedOperation;
  prepared.scratch_bytes = kernel->scratch_bytes();
  prepared.kernel = std::move(kernel);
  return prepared;
}

}  // namespace

kernels::KernelOrReason MakeMixedDepthwise(const KernelRequest& given) {
  return MakeMixed(given, false);
}

kernels::KernelOrReason MakeMixedDepthwiseRows(const KernelRequest& given) {
  return MakeMixed(given, true);
}

}  // namespace nnefc::runtime::fast::int8
