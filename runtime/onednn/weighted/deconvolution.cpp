// ConvolutionBackpropData and GroupConvolutionBackpropData.

#include "runtime/fast/deconvolution.h"

#include <algorithm>
#include <utility>

#include "runtime/fast/conv/col2im_deconvolution.h"
#include "runtime/fast/int8/convolution/filter_quantization.h"
#include "runtime/fast/int8/convolution/int8_convolution.h"
#include "runtime/kernels/windows/transposed_window.h"
#include "runtime/onednn/post_ops.h"
#include "runtime/onednn/rows.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime::onednn {

namespace {

using fast::memory::StorageType;
using Role = library::PrimitiveArgument::Role;
using PrimitiveOrNull = std::shared_ptr<const library::Primitive>;

struct DeconvolutionShape {
  llvm::ArrayRef<int64_t> input, output;
  Shape filter;  // [(groups,) out, in, spatial..], oneDNN's order
  std::vector<int64_t> strides = {}, dilations = {}, before = {}, after = {};
  bool bias = false;
};

// The scales of an int8 deconvolution.
struct DeconvolutionScales {
  std::vector<float> scales = {};
  int32_t source_zero = 0;
};

// Null if oneDNN has no implementation, or only slow ones.
PrimitiveOrNull TryDeconvolution(const DeconvolutionShape& shape, const OneDnnPostOps& posts,
                                 const fast::memory::BlockedFormat& source,
                                 const fast::memory::BlockedFormat& result,
                                 const DeconvolutionScales& scales = {}) {
  const StorageType weights = source.type == StorageType::kU8 ? StorageType::kS8 : source.type;
  constexpr int kChannels = 1 << 1;
  library::PrimitiveRequest request{.kind = library::PrimitiveKind::kDeconvolution,
                                    .algorithm = library::PrimitiveAlgorithm::kDirect,
                                    .sources = {source},
                                    .weights = fast::memory::AnyFormat(shape.filter, weights),
                                    .result = result,
                                    .strides = shape.strides,
                                    .dilations = shape.dilations,
                                    .before = shape.before,
                                    .after = shape.after,
                                    .posts = posts.OfPrimitive(),
                                    .scales = scales.scales,
                                    .scale_axes = kChannels,
                                    .source_zero = scales.source_zero};
  if (shape.bias) request.bias = fast::memory::RowMajorFormat(shape.output[1]);
  return CreatePrimitive(request);
}

// Direct kernels require NHWC for bf16, and nChw16c for f32 like convolutions; other cases use GEMM.
PrimitiveOrNull ChooseF32(const DeconvolutionShape& shape, const OneDnnPostOps& posts, int64_t groups) {
  const bool fits = shape.input[1] / groups % fast::memory::kChannelBlock == 0 &&
                    shape.output[1] / groups % fast::memory::kChannelBlock == 0;
  if (fast::HasAvx512() && fits) {
    PrimitiveOrNull primitive =
        TryDeconvolution(shape, posts, fast::memory::ChannelBlockedFormat(shape.input),
                         fast::memory::ChannelBlockedFormat(shape.output));
    if (primitive != nullptr && !IsGemm(*primitive)) return primitive;
  }
  return TryDeconvolution(shape, posts, fast::memory::AnyFormat(shape.input),
                          fast::memory::AnyFormat(shape.output));
}

// Direct kernels multiply padding channels by zero filter elements, which yields NaN for infinite inputs.
// Kernels that reduce over whole blocks require zeros, so this kernel clears the padding.
class ZeroedBlockKernel final : public kernels::Kernel {
 public:
  // Returns nothing if the format has no padding channels.
  static std::shared_ptr<const kernels::Kernel> Of(std::shared_ptr<const kernels::Kernel> primitive,
                                                   const fast::memory::BlockedFormat& format) {
    const bool is_filled = format.is_blocked() && format.type == StorageType::kF32 &&
                           format.num_blocks == 1 && format.blocks[0].axis == 1 &&
                           format.extents[1] < format.padded_extents[1] &&
                           format.strides[format.shape().size() - 1] == format.blocks[0].size;
    if (!is_filled) return nullptr;
    return std::make_shared<ZeroedBlockKernel>(std::move(primitive), format);
  }
  ZeroedBlockKernel(std::shared_ptr<const kernels::Kernel> primitive,
                    const fast::memory::BlockedFormat& format)
      : primitive_(std::move(primitive)),
        images_(format.extents[0]),
        image_(format.strides[0]),
        block_(format.blocks[0].size),
        pixels_(format.strides[1] / block_),
        taken_(format.extents[1] % block_),
        first_(format.extents[1] / block_ * format.strides[1]) {}

