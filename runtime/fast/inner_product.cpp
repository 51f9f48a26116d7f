#include "runtime/fast/inner_product.h"

namespace nnefc::runtime {

using dnnl::memory;

namespace {

// From so many rows on the products of matrices of oneDNN 2.6, whose weights are
// packed, are faster than its inner product, above all where the weights come from
// memory: 0.85 of its time on the layers of transformers.
constexpr int64_t kLeastRows = 8;

// Adds what products of both kinds read and write; `swapped` where the constant's rows
// are the columns of the primitive's weights.
template <typename Primitive, typename PrimitiveDesc>
PreparedKernel Finish(const KernelRequest& request, const DnnPostOps& posts, const PrimitiveDesc& primitive,
                      bool swapped) {
  DnnKernelBuilder builder(request);
  builder.AddReshapedInput(DNNL_ARG_SRC, 0, primitive.src_desc());
  if (swapped) {
    builder.AddSwappedInput(DNNL_ARG_WEIGHTS, 1, primitive.weights_desc());
  } else {
    builder.AddInput(DNNL_ARG_WEIGHTS, 1, primitive.weights_desc());
  }
  if (posts.bias() >= 0)
    builder.AddReshapedInput(DNNL_ARG_BIAS, static_cast<size_t>(posts.bias()), primitive.bias_desc());
  posts.AddArguments(primitive, primitive.dst_desc(), builder);
  builder.AddReshapedOutput(DNNL_ARG_DST, 0, primitive.dst_desc());
  return builder.Finish(Primitive(primitive), primitive.scratchpad_desc(), primitive.impl_info_str());
}

std::optional<PreparedKernel> MakeMatrixProduct(const KernelRequest& request, const DnnPostOps& posts,
                                                const InnerProduct& shape) {
  const DnnType type = ProductType(request);
  const memory::desc source = PlainDesc({shape.rows, shape.inputs}, type);
  const memory::desc weights = AnyDesc({shape.inputs, shape.outputs}, type);
  const memory::desc bias = PlainDesc({1, shape.outputs});
  const memory::desc result = PlainDesc({shape.rows, shape.outputs});
  const dnnl::matmul::desc desc = posts.bias() >= 0 ? dnnl::matmul::desc(source, weights, bias, result)
                                                    : dnnl::matmul::desc(source, weights, result);
  const dnnl::matmul::primitive_desc primitive(desc, posts.Attributes(), DnnEngine(), true);
  if (!primitive || IsDnnReference(primitive.impl_info_str()) || IsDnnGemm(primitive.impl_info_str()))
    return std::nullopt;
  return Finish<dnnl::matmul>(request, posts, primitive, !shape.inputs_first);
}

}  // namespace

std::optional<PreparedKernel> MakeInnerProduct(const KernelRequest& request, const DnnPostOps& posts,
                                               const InnerProduct& shape) {
  if (shape.rows >= kLeastRows) {
    if (std::optional<PreparedKernel> kernel = MakeMatrixProduct(request, posts, shape)) return kernel;
  }
  using dnnl::inner_product_forward;
  const auto kind = dnnl::prop_kind::forward_inference;
  const DnnType type = ProductType(request);
  const memory::desc source = PlainDesc({shape.rows, shape.inputs}, type);
  const memory::desc weights = AnyDesc({shape.outputs, shape.inputs}, type);
  const memory::desc bias = PlainDesc({shape.outputs});
  const memory::desc result = PlainDesc({shape.rows, shape.outputs});
  const inner_product_forward::desc desc =
      posts.bias() >= 0 ? inner_product_forward::desc(kind, source, weights, bias, result)
                        : inner_product_forward::desc(kind, source, weights, result);
  const inner_product_forward::primitive_desc primitive(desc, posts.Attributes(), DnnEngine(), true);
  if (!primitive || IsDnnReference(primitive.impl_info_str())) return std::nullopt;
  return Finish<inner_product_forward>(request, posts, primitive, shape.inputs_first);
}

}  // namespace nnefc::runtime
