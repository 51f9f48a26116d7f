// MatMul by oneDNN's matmul and inner-product primitives.

#include "runtime/fast/matmul.h"

#include <utility>

#include "runtime/onednn/rows.h"
#include "runtime/onednn/weighted/inner_product.h"
#include "runtime/onednn/weighted/split_k_matmul.h"

namespace nnefc::runtime::onednn {

using kernels::KernelRequest;

namespace {

using Role = library::PrimitiveArgument::Role;

kernels::Reason PackedApplies(const KernelRequest& request) {
  return fast::PackedProductOf(request).reason();
}
kernels::Reason SplitKMatmulApplies(const KernelRequest& request) {
  const kernels::OrReason<fast::gemm::InnerProduct> shape = fast::PackedProductOf(request);
  return shape ? SplitKApplies(request, *shape) : shape.reason();
}
template <kernels::Cost (*kCost)(const KernelRequest&, const fast::gemm::InnerProduct&)>
kernels::Cost RowsCost(const KernelRequest& request) {
  return kCost(request, *fast::ConstantProductOf(request));
}
template <kernels::KernelOrReason (*kMake)(const KernelRequest&, const OneDnnPostOps&,
                                           const fast::gemm::InnerProduct&)>
kernels::KernelOrReason MakeOfRows(const KernelRequest& request) {
  const kernels::OrReason<fast::gemm::InnerProduct> shape = fast::ConstantProductOf(request);
  const kernels::OrReason<OneDnnPostOps> posts =
      OneDnnPostOps::MakeForRows(request, shape->rows, shape->outputs);
  return posts ? kMake(request, *posts, *shape) : posts.reason();
}

kernels::KernelOrReason MakeInt8OfRows(const KernelRequest& request) {
  const kernels::OrReason<fast::int8::Int8Step> step = fast::Int8MatmulStepOf(request);
  return step ? MakeOneDnnInt8Matmul(request, *step, *fast::ConstantProductOf(request)) : step.reason();
}

// A row-major operand as [1.., leading.., rows, columns] with the rank of the result, transposed by its
// strides.
fast::memory::BlockedFormat OperandFormat(llvm::ArrayRef<int64_t> shape, bool transpose, size_t rank,
                                          fast::memory::StorageType type) {
  Shape extents(rank, 1), strides(rank, 1);
  int64_t stride = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    extents[rank - 1 - i] = shape[shape.size() - 1 - i];
    strides[rank - 1 - i] = stride;
    stride *= extents[rank - 1 - i];
  }
  for (size_t i = shape.size(); i < rank; ++i) strides[rank - 1 - i] = stride;
  if (transpose) {
    std::swap(extents[rank - 1], extents[rank - 2]);
    std::swap(strides[rank - 1], strides[rank - 2]);
  }
  return fast::memory::StridedFormat(extents, strides, type);
}

// Vectors belong to the reference kernel, biases to a separate step.
kernels::Reason GeneralApplies(const KernelRequest& request) {
  if (request.inputs[0].shape.size() < 2 || request.inputs[1].shape.size() < 2)
    return kernels::Reason("an operand is a vector");
  return request.posts.empty() ? kernels::Reason() : kernels::Reason("a fused operation");
}

kernels::KernelOrReason MakeGeneral(const KernelRequest& request) {
  const Shape& output = request.outputs[0].shape;
  const size_t rank = output.size();
  const fast::memory::StorageType type = fast::memory::MatmulType(request);
  const fast::memory::BlockedFormat source =
      OperandFormat(request.inputs[0].shape, request.node->Bool("transpose_a"), rank, type);
  const fast::memory::BlockedFormat weights =
      OperandFormat(request.inputs[1].shape, request.node->Bool("transpose_b"), rank, type);
  const std::shared_ptr<const library::Primitive> primitive =
      CreatePrimitive({.kind = library::PrimitiveKind::kMatmul,
                       .sources = {source},
                       .weights = weights,
                       .result = fast::memory::RowMajorFormat(output)});
  if (primitive == nullptr) return kNotInOneDnn;
  OneDnnKernelBuilder builder(request, primitive);
  builder.AddReshapedInput({Role::kSource}, 0, source);
  builder.AddReshapedInput({Role::kWeights}, 1, weights);
  builder.AddOutput();
  return builder.Finish();
}

constexpr int kInt8MatmulCost = 200, kGeneralCost = 100;
constexpr kernels::Implementation kInt8MatmulRows[] = {
    {"onednn_int8", NeedsVnni, kernels::FixedCost<kInt8MatmulCost>, MakeInt8OfRows}};
constexpr kernels::Implementation kPackedMatmulRow{"onednn_matmul", PackedApplies, RowsCost<OneDnnMatmulCost>,
                                                   MakeOfRows<MakeOneDnnMatmul>};
constexpr kernels::Implementation kPackedInnerProductRow{"onednn_inner_product", PackedApplies,
                                                         RowsCost<OneDnnInnerProductCost>,
                                                         MakeOfRows<MakeOneDnnInnerProduct>};
constexpr kernels::Implementation kGeneralRow{"onednn_general", GeneralApplies,
                                              kernels::FixedCost<kGeneralCost>, MakeGeneral};
constexpr kernels::Implementation kF32MatmulRows[] = {kPackedMatmulRow, kPackedInnerProductRow, kGeneralRow};
constexpr kernels::Implementation kBf16MatmulRows[] = {
    {"split_k_matmul", SplitKMatmulApplies, RowsCost<SplitKCost>, MakeOfRows<MakeSplitKMatmul>},
    kPackedMatmulRow,
    kPackedInnerProductRow,
    kGeneralRow};

}  // namespace

void AddMatmulRows(fast::FastTables& tables) {
  tables.Append({"opset1"}, "MatMul",
                {{"int8", kInt8MatmulRows}, {"f32", kF32MatmulRows}, {"bf16", kBf16MatmulRows}});
}

}  // namespace nnefc::runtime::onednn
