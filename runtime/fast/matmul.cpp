// MatMul, with weights in a layout chosen at planning time if the right side is a constant matrix.

#include "runtime/fast/algorithms.h"
#include "runtime/fast/factories.h"
#include "runtime/fast/gemm/compressed_gemm.h"
#include "runtime/fast/gemm/gemm.h"
#include "runtime/fast/inner_product.h"
#include "runtime/fast/int8/integer_gemm.h"
#include "runtime/fast/post_ops.h"
#include "runtime/kernels/attributes.h"
#include "runtime/onednn/dnnl_kernel.h"

namespace nnefc::runtime {

namespace {

using dnnl::memory;

// minimum rows; with AVX-512 oneDNN is just as fast for fewer
int64_t MinGemmRows() {
  constexpr int64_t kFor512 = 32, kFor256 = 8;
  return SimdWidth() == kSimdWidth512 ? kFor512 : kFor256;
}

// x times a constant matrix or its transpose. All axes of x but the last are rows.
std::optional<PreparedKernel> MakeConstantProduct(const KernelRequest& request) {
  const Shape& a = request.inputs[0].shape;
  const Shape& b = request.inputs[1].shape;
  if (a.size() < 2 || b.size() != 2 || request.inputs[1].constant == nullptr) return std::nullopt;
  if (request.node->Bool("transpose_a")) return std::nullopt;
  const bool inputs_first = !request.node->Bool("transpose_b");
  const int64_t outputs = inputs_first ? b[1] : b[0];
  int64_t rows = 1;
  for (int64_t extent : llvm::ArrayRef<int64_t>(a).drop_back()) rows *= extent;
  const InnerProduct product{
      .rows = rows, .inputs = a.back(), .outputs = outputs, .inputs_first = inputs_first};
  if (std::optional<PreparedKernel> kernel = MakeInt8InnerProduct(request, product))
    return OnlyAlgorithm(request, std::move(*kernel));
  if (!DnnAcceptsAll(request)) return std::nullopt;
  if (IsForCompressedGemm(request, product))
    return request.way.empty() ? MakeCompressedGemm(request, product) : std::nullopt;
  const auto last_axis = static_cast<int64_t>(request.outputs[0].shape.size()) - 1;
  if (auto kernel = MakeGemv(request, product, last_axis)) return kernel;
  if (rows >= MinGemmRows() && MatmulType(request) == DnnType::f32) {
    const GemmSizes sizes{.images = 1,
                          .rows = rows,
                          .terms = product.inputs,
                          .outputs = outputs,
                          .is_blocked = false,
                          .inputs_first = inputs_first};
    if (auto kernel = MakeGemm(request, sizes, {}, request.posts)) return kernel;
  }
  const std::optional<DnnPostOps> posts = DnnPostOps::MakeForRows(request, rows, outputs);
  if (!posts) return std::nullopt;
  return MakeInnerProduct(request, *posts, product);
}

// A row-major operand as [1.., leading.., rows, columns] with the rank of the result, transposed by its
// strides.
memory::desc OperandDesc(llvm::ArrayRef<int64_t> shape, bool transpose, size_t rank, DnnType type) {
  memory::dims dims(rank, 1);
  memory::dims strides(rank, 1);
  int64_t stride = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    dims[rank - 1 - i] = shape[shape.size() - 1 - i];
    strides[rank - 1 - i] = stride;
    stride *= dims[rank - 1 - i];
  }
  for (size_t i = shape.size(); i < rank; ++i) strides[rank - 1 - i] = stride;
  if (transpose) {
    std::swap(dims[rank - 1], dims[rank - 2]);
    std::swap(strides[rank - 1], strides[rank - 2]);
  }
  return memory::desc(dims, type, strides);
}

std::optional<PreparedKernel> MakeGeneral(const KernelRequest& request) {
  const Shape& a = request.inputs[0].shape;
  const Shape& b = request.inputs[1].shape;
  const Shape& output = request.outputs[0].shape;
  // Vectors belong to the reference kernel, biases to a separate step.
  if (a.size() < 2 || b.size() < 2 || !request.posts.empty()) return std::nullopt;
  const size_t rank = output.size();
  const DnnType type = MatmulType(request);
  const memory::desc source = OperandDesc(a, request.node->Bool("transpose_a"), rank, type);
  const memory::desc weights = OperandDesc(b, request.node->Bool("transpose_b"), rank, type);
  const dnnl::matmul::desc desc(source, weights, PlainDesc(output));
  const dnnl::matmul::primitive_desc primitive(desc, DnnKernelBuilder::Attributes(), DnnEngine(), true);
  if (!primitive || IsDnnReference(primitive.impl_info_str())) return std::nullopt;
  DnnKernelBuilder builder(request);
  builder.AddReshapedInput(DNNL_ARG_SRC, 0, source);
  builder.AddReshapedInput(DNNL_ARG_WEIGHTS, 1, weights);
  builder.AddOutput(DNNL_ARG_DST, 0, primitive.dst_desc());
  return builder.Finish(dnnl::matmul(primitive), primitive.scratchpad_desc(), primitive.impl_info_str());
}

std::optional<PreparedKernel> MakeMatMul(const KernelRequest& request) {
  if (request.inputs[0].type == ElementType::kI32) return MakeIntegerMatmul(request);
  // Quantizing steps may accept inputs of other types.
  const bool accepts =
      DnnAccepts(request.inputs[0]) && DnnAccepts(request.inputs[1]) && DnnAccepts(request.outputs[0]);
  if (!accepts) return std::nullopt;
  if (std::optional<PreparedKernel> kernel = MakeConstantProduct(request)) return kernel;
  return request.way.empty() && DnnAcceptsAll(request) ? MakeGeneral(request) : std::nullopt;
}

std::vector<ir::NodeId> Products(const ir::Graph& graph) {
  static const ir::OpTable<bool> kProducts(ir::StandardOps(), ir::kOpsets, {{"MatMul", true}});
  std::vector<ir::NodeId> products;
  for (ir::NodeId id : graph.nodes()) {
    if (kProducts.Find(graph.node(id).op()) != nullptr) products.push_back(id);
  }
  return products;
}

// The shapes of a matmul, if known.
struct Factors {
  Shape a, b, product;
};
std::optional<Factors> FactorsOf(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  const auto shape = [&](ir::OutputPort port) { return graph.output(port).shape.extents(); };
  const std::optional<Shape> a = shape(node.input(0)), b = shape(node.input(1)), product = shape(node.port());
  if (!a || !b || !product) return std::nullopt;
  return Factors{*a, *b, *product};
}

void ConvertToMatrices(ir::Graph& graph, ir::NodeId id, const Factors& shapes) {
  const ir::Node& product = graph.node(id);
  const ir::Origin origin = product.origin();
  const std::string name = product.name();
  const auto reshaped = [&](ir::OutputPort port, const Shape& shape) {
    const auto rank = static_cast<int64_t>(shape.size());
    const ir::OutputPort extents{graph.AddConst(TensorValue::FromInts({rank}, shape), name, origin), 0};
    const ir::OutputPort inputs[] = {port, extents};
    return AddInferred(graph, "opset1", "Reshape", {.name = name, .inputs = inputs, .origin = origin});
  };
  ir::OutputPort a = product.input(0), b = product.input(1);
  bool transpose_a = shapes.a.size() > 1 && product.Bool("transpose_a");
  bool transpose_b = shapes.b.size() > 1 && product.Bool("transpose_b");
  if (shapes.b.size() == 1 && IsConstantMatrix(graph, a)) {
    std::swap(a, b);
    a = reshaped(a, {1, shapes.b[0]});
    transpose_b = !transpose_a;
    transpose_a = false;
  } else {
    if (shapes.a.size() == 1) a = reshaped(a, {1, shapes.a[0]});
    if (shapes.b.size() == 1) b = reshaped(b, {shapes.b[0], 1});
  }
  ir::AttributeMap attributes;
  attributes.Set("transpose_a", transpose_a);
  attributes.Set("transpose_b", transpose_b);
  const ir::OutputPort inputs[] = {a, b}, before = graph.node(id).port();
  const ir::OutputPort matrix =
      AddInferred(graph, "opset1", "MatMul",
                  {.name = name, .inputs = inputs, .attributes = attributes, .origin = origin});
  graph.ReplaceAllUses(before, reshaped(matrix, shapes.product));
}

}  // namespace

