// Matmuls with a constant matrix by oneDNN.

#include "runtime/onednn/weighted/inner_product.h"

#include "runtime/onednn/rows.h"

namespace nnefc::runtime::onednn {

using fast::memory::RowMajorFormat;
using fast::memory::StorageType;

namespace {

using Role = library::PrimitiveArgument::Role;

// Adds the arguments common to both primitives; `swapped` if the rows of the constant are the columns of the
// primitive's weights.
kernels::PreparedKernel FinishInnerProduct(const kernels::KernelRequest& request, const OneDnnPostOps& posts,
                                           const std::shared_ptr<const library::Primitive>& primitive,
                                           bool swapped) {
  OneDnnKernelBuilder builder(request, primitive);
  builder.AddReshapedInput({Role::kSource}, 0, primitive->format({Role::kSource}));
  if (swapped) {
    builder.AddOrderedInput(Role::kWeights, 1, fast::memory::SwappedOrder(2, 0, 1));
  } else {
    builder.AddInput(Role::kWeights, 1);
  }
  if (posts.bias() >= 0)
    builder.AddReshapedInput({Role::kBias}, static_cast<size_t>(posts.bias()),
                             primitive->format({Role::kBias}));
  posts.AddArguments(builder);
  builder.AddReshapedOutput(primitive->format({Role::kResult}));
  return builder.Finish();
}

constexpr kernels::Reason kNotPacked("oneDNN does not pack the matrix");

}  // namespace

// oneDNN 2.6's matmul with packed weights takes 0.85 of the time of its inner product on transformer layers,
// especially with weights from memory; with fewer rows it is slower (processor not recorded).
kernels::Cost OneDnnMatmulCost(const kernels::KernelRequest&, const fast::gemm::InnerProduct& shape) {
  constexpr double kFast = 0.15;
  constexpr int64_t kMinRows = 8;
  if (shape.rows >= kMinRows) return {kFast};
  return kernels::Cost::NotByDefault(kernels::Reason("{} rows, fewer than {}", shape.rows, kMinRows));
}

kernels::KernelOrReason MakeOneDnnMatmul(const kernels::KernelRequest& request, const OneDnnPostOps& posts,
                                         const fast::gemm::InnerProduct& shape) {
  const StorageType type = fast::memory::MatmulType(request);
  library::PrimitiveRequest wanted{.kind = library::PrimitiveKind::kMatmul,
                                   .sources = {RowMajorFormat({shape.rows, shape.inputs}, type)},
                                   .weights = fast::memory::AnyFormat({shape.inputs, shape.outputs}, type),
                                   .result = RowMajorFormat({shape.rows, shape.outputs}),
                                   .posts = posts.OfPrimitive()};
  if (posts.bias() >= 0) wanted.bias = RowMajorFormat({1, shape.outputs});
  const std::shared_ptr<const library::Primitive> primitive = CreatePrimitive(wanted);
  if (primitive == nullptr) return kNotInOneDnn;
  if (IsGemm(*primitive)) return kNotPacked;
  return FinishInnerProduct(request, posts, primitive, !shape.inputs_first);
}

kernels::Cost OneDnnInnerProductCost(const kernels::KernelRequest&, const fast::gemm::InnerProduct&) {
  constexpr double kFast = 0.2;
  return {kFast};
}

kernels::KernelOrReason MakeOneDnnInnerProduct(const kernels::KernelRequest& request,
                                               const OneDnnPostOps& posts,
                                               const fast::gemm::InnerProduct& shape) {
  const StorageType type = fast::memory::MatmulType(request);
  library::PrimitiveRequest wanted{.kind = library::PrimitiveKind::kInnerProduct,
                                   .sources = {RowMajorFormat({shape.rows, shape.inputs}, type)},
                                   .weights = fast::memory::AnyFormat({shape.outputs, shape.inputs}, type),
                                   .result = RowMajorFormat({shape.rows, shape.outputs}),
                                   .posts = posts.OfPrimitive()};
  if (posts.bias() >= 0) wanted.bias = RowMajorFormat({shape.outputs});
  const std::shared_ptr<const library::Primitive> primitive = CreatePrimitive(wanted);
  if (primitive == nullptr) return kNotInOneDnn;
  return FinishInnerProduct(request, posts, primitive, shape.inputs_first);
}

kernels::KernelOrReason MakeOneDnnInt8Matmul(const kernels::KernelRequest& given,
                                             const fast::int8::Int8Step& step,
                                             const fast::gemm::InnerProduct& shape) {
  const fast::int8::Int8Request& coded = step.coded;
  const std::optional<fast::int8::FoldedRequantization>& folded = step.folded;
  const kernels::OrReason<OneDnnPostOps> posts =
      folded ? OneDnnPostOps::MakeForRequantization(*folded, 2)
             : OneDnnPostOps::MakeForQuantizedRows(coded.request, shape.rows, shape.outputs, coded.range);
  if (!posts) return posts.reason();
  const StorageType type = coded.range ? StorageType::kU8 : StorageType::kF32;
  const bool has_bias = folded && !folded->bias.empty();
  constexpr int kColumns = 1 << 1;
  library::PrimitiveRequest wanted{
      .kind = library::PrimitiveKind::kMatmul,
      .sources = {RowMajorFormat({shape.rows, shape.inputs}, StorageType::kU8)},
      .weights = fast::memory::AnyFormat({shape.inputs, shape.outputs}, StorageType::kS8),
      .result = RowMajorFormat({shape.rows, shape.outputs}, type),
      .posts = posts->OfPrimitive(),
      .scales = folded ? folded->scales : step.scales,
      .scale_axes = kColumns,
      .source_zero = step.source->zero,
  };
  if (has_bias) wanted.bias = RowMajorFormat({1, shape.outputs});
  const std::shared_ptr<const library::Primitive> primitive = CreatePrimitive(wanted);
  if (primitive == nullptr) return kNotInOneDnn;
  if (IsGemm(*primitive)) return kNotPacked;
  OneDnnKernelBuilder builder(given, primitive);
  builder.AddReshapedQuantizedInput(Role::kSource, 0, *step.source);
  builder.AddInputIn(
      Role::kWeights, 1,
      {.order = shape.inputs_first ? fast::memory::AxisOrder() : fast::memory::SwappedOrder(2, 0, 1),
       .filter_codes = fast::memory::FilterScales{.scales = given.filter_scales.vec(), .mask = kColumns}});
  if (has_bias) builder.AddNumbers({Role::kBias}, folded->bias, wanted.bias);
  posts->AddArguments(builder);
  if (coded.range) {
    builder.AddReshapedQuantizedOutput(coded.range->codes);
  } else {
    builder.AddReshapedOutput(primitive->format({Role::kResult}));
  }
  return builder.Finish();
}

}  // namespace nnefc::runtime::onednn
