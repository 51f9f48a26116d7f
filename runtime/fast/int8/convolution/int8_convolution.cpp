// int8 convolution and matmul with exact sums.

#include "runtime/fast/int8/convolution/int8_convolution.h"

#include <algorithm>
#include <array>

#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/int8/convolution/convolution_shape.h"
#include "runtime/fast/int8/convolution/dot4_depthwise.h"
#include "runtime/fast/int8/convolution/filter_packing.h"
#include "runtime/fast/int8/convolution/int8_few_outputs.h"
#include "runtime/fast/int8/convolution/int8_grouped_convolution.h"
#include "runtime/fast/int8/convolution/int8_kernel.h"
#include "runtime/fast/int8/convolution/int8_winograd.h"
#include "runtime/fast/int8/convolution/vnni_costs.h"
#include "runtime/fast/int8/dot4_gemm.h"
#include "runtime/fast/int8/int8_epilogue.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/processor.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/int8/dot2_microkernel.h"
#include "runtime/fast/simd/loop_math.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::int8 {

using kernels::Cost;
using kernels::KernelRequest;
using kernels::Reason;
using memory::BlockedLayout;
using simd::IndexRange;
using simd::kBlockColumns;

namespace {

constexpr int64_t kPair = 2;

// Dense convolution with i16 pairs (dot2).
class Int8Convolution final : public Int8Kernel<int16_t> {
 public:
  Int8Convolution(const Int8ConvolutionShape& form, Int8Epilogue results)
      : Int8Kernel(form, std::move(results), {.bytes = simd::L2Bytes(), .number_bytes = sizeof(int16_t)},
                   form.outputs),
        filter_(form, kPair),
        strips_(TapStrips::Of(form)) {}

  std::string implementation() const override { return "nnefc:int8_conv"; }

 private:
  int64_t weight_bytes() const override { return filter_.is_joined() ? filter_.tile_bytes() * tiles() : 0; }

  // Without channel padding, pairs may span two pixels, and the last one reads an extra value with weight 0.
  const int8_t* WeightsOf(const int8_t* given, int8_t* own) const override {
    if (!filter_.is_joined()) return given;
    filter_.Pack(given, tiles(), own);
    return own;
  }

  void RunPart(const Call& call, const WidenedPart<int16_t>& part, int64_t image, const IndexRange& tiles,
               std::byte*) const override {
    part.Fill(ImageOf(call, image));
    for (int64_t tile = tiles.begin; tile < tiles.end; ++tile) RunColumns(call, part, image, tile);
  }

  void RunColumns(const Call& call, const WidenedPart<int16_t>& part, int64_t image, int64_t tile) const {
    const auto strips = static_cast<int64_t>(strips_.places.size());
    std::array<int32_t, kMaxStoredPixels * kBlockColumns> sums;
    simd::Int8Dot2Tile product{
        .numbers = part.numbers(),
        .seen = nullptr,
        .strips = strips_.places.data(),
        .strip_count = strips,
        .pairs = strips_.pairs(),
        .weights = call.weights + tile * strips * strips_.pairs() * kPair * kBlockColumns,
        .sums = nullptr};
    const gemm::TilePanels panels(part.pixels());
    TilePosition place = {.image = image, .pixel = part.first_pixel(), .pixels = 0, .tile = tile};
    for (int64_t panel = 0; panel < panels.count(); ++panel) {
      const int64_t count = panels.RowsOf(panel);
      product.seen = FirstTapsFrom(panels.Begin(panel));
      product.sums = sums.data() + place.pixels * kBlockColumns;
      simd::RunInt8Dot2Microkernel(count, product);
      place.pixels += count;
      if (panel + 1 < panels.count() && place.pixels + simd::TileRows() <= kMaxStoredPixels) continue;
      results().Store(sums.data(), place, call);
      place = {.image = image, .pixel = place.pixel + place.pixels, .pixels = 0, .tile = tile};
    }
  }

