// Convolution and GroupConvolution, with what follows as post-operations. A
// convolution whose filter covers the whole input is an inner product.

#include "runtime/kernels/window.h"
#include "runtime/onednn/dnnl_kernel.h"
#include "runtime/onednn/families.h"
#include "runtime/onednn/post_ops.h"

namespace nnefc::runtime {

namespace {

using dnnl::memory;

struct SpatialDims {
  memory::dims strides, dilations, before, after;
  bool covers_input = true;  // one output pixel that sees each input pixel once
};

SpatialDims MakeSpatial(const Window& window, size_t rank) {
  SpatialDims dims;
  for (size_t i = 3 - rank; i < 3; ++i) {
    const WindowAxis& axis = window[i];
    dims.strides.push_back(axis.stride);
    dims.dilations.push_back(axis.dilation - 1);
    dims.before.push_back(axis.before);
    // What the last window does not reach is not read.
    dims.after.push_back((axis.output - 1) * axis.stride + axis.reach() - axis.input - axis.before);
    dims.covers_input &= axis.before == 0 && axis.output == 1 && axis.size == axis.input &&
                         (axis.dilation == 1 || axis.size == 1);
  }
  return dims;
}

void AddCommonArguments(const KernelRequest& request, const DnnPostOps& posts, const memory::desc& source,
                        const memory::desc& weights, const memory::desc& bias, DnnKernelBuilder& builder) {
  builder.AddInput(DNNL_ARG_SRC, 0, source);
  builder.AddInput(DNNL_ARG_WEIGHTS, 1, weights);
  if (posts.bias() >= 0) builder.AddReshapedInput(DNNL_ARG_BIAS, static_cast<size_t>(posts.bias()), bias);
}

std::optional<PreparedKernel> MakeInnerProduct(const KernelRequest& request, const DnnPostOps& posts) {
  const Shape& output = request.outputs[0].shape;
  const memory::desc source = AnyDesc(request.inputs[0].shape);
  const memory::desc weights = AnyDesc(request.inputs[1].shape);
  const memory::desc destination(memory::dims{output[0], output[1]}, memory::data_type::f32, memory::format_tag::nc);
  const memory::desc bias(memory::dims{output[1]}, memory::data_type::f32, memory::format_tag::x);
  using dnnl::inner_product_forward;
  const auto kind = dnnl::prop_kind::forward_inference;
  const inner_product_forward::desc desc =
      posts.bias() >= 0 ? inner_product_forward::desc(kind, source, weights, bias, destination)
                        : inner_product_forward::desc(kind, source, weights, destination);
  const inner_product_forward::primitive_desc primitive(desc, posts.Attributes(), DnnEngine(), true);
  if (!primitive || IsDnnReference(primitive.impl_info_str())) return std::nullopt;
  DnnKernelBuilder builder(request);
  AddCommonArguments(request, posts, primitive.src_desc(), primitive.weights_desc(), bias, builder);
  posts.AddArguments(primitive, PlainDesc(output), builder);
  builder.AddReshapedOutput(DNNL_ARG_DST, 0, primitive.dst_desc());
  return builder.Finish(inner_product_forward(primitive), primitive.scratchpad_desc(), primitive.impl_info_str());
}

template <bool kGrouped>
std::optional<PreparedKernel> MakeConvolution(const KernelRequest& request) {
  if (!DnnAcceptsAll(request)) return std::nullopt;
  const llvm::ArrayRef<int64_t> input = request.inputs[0].shape;
  const llvm::ArrayRef<int64_t> filter = request.inputs[1].shape;
  const llvm::ArrayRef<int64_t> output = request.outputs[0].shape;
  const SpatialDims spatial = MakeSpatial(
      MakeWindow(*request.node, input.drop_front(2), output.drop_front(2), filter.drop_front(kGrouped ? 3 : 2)),
      input.size() - 2);
  const std::optional<DnnPostOps> posts = DnnPostOps::Make(request, 1);
  if (!posts) return std::nullopt;
  if (!kGrouped && spatial.covers_input && request.inputs[1].constant != nullptr) {
    bool full_operand = false;  // of an image of one pixel: not worth a shape of its own
    for (size_t i = 2; i < request.inputs.size(); ++i) full_operand |= request.inputs[i].constant == nullptr;
    if (!full_operand) {
      if (std::optional<PreparedKernel> kernel = MakeInnerProduct(request, *posts)) return kernel;
    }
  }

  using dnnl::convolution_forward;
  const auto kind = dnnl::prop_kind::forward_inference;
  const auto algorithm = dnnl::algorithm::convolution_auto;
  const memory::desc bias(memory::dims{output[1]}, memory::data_type::f32, memory::format_tag::x);
  const convolution_forward::desc desc =
      posts->bias() >= 0
          ? convolution_forward::desc(kind, algorithm, AnyDesc(input), AnyDesc(filter), bias, AnyDesc(output),
                                      spatial.strides, spatial.dilations, spatial.before, spatial.after)
          : convolution_forward::desc(kind, algorithm, AnyDesc(input), AnyDesc(filter), AnyDesc(output),
                                      spatial.strides, spatial.dilations, spatial.before, spatial.after);
  const convolution_forward::primitive_desc primitive(desc, posts->Attributes(), DnnEngine(), true);
  if (!primitive || IsDnnReference(primitive.impl_info_str())) return std::nullopt;
  DnnKernelBuilder builder(request);
  AddCommonArguments(request, *posts, primitive.src_desc(), primitive.weights_desc(), bias, builder);
  posts->AddArguments(primitive, primitive.dst_desc(), builder);
  builder.AddOutput(DNNL_ARG_DST, 0, primitive.dst_desc());
  return builder.Finish(convolution_forward(primitive), primitive.scratchpad_desc(), primitive.impl_info_str());
}

}  // namespace

void RegisterDnnConvolution(KernelRegistry& registry) {
  registry.Add(Backend::kOneDnn, {"opset1"}, "Convolution", GuardedDnnFactory<MakeConvolution<false>>);
  registry.Add(Backend::kOneDnn, {"opset1"}, "GroupConvolution", GuardedDnnFactory<MakeConvolution<true>>);
}

}  // namespace nnefc::runtime
