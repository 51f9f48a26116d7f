#include "runtime/fast/inner_product.h"

namespace nnefc::runtime {

using dnnl::memory;

std::optional<PreparedKernel> MakeInnerProduct(const KernelRequest& request, const DnnPostOps& posts,
                                               const InnerProduct& shape) {
  using dnnl::inner_product_forward;
  const auto kind = dnnl::prop_kind::forward_inference;
  const memory::desc source = PlainDesc({shape.rows, shape.inputs});
  const memory::desc weights = AnyDesc({shape.outputs, shape.inputs});
  const memory::desc bias = PlainDesc({shape.outputs});
  const memory::desc result = PlainDesc({shape.rows, shape.outputs});
  const inner_product_forward::desc desc =
      posts.bias() >= 0 ? inner_product_forward::desc(kind, source, weights, bias, result)
                        : inner_product_forward::desc(kind, source, weights, result);
  const inner_product_forward::primitive_desc primitive(desc, posts.Attributes(), DnnEngine(), true);
  if (!primitive || IsDnnReference(primitive.impl_info_str())) return std::nullopt;
  DnnKernelBuilder builder(request);
  builder.AddReshapedInput(DNNL_ARG_SRC, 0, source);
  builder.AddInput(DNNL_ARG_WEIGHTS, 1, primitive.weights_desc());
  if (posts.bias() >= 0) builder.AddReshapedInput(DNNL_ARG_BIAS, static_cast<size_t>(posts.bias()), bias);
  posts.AddArguments(primitive, result, builder);
  builder.AddReshapedOutput(DNNL_ARG_DST, 0, result);
  return builder.Finish(inner_product_forward(primitive), primitive.scratchpad_desc(),
                        primitive.impl_info_str());
}

}  // namespace nnefc::runtime