  StripFilter filter_;
  TapStrips strips_;
};

// Dense convolution with dot4: VNNI, or maddubs if few values exceed the clamping range.
class Dot4Convolution final : public Int8Kernel<int16_t> {
 public:
  Dot4Convolution(const Int8ConvolutionShape& form, Int8Epilogue results)
      : Int8Kernel(form, std::move(results),
                   {.bytes = simd::L2Bytes(), .number_bytes = sizeof(uint8_t), .cuts_rows_first = HasVnni()},
                   form.outputs),
        filter_(form, simd::kQuad),
        sums_(form, grid()) {}

  std::string implementation() const override {
    return HasVnni() ? "nnefc:int8_conv_vnni" : "nnefc:int8_saturating";
  }

 private:
  bool fills_parts() const override { return !HasVnni(); }
  int64_t own_bytes() const override { return sums_.scratch_bytes(); }

  // Returns the bytes of the compensation after the weights.
  int64_t sum_bytes() const {
    return form().zero == 0 ? 0 : tiles() * kBlockColumns * int64_t{sizeof(int32_t)};
  }

  int64_t weight_bytes() const override {
    return filter_.is_joined() ? filter_.tile_bytes() * tiles() + sum_bytes() : 0;
  }

  const int8_t* WeightsOf(const int8_t* given, int8_t* own) const override {
    if (!filter_.is_joined()) return given;
    filter_.Pack(given, tiles(), own);
    std::copy_n(given + filter_.given_tile_bytes() * tiles(), sum_bytes(),
                own + filter_.tile_bytes() * tiles());
    return own;
  }

  void RunPart(const Call& call, const WidenedPart<int16_t>& part, int64_t image, const IndexRange& tiles,
               std::byte* own) const override {
    const auto store = [&](int64_t tile, const IndexRange& pixels, const int32_t* sums) {
      results().Store(sums, {image, part.first_pixel() + pixels.begin, pixels.count(), tile}, call);
    };
    std::optional<simd::RequantizedResults> codes;
    std::optional<simd::HSwishResults> hard_swish;
    std::optional<simd::DequantizedResults> numbers;
    const TilePosition first{image, part.first_pixel(), part.pixels(), 0};
    if (results().is_folded()) codes = results().MakerOf(first, call.out);
    if (results().is_hard_swish()) hard_swish = results().HSwishOf(first, call);
    if (results().are_numbers()) numbers = results().NumbersOf(first, call);
    const auto finish = [&](const IndexRange& range, const IndexRange& pixels) {
      results().FinishNumbers({image, part.first_pixel() + pixels.begin, pixels.count(), range.begin},
                              range.count(), call);
    };
    Dot4Gemm::Part sums{.rows = part.rows(),
                        .tiles = tiles,
                        .weights = call.weights,
                        .less_weights = reinterpret_cast<const int32_t*>(
                            call.weights + this->tiles() * sums_.WeightsOfTile()),
                        .scratch = own,
                        .codes = codes ? &*codes : nullptr,
                        .hard_swish = hard_swish ? &*hard_swish : nullptr,
                        .numbers = numbers ? &*numbers : nullptr,
                        .direct_tiles = codes || hard_swish || numbers ? results().direct_tiles() : 0};
    if (numbers && results().has_functions()) sums.finish = finish;
    if (sums_.SumQuantized(sums, ImageOf(call, image), form().zero, store)) return;
    part.Fill(ImageOf(call, image));
    sums_.SumNumbers(sums, part.numbers(), store);
  }

