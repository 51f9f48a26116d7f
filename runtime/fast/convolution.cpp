// Convolution and GroupConvolution with post-ops. A filter that covers the whole input makes it an inner
// product.

#include <algorithm>
#include <bit>
#include <cmath>

#include "llvm/ADT/STLExtras.h"
#include "runtime/fast/algorithms.h"
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
#include "runtime/kernels/window.h"
#include "runtime/onednn/dnnl_kernel.h"
#include "runtime/onednn/merged_groups.h"

namespace nnefc::runtime {

namespace {

using dnnl::memory;

struct SpatialDims {
  memory::dims strides, dilations, before, after;
  bool covers_input = true;   // one output pixel with each input pixel once
  bool all_see_input = true;  // no window is entirely in the border
};

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
    dims.covers_input &= axis.before == 0 && axis.output == 1 && axis.size == axis.input &&
                         (axis.dilation == 1 || axis.size == 1);
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

// Returns the primitive for the requested algorithm; empty if not applicable.
ConvolutionPrimitive ConvolutionBy(std::string_view way, const ConvolutionShape& shape,
                                   const dnnl::primitive_attr& attributes) {
  using dnnl::algorithm;
  if (way == kDirect && HasAvx512() && FitsBlocks(shape))
    return TryConvolution(shape, attributes, algorithm::convolution_direct, BlockedDesc(shape.input),
                          BlockedDesc(shape.output));
  if (way == kChannelsLast)
    return TryConvolution(shape, attributes, algorithm::convolution_auto,
                          ChannelsLastDesc(shape.input, DnnType::f32),
                          ChannelsLastDesc(shape.output, DnnType::f32));
  if (way == kPreferred)
    return TryConvolution(shape, attributes, algorithm::convolution_auto, AnyDesc(shape.input),
                          AnyDesc(shape.output));
  return {};
}

// With AVX-512 all convolutions use nChw16c. oneDNN's own choice (NHWC, since it prefers brgemm kernels on
// recent processors) is not faster, but prevents our algorithms and in-place concatenation, and mixed layouts
// cost reorders.
ConvolutionPrimitive ChooseConvolution(const ConvolutionShape& shape, const dnnl::primitive_attr& attributes,
                                       const KernelRequest& request) {
  if (!request.way.empty()) return ConvolutionBy(request.way, shape, attributes);
  const ConvolutionPrimitive primitive = ConvolutionBy(kDirect, shape, attributes);
  if (primitive && !IsDnnReference(primitive.impl_info_str())) return primitive;
  return ConvolutionBy(kPreferred, shape, attributes);
}

// bf16 kernels require NHWC.
ConvolutionPrimitive ChooseBf16Convolution(const ConvolutionShape& shape,
                                           const dnnl::primitive_attr& attributes) {
  return TryConvolution(shape, attributes, dnnl::algorithm::convolution_auto,
                        ChannelsLastDesc(shape.input, DnnType::bf16),
                        ChannelsLastDesc(shape.output, DnnType::bf16));
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

template <bool kGrouped>
ConvolutionShape ShapeOf(const KernelRequest& request, const SpatialDims& spatial, bool bias) {
  const llvm::ArrayRef<int64_t> filter = request.inputs[1].shape;
  return {.input = request.inputs[0].shape,
          .output = request.outputs[0].shape,
          .filter = Shape(filter.begin(), filter.end()),
          .groups = kGrouped ? filter[0] : 1,
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

bool IsUsable(const ConvolutionPrimitive& primitive, const DnnPostOps& posts) {
  if (!primitive || IsDnnReference(primitive.impl_info_str())) return false;
  return posts.empty() || !IsDnnGemm(primitive.impl_info_str());
}

template <bool kGrouped>
std::optional<PreparedKernel> MakeConvolutionOf(const KernelRequest& request, const SpatialDims& spatial,
                                                DnnType type) {
  const std::optional<DnnPostOps> posts = DnnPostOps::Make(request, 1, type, spatial.all_see_input);
  if (!posts) return std::nullopt;
  ConvolutionShape shape = ShapeOf<kGrouped>(request, spatial, posts->bias() >= 0);
  const int64_t merged = MergeGroups(request, shape, type);
  const dnnl::primitive_attr attributes = posts->Attributes();
  const ConvolutionPrimitive primitive = type == DnnType::bf16
                                             ? ChooseBf16Convolution(shape, attributes)
                                             : ChooseConvolution(shape, attributes, request);
  if (!IsUsable(primitive, *posts)) return std::nullopt;
  if (IsDnnGemm(primitive.impl_info_str()) && MakesNanOfBorder(spatial, request.inputs[1].constant))
    return std::nullopt;
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
  PreparedKernel prepared = builder.Finish(dnnl::convolution_forward(primitive), primitive.scratchpad_desc(),
                                           primitive.impl_info_str());
  return prepared;
}

// int8 convolution with quantized input and filter, i32 accumulators and an f32 epilogue.
template <bool kGrouped>
std::optional<PreparedKernel> MakeQuantizedConvolution(const KernelRequest& given,
                                                       const SpatialDims& spatial) {
  const DnnQuantization* source = QuantizationOf(given.inputs[0]);
  const llvm::ArrayRef<float> scales = given.filter_scales;
  if (source == nullptr || scales.empty()) return std::nullopt;
  const Int8Request coded(given);
  const DnnType type = coded.range ? DnnType::u8 : MatmulType(given);
  const DnnType operands = coded.range ? DnnType::f32 : type;
  const std::vector<float> products = AccumulatorScales(*source, scales);
  std::optional<FoldedRequantization> folded;
  if (coded.range) folded = FoldRequantization(coded.request, *coded.range, products, 1);
  if (coded.sum) {
    if (!folded || !spatial.all_see_input) return std::nullopt;
    folded->sum = FoldSum(given, *coded.range, *coded.sum);
    if (!folded->sum) return std::nullopt;
  }
  auto own = MakeInt8Convolution(given, {source, &coded, folded}, kGrouped);
  if (own || !HasVnni()) return own;
  const std::optional<DnnPostOps> posts =
      folded ? DnnPostOps::MakeForRequantization(*folded, given.outputs[0].shape.size())
             : DnnPostOps::MakeForQuantized(coded.request, 1, operands, coded.range, spatial.all_see_input);
  if (!posts) return std::nullopt;
  dnnl::primitive_attr attributes = posts->Attributes();
  SetInt8Scales(attributes, *source, folded ? folded->scales : products);
  const ConvolutionShape shape = ShapeOf<kGrouped>(given, spatial, folded && !folded->bias.empty());
  const ConvolutionPrimitive primitive =
      TryConvolution(shape, attributes, dnnl::algorithm::convolution_direct,
                     ChannelsLastDesc(shape.input, DnnType::u8), ChannelsLastDesc(shape.output, type));
  if (!IsUsable(primitive, *posts)) return std::nullopt;
  DnnKernelBuilder builder(given);
  builder.AddQuantizedInput(DNNL_ARG_SRC, 0, primitive.src_desc(), *source);
  builder.AddInputIn(
      DNNL_ARG_WEIGHTS, 1, primitive.weights_desc(),
      {.filter_codes = DnnFilterQuantization{.scales = scales.vec(), .mask = kGrouped ? 3 : 1}});
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

// Returns the GEMM sizes of a 1x1 convolution with stride 1; nothing for others.
std::optional<GemmSizes> PointwiseConvolutionSizes(const ir::Node& convolution, llvm::ArrayRef<int64_t> input,
                                                   const ValueInfo& filter, llvm::ArrayRef<int64_t> output) {
  const llvm::ArrayRef<int64_t> window = llvm::ArrayRef<int64_t>(filter.shape).drop_front(2);
  if (filter.constant == nullptr || Volume(window) != 1) return std::nullopt;
  if (std::min(filter.shape[0], filter.shape[1]) < kChannelBlock) return std::nullopt;
  const SpatialDims spatial = MakeSpatial(
      MakeWindow(convolution, input.drop_front(2), output.drop_front(2), window), input.size() - 2);
  const auto is = [](int64_t wanted) { return [=](int64_t number) { return number == wanted; }; };
  if (!llvm::all_of(spatial.strides, is(1)) || !llvm::all_of(spatial.before, is(0)) ||
      !llvm::all_of(spatial.after, is(0)))
    return std::nullopt;
  return GemmSizes{.images = input[0],
                   .rows = *Volume(input.drop_front(2)),
                   .terms = filter.shape[1],
                   .outputs = filter.shape[0],
                   .is_blocked = true,
                   .inputs_first = false};
}

std::optional<PreparedKernel> MakePointwiseConvolution(const KernelRequest& request) {
  const std::optional<GemmSizes> sizes = PointwiseConvolutionSizes(
      *request.node, request.inputs[0].shape, request.inputs[1], request.outputs[0].shape);
  return sizes ? MakeGemm(request, *sizes, {}, request.posts) : std::nullopt;
}

template <bool kGrouped>
std::optional<PreparedKernel> MakeConvolution(const KernelRequest& request) {
  if (!kGrouped && request.inputs[0].type == ElementType::kI32) return MakeIntegerConvolution(request);
  if (!DnnAccepts(request.inputs[0]) || !DnnAccepts(request.outputs[0])) return std::nullopt;
  const llvm::ArrayRef<int64_t> input = request.inputs[0].shape;
  const llvm::ArrayRef<int64_t> output = request.outputs[0].shape;
  const SpatialDims spatial = MakeSpatial(WindowOfConvolution(request), input.size() - 2);
  if (auto kernel = MakeQuantizedConvolution<kGrouped>(request, spatial))
    return OnlyAlgorithm(request, std::move(*kernel));
  // Quantized steps may have inputs of other types.
  if (!DnnAcceptsAll(request)) return std::nullopt;
  if (!kGrouped && spatial.covers_input && request.inputs[1].constant != nullptr) {
    const InnerProduct product{
        .rows = input[0], .inputs = *Volume(input.drop_front(1)), .outputs = output[1]};
    if (auto kernel = MakeGemv(request, product, 1)) return kernel;
    const std::optional<DnnPostOps> posts = DnnPostOps::Make(request, 1);
    if (!posts) return std::nullopt;
    if (std::optional<PreparedKernel> kernel = MakeInnerProduct(request, *posts, product)) return kernel;
  }
  if (request.precision == Precision::kBf16) {
    if (auto kernel = MakeConvolutionOf<kGrouped>(request, spatial, DnnType::bf16))
      return OnlyAlgorithm(request, std::move(*kernel));
  } else if (auto kernel = kGrouped ? MakeDepthwise(request) : MakePointwiseConvolution(request)) {
    return kernel;
  }
  if (!kGrouped) {
    if (auto kernel = MakeWinograd(request)) return kernel;
    for (const auto make : {MakeFewOutputConvolution, MakeIm2colConvolution}) {
      auto kernel = make(request);
      if (kernel && !MakesNanOfBorder(spatial, request.inputs[1].constant)) return kernel;
    }
  } else if (auto kernel = MakeGroupedConvolution(request)) {
    return kernel;
  }
  const bool is_for_direct = !request.way.empty() || IsForDirectConvolution(request);
  if (is_for_direct) {
    if (auto kernel = MakeDirectConvolution(request, kGrouped)) return kernel;
  }
  std::optional<PreparedKernel> kernel = MakeConvolutionOf<kGrouped>(request, spatial, DnnType::f32);
  // oneDNN's im2col fallback is several times slower than direct tiles, even if most of a block is wasted.
  const bool is_slow = !kernel || IsDnnGemm(kernel->kernel->implementation().c_str());
  if (is_slow && !is_for_direct && request.inputs[1].constant != nullptr) {
    if (auto direct = MakeDirectConvolution(request, kGrouped)) return direct;
  }
  return kernel;
}

}  // namespace

std::optional<PreparedKernel> MakeScaledPointwiseConvolution(const KernelRequest& request) {
  if (request.posts.empty() || !DnnAcceptsAll(request) || request.precision == Precision::kExact ||
      MatmulType(request) != DnnType::f32)
    return std::nullopt;
  const PostOperation& post = request.posts[0];
  if (post.node->info().products == nullptr || post.chained_input != 0) return std::nullopt;
  const ValueInfo& filter = request.inputs[static_cast<size_t>(post.first_operand)];
  const size_t numbers = Volume(request.inputs[1].shape) < Volume(request.inputs[0].shape) ? 1 : 0;
  const ValueInfo& images = request.inputs[1 - numbers];
  const Shape& scale = request.inputs[numbers].shape;
  if (images.shape.size() != request.outputs[0].shape.size() || images.shape[0] != 1) return std::nullopt;
  if (ClassifyOperand(*request.node, scale, images.shape, 1) != OperandShape::kPerChannel)
    return std::nullopt;
  const std::optional<GemmSizes> sizes =
      PointwiseConvolutionSizes(*post.node, images.shape, filter, request.outputs[0].shape);
  if (!sizes) return std::nullopt;
  const GemmInputs inputs{.left = 1 - numbers,
                          .weights = static_cast<size_t>(post.first_operand),
                          .scale = static_cast<int>(numbers)};
  return MakeGemm(request, *sizes, inputs, request.posts.drop_front());
}

void RegisterDnnConvolution(KernelRegistry& registry) {
  registry.Add(Backend::kFast, {"opset1"}, "Convolution", GuardedDnnFactory<MakeConvolution<false>>);
  registry.Add(Backend::kFast, {"opset1"}, "GroupConvolution", GuardedDnnFactory<MakeConvolution<true>>);
  for (std::string_view name : {"Convolution", "GroupConvolution"})
    registry.AddWays(Backend::kFast, {"opset1"}, name,
                     {kDirect, kWinograd, kChannelsLast, kPreferred, kTiles});
  registry.AddWays(Backend::kFast, {"opset1"}, "Convolution", {kMatmul, kInnerProduct, kGemv, kIm2col});
}

}  // namespace nnefc::runtime
