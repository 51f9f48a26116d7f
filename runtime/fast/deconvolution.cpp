// ConvolutionBackpropData and GroupConvolutionBackpropData.

#include <algorithm>

#include "runtime/fast/conv/col2im_deconvolution.h"
#include "runtime/fast/factories.h"
#include "runtime/fast/post_ops.h"
#include "runtime/fast/reasons.h"
#include "runtime/kernels/transposed_window.h"
#include "runtime/onednn/dnnl_kernel.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime {

namespace {

using dnnl::memory;

struct DeconvolutionShape {
  llvm::ArrayRef<int64_t> input, output;
  Shape filter;  // [(groups,) out, in, spatial..], oneDNN's order
  memory::dims strides, dilations, before, after;
  bool bias;
};
using DeconvolutionPrimitive = dnnl::deconvolution_forward::primitive_desc;

// Empty if oneDNN has no implementation, or only slow ones.
DeconvolutionPrimitive TryDeconvolution(const DeconvolutionShape& shape, const DnnPostOps& posts,
                                        const memory::desc& source, const memory::desc& result) {
  using dnnl::deconvolution_forward;
  const auto kind = dnnl::prop_kind::forward_inference;
  const auto algorithm = dnnl::algorithm::deconvolution_direct;
  const memory::desc weights = AnyDesc(shape.filter, TypeOf(source));
  try {
    const deconvolution_forward::desc desc =
        shape.bias
            ? deconvolution_forward::desc(kind, algorithm, source, weights, PlainDesc(shape.output[1]),
                                          result, shape.strides, shape.dilations, shape.before, shape.after)
            : deconvolution_forward::desc(kind, algorithm, source, weights, result, shape.strides,
                                          shape.dilations, shape.before, shape.after);
    const DeconvolutionPrimitive primitive(desc, posts.Attributes(), DnnEngine(), true);
    if (!primitive || IsDnnReference(primitive.impl_info_str())) return {};
    return primitive;
  } catch (const dnnl::error&) {
    return {};
  }
}

// Direct kernels require NHWC for bf16, and nChw16c for f32 like convolutions; other cases use GEMM.
DeconvolutionPrimitive ChooseF32(const DeconvolutionShape& shape, const DnnPostOps& posts, int64_t groups) {
  const bool fits =
      shape.input[1] / groups % kChannelBlock == 0 && shape.output[1] / groups % kChannelBlock == 0;
  if (HasAvx512() && fits) {
    const DeconvolutionPrimitive primitive =
        TryDeconvolution(shape, posts, ChannelBlockedDesc(shape.input), ChannelBlockedDesc(shape.output));
    if (primitive && !IsDnnGemm(primitive.impl_info_str())) return primitive;
  }
  return TryDeconvolution(shape, posts, AnyDesc(shape.input), AnyDesc(shape.output));
}

// Direct kernels multiply padding channels by zero filter elements, which yields NaN for infinite inputs.
// Kernels that reduce over whole blocks require zeros, so this kernel clears the padding.
class ZeroedBlockKernel final : public Kernel {
 public:
  // Returns nothing if the layout has no padding channels.
  static std::shared_ptr<const Kernel> Of(std::shared_ptr<const Kernel> primitive, const memory::desc& desc) {
    const dnnl_memory_desc_t& data = desc.data;
    const dnnl_blocking_desc_t& blocking = data.format_desc.blocking;
    const bool is_filled = data.format_kind == dnnl_blocked && data.data_type == dnnl_f32 &&
                           blocking.inner_nblks == 1 && blocking.inner_idxs[0] == 1 &&
                           data.dims[1] < data.padded_dims[1] &&
                           blocking.strides[data.ndims - 1] == blocking.inner_blks[0];
    if (!is_filled) return nullptr;
    return std::make_shared<ZeroedBlockKernel>(std::move(primitive), data);
  }
  ZeroedBlockKernel(std::shared_ptr<const Kernel> primitive, const dnnl_memory_desc_t& data)
      : primitive_(std::move(primitive)),
        images_(data.dims[0]),
        image_(data.format_desc.blocking.strides[0]),
        block_(data.format_desc.blocking.inner_blks[0]),
        pixels_(data.format_desc.blocking.strides[1] / block_),
        taken_(data.dims[1] % block_),
        first_(data.dims[1] / block_ * data.format_desc.blocking.strides[1]) {}