  StripFilter filter_;
  Dot4Gemm sums_;
};

// Depthwise convolution.
class Int8Depthwise final : public Int8Kernel<float> {
 public:
  Int8Depthwise(const Int8ConvolutionShape& form, Int8Epilogue results, llvm::ArrayRef<int32_t> zeros)
      : Int8Kernel(form, std::move(results), {.bytes = kBytes, .number_bytes = sizeof(float)}, kBlockColumns),
        zeros_(zeros.begin(), zeros.end()) {
    if (zeros_.empty()) zeros_.assign(static_cast<size_t>(form.channels), form.zero);
    zeros_.resize(static_cast<size_t>(tensor::RoundUp(form.channels, kBlockColumns)));
    for (int64_t row = 0; row < form.rows.size; ++row) {
      for (int64_t column = 0; column < form.columns.size; ++column)
        taps_.push_back(static_cast<int32_t>(row * form.rows.dilation * form.row_numbers() +
                                             column * form.columns.dilation * form.padded_channels));
    }
    const auto is_three = [](const kernels::WindowAxis& axis) {
      return axis.size == 3 && axis.stride <= 2 && axis.dilation == 1;
    };
    reads_codes_ = is_three(form.rows) && is_three(form.columns) &&
                   (this->results().requantizes_sums_only() || this->results().is_activated());
    scales_pixels_ = gemm::IsIdentityWindow(form.rows) && gemm::IsIdentityWindow(form.columns);
  }

  std::string implementation() const override { return "nnefc:int8_depthwise"; }

 private:
  static constexpr int64_t kBytes = int64_t{64} << 10;  // read fast enough from L2

  void RunPart(const Call& call, const WidenedPart<float>& part, int64_t image, const IndexRange& tiles,
               std::byte* own) const override {
    for (int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
      if (reads_codes_ && (tile + 1) * kBlockColumns <= form().channels) {
        RunRows(call, part.rows(), image, tile, reinterpret_cast<int32_t*>(own));
      } else if (scales_pixels_) {
        ScalePixels(call, part, image, tile);
      } else {
        part.Fill(ImageOf(call, image), tile * kBlockColumns, zeros_.data() + tile * kBlockColumns);
        RunColumns(call, part, image, tile);
      }
    }
  }

  llvm::SmallVector<float, 256> WeightsOfTile(const Call& call, int64_t tile) const {
    const size_t count = taps_.size() * kBlockColumns;
    const int8_t* codes = call.weights + static_cast<size_t>(tile) * count;
    return llvm::SmallVector<float, 256>(codes, codes + count);
  }

  int64_t own_bytes() const override {
    return reads_codes_ && !results().is_folded()
               ? form().columns.output * kBlockColumns * int64_t{sizeof(int32_t)}
               : 0;
  }

  // Computes quantized results row by row, reading quantized values in place.
  void RunRows(const Call& call, const IndexRange& rows, int64_t image, int64_t tile, int32_t* sums) const {
    const llvm::SmallVector<float, 256> weights = WeightsOfTile(call, tile);
    const int32_t* zeros = zeros_.data() + tile * kBlockColumns;
    std::array<uint8_t, kBlockColumns> border;
    for (size_t i = 0; i < border.size(); ++i) border[i] = static_cast<uint8_t>(zeros[i]);
    const bool is_zero = std::all_of(zeros, zeros + kBlockColumns, [](int32_t zero) { return zero == 0; });
    const kernels::WindowAxis &axis = form().rows, &columns = form().columns;
    simd::QuantizedDepthwiseRow seen{.rows = {},
                                     .pixel_strides = {},
                                     .inputs = columns.input,
                                     .before = columns.before,
                                     .stride = columns.stride,
                                     .zeros = is_zero ? nullptr : zeros,
                                     .weights = weights.data()};
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      for (int64_t tap = 0; tap < axis.size; ++tap) {
        const int64_t from = gemm::InputPosition(axis, row, tap);
        const bool is_inside = from >= 0 && from < axis.input;
        seen.rows[tap] =
            is_inside ? ImageOf(call, image) + from * columns.input * form().channels + tile * kBlockColumns
                      : border.data();
        seen.pixel_strides[tap] = is_inside ? form().channels : 0;
      }
      const TilePosition at{image, row * columns.output, columns.output, tile};
      if (results().is_folded()) {
        simd::StoreQuantizedDepthwise(seen, results().MakerOf(at, call.out));
      } else {
        simd::SumQuantizedDepthwise(seen, columns.output, sums);
        results().Store(sums, at, call);
      }
    }
  }

