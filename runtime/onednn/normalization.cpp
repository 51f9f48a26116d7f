// LRN across channels, SoftMax, and BatchNormInference where it was not folded
// into the filter before it.

#include "runtime/kernels/attributes.h"
#include "runtime/onednn/dnnl_kernel.h"
#include "runtime/onednn/families.h"
#include "runtime/onednn/post_ops.h"

namespace nnefc::runtime {

namespace {

using dnnl::memory;

std::optional<PreparedKernel> MakeLrn(const KernelRequest& request) {
  const TensorValue* axes = request.inputs[1].constant;
  if (!request.posts.empty() || axes == nullptr || !DnnAccepts(request.inputs[0])) return std::nullopt;
  if (axes->volume() != 1 || axes->ElementAsInt(0) != 1) return std::nullopt;
  const memory::desc data = DescOf(request.inputs[0]);
  const dnnl::lrn_forward::desc desc(dnnl::prop_kind::forward_inference, dnnl::algorithm::lrn_across_channels,
                                     data, IntOr(*request.node, "size", 1),
                                     static_cast<float>(DoubleOr(*request.node, "alpha", 1e-4)),
                                     static_cast<float>(DoubleOr(*request.node, "beta", 0.75)),
                                     static_cast<float>(DoubleOr(*request.node, "bias", 1)));
  const dnnl::lrn_forward::primitive_desc primitive(desc, DnnKernelBuilder::Attributes(), DnnEngine(), true);
  if (!primitive || IsDnnReference(primitive.impl_info_str())) return std::nullopt;
  DnnKernelBuilder builder(request);
  builder.AddInput(DNNL_ARG_SRC, 0, data);
  builder.AddOutput(DNNL_ARG_DST, 0, primitive.dst_desc());
  return builder.Finish(dnnl::lrn_forward(primitive), primitive.scratchpad_desc(), primitive.impl_info_str());
}

std::optional<PreparedKernel> MakeSoftmax(const KernelRequest& request) {
  if (!request.posts.empty() || !DnnAcceptsAll(request) || request.inputs[0].shape.empty())
    return std::nullopt;
  const int64_t rank = static_cast<int64_t>(request.inputs[0].shape.size());
  const int64_t axis = NormalAxis(IntOr(*request.node, "axis", 1), rank);
  const memory::desc data = DescOf(request.inputs[0]);
  const dnnl::softmax_forward::desc desc(dnnl::prop_kind::forward_inference, data, static_cast<int>(axis));
  const dnnl::softmax_forward::primitive_desc primitive(desc, DnnKernelBuilder::Attributes(), DnnEngine(),
                                                        true);
  if (!primitive || IsDnnReference(primitive.impl_info_str())) return MakeSoftmaxOfColumns(request);
  DnnKernelBuilder builder(request);
  builder.AddInput(DNNL_ARG_SRC, 0, data);
  builder.AddOutput(DNNL_ARG_DST, 0, primitive.dst_desc());
  return builder.Finish(dnnl::softmax_forward(primitive), primitive.scratchpad_desc(),
                        primitive.impl_info_str());
}

std::optional<PreparedKernel> MakeBatchNorm(const KernelRequest& request) {
  if (!DnnAcceptsAll(request) || request.inputs[0].shape.size() < 3) return std::nullopt;
  const std::optional<DnnPostOps> posts = DnnPostOps::Make(request, -1);
  if (!posts) return std::nullopt;
  using Flags = dnnl::normalization_flags;
  const memory::desc data = DescOf(request.inputs[0]);
  const dnnl::batch_normalization_forward::desc desc(
      dnnl::prop_kind::forward_inference, data, static_cast<float>(DoubleOr(*request.node, "epsilon", 1e-5)),
      Flags::use_global_stats | Flags::use_scale | Flags::use_shift);
  const dnnl::batch_normalization_forward::primitive_desc primitive(desc, posts->Attributes(), DnnEngine(),
                                                                    true);
  if (!primitive || IsDnnReference(primitive.impl_info_str())) return MakeBatchNormOfRows(request);
  const memory::desc vector = PlainDesc({request.inputs[0].shape[1]});
  DnnKernelBuilder builder(request);
  builder.AddInput(DNNL_ARG_SRC, 0, data);
  builder.AddReshapedInput(DNNL_ARG_SCALE, 1, vector);
  builder.AddReshapedInput(DNNL_ARG_SHIFT, 2, vector);
  builder.AddReshapedInput(DNNL_ARG_MEAN, 3, vector);
  builder.AddReshapedInput(DNNL_ARG_VARIANCE, 4, vector);
  builder.AddOutput(DNNL_ARG_DST, 0, primitive.dst_desc());
  builder.AllowInPlace(0);
  return builder.Finish(dnnl::batch_normalization_forward(primitive), primitive.scratchpad_desc(),
                        primitive.impl_info_str());
}

}  // namespace

void RegisterDnnNormalization(KernelRegistry& registry) {
  registry.Add(Backend::kOneDnn, {"opset1"}, "LRN", GuardedDnnFactory<MakeLrn>);
  registry.Add(Backend::kOneDnn, {"opset1", "opset8"}, "SoftMax", GuardedDnnFactory<MakeSoftmax>);
  registry.Add(Backend::kOneDnn, {"opset5"}, "BatchNormInference", GuardedDnnFactory<MakeBatchNorm>);
}

}  // namespace nnefc::runtime
