// ConvolutionBackpropData and GroupConvolutionBackpropData.

#include "runtime/fast/dnnl_kernel.h"
#include "runtime/fast/families.h"
#include "runtime/fast/post_ops.h"
#include "runtime/kernels/window.h"

namespace nnefc::runtime {

namespace {

using dnnl::memory;

// The filter [(groups,) in, out, spatial..] seen as oneDNN's [(groups,) out,
// in, spatial..]: the same memory, other strides.
memory::desc FilterDesc(llvm::ArrayRef<int64_t> filter, size_t in_axis, bool any) {
  Shape swapped(filter.begin(), filter.end());
  std::swap(swapped[in_axis], swapped[in_axis + 1]);
  if (any) return AnyDesc(swapped);
  Strides strides = DenseStrides(filter);
  std::swap(strides[in_axis], strides[in_axis + 1]);
  return memory::desc(DnnDims(swapped), memory::data_type::f32, memory::dims(strides.begin(), strides.end()));
}

template <bool kGrouped>
std::optional<PreparedKernel> MakeDeconvolution(const KernelRequest& request) {
  // A node that is told its result's extents has three inputs; the padding
  // that they imply is left to the reference kernel.
  if (request.node->num_inputs() != 2 || !DnnAcceptsAll(request)) return std::nullopt;
  const llvm::ArrayRef<int64_t> input = request.inputs[0].shape;
  const llvm::ArrayRef<int64_t> filter = request.inputs[1].shape;
  const llvm::ArrayRef<int64_t> output = request.outputs[0].shape;
  const Window window = MakeWindow(*request.node, output.drop_front(2), input.drop_front(2),
                                   filter.drop_front(kGrouped ? 3 : 2));
  memory::dims strides, dilations, before, after;
  for (size_t i = 5 - input.size(); i < 3; ++i) {
    const WindowAxis& axis = window[i];
    strides.push_back(axis.stride);
    dilations.push_back(axis.dilation - 1);
    before.push_back(axis.before);
    after.push_back((axis.output - 1) * axis.stride + axis.reach() - axis.input - axis.before);
  }
  const std::optional<DnnPostOps> posts = DnnPostOps::Make(request, 1);
  if (!posts) return std::nullopt;

  using dnnl::deconvolution_forward;
  const auto kind = dnnl::prop_kind::forward_inference;
  const auto algorithm = dnnl::algorithm::deconvolution_direct;
  // The filter stays as it lies: oneDNN's own choice would be a layout of the
  // swapped shape, which the plan cannot tell from one of the node's.
  const memory::desc weights = FilterDesc(filter, kGrouped ? 1 : 0, false);
  const memory::desc bias(memory::dims{output[1]}, memory::data_type::f32, memory::format_tag::x);
  const deconvolution_forward::desc desc =
      posts->bias() >= 0 ? deconvolution_forward::desc(kind, algorithm, AnyDesc(input), weights, bias,
                                                       AnyDesc(output), strides, dilations, before, after)
                         : deconvolution_forward::desc(kind, algorithm, AnyDesc(input), weights,
                                                       AnyDesc(output), strides, dilations, before, after);
  const deconvolution_forward::primitive_desc primitive(desc, posts->Attributes(), DnnEngine(), true);
  if (!primitive || IsDnnReference(primitive.impl_info_str())) return std::nullopt;
  if (!posts->empty() && IsDnnGemm(primitive.impl_info_str())) return std::nullopt;
  DnnKernelBuilder builder(request);
  builder.AddInput(DNNL_ARG_SRC, 0, primitive.src_desc());
  builder.AddReshapedInput(DNNL_ARG_WEIGHTS, 1, weights);
  if (posts->bias() >= 0) builder.AddReshapedInput(DNNL_ARG_BIAS, static_cast<size_t>(posts->bias()), bias);
  posts->AddArguments(primitive, primitive.dst_desc(), builder);
  builder.AddOutput(DNNL_ARG_DST, 0, primitive.dst_desc());
  return builder.Finish(deconvolution_forward(primitive), primitive.scratchpad_desc(),
                        primitive.impl_info_str());
}

}  // namespace

void RegisterDnnDeconvolution(KernelRegistry& registry) {
  registry.Add(Backend::kOneDnn, {"opset1"}, "ConvolutionBackpropData",
               GuardedDnnFactory<MakeDeconvolution<false>>);
  registry.Add(Backend::kOneDnn, {"opset1"}, "GroupConvolutionBackpropData",
               GuardedDnnFactory<MakeDeconvolution<true>>);
}

}  // namespace nnefc::runtime