  std::string implementation() const override { return primitive_->implementation(); }
  std::unique_ptr<KernelState> NewState() const override { return primitive_->NewState(); }
  FaultOr<Success> Run(const KernelRun& run) const override {
    FaultOr<Success> done = primitive_->Run(run);
    if (!done.ok()) return done;
    auto* last = reinterpret_cast<float*>(run.output().mutable_bytes()) + first_;
    ParallelParts(images_ * pixels_, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        std::fill_n(last + i / pixels_ * image_ + i % pixels_ * block_ + taken_, block_ - taken_, 0.0f);
    });
    return done;
  }

 private:
  const std::shared_ptr<const Kernel> primitive_;
  const int64_t images_, image_, block_, pixels_, taken_, first_;
};

// Returns whether the request is a GroupConvolutionBackpropData, whose filter has an axis for groups.
bool IsGroupDeconvolution(const KernelRequest& request) {
  return request.inputs[1].shape.size() > request.inputs[0].shape.size();
}

DeconvolutionShape DeconvolutionShapeOf(const KernelRequest& request) {
  const llvm::ArrayRef<int64_t> input = request.inputs[0].shape;
  const llvm::ArrayRef<int64_t> filter = request.inputs[1].shape;
  const llvm::ArrayRef<int64_t> output = request.outputs[0].shape;
  const size_t groups = IsGroupDeconvolution(request) ? 1 : 0;
  DeconvolutionShape shape{.input = input, .output = output, .filter = Shape(filter.begin(), filter.end())};
  std::swap(shape.filter[groups], shape.filter[groups + 1]);
  const Window window = MakeTransposedWindow(*request.node, output.drop_front(2), input.drop_front(2),
                                             filter.drop_front(groups + 2));
  for (size_t i = 5 - input.size(); i < 3; ++i) {
    const WindowAxis& axis = window[i];
    shape.strides.push_back(axis.stride);
    shape.dilations.push_back(axis.dilation - 1);
    shape.before.push_back(axis.before);
    shape.after.push_back((axis.output - 1) * axis.stride + axis.reach() - axis.input - axis.before);
  }
  return shape;
}

template <DnnType kType>
KernelOrReason MakeDnnDeconvolution(const KernelRequest& request) {
  const OrReason<DnnPostOps> posts = DnnPostOps::Make(request, 1, kType);
  if (!posts) return posts.reason();
  // Post-ops other than a bias do not follow the formulas: direct kernels lose NaN, and GEMM is slow.
  if (!posts->empty()) return Reason("a fused operation other than a bias");
  DeconvolutionShape shape = DeconvolutionShapeOf(request);
  shape.bias = posts->bias() >= 0;
  const size_t groups = IsGroupDeconvolution(request) ? 1 : 0;
  const DeconvolutionPrimitive primitive =
      kType == DnnType::bf16 ? TryDeconvolution(shape, *posts, ChannelsLastDesc(shape.input, kType),
                                                ChannelsLastDesc(shape.output, kType))
                             : ChooseF32(shape, *posts, groups == 1 ? shape.filter[0] : 1);
  if (!primitive) return kNotInDnn;
  DnnKernelBuilder builder(request);
  builder.AddInput(DNNL_ARG_SRC, 0, primitive.src_desc());
  builder.AddOrderedInput(DNNL_ARG_WEIGHTS, 1, primitive.weights_desc(),
                          SwappedOrder(shape.filter.size(), groups, groups + 1));
  if (shape.bias) {
    builder.AddReshapedInput(DNNL_ARG_BIAS, static_cast<size_t>(posts->bias()), PlainDesc(shape.output[1]));
  }
  posts->AddArguments(primitive, primitive.dst_desc(), builder);
  builder.AddOutput(DNNL_ARG_DST, 0, primitive.dst_desc());
  PreparedKernel prepared = builder.Finish(dnnl::deconvolution_forward(primitive),
                                           primitive.scratchpad_desc(), primitive.impl_info_str());
  if (auto zeroed = ZeroedBlockKernel::Of(prepared.kernel, primitive.dst_desc()))
    prepared.kernel = std::move(zeroed);
  return prepared;
}