  // Computes windows of a single pixel.
  void ScalePixels(const Call& call, const WidenedPart<float>& part, int64_t image, int64_t tile) const {
    const int64_t first_channel = tile * kBlockColumns, step = form().channels;
    const int64_t channels = std::min(kBlockColumns, form().channels - first_channel);
    const int8_t* weights = call.weights + first_channel;
    const int32_t* zeros = zeros_.data() + first_channel;
    std::array<int32_t, kMaxStoredPixels* kBlockColumns> sums = {};
    for (int64_t first = 0; first < part.pixels(); first += kMaxStoredPixels) {
      const int64_t count = std::min(kMaxStoredPixels, part.pixels() - first);
      const uint8_t* from = ImageOf(call, image) + (part.first_pixel() + first) * step + first_channel;
      simd::Vectorized([=, out = sums.data()] {
        channels == kBlockColumns
            ? ScaleChannels<kBlockColumns>(from, step, count, zeros, weights, channels, out)
            : ScaleChannels<0>(from, step, count, zeros, weights, channels, out);
      });
      results().Store(sums.data(), {image, part.first_pixel() + first, count, tile}, call);
    }
  }

  // Multiplies `channels` channels of `count` pixels, kChannels of them unless it is 0.
  template <int64_t kChannels>
  [[gnu::always_inline]] static void ScaleChannels(const uint8_t* from, int64_t step, int64_t count,
                                                   const int32_t* zeros, const int8_t* weights,
                                                   int64_t channels, int32_t* out) {
    std::array<int32_t, kBlockColumns> own_zeros = {}, own_weights = {};
    std::copy_n(zeros, channels, own_zeros.begin());
    std::copy_n(weights, channels, own_weights.begin());
    for (int64_t pixel = 0; pixel < count; ++pixel, from += step, out += kBlockColumns) {
      for (int64_t i = 0; i < (kChannels != 0 ? kChannels : channels); ++i)
        out[i] = (from[i] - own_zeros[static_cast<size_t>(i)]) * own_weights[static_cast<size_t>(i)];
    }
  }

  void RunColumns(const Call& call, const WidenedPart<float>& part, int64_t image, int64_t tile) const {
    const llvm::SmallVector<float, 256> weights = WeightsOfTile(call, tile);
    std::array<int32_t, kMaxStoredPixels * kBlockColumns> sums;
    for (int64_t first = 0; first < part.pixels(); first += kMaxStoredPixels) {
      const int64_t count = std::min(kMaxStoredPixels, part.pixels() - first);
      simd::RunQuantizedDepthwise({.numbers = part.numbers(),
                                   .seen = FirstTapsFrom(first),
                                   .count = count,
                                   .taps = taps_.data(),
                                   .tap_count = static_cast<int64_t>(taps_.size()),
                                   .weights = weights.data(),
                                   .sums = sums.data()});
      results().Store(sums.data(), {image, part.first_pixel() + first, count, tile}, call);
    }
  }

  std::vector<int32_t> taps_, zeros_;
  bool scales_pixels_;  // windows of a single pixel
  bool reads_codes_;
};

// Returns whether accumulators fit into 32 bits, and strip offsets into their type.
bool FitsWords(int64_t terms, const Int8ConvolutionShape& form) {
  constexpr int64_t kLargestProduct = 255 * 128, kMaxWords = int64_t{1} << 31;
  return terms * kLargestProduct < kMaxWords &&
         form.InputRowsFor(1) * form.row_numbers() * int64_t{sizeof(int16_t)} < kMaxWords;
}

