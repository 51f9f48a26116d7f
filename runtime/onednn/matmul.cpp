#include "runtime/fast/matmul.h"

#include <utility>

#include "runtime/onednn/inner_product.h"
#include "runtime/onednn/rows.h"
#include "runtime/onednn/split_k_matmul.h"

namespace nnefc::runtime {

namespace {

using Role = PrimitiveArgument::Role;

Reason PackedApplies(const KernelRequest& request) {
  return PackedProductOf(request).reason();
}
Reason SplitKMatmulApplies(const KernelRequest& request) {
  const OrReason<InnerProduct> shape = PackedProductOf(request);
  return shape ? SplitKApplies(request, *shape) : shape.reason();
}
template <Cost (*kCost)(const KernelRequest&, const InnerProduct&)>
Cost RowsCost(const KernelRequest& request) {
  return kCost(request, *ConstantProductOf(request));
}
template <KernelOrReason (*kMake)(const KernelRequest&, const OneDnnPostOps&, const InnerProduct&)>
KernelOrReason MakeOfRows(const KernelRequest& request) {
  const OrReason<InnerProduct> shape = ConstantProductOf(request);
  const OrReason<OneDnnPostOps> posts = OneDnnPostOps::MakeForRows(request, shape->rows, shape->outputs);
  return posts ? kMake(request, *posts, *shape) : posts.reason();
}

KernelOrReason MakeInt8OfRows(const KernelRequest& request) {
  const OrReason<Int8Step> step = Int8MatmulStepOf(request);
  return step ? MakeOneDnnInt8Matmul(request, *step, *ConstantProductOf(request)) : step.reason();
}

// A row-major operand as [1.., leading.., rows, columns] with the rank of the result, transposed by its
// strides.
BlockedFormat OperandFormat(llvm::ArrayRef<int64_t> shape, bool transpose, size_t rank, StorageType type) {
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
  return StridedFormat(extents, strides, type);
}

// Vectors belong to the reference kernel, biases to a separate step.
Reason GeneralApplies(const KernelRequest& request) {
  if (request.inputs[0].shape.size() < 2 || request.inputs[1].shape.size() < 2)
    return Reason("an operand is a vector");
  return request.posts.empty() ? Reason() : Reason("a fused operation");
}

KernelOrReason MakeGeneral(const KernelRequest& request) {
  const Shape& output = request.outputs[0].shape;
  const size_t rank = output.size();
  const StorageType type = MatmulType(request);
  const BlockedFormat source =
      OperandFormat(request.inputs[0].shape, request.node->Bool("transpose_a"), rank, type);
  const BlockedFormat weights =
      OperandFormat(request.inputs[1].shape, request.node->Bool("transpose_b"), rank, type);
  const std::shared_ptr<const Primitive> primitive = CreatePrimitive({.kind = PrimitiveKind::kMatmul,
                                                                      .sources = {source},
                                                                      .weights = weights,
                                                                      .result = RowMajorFormat(output)});
  if (primitive == nullptr) return kNotInOneDnn;
  OneDnnKernelBuilder builder(request, primitive);
  builder.AddReshapedInput({Role::kSource}, 0, source);
  builder.AddReshapedInput({Role::kWeights}, 1, weights);
  builder.AddOutput();
  return builder.Finish();
}

constexpr int kInt8MatmulCost = 200, kGeneralCost = 100;
constexpr Implementation kInt8MatmulRows[] = {
    {"onednn_int8", NeedsVnni, FixedCost<kInt8MatmulCost>, MakeInt8OfRows}};
constexpr Implementation kPackedMatmulRow{"onednn_matmul", PackedApplies, RowsCost<OneDnnMatmulCost>,
                                          MakeOfRows<MakeOneDnnMatmul>};
constexpr Implementation kPackedInnerProductRow{"onednn_inner_product", PackedApplies,
                                                RowsCost<OneDnnInnerProductCost>,
                                                MakeOfRows<MakeOneDnnInnerProduct>};
constexpr Implementation kGeneralRow{"onednn_general", GeneralApplies, FixedCost<kGeneralCost>, MakeGeneral};
constexpr Implementation kF32MatmulRows[] = {kPackedMatmulRow, kPackedInnerProductRow, kGeneralRow};
constexpr Implementation kBf16MatmulRows[] = {
    {"split_k_matmul", SplitKMatmulApplies, RowsCost<SplitKCost>, MakeOfRows<MakeSplitKMatmul>},
    kPackedMatmulRow,
    kPackedInnerProductRow,
    kGeneralRow};

}  // namespace

void AddMatmulRows(FastTables& tables) {
  tables.Append({"opset1"}, "MatMul",
                {{"int8", kInt8MatmulRows}, {"f32", kF32MatmulRows}, {"bf16", kBf16MatmulRows}});
}

}  // namespace nnefc::runtime
