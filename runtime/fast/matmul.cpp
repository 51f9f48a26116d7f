// The implementation tables of MatMul.

#include "runtime/fast/matmul.h"

#include "runtime/fast/factories.h"
#include "runtime/fast/gemm/compressed_gemm.h"
#include "runtime/fast/gemm/gemm.h"
#include "runtime/fast/inner_product.h"
#include "runtime/fast/int8/integer_gemm.h"
#include "runtime/fast/int8/tensor_matmul.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/reasons.h"

namespace nnefc::runtime::fast {

using gemm::InnerProduct;
using kernels::KernelRequest;
using kernels::OrReason;
using kernels::Reason;

namespace {

using ShapeFunction = OrReason<InnerProduct> (*)(const KernelRequest&);

template <ShapeFunction kShapeOf, Reason (*kApplies)(const KernelRequest&, const InnerProduct&)>
Reason MatrixApplies(const KernelRequest& request) {
  const OrReason<InnerProduct> shape = kShapeOf(request);
  return shape ? kApplies(request, *shape) : shape.reason();
}
template <kernels::Cost (*kCost)(const KernelRequest&, const InnerProduct&)>
kernels::Cost MatrixCost(const KernelRequest& request) {
  return kCost(request, *ConstantProductOf(request));
}

kernels::KernelOrReason MakeRowGemv(const KernelRequest& request) {
  return MakeGemv(request, *ConstantProductOf(request),
                  static_cast<int64_t>(request.outputs[0].shape.size()) - 1);
}
kernels::KernelOrReason MakeCompressed(const KernelRequest& request) {
  return gemm::MakeCompressedGemm(request, *ConstantProductOf(request));
}

Reason GemmApplies(const KernelRequest&, const InnerProduct&) {
  return simd::HasSimd() ? Reason() : kNeedsSimd;
}

// With AVX-512 oneDNN is just as fast for fewer rows (processor not recorded).
kernels::Cost GemmCost(const KernelRequest&, const InnerProduct& shape) {
  constexpr double kFast = 0.1;
  constexpr int64_t kMinRows512 = 32, kMinRows256 = 8;
  const int64_t min_rows = simd::SimdWidth() == simd::kSimdWidth512 ? kMinRows512 : kMinRows256;
  if (shape.rows >= min_rows) return {kFast};
  return kernels::Cost::NotByDefault(Reason("{} rows, fewer than {}", shape.rows, min_rows));
}

kernels::KernelOrReason MakeRowGemm(const KernelRequest& request) {
  const OrReason<InnerProduct> shape = ConstantProductOf(request);
  return gemm::MakeGemm(request,
                        {.images = 1,
                         .rows = shape->rows,
                         .terms = shape->inputs,
                         .outputs = shape->outputs,
                         .is_blocked = false,
                         .inputs_first = shape->inputs_first},
                        {}, request.posts);
}

template <int8::Int8Algorithm kAlgorithm>
Reason Int8RowsApply(const KernelRequest& request, const InnerProduct& shape) {
  return int8::Int8MatmulApplies(request, shape, kAlgorithm);
}
template <int8::Int8Algorithm kAlgorithm>
kernels::Cost Int8RowsCost(const KernelRequest& request, const InnerProduct& shape) {
  return int8::Int8MatmulCost(request, shape, kAlgorithm);
}
template <int8::Int8Algorithm kAlgorithm>
kernels::KernelOrReason MakeInt8Rows(const KernelRequest& request) {
  const OrReason<int8::Int8Step> step = Int8MatmulStepOf(request);
  return step ? int8::MakeInt8Matmul(request, *step, *ConstantProductOf(request), kAlgorithm) : step.reason();
}

// --- tables ---------------------------------------------------------------------------

template <int8::Int8Algorithm kAlgorithm>
constexpr kernels::Implementation Int8MatmulRow(std::string_view id) {
  return {id, MatrixApplies<ConstantProductOf, Int8RowsApply<kAlgorithm>>,
          MatrixCost<Int8RowsCost<kAlgorithm>>, MakeInt8Rows<kAlgorithm>};
}
constexpr kernels::Implementation kI32MatMul[] = {
    {"integer", int8::IntegerMatmulApplies, kernels::FixedCost<100>, int8::MakeIntegerMatmul}};
constexpr kernels::Implementation kInt8MatMul[] = {Int8MatmulRow<int8::Int8Algorithm::kDot4>("int8_dot4"),
                                                   Int8MatmulRow<int8::Int8Algorithm::kDot2>("int8_dot2")};
constexpr kernels::Implementation kInt8TensorMatMul[] = {
    {"int8_tensors", int8::TensorMatmulApplies, kernels::FixedCost<10>, int8::MakeTensorMatmul}};
constexpr kernels::Implementation kCompressedRow{
    "compressed", MatrixApplies<ConstantProductOf, gemm::CompressedGemmApplies>, kernels::FixedCost<10>,
    MakeCompressed};
constexpr kernels::Implementation kF32MatMul[] = {
    kCompressedRow,
    {"gemv", MatrixApplies<PackedProductOf, GemvApplies>, MatrixCost<GemvCost>, MakeRowGemv},
    {"gemm", MatrixApplies<PackedProductOf, GemmApplies>, MatrixCost<GemmCost>, MakeRowGemm}};
constexpr kernels::Implementation kBf16MatMul[] = {kCompressedRow};

// Quantizing steps may accept inputs of other types.
Reason ServesInt8Rows(const KernelRequest& request) {
  const bool accepts = memory::IsDenseF32(request.inputs[0]) && memory::IsDenseF32(request.inputs[1]) &&
                       memory::IsDenseF32(request.outputs[0]);
  if (!accepts) return kNotF32;
  const OrReason<InnerProduct> shape = ConstantProductOf(request);
  return shape ? int8::IsQuantized(request) : shape.reason();
}
const kernels::ImplementationTable kMatMul[] = {
    {"i32", ServesI32, kI32MatMul},
    {"int8", ServesInt8Rows, kInt8MatMul},
    {"int8_tensors", int8::MultipliesQuantizedTensors, kInt8TensorMatMul},
    {"f32", ServesF32, kF32MatMul},
    {"bf16", ServesBf16, kBf16MatMul}};

}  // namespace

OrReason<InnerProduct> ConstantProductOf(const KernelRequest& request) {
  const Shape& a = request.inputs[0].shape;
  const Shape& b = request.inputs[1].shape;
  if (a.size() < 2) return Reason("the left operand is a vector");
  if (b.size() != 2) return Reason("the right operand has {} axes", static_cast<int64_t>(b.size()));
  if (request.inputs[1].constant == nullptr) return Reason("the right matrix is not constant");
  if (request.node->Bool("transpose_a")) return Reason("the left operand is transposed");
  const bool inputs_first = !request.node->Bool("transpose_b");
  int64_t rows = 1;
  for (int64_t extent : llvm::ArrayRef<int64_t>(a).drop_back()) rows *= extent;
  return InnerProduct{
      .rows = rows, .inputs = a.back(), .outputs = inputs_first ? b[1] : b[0], .inputs_first = inputs_first};
}

OrReason<InnerProduct> PackedProductOf(const KernelRequest& request) {
  OrReason<InnerProduct> shape = ConstantProductOf(request);
  if (shape && gemm::CompressedGemmApplies(request, *shape).empty())
    return Reason("the matrix is compressed");
  return shape;
}

OrReason<int8::Int8Step> Int8MatmulStepOf(const KernelRequest& given) {
  int8::Int8Step step(given, static_cast<int64_t>(given.outputs[0].shape.size()) - 1);
  if (step.coded.sum) return Reason("a fused sum");
  return step;
}

void AddFastMatMul(FastTables& tables) {
  tables.Add({"opset1"}, "MatMul", kMatMul);
}

}  // namespace nnefc::runtime::fast