// Adds the kernel and the layouts of all inputs except the filter.
template <typename Kernel, typename... More>
kernels::KernelOrReason Finish(const KernelRequest& given, const Int8Step& step,
                               const Int8ConvolutionShape& form, Int8Epilogue::Form results_form,
                               const More&... more) {
  kernels::OrReason<gemm::Epilogue> steps = gemm::Epilogue::Make(
      step.folded ? KernelRequest{} : step.coded.request,
      step.folded ? llvm::ArrayRef<kernels::PostOperation>() : step.coded.request.posts,
      results_form.is_blocked ? 1 : static_cast<int64_t>(given.outputs[0].shape.size()) - 1);
  if (!steps) return steps.reason();
  const bool has_elements = !steps->element_inputs().empty() || steps->start() >= 0;
  const bool is_blocked = results_form.is_blocked;
  if (has_elements && !is_blocked && form.outputs % kBlockColumns != 0)
    return Reason("{} columns with a fused elementwise operand, not whole blocks", form.outputs);
  const bool is_unfolded = step.coded.range && !step.folded;
  if (is_unfolded && (has_elements || step.coded.sum))
    return Reason("the quantization of the result cannot be folded");
  const auto in_codes = [&](llvm::ArrayRef<int64_t> shape) {
    return is_blocked ? memory::ChannelsLastFormat(shape, memory::StorageType::kF32)
                      : memory::RowMajorFormat(shape);
  };
  kernels::PreparedKernel prepared;
  prepared.inputs.resize(given.inputs.size());
  prepared.inputs[0] = memory::QuantizedLayout(in_codes(given.inputs[0].shape), *step.source);
  prepared.outputs.resize(1);
  if (step.folded) {
    const std::optional<FoldedRequantization::Sum>& sum = step.folded->sum;
    const QuantizationRange& range = sum ? step.coded.sum->range : *step.coded.range;
    prepared.outputs[0] = memory::QuantizedLayout(in_codes(given.outputs[0].shape), range.codes);
    if (sum) {
      prepared.inputs[sum->operand] = memory::QuantizedLayout(in_codes(given.outputs[0].shape), sum->others);
      prepared.in_place = static_cast<int>(sum->operand);
      prepared.in_place_required = true;
    }
  } else if (is_unfolded) {
    prepared.outputs[0] = memory::QuantizedLayout(in_codes(given.outputs[0].shape), step.coded.range->codes);
    results_form.quantization.emplace(*step.coded.range, form.outputs);
  } else if (is_blocked) {
    prepared.outputs[0] = memory::LayoutOf(memory::ChannelBlockedFormat(given.outputs[0].shape));
    for (int input : steps->element_inputs())
      prepared.inputs[static_cast<size_t>(input)] = prepared.outputs[0];
  }
  results_form.folded = step.folded;
  auto kernel =
      std::make_shared<Kernel>(form, Int8Epilogue(std::move(results_form), std::move(*steps)), more...);
  prepared.scratch_bytes = kernel->scratch_bytes();
  prepared.kernel = std::move(kernel);
  return prepared;
}

// The costs of our kernels relative to those with accumulators of two products (dot2), without VNNI.
constexpr double kFewOutputsTime = 0.3, kWinogradTime = 0.4, kDot4Time = 0.6, kOwnTime = 1;
// Costs above those of oneDNN's kernels with VNNI, which lack some fused operations.
constexpr double kDot4TimeAfterOneDnn = 3, kOwnTimeAfterOneDnn = 4;

constexpr Reason kOneDnnUsesVnni("oneDNN is faster with VNNI");

struct Int8Convolutions {
  Int8ConvolutionShape form;
  Int8Groups groups;
  bool is_swapped;  // Dot4Depthwise::SwapColumn
};

bool IsOfDepthwise(Int8Algorithm algorithm) {
  return algorithm == Int8Algorithm::kDepthwise || algorithm == Int8Algorithm::kDot4Depthwise;
}

// Returns whether windows of one pixel need no padding for any number of channels.
bool ReadsWholeQuads(Int8Algorithm algorithm) {
  return algorithm == Int8Algorithm::kDot4 && HasVnni();
}