Reason DnnDeconvolutionApplies(const KernelRequest& request) {
  if (!IsGroupDeconvolution(request) && !request.posts.empty() && FewOutputCol2imApplies(request).empty())
    return Reason("col2im is faster without the fused operations");
  // Swapping axes requires row-major filters.
  return request.inputs[1].layout != nullptr ? Reason("the filter is not row-major") : Reason();
}

// Without AMX the bf16 kernel takes two to four times as long as the f32 kernel (processor not recorded).
Cost Bf16DeconvolutionCost(const KernelRequest&) {
  return HasAmx() ? Cost{1} : Cost::NotByDefault(Reason("needs AMX to be faster than f32"));
}

constexpr int kCol2imCost = 50, kDnnDeconvolutionCost = 200;
constexpr Implementation kCol2imRow{"col2im", Col2imApplies, FixedCost<kCol2imCost>, MakeCol2imDeconvolution};
constexpr Implementation kFewOutputCol2imRow{"col2im_few_outputs", FewOutputCol2imApplies,
                                             FixedCost<kCol2imCost>, MakeFewOutputCol2im};
constexpr Implementation kDnnDeconvolutionRow{
    "onednn", DnnDeconvolutionApplies, FixedCost<kDnnDeconvolutionCost>, MakeDnnDeconvolution<DnnType::f32>};
constexpr Implementation kBf16DeconvolutionRow{"onednn_bf16", DnnDeconvolutionApplies, Bf16DeconvolutionCost,
                                               MakeDnnDeconvolution<DnnType::bf16>};
constexpr Implementation kF32Deconvolution[] = {kCol2imRow, kFewOutputCol2imRow, kDnnDeconvolutionRow};
constexpr Implementation kBf16Deconvolution[] = {kCol2imRow, kFewOutputCol2imRow, kBf16DeconvolutionRow,
                                                 kDnnDeconvolutionRow};
constexpr Implementation kF32GroupDeconvolution[] = {kDnnDeconvolutionRow};
constexpr Implementation kBf16GroupDeconvolution[] = {kBf16DeconvolutionRow, kDnnDeconvolutionRow};

Reason DeconvolutionAccepts(const KernelRequest& request) {
  // The reference kernel handles the padding of an output shape.
  if (request.node->num_inputs() != 2) return Reason("an output shape is an input");
  return DnnAcceptsAll(request) ? Reason() : kNotF32;
}
Reason DeconvolutionServesF32(const KernelRequest& request) {
  return request.precision == Precision::kBf16 ? Reason("precision bf16") : DeconvolutionAccepts(request);
}
Reason DeconvolutionServesBf16(const KernelRequest& request) {
  return request.precision == Precision::kBf16 ? DeconvolutionAccepts(request) : Reason("precision f32");
}

const ImplementationTable kDeconvolution[] = {{"f32", DeconvolutionServesF32, kF32Deconvolution},
                                              {"bf16", DeconvolutionServesBf16, kBf16Deconvolution}};
const ImplementationTable kGroupDeconvolution[] = {
    {"f32", DeconvolutionServesF32, kF32GroupDeconvolution},
    {"bf16", DeconvolutionServesBf16, kBf16GroupDeconvolution}};

}  // namespace

void RegisterDnnDeconvolution(KernelRegistry& registry) {
  AddDnnTables(registry, {"opset1"}, "ConvolutionBackpropData", kDeconvolution);
  AddDnnTables(registry, {"opset1"}, "GroupConvolutionBackpropData", kGroupDeconvolution);
}

}  // namespace nnefc::runtime
