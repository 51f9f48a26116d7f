// Convolution and GroupConvolution with post-ops. A filter that covers the whole input makes it an inner
// product.

#include <algorithm>
#include <bit>
#include <cmath>

#include "llvm/ADT/STLExtras.h"
#include "runtime/fast/conv/depthwise_convolution.h"
#include "runtime/fast/conv/direct_convolution.h"
#include "runtime/fast/conv/few_output_convolution.h"
#include "runtime/fast/conv/grouped_convolution.h"
#include "runtime/fast/conv/im2col_convolution.h"
#include "runtime/fast/conv/winograd_convolution.h"
#include "runtime/fast/factories.h"
#include "runtime/fast/gemm/gemm.h"
#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/inner_product.h"
#include "runtime/fast/int8/int8_convolution.h"
#include "runtime/fast/int8/integer_gemm.h"
#include "runtime/fast/int8/quantization.h"
#include "runtime/fast/post_ops.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/split_k_matmul.h"
#include "runtime/kernels/window.h"
#include "runtime/onednn/dnnl_kernel.h"
#include "runtime/onednn/merged_groups.h"

namespace nnefc::runtime {

namespace {

using dnnl::memory;

struct SpatialDims {
  memory::dims strides, dilations, before, after;
  bool all_see_input = true;  // no window is entirely in the border
};

// Returns whether the only window along the axis contains each input pixel once.
bool CoversInput(const WindowAxis& axis) {
  return axis.before == 0 && axis.output == 1 && axis.size == axis.input &&
         (axis.dilation == 1 || axis.size == 1);
}

// Returns whether each window along the axis contains an input pixel.
bool AllWindowsTouchInput(const WindowAxis& axis) {
  if (axis.before == 0 && axis.after <= 0) return true;
  for (int64_t place = 0; place < axis.output; ++place) {
    if (ValidTaps(axis, place).count() == 0) return false;
  }
  return true;
}

SpatialDims MakeSpatial(const Window& window, size_t rank) {
  SpatialDims dims;
  for (size_t i = 3 - rank; i < 3; ++i) {
    const WindowAxis& axis = window[i];
    dims.strides.push_back(axis.stride);
    dims.dilations.push_back(axis.dilation - 1);
    dims.before.push_back(axis.before);
    // Input after the last window is not read.
    dims.after.push_back((axis.output - 1) * axis.stride + axis.reach() - axis.input - axis.before);
    dims.all_see_input &= AllWindowsTouchInput(axis);
  }
  return dims;
}

struct ConvolutionShape {
  llvm::ArrayRef<int64_t> input, output;
  Shape filter;
  int64_t groups;
  const SpatialDims* spatial;
  bool bias;
};
using ConvolutionPrimitive = dnnl::convolution_forward::primitive_desc;

// Empty if oneDNN has no such convolution.
ConvolutionPrimitive TryConvolution(const ConvolutionShape& shape, const dnnl::primitive_attr& attributes,
                                    dnnl::algorithm algorithm, const memory::desc& source,
                                    const memory::desc& result) {
  using dnnl::convolution_forward;
  const auto kind = dnnl::prop_kind::forward_inference;
  const bool is_coded = TypeOf(source) == DnnType::u8;
  const memory::desc weights = AnyDesc(shape.filter, is_coded ? DnnType::s8 : TypeOf(source));
  const SpatialDims& spatial = *shape.spatial;
  try {
    const convolution_forward::desc desc =
        shape.bias
            ? convolution_forward::desc(kind, algorithm, source, weights, PlainDesc(shape.output[1]), result,
                                        spatial.strides, spatial.dilations, spatial.before, spatial.after)
            : convolution_forward::desc(kind, algorithm, source, weights, result, spatial.strides,
                                        spatial.dilations, spatial.before, spatial.after);
    return ConvolutionPrimitive(desc, attributes, DnnEngine(), true);
  } catch (const dnnl::error&) {
    return {};
  }
}

// Returns nChw16c for at least 16 channels; otherwise oneDNN chooses.
memory::desc BlockedDesc(llvm::ArrayRef<int64_t> shape) {
  return shape[1] < kChannelBlock ? AnyDesc(shape) : ChannelBlockedDesc(shape);
}

// Returns true if groups start at block boundaries.
bool FitsBlocks(const ConvolutionShape& shape) {
  if (shape.groups == 1) return true;
  if (shape.groups == shape.input[1] && shape.groups == shape.output[1])
    return shape.groups % kChannelBlock == 0;
  return shape.input[1] / shape.groups % kChannelBlock == 0 &&
         shape.output[1] / shape.groups % kChannelBlock == 0;
}

// The layouts of a oneDNN convolution. kChosen: blocked, or the preferred ones if there is no such kernel.
enum class DnnLayouts : uint8_t { kBlocked, kPreferred, kChosen, kChannelsLast, kBf16 };

// Returns the primitive for these layouts; empty if there is none.
ConvolutionPrimitive ConvolutionIn(DnnLayouts layouts, const ConvolutionShape& shape,
                                   const dnnl::primitive_attr& attributes) {
  using dnnl::algorithm;
  switch (layouts) {
    case DnnLayouts::kBlocked:
      if (!HasAvx512() || !FitsBlocks(shape)) return {};
      return TryConvolution(shape, attributes, algorithm::convolution_direct, BlockedDesc(shape.input),
                            BlockedDesc(shape.output));
    case DnnLayouts::kPreferred:
      return TryConvolution(shape, attributes, algorithm::convolution_auto, AnyDesc(shape.input),
                            AnyDesc(shape.output));
    case DnnLayouts::kChosen: {
      const ConvolutionPrimitive blocked = ConvolutionIn(DnnLayouts::kBlocked, shape, attributes);
      if (blocked && !IsDnnReference(blocked.impl_info_str())) return blocked;
      return ConvolutionIn(DnnLayouts::kPreferred, shape, attributes);
    }
    case DnnLayouts::kChannelsLast:
      return TryConvolution(shape, attributes, algorithm::convolution_auto,
                            ChannelsLastDesc(shape.input, DnnType::f32),
                            ChannelsLastDesc(shape.output, DnnType::f32));
    case DnnLayouts::kBf16:  // bf16 kernels require NHWC
      return TryConvolution(shape, attributes, algorithm::convolution_auto,
                            ChannelsLastDesc(shape.input, DnnType::bf16),
                            ChannelsLastDesc(shape.output, DnnType::bf16));
  }
  return {};
}

bool IsFinite(const TensorValue& constant) {
  const TensorValue value = constant.Loaded().Aligned(alignof(float));
  if (value.type() == ElementType::kF32) {
    constexpr uint32_t kExponent = 0x7F800000;  // all bits set only in infinities and NaN
    uint32_t largest = 0;
    Vectorized([&] {
      for (float number : value.elements<float>())
        largest = std::max(largest, std::bit_cast<uint32_t>(number) & kExponent);
    });
    return largest < kExponent;
  }
  for (int64_t i = 0; i < value.volume(); ++i) {
    if (!std::isfinite(value.ElementAsDouble(i))) return false;
  }
  return true;
}

// GEMM-based convolutions also multiply zeros of the border, so infinities and NaN in the filter yield NaN.
bool MakesNanOfBorder(const SpatialDims& spatial, const TensorValue* filter) {
  const auto is_padded = [](int64_t pad) { return pad > 0; };
  if (llvm::none_of(spatial.before, is_padded) && llvm::none_of(spatial.after, is_padded)) return false;
  return filter == nullptr || !IsFinite(*filter);
}

// Returns whether the request is a GroupConvolution, whose filter has an axis for groups.
bool IsGrouped(const KernelRequest& request) {
  return request.inputs[1].shape.size() > request.inputs[0].shape.size();
}

SpatialDims SpatialOf(const KernelRequest& request) {
  return MakeSpatial(WindowOfConvolution(request), request.inputs[0].shape.size() - 2);
}

ConvolutionShape ShapeOf(const KernelRequest& request, const SpatialDims& spatial, bool bias) {
  const llvm::ArrayRef<int64_t> filter = request.inputs[1].shape;
  return {.input = request.inputs[0].shape,
          .output = request.outputs[0].shape,
          .filter = Shape(filter.begin(), filter.end()),
          .groups = IsGrouped(request) ? filter[0] : 1,
          .spatial = &spatial,
          .bias = bias};
}

// Merges narrow groups for AMX. Returns the number of merged groups.
int64_t MergeGroups(const KernelRequest& request, ConvolutionShape& shape, DnnType type) {
  const ValueInfo& filter = request.inputs[1];
  if (shape.groups == 1 || type != DnnType::bf16 || !HasAmx() || filter.constant == nullptr) return 1;
  const int64_t merged = GroupsToMerge(shape.groups, shape.filter[2], shape.filter[1]);
  if (merged == 1) return 1;
  shape.filter = MergedFilter(shape.filter, merged);
  shape.groups /= merged;
  return merged;
}

// --- oneDNN's implementations ---------------------------------------------------------

constexpr Reason kIsGemm("oneDNN only has im2col");
constexpr Reason kNanOfBorder(
    "the filter has infinities or NaN, which a border of zeros would turn into NaN");

Reason IsUsable(const ConvolutionPrimitive& primitive, const DnnPostOps& posts) {
  if (!primitive || IsDnnReference(primitive.impl_info_str())) return kNotInDnn;
  if (!posts.empty() && IsDnnGemm(primitive.impl_info_str()))
    return Reason("im2col of oneDNN has no fast fused operations");
  return Reason();
}

// A oneDNN kernel of im2col and GEMM, or another one.
enum class DnnGemm : uint8_t { kEither, kExcluded, kRequired };

template <DnnLayouts kLayouts, DnnGemm kGemm>
KernelOrReason MakeDnnConvolution(const KernelRequest& request) {
  constexpr DnnType kType = kLayouts == DnnLayouts::kBf16 ? DnnType::bf16 : DnnType::f32;
  const SpatialDims spatial = SpatialOf(request);
  const OrReason<DnnPostOps> posts = DnnPostOps::Make(request, 1, kType, spatial.all_see_input);
  if (!posts) return posts.reason();
  ConvolutionShape shape = ShapeOf(request, spatial, posts->bias() >= 0);
  const int64_t merged = MergeGroups(request, shape, kType);
  const ConvolutionPrimitive primitive = ConvolutionIn(kLayouts, shape, posts->Attributes());
  if (const Reason reason = IsUsable(primitive, *posts); !reason.empty()) return reason;
  const bool is_gemm = IsDnnGemm(primitive.impl_info_str());
  if (is_gemm && kGemm == DnnGemm::kExcluded) return kIsGemm;
  if (!is_gemm && kGemm == DnnGemm::kRequired) return Reason("oneDNN has a kernel without im2col");
  if (is_gemm && MakesNanOfBorder(spatial, request.inputs[1].constant)) return kNanOfBorder;
  DnnKernelBuilder builder(request);
  builder.AddInput(DNNL_ARG_SRC, 0, primitive.src_desc());
  if (merged > 1) {
    builder.AddInputIn(DNNL_ARG_WEIGHTS, 1, primitive.weights_desc(), {.merged_groups = merged});
  } else {
    builder.AddInput(DNNL_ARG_WEIGHTS, 1, primitive.weights_desc());
  }
  if (shape.bias) {
    builder.AddReshapedInput(DNNL_ARG_BIAS, static_cast<size_t>(posts->bias()), PlainDesc(shape.output[1]));
  }
  posts->AddArguments(primitive, primitive.dst_desc(), builder);
  builder.AddOutput(DNNL_ARG_DST, 0, primitive.dst_desc());
  return builder.Finish(dnnl::convolution_forward(primitive), primitive.scratchpad_desc(),
                        primitive.impl_info_str());
}

// With AVX-512 all convolutions use nChw16c. oneDNN's own choice (NHWC, since it prefers brgemm kernels on
// recent processors) is not faster, but prevents our algorithms and in-place concatenation, and mixed layouts
// cost reorders.
Reason DnnBlockedApplies(const KernelRequest& request) {
  if (!HasAvx512()) return Reason("needs AVX-512");
  const SpatialDims none;
  return FitsBlocks(ShapeOf(request, none, false)) ? Reason()
                                                   : Reason("groups that do not start at blocks of channels");
}

Cost ChannelsLastCost(const KernelRequest&) {
  return Cost::NotByDefault(Reason("other steps have other layouts"));
}

// --- int8 convolutions ----------------------------------------------------------------

// Returns the quantization of a step with its sum, if any.
OrReason<Int8Step> Int8StepOf(const KernelRequest& given, const SpatialDims& spatial) {
  Int8Step step(given, 1);
  if (!step.coded.sum) return step;
  if (!step.folded) return Reason("the quantization of the result cannot be folded");
  if (!spatial.all_see_input) return Reason("a sum, and windows inside the border");
  step.folded->sum = FoldSum(given, *step.coded.range, *step.coded.sum);
  if (!step.folded->sum) return Reason("the sum cannot be folded");
  return step;
}

template <Int8Algorithm kAlgorithm>
Reason Int8Applies(const KernelRequest& request) {
  return Int8ConvolutionApplies(request, kAlgorithm);
}
template <Int8Algorithm kAlgorithm>
Cost Int8Cost(const KernelRequest& request) {
  return Int8ConvolutionCost(request, kAlgorithm);
}
template <Int8Algorithm kAlgorithm>
KernelOrReason MakeInt8(const KernelRequest& request) {
  const OrReason<Int8Step> step = Int8StepOf(request, SpatialOf(request));
  return step ? MakeInt8Convolution(request, *step, kAlgorithm) : step.reason();
}

// int8 convolution with quantized input and filter, i32 accumulators and an f32 epilogue.
KernelOrReason MakeDnnInt8(const KernelRequest& given) {
  const SpatialDims spatial = SpatialOf(given);
  const OrReason<Int8Step> step = Int8StepOf(given, spatial);
  if (!step) return step.reason();
  const Int8Request& coded = step->coded;
  const std::optional<FoldedRequantization>& folded = step->folded;
  const DnnType type = coded.range ? DnnType::u8 : MatmulType(given);
  const DnnType operands = coded.range ? DnnType::f32 : type;
  const OrReason<DnnPostOps> posts =
      folded ? DnnPostOps::MakeForRequantization(*folded, given.outputs[0].shape.size())
             : DnnPostOps::MakeForQuantized(coded.request, 1, operands, coded.range, spatial.all_see_input);
  if (!posts) return posts.reason();
  dnnl::primitive_attr attributes = posts->Attributes();
  SetInt8Scales(attributes, *step->source, folded ? folded->scales : step->scales);
  const ConvolutionShape shape = ShapeOf(given, spatial, folded && !folded->bias.empty());
  const ConvolutionPrimitive primitive =
      TryConvolution(shape, attributes, dnnl::algorithm::convolution_direct,
                     ChannelsLastDesc(shape.input, DnnType::u8), ChannelsLastDesc(shape.output, type));
  if (const Reason reason = IsUsable(primitive, *posts); !reason.empty()) return reason;
  DnnKernelBuilder builder(given);
  builder.AddQuantizedInput(DNNL_ARG_SRC, 0, primitive.src_desc(), *step->source);
  builder.AddInputIn(DNNL_ARG_WEIGHTS, 1, primitive.weights_desc(),
                     {.filter_codes = DnnFilterQuantization{.scales = given.filter_scales.vec(),
                                                            .mask = IsGrouped(given) ? 3 : 1}});
  if (shape.bias) builder.AddNumbers(DNNL_ARG_BIAS, folded->bias, PlainDesc(shape.output[1]));
  posts->AddArguments(primitive, primitive.dst_desc(), builder);
  if (coded.range) {
    const QuantizationRange& range = coded.sum ? coded.sum->range : *coded.range;
    builder.AddQuantizedOutput(DNNL_ARG_DST, 0, primitive.dst_desc(), range.codes);
  } else {
    builder.AddOutput(DNNL_ARG_DST, 0, primitive.dst_desc());
  }
  return builder.Finish(dnnl::convolution_forward(primitive), primitive.scratchpad_desc(),
                        primitive.impl_info_str());
}

// --- convolutions as matrix multiplications -------------------------------------------

// Returns the sizes of a convolution whose only window covers the image.
OrReason<InnerProduct> InnerProductOf(const KernelRequest& request) {
  const llvm::ArrayRef<int64_t> input = request.inputs[0].shape;
  if (IsGrouped(request)) return Reason("{} groups", request.inputs[1].shape[0]);
  if (request.inputs[1].constant == nullptr) return kNeedsConstantFilter;
  const Window window = WindowOfConvolution(request);
  for (size_t i = 5 - input.size(); i < 3; ++i) {
    if (!CoversInput(window[i])) return Reason("the window is not the whole image");
  }
  return InnerProduct{
      .rows = input[0], .inputs = *Volume(input.drop_front(1)), .outputs = request.outputs[0].shape[1]};
}

// Returns the reason if the window is the whole image, and oneDNN's inner product lacks a fused operation: it
// runs with fewer of them.
Reason FusesAsInnerProduct(const KernelRequest& request) {
  return InnerProductOf(request) ? DnnPostOps::Make(request, 1).reason() : Reason();
}
template <Reason (*kApplies)(const KernelRequest&)>
Reason FusedAnd(const KernelRequest& request) {
  const Reason reason = kApplies(request);
  return reason.empty() ? FusesAsInnerProduct(request) : reason;
}

Reason InnerProductApplies(const KernelRequest& request) {
  return InnerProductOf(request).reason();
}
KernelOrReason MakeGemvConvolution(const KernelRequest& request) {
  return MakeGemv(request, *InnerProductOf(request), 1);
}

template <Reason (*kApplies)(const KernelRequest&, const InnerProduct&)>
Reason AppliesAsInnerProduct(const KernelRequest& request) {
  const OrReason<InnerProduct> shape = InnerProductOf(request);
  return shape ? kApplies(request, *shape) : shape.reason();
}
template <Cost (*kCost)(const KernelRequest&, const InnerProduct&)>
Cost CostAsInnerProduct(const KernelRequest& request) {
  return kCost(request, *InnerProductOf(request));
}
template <KernelOrReason (*kMake)(const KernelRequest&, const DnnPostOps&, const InnerProduct&)>
KernelOrReason MakeAsInnerProduct(const KernelRequest& request) {
  const OrReason<DnnPostOps> posts = DnnPostOps::Make(request, 1);
  return posts ? kMake(request, *posts, *InnerProductOf(request)) : posts.reason();
}

// Returns the GEMM sizes of a 1x1 convolution with stride 1.
OrReason<GemmSizes> PointwiseConvolutionSizes(const ir::Node& convolution, llvm::ArrayRef<int64_t> input,
                                              const ValueInfo& filter, llvm::ArrayRef<int64_t> output) {
  const llvm::ArrayRef<int64_t> window = llvm::ArrayRef<int64_t>(filter.shape).drop_front(2);
  if (Volume(window) != 1) return Reason("a filter of {} taps", Volume(window).value_or(0));
  if (filter.constant == nullptr) return kNeedsConstantFilter;
  if (std::min(filter.shape[0], filter.shape[1]) < kChannelBlock)
    return Reason("{} input and {} output channels, fewer than a block", filter.shape[1], filter.shape[0]);
  const SpatialDims spatial = MakeSpatial(
      MakeWindow(convolution, input.drop_front(2), output.drop_front(2), window), input.size() - 2);
  const auto is = [](int64_t wanted) { return [=](int64_t number) { return number == wanted; }; };
  if (!llvm::all_of(spatial.strides, is(1))) return Reason("a stride");
  if (!llvm::all_of(spatial.before, is(0)) || !llvm::all_of(spatial.after, is(0))) return Reason("a border");
  return GemmSizes{.images = input[0],
                   .rows = *Volume(input.drop_front(2)),
                   .terms = filter.shape[1],
                   .outputs = filter.shape[0],
                   .is_blocked = true,
                   .inputs_first = false};
}

OrReason<GemmSizes> PointwiseConvolutionSizes(const KernelRequest& request) {
  return PointwiseConvolutionSizes(*request.node, request.inputs[0].shape, request.inputs[1],
                                   request.outputs[0].shape);
}
Reason PointwiseApplies(const KernelRequest& request) {
  return HasSimd() ? PointwiseConvolutionSizes(request).reason() : kNeedsSimd;
}
KernelOrReason MakePointwiseConvolution(const KernelRequest& request) {
  return MakeGemm(request, *PointwiseConvolutionSizes(request), {}, request.posts);
}

// --- direct convolution, and algorithms with zeros in the border ----------------------

template <KernelOrReason (*kMake)(const KernelRequest&)>
KernelOrReason MakeWithoutNan(const KernelRequest& request) {
  KernelOrReason kernel = kMake(request);
  if (kernel && MakesNanOfBorder(SpatialOf(request), request.inputs[1].constant)) return kNanOfBorder;
  return kernel;
}

Reason DirectConvolutionApplies(const KernelRequest& request) {
  return DirectApplies(request, IsGrouped(request));
}
KernelOrReason MakeDirect(const KernelRequest& request) {
  return MakeDirectConvolution(request, IsGrouped(request));
}

// Costs relative to direct convolution with full blocks. Matrix multiplications take less (inner_product.h).
// bf16 kernels take less than Winograd in f32, whose least cost is 40 / (9.3 * 16) = 0.27. oneDNN's f32
// kernels take about 2, and its im2col several times as long (processor not recorded).
constexpr int kDnnBf16Cost = 25, kPointwiseCost = 50, kDepthwiseCost = 50;
constexpr int kDnnConvolutionCost = 200, kDnnIm2colCost = 400;

// With few outputs most of a block is wasted, but im2col of oneDNN is still slower. A filter that is not
// constant is packed in each run.
Cost DirectCost(const KernelRequest& request) {
  constexpr double kFullBlocks = 1, kPartOfBlock = 3;
  if (request.inputs[1].constant == nullptr) return Cost::NotByDefault(kNeedsConstantFilter);
  const int64_t outputs = request.outputs[0].shape[1];
  if (outputs >= kChannelBlock) return {kFullBlocks};
  return {kPartOfBlock, Reason("{} output channels, fewer than a block", outputs)};
}

// --- tables ---------------------------------------------------------------------------

template <Int8Algorithm kAlgorithm>
constexpr Implementation Int8Row(std::string_view id) {
  return {id, Int8Applies<kAlgorithm>, Int8Cost<kAlgorithm>, MakeInt8<kAlgorithm>};
}
constexpr Implementation kDnnInt8Row{"onednn_int8", NeedsVnni, FixedCost<kDnnConvolutionCost>, MakeDnnInt8};
constexpr Implementation kInt8Convolution[] = {Int8Row<Int8Algorithm::kWinograd>("int8_winograd"),
                                               Int8Row<Int8Algorithm::kDot4>("int8_dot4"),
                                               Int8Row<Int8Algorithm::kDot2>("int8_dot2"), kDnnInt8Row};
constexpr Implementation kInt8GroupConvolution[] = {Int8Row<Int8Algorithm::kDepthwise>("int8_depthwise"),
                                                    Int8Row<Int8Algorithm::kGrouped>("int8_grouped"),
                                                    kDnnInt8Row};

constexpr Implementation kI32Convolution[] = {
    {"integer", IntegerConvolutionApplies, FixedCost<100>, MakeIntegerConvolution}};

constexpr Implementation kGemvRow{"gemv", AppliesAsInnerProduct<GemvApplies>, CostAsInnerProduct<GemvCost>,
                                  MakeGemvConvolution};
constexpr Implementation kSplitKRow{"split_k_matmul", AppliesAsInnerProduct<SplitKApplies>,
                                    CostAsInnerProduct<SplitKCost>, MakeAsInnerProduct<MakeSplitKMatmul>};
constexpr Implementation kDnnMatmulRow{"onednn_matmul", InnerProductApplies,
                                       CostAsInnerProduct<DnnMatmulCost>, MakeAsInnerProduct<MakeDnnMatmul>};
constexpr Implementation kInnerProductRow{"onednn_inner_product", InnerProductApplies,
                                          CostAsInnerProduct<DnnInnerProductCost>,
                                          MakeAsInnerProduct<MakeDnnInnerProduct>};
constexpr Implementation kWinogradRow{"winograd", FusedAnd<WinogradApplies>, WinogradCost, MakeWinograd};
constexpr Implementation kFewOutputsRow{"few_outputs", FusedAnd<FewOutputsApply>, FewOutputsCost,
                                        MakeWithoutNan<MakeFewOutputConvolution>};
constexpr Implementation kIm2colRow{"im2col", FusedAnd<Im2colApplies>, Im2colCost,
                                    MakeWithoutNan<MakeIm2colConvolution>};
constexpr Implementation kDirectRow{"direct", FusedAnd<DirectConvolutionApplies>, DirectCost, MakeDirect};
constexpr Implementation kDnnBf16Row{"onednn_bf16", FusedAnd<AlwaysApplies>, FixedCost<kDnnBf16Cost>,
                                     MakeDnnConvolution<DnnLayouts::kBf16, DnnGemm::kEither>};
constexpr Implementation kDnnBlockedRow{"onednn_blocked", FusedAnd<DnnBlockedApplies>,
                                        FixedCost<kDnnConvolutionCost>,
                                        MakeDnnConvolution<DnnLayouts::kBlocked, DnnGemm::kExcluded>};
constexpr Implementation kDnnPreferredRow{"onednn_preferred", FusedAnd<AlwaysApplies>,
                                          FixedCost<kDnnConvolutionCost>,
                                          MakeDnnConvolution<DnnLayouts::kPreferred, DnnGemm::kExcluded>};
constexpr Implementation kDnnIm2colRow{"onednn_im2col", FusedAnd<AlwaysApplies>, FixedCost<kDnnIm2colCost>,
                                       MakeDnnConvolution<DnnLayouts::kChosen, DnnGemm::kRequired>};
constexpr Implementation kDnnChannelsLastRow{
    "onednn_channels_last", FusedAnd<AlwaysApplies>, ChannelsLastCost,
    MakeDnnConvolution<DnnLayouts::kChannelsLast, DnnGemm::kExcluded>};

constexpr Implementation kF32Convolution[] = {
    kGemvRow,
    kDnnMatmulRow,
    kInnerProductRow,
    {"pointwise", FusedAnd<PointwiseApplies>, FixedCost<kPointwiseCost>, MakePointwiseConvolution},
    kWinogradRow,
    kFewOutputsRow,
    kIm2colRow,
    kDirectRow,
    kDnnBlockedRow,
    kDnnPreferredRow,
    kDnnIm2colRow,
    kDnnChannelsLastRow};
constexpr Implementation kBf16Convolution[] = {
    kSplitKRow, kDnnMatmulRow, kInnerProductRow, kDnnBf16Row,      kWinogradRow,  kFewOutputsRow,
    kIm2colRow, kDirectRow,    kDnnBlockedRow,   kDnnPreferredRow, kDnnIm2colRow, kDnnChannelsLastRow};

constexpr Implementation kGroupedRow{"grouped", GroupedApplies, GroupedCost, MakeGroupedConvolution};
constexpr Implementation kF32GroupConvolution[] = {
    {"depthwise", DepthwiseApplies, FixedCost<kDepthwiseCost>, MakeDepthwise},
    kGroupedRow,
    kDirectRow,
    kDnnBlockedRow,
    kDnnPreferredRow,
    kDnnIm2colRow,
    kDnnChannelsLastRow};
constexpr Implementation kBf16GroupConvolution[] = {kDnnBf16Row,        kGroupedRow,      kDirectRow,
                                                    kDnnBlockedRow,     kDnnPreferredRow, kDnnIm2colRow,
                                                    kDnnChannelsLastRow};

// Quantized steps may have inputs of other types.
Reason ServesInt8Images(const KernelRequest& request) {
  if (!DnnAccepts(request.inputs[0]) || !DnnAccepts(request.outputs[0])) return kNotF32;
  return IsQuantized(request);
}
const ImplementationTable kConvolution[] = {{"i32", ServesI32, kI32Convolution},
                                            {"int8", ServesInt8Images, kInt8Convolution},
                                            {"f32", ServesF32, kF32Convolution},
                                            {"bf16", ServesBf16, kBf16Convolution}};
const ImplementationTable kGroupConvolution[] = {{"int8", ServesInt8Images, kInt8GroupConvolution},
                                                 {"f32", ServesF32, kF32GroupConvolution},
                                                 {"bf16", ServesBf16, kBf16GroupConvolution}};

}  // namespace

KernelOrReason MakeScaledPointwiseConvolution(const KernelRequest& request) {
  if (request.posts.empty()) return Reason("no convolution follows");
  if (!DnnAcceptsAll(request)) return kNotF32;
  if (request.precision != Precision::kF32) return Reason("precision exact or bf16");
  const PostOperation& post = request.posts[0];
  if (post.node->info().products == nullptr || post.chained_input != 0)
    return Reason("no convolution follows");
  const ValueInfo& filter = request.inputs[static_cast<size_t>(post.first_operand)];
  const size_t numbers = Volume(request.inputs[1].shape) < Volume(request.inputs[0].shape) ? 1 : 0;
  const ValueInfo& images = request.inputs[1 - numbers];
  const Shape& scale = request.inputs[numbers].shape;
  if (images.shape.size() != request.outputs[0].shape.size() || images.shape[0] != 1)
    return Reason("several images");
  if (ClassifyOperand(*request.node, scale, images.shape, 1) != OperandShape::kPerChannel)
    return Reason("the scale is not per channel");
  if (!HasSimd()) return kNeedsSimd;
  const OrReason<GemmSizes> sizes =
      PointwiseConvolutionSizes(*post.node, images.shape, filter, request.outputs[0].shape);
  if (!sizes) return sizes.reason();
  const GemmInputs inputs{.left = 1 - numbers,
                          .weights = static_cast<size_t>(post.first_operand),
                          .scale = static_cast<int>(numbers)};
  return MakeGemm(request, *sizes, inputs, request.posts.drop_front());
}

void RegisterDnnConvolution(KernelRegistry& registry) {
  AddDnnTables(registry, {"opset1"}, "Convolution", kConvolution);
  AddDnnTables(registry, {"opset1"}, "GroupConvolution", kGroupConvolution);
}

}  // namespace nnefc::runtime