// Describes a convolution for an algorithm.
kernels::OrReason<Int8Convolutions> Int8FormOf(const KernelRequest& given, Int8Algorithm algorithm) {
  const llvm::ArrayRef<int64_t> input = given.inputs[0].shape, output = given.outputs[0].shape;
  const llvm::ArrayRef<int64_t> filter = given.inputs[1].shape;
  const bool is_grouped = filter.size() > input.size();
  const int64_t axes = static_cast<int64_t>(input.size()) - 2;
  if (axes < 1 || axes > 2) return Reason("{} spatial axes", axes);
  const bool is_depthwise = is_grouped && filter[1] == 1 && filter[2] == 1;
  if (is_depthwise != IsOfDepthwise(algorithm))
    return is_depthwise ? Reason("one channel per group") : Reason("more than one channel per group");
  const bool is_of_groups = is_grouped && !is_depthwise;
  if (is_of_groups != (algorithm == Int8Algorithm::kGrouped))
    return is_of_groups ? Reason("{} groups", filter[0]) : Reason("one group");
  if (is_depthwise && *Volume(filter.drop_front(3)) > simd::kMaxDepthwiseTaps)
    return Reason("{} taps, more than {}", *Volume(filter.drop_front(3)), simd::kMaxDepthwiseTaps);
  const kernels::Window window = gemm::WindowOfConvolution(given);
  // For few channels padding would be expensive.
  constexpr int64_t kFew = 4;
  const bool is_strip = filter.back() > 1 && window[2].dilation == 1 && input[1] < kFew;
  const bool sees_pixel = *Volume(filter.drop_front(is_grouped ? 3 : 2)) == 1;
  const bool is_unpadded =
      algorithm == Int8Algorithm::kFewOutputs || (sees_pixel && ReadsWholeQuads(algorithm));
  const int64_t together = is_strip || is_unpadded ? 1 : 2;
  Int8ConvolutionShape form{
      .images = input[0],
      .channels = input[1],
      .outputs = output[1],
      .padded_channels = is_depthwise ? kBlockColumns : tensor::RoundUp(input[1], together),
      .rows = window[1],
      .columns = window[2],
      .zero = memory::QuantizationOf(given.inputs[0])->zero,
      .threads = tensor::CurrentThreads()};
  form.MergePixelsIntoColumn();
  const bool is_swapped = algorithm == Int8Algorithm::kDot4Depthwise && Dot4Depthwise::SwapColumn(form);
  const int64_t terms = *Volume(filter.drop_front(is_grouped ? 2 : 1));
  if (!FitsWords(terms, form)) return Reason("sums of {} products exceed 32 bits", terms);
  const Int8Groups groups = is_of_groups ? Int8Groups{filter[2], filter[1]} : Int8Groups{1, 1};
  if (is_of_groups && !Int8GroupConvolution::Suits(form, groups))
    return Reason("groups of {} input and {} output channels", filter[2], filter[1]);
  return Int8Convolutions{form, groups, is_swapped};
}

Int8ConvolutionShape Int8FormOf(const KernelRequest& given, const gemm::InnerProduct& shape,
                                Int8Algorithm algorithm) {
  return {.images = 1,
          .channels = shape.inputs,
          .outputs = shape.outputs,
          .padded_channels = tensor::RoundUp(shape.inputs, ReadsWholeQuads(algorithm) ? 1 : 2),
          .rows = {.input = shape.rows, .output = shape.rows},
          .columns = {},
          .zero = memory::QuantizationOf(given.inputs[0])->zero,
          .threads = tensor::CurrentThreads()};
}

Cost Dot4Cost(const Int8ConvolutionShape& form) {
  if (Dot4Gemm::IsFasterThanDot2(form)) return {kDot4Time};
  return Cost::NotByDefault(Reason("{} channels of {} pixels are too few", form.channels, form.out_pixels()));
}

}  // namespace

Int8Step::Int8Step(const KernelRequest& given, int64_t channel_axis)
    : source(memory::QuantizationOf(given.inputs[0])),
      coded(given),
      scales(AccumulatorScales(*source, given.filter_scales)) {
  if (coded.range) folded = FoldRequantization(coded.request, *coded.range, scales, channel_axis);
}