bool IsConstantMatrix(const ir::Graph& graph, ir::OutputPort port) {
  const ir::PartialShape& shape = graph.output(port).shape;
  return graph.node(port.node).Is(ir::OpRole::kConst) && shape.rank_known() && shape.rank() == 2;
}

void ConvertVectorsToMatrices(ir::Graph& graph) {
  for (ir::NodeId id : Products(graph)) {
    const std::optional<Factors> vectors = FactorsOf(graph, id);
    if (vectors && (vectors->a.size() == 1 || vectors->b.size() == 1)) ConvertToMatrices(graph, id, *vectors);
  }
}

void TransposeLeftOperands(ir::Graph& graph) {
  for (ir::NodeId id : Products(graph)) {
    const ir::Node& product = graph.node(id);
    if (!product.Bool("transpose_a")) continue;
    const ir::PartialShape left = graph.output(product.input(0)).shape;
    if (!left.rank_known() || left.rank() < 2 || !IsConstantMatrix(graph, product.input(1))) continue;
    const auto rank = static_cast<size_t>(left.rank());
    const AxisOrder swapped = SwappedOrder(rank, rank - 2, rank - 1);
    const std::vector<int64_t> order(swapped.begin(), swapped.end());
    const ir::Origin origin = product.origin();
    const std::string name = product.name();
    const ir::OutputPort inputs[] = {
        product.input(0), {graph.AddConst(TensorValue::FromInts({left.rank()}, order), name, origin), 0}};
    const ir::OutputPort rows =
        AddInferred(graph, "opset1", "Transpose", {.name = name, .inputs = inputs, .origin = origin});
    graph.SetInput(id, 0, rows);
    graph.SetAttribute(id, "transpose_a", false);
  }
}

void RegisterDnnMatMul(KernelRegistry& registry) {
  registry.Add(Backend::kFast, {"opset1"}, "MatMul", GuardedDnnFactory<MakeMatMul>);
  registry.AddWays(Backend::kFast, {"opset1"}, "MatMul", {kMatmul, kInnerProduct, kGemv, kTiles});
}

}  // namespace nnefc::runtime