  std::string implementation() const override { return primitive_->implementation(); }
  std::unique_ptr<kernels::KernelState> NewState() const override { return primitive_->NewState(); }
  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    kernels::FaultOr<Success> done = primitive_->Run(run);
    if (!done.ok()) return done;
    auto* last = reinterpret_cast<float*>(run.output().mutable_bytes()) + first_;
    tensor::ParallelParts(images_ * pixels_, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        std::fill_n(last + i / pixels_ * image_ + i % pixels_ * block_ + taken_, block_ - taken_, 0.0f);
    });
    return done;
  }

 private:
  const std::shared_ptr<const kernels::Kernel> primitive_;
  const int64_t images_, image_, block_, pixels_, taken_, first_;
};

// Returns whether the request is a GroupConvolutionBackpropData, whose filter has an axis for groups.
bool IsGroupDeconvolution(const kernels::KernelRequest& request) {
  return request.inputs[1].shape.size() > request.inputs[0].shape.size();
}

DeconvolutionShape DeconvolutionShapeOf(const kernels::KernelRequest& request) {
  const llvm::ArrayRef<int64_t> input = request.inputs[0].shape;
  const llvm::ArrayRef<int64_t> filter = request.inputs[1].shape;
  const llvm::ArrayRef<int64_t> output = request.outputs[0].shape;
  const size_t groups = IsGroupDeconvolution(request) ? 1 : 0;
  DeconvolutionShape shape{.input = input, .output = output, .filter = Shape(filter.begin(), filter.end())};
  std::swap(shape.filter[groups], shape.filter[groups + 1]);
  const kernels::Window window = kernels::MakeTransposedWindow(
      *request.node, output.drop_front(2), input.drop_front(2), filter.drop_front(groups + 2));
  for (size_t i = 5 - input.size(); i < 3; ++i) {
    const kernels::WindowAxis& axis = window[i];
    shape.strides.push_back(axis.stride);
    shape.dilations.push_back(axis.dilation - 1);
    shape.before.push_back(axis.before);
    shape.after.push_back((axis.output - 1) * axis.stride + axis.reach() - axis.input - axis.before);
  }
  return shape;
}

template <StorageType kType>
kernels::KernelOrReason MakeOneDnnDeconvolution(const kernels::KernelRequest& request) {
  const kernels::OrReason<OneDnnPostOps> posts = OneDnnPostOps::Make(request, 1, kType);
  if (!posts) return posts.reason();
  // Post-ops other than a bias do not follow the formulas: direct kernels lose NaN, and GEMM is slow.
  if (!posts->empty()) return kernels::Reason("a fused operation other than a bias");
  DeconvolutionShape shape = DeconvolutionShapeOf(request);
  shape.bias = posts->bias() >= 0;
  const size_t groups = IsGroupDeconvolution(request) ? 1 : 0;
  const PrimitiveOrNull primitive =
      kType == StorageType::kBf16
          ? TryDeconvolution(shape, *posts, fast::memory::ChannelsLastFormat(shape.input, kType),
                             fast::memory::ChannelsLastFormat(shape.output, kType))
          : ChooseF32(shape, *posts, groups == 1 ? shape.filter[0] : 1);
  if (primitive == nullptr) return kNotInOneDnn;
  OneDnnKernelBuilder builder(request, primitive);
  builder.AddInput(Role::kSource, 0);
  builder.AddOrderedInput(Role::kWeights, 1,
                          fast::memory::SwappedOrder(shape.filter.size(), groups, groups + 1));
  if (shape.bias) {
    builder.AddReshapedInput({Role::kBias}, static_cast<size_t>(posts->bias()),
                             fast::memory::RowMajorFormat(shape.output[1]));
  }
  posts->AddArguments(builder);
  builder.AddOutput();
  kernels::PreparedKernel prepared = builder.Finish();
  if (auto zeroed = ZeroedBlockKernel::Of(prepared.kernel, primitive->format({Role::kResult})))
    prepared.kernel = std::move(zeroed);
  return prepared;
}

kernels::Reason Int8DeconvolutionApplies(const kernels::KernelRequest& request) {
  return fast::int8::TransposedInt8Applies(*request.node, request.inputs[1].shape);
}