Reason IsQuantized(const KernelRequest& given) {
  if (memory::QuantizationOf(given.inputs[0]) == nullptr) return Reason("the input is not quantized");
  return given.filter_scales.empty() ? Reason("the filter is not quantized") : Reason();
}

Reason Int8ConvolutionApplies(const KernelRequest& given, Int8Algorithm algorithm) {
  if (!simd::HasSimd()) return kNeedsSimd;
  const kernels::OrReason<Int8Convolutions> form = Int8FormOf(given, algorithm);
  if (!form) return form.reason();
  if (algorithm == Int8Algorithm::kWinograd) return Int8Winograd::Applies(form->form, given.filter_magnitude);
  if (algorithm == Int8Algorithm::kFewOutputs) return FewOutputDotsApply(form->form);
  if (algorithm == Int8Algorithm::kDot4) return Dot4Gemm::Applies(form->form);
  return algorithm == Int8Algorithm::kDot4Depthwise ? Dot4Depthwise::Applies(form->form) : Reason();
}

Cost Int8ConvolutionCost(const KernelRequest& given, Int8Algorithm algorithm) {
  if (HasVnni()) {
    if (algorithm == Int8Algorithm::kDot4Depthwise && IsFasterDepthwise(given)) return {kDot4Time};
    if (algorithm == Int8Algorithm::kDot4Depthwise || algorithm == Int8Algorithm::kGrouped)
      return {kDot4TimeAfterOneDnn, kOneDnnUsesVnni};
    if (algorithm == Int8Algorithm::kDot2 || algorithm == Int8Algorithm::kDepthwise)
      return {kOwnTimeAfterOneDnn, kOneDnnUsesVnni};
    if (algorithm == Int8Algorithm::kFewOutputs && IsFasterThanBlocks(Int8FormOf(given, algorithm)->form))
      return {kFewOutputsTime};
    if (algorithm != Int8Algorithm::kDot4) return Cost::NotByDefault(kOneDnnUsesVnni);
    return IsFasterThanOneDnn(given) ? Cost{kDot4Time} : Cost{kDot4TimeAfterOneDnn, kOneDnnUsesVnni};
  }
  switch (algorithm) {
    case Int8Algorithm::kWinograd:
      return Int8Winograd::IsFasterThanDirect(Int8FormOf(given, algorithm)->form)
                 ? Cost{kWinogradTime}
                 : Cost::NotByDefault(Reason("direct convolution is faster"));
    case Int8Algorithm::kDot4:
      return Dot4Cost(Int8FormOf(given, algorithm)->form);
    default:
      return {kOwnTime};
  }
}

kernels::KernelOrReason MakeInt8Convolution(const KernelRequest& given, const Int8Step& step,
                                            Int8Algorithm algorithm) {
  const kernels::OrReason<Int8Convolutions> shape = Int8FormOf(given, algorithm);
  if (!shape) return shape.reason();
  const Int8ConvolutionShape& form = shape->form;
  const llvm::ArrayRef<int64_t> filter = given.inputs[1].shape;
  const bool is_grouped = algorithm == Int8Algorithm::kGrouped || IsOfDepthwise(algorithm);
  const int64_t mask = is_grouped ? 3 : 1;
  BlockedLayout::Form codes{.filter_codes = memory::FilterScales{.scales = given.filter_scales.vec(),
                                                                 .mask = static_cast<int>(mask)}};
  Int8Epilogue::Form results{
      .outputs = form.outputs, .pixels = form.out_pixels(), .is_blocked = true, .scales = step.scales};
  const auto finish = [&](kernels::KernelOrReason prepared, const auto& layout) -> kernels::KernelOrReason {
    if (prepared) prepared->inputs[1] = layout();
    return prepared;
  };
  const auto tiles = [&](int64_t together, bool has_sums) {
    return FilterOfTiles(filter, 0, together, has_sums, std::move(codes));
  };
  switch (algorithm) {
    case Int8Algorithm::kGrouped:
      return finish(Finish<Int8GroupConvolution>(given, step, form, std::move(results), shape->groups), [&] {
        return std::make_shared<BlockedLayout>(memory::RowMajorFormat(filter, memory::StorageType::kS8),
                                               std::move(codes));
      });
    case Int8Algorithm::kDepthwise:
      return finish(Finish<Int8Depthwise>(given, step, form, std::move(results), step.zeros),
                    [&] { return DepthwiseFilter(filter, std::move(codes)); });
    case Int8Algorithm::kDot4Depthwise:
      return finish(Finish<Dot4Depthwise>(given, step, form, std::move(results), step.zeros), [&] {
        return Dot4Depthwise::FilterLayout(filter, form, shape->is_swapped, std::move(codes));
      });
    case Int8Algorithm::kWinograd:
      return finish(Finish<Int8Winograd>(given, step, form, std::move(results)),
                    [&] { return tiles(kPair, false); });
    case Int8Algorithm::kFewOutputs:
      return MakeInt8FewOutputs(given, step, form);
    case Int8Algorithm::kDot4:
      return finish(Finish<Dot4Convolution>(given, step, form, std::move(results)),
                    [&] { return tiles(StripFilter(form, simd::kQuad).given_together(), form.zero != 0); });
    case Int8Algorithm::kDot2:
      return finish(Finish<Int8Convolution>(given, step, form, std::move(results)),
                    [&] { return tiles(StripFilter(form, kPair).given_together(), false); });
  }
  return Reason();
}