// int8 deconvolution with quantized input and filter, i32 accumulators and an f32 epilogue.
kernels::KernelOrReason MakeOneDnnInt8Deconvolution(const kernels::KernelRequest& request) {
  const fast::int8::Int8Step step(request, 1);
  if (step.coded.sum) return kernels::Reason("a sum of quantized values");
  DeconvolutionShape shape = DeconvolutionShapeOf(request);
  const std::optional<fast::int8::QuantizationRange>& range = step.coded.range;
  const StorageType type = range ? StorageType::kU8 : fast::memory::MatmulType(request);
  const kernels::OrReason<OneDnnPostOps> posts =
      step.folded ? OneDnnPostOps::MakeForRequantization(*step.folded, request.outputs[0].shape.size())
                  : OneDnnPostOps::MakeForQuantized(step.coded.request, 1, range ? StorageType::kF32 : type,
                                                    range, true);
  if (!posts) return posts.reason();
  if (shape.output[1] < fast::memory::kChannelBlock && !step.folded && !posts->empty())
    return kernels::Reason("a fused operation on a part of a block of channels");
  shape.bias = step.folded && !step.folded->bias.empty();
  const PrimitiveOrNull primitive = TryDeconvolution(
      shape, *posts, fast::memory::ChannelsLastFormat(shape.input, StorageType::kU8),
      fast::memory::ChannelsLastFormat(shape.output, type),
      {.scales = step.folded ? step.folded->scales : step.scales, .source_zero = step.source->zero});
  if (primitive == nullptr) return kNotInOneDnn;
  if (IsGemm(*primitive)) return kernels::Reason("oneDNN only has GEMM and col2im");
  OneDnnKernelBuilder builder(request, primitive);
  builder.AddQuantizedInput(Role::kSource, 0, *step.source);
  constexpr int kFilterOutputs = 1 << 0;
  builder.AddInputIn(Role::kWeights, 1,
                     {.order = fast::memory::SwappedOrder(shape.filter.size(), 0, 1),
                      .filter_codes = fast::memory::FilterScales{.scales = request.filter_scales.vec(),
                                                                 .mask = kFilterOutputs}});
  if (shape.bias)
    builder.AddNumbers({Role::kBias}, step.folded->bias, fast::memory::RowMajorFormat(shape.output[1]));
  posts->AddArguments(builder);
  if (range) {
    builder.AddQuantizedOutput(range->codes);
  } else {
    builder.AddOutput();
  }
  return builder.Finish();
}

kernels::Reason OneDnnDeconvolutionApplies(const kernels::KernelRequest& request) {
  if (!IsGroupDeconvolution(request) && !request.posts.empty() &&
      fast::conv::FewOutputCol2imApplies(request).empty())
    return kernels::Reason("col2im is faster without the fused operations");
  // Swapping axes requires row-major filters.
  return request.inputs[1].layout != nullptr ? kernels::Reason("the filter is not row-major")
                                             : kernels::Reason();
}

// Without AMX the bf16 kernel takes two to four times as long as the f32 kernel (processor not recorded).
kernels::Cost Bf16DeconvolutionCost(const kernels::KernelRequest&) {
  return fast::HasAmx() ? kernels::Cost{1}
                        : kernels::Cost::NotByDefault(kernels::Reason("needs AMX to be faster than f32"));
}

constexpr int kDeconvolutionCost = 200;
constexpr kernels::Implementation kF32DeconvolutionRow{"onednn", OneDnnDeconvolutionApplies,
                                                       kernels::FixedCost<kDeconvolutionCost>,
                                                       MakeOneDnnDeconvolution<StorageType::kF32>};
constexpr kernels::Implementation kF32DeconvolutionRows[] = {kF32DeconvolutionRow};
constexpr kernels::Implementation kInt8DeconvolutionRows[] = {{"onednn_int8", Int8DeconvolutionApplies,
                                                               kernels::FixedCost<kDeconvolutionCost>,
                                                               MakeOneDnnInt8Deconvolution}};
constexpr kernels::Implementation kBf16DeconvolutionRows[] = {
    {"onednn_bf16", OneDnnDeconvolutionApplies, Bf16DeconvolutionCost,
     MakeOneDnnDeconvolution<StorageType::kBf16>},
    kF32DeconvolutionRow};
const kernels::ImplementationTable kGroupTables[] = {
    {"f32", fast::DeconvolutionServesF32, kF32DeconvolutionRows},
    {"bf16", fast::DeconvolutionServesBf16, kBf16DeconvolutionRows}};

}  // namespace

void AddDeconvolutionRows(fast::FastTables& tables) {
  tables.Append(
      {"opset1"}, "ConvolutionBackpropData",
      {{"int8", kInt8DeconvolutionRows}, {"f32", kF32DeconvolutionRows}, {"bf16", kBf16DeconvolutionRows}});
  tables.Add({"opset1"}, "GroupConvolutionBackpropData", kGroupTables);
}

}  // namespace nnefc::runtime::onednn