Reason Int8MatmulApplies(const KernelRequest& given, const gemm::InnerProduct& shape,
                         Int8Algorithm algorithm) {
  if (!simd::HasSimd()) return kNeedsSimd;
  const Int8ConvolutionShape form = Int8FormOf(given, shape, algorithm);
  if (!FitsWords(shape.inputs, form)) return Reason("sums of {} products exceed 32 bits", shape.inputs);
  return algorithm == Int8Algorithm::kDot4 ? Dot4Gemm::Applies(form) : Reason();
}

Cost Int8MatmulCost(const KernelRequest& given, const gemm::InnerProduct& shape, Int8Algorithm algorithm) {
  const bool is_dot4 = algorithm == Int8Algorithm::kDot4;
  if (HasVnni()) {
    if (!is_dot4) return {kOwnTimeAfterOneDnn, kOneDnnUsesVnni};
    return IsFasterThanOneDnn(given, shape) ? Cost{kDot4Time} : Cost{kDot4TimeAfterOneDnn, kOneDnnUsesVnni};
  }
  return is_dot4 ? Dot4Cost(Int8FormOf(given, shape, algorithm)) : Cost{kOwnTime};
}

kernels::KernelOrReason MakeInt8Matmul(const KernelRequest& given, const Int8Step& step,
                                       const gemm::InnerProduct& shape, Int8Algorithm algorithm) {
  const Int8ConvolutionShape form = Int8FormOf(given, shape, algorithm);
  constexpr int kColumns = 1 << 1;
  BlockedLayout::Form codes{
      .order = shape.inputs_first ? memory::AxisOrder() : memory::SwappedOrder(2, 0, 1),
      .filter_codes = memory::FilterScales{.scales = given.filter_scales.vec(), .mask = kColumns}};
  Int8Epilogue::Form results{
      .outputs = shape.outputs, .pixels = shape.rows, .is_blocked = false, .scales = step.scales};
  const bool is_dot4 = algorithm == Int8Algorithm::kDot4;
  kernels::KernelOrReason prepared = is_dot4 ? Finish<Dot4Convolution>(given, step, form, std::move(results))
                                             : Finish<Int8Convolution>(given, step, form, std::move(results));
  if (!prepared) return prepared;
  const std::array<int64_t, 2> matrix = {shape.inputs, shape.outputs};
  prepared->inputs[1] =
      FilterOfTiles(matrix, 1, is_dot4 ? simd::kQuad : kPair, is_dot4 && form.zero != 0, std::move(codes));
  return prepared;
}

}  // namespace nnefc::runtime::fast::int8
