// Matrix multiplications in the forms that have the fastest kernels.

#include <numeric>

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/values.h"

namespace nnefc::transform::target {

namespace {

constexpr std::string_view kMatMul = "opset.MatMul";

bool IsConstantMatrix(const Port& operand) {
  const ir::PartialShape& shape = operand.shape();
  return operand.GetSource().node().ir().Is(ir::OpRole::kConst) && shape.rank_known() && shape.rank() == 2;
}

// The shapes of a matmul.
struct Factors {
  Shape a, b, product;
};
// Returns the shapes of a matmul with a vector, if they are known.
std::optional<Factors> VectorsOf(const Node& product) {
  const std::optional<Shape> a = product.in_port(0).shape().extents();
  const std::optional<Shape> b = product.in_port(1).shape().extents();
  const std::optional<Shape> result = product.out_port(0).shape().extents();
  if (!a || !b || !result || (a->size() != 1 && b->size() != 1)) return std::nullopt;
  return Factors{*a, *b, *result};
}

void ConvertToMatrices(Graph& graph, const Node& product, const Factors& shapes) {
  // Copies: new nodes may move the product.
  const Graph::Spec named{.name = product.name(), .origin = product.ir().origin()};
  const auto reshaped = [&](const Port& port, const Shape& shape) {
    const auto rank = static_cast<int64_t>(shape.size());
    const Node extents = graph.CreateConst(TensorValue::FromInts({rank}, shape), named.name);
    return graph.CreateNode("opset1.Reshape", {port, extents.out_port(0)},
                            {.name = named.name, .origin = named.origin});
  };
  Port a = product.in_port(0).GetSource(), b = product.in_port(1).GetSource();
  bool transpose_a = shapes.a.size() > 1 && product.ir().Bool("transpose_a");
  bool transpose_b = shapes.b.size() > 1 && product.ir().Bool("transpose_b");
  if (shapes.b.size() == 1 && IsConstantMatrix(product.in_port(0))) {
    std::swap(a, b);
    a = reshaped(a, {1, shapes.b[0]}).out_port(0);
    transpose_b = !transpose_a;
    transpose_a = false;
  } else {
    if (shapes.a.size() == 1) a = reshaped(a, {1, shapes.a[0]}).out_port(0);
    if (shapes.b.size() == 1) b = reshaped(b, {shapes.b[0], 1}).out_port(0);
  }
  Graph::Spec spec{.name = named.name, .origin = named.origin};
  spec.attributes.Set("transpose_a", transpose_a);
  spec.attributes.Set("transpose_b", transpose_b);
  const Node matrix = graph.CreateNode("opset1.MatMul", {a, b}, std::move(spec));
  TakePlace(graph, product, reshaped(matrix.out_port(0), shapes.product));
  graph.Remove(product);
}

}  // namespace

class ConvertVectorsToMatrices : public TargetReplacementPattern {
 public:
  std::string_view Description() const override {
    return "A vector in a MatMul becomes a matrix of one row or column. A vector that a constant matrix "
           "multiplies becomes the left operand, since kernels pack constant right operands.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Const "w" : f32[2,3] = dense<f32[2,3]: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0>
%1 = opset1.Parameter "x" {element_type = f32, shape = shape[3]} : f32[3]
%2 = opset1.MatMul "p" (%0, %1) : f32[2]
%3 = opset1.ReLU "r" (%2) : f32[2]
opset1.Result "y" (%3)
)";
  }
  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& product : graph.GetOpNodes(kMatMul)) {
      if (const std::optional<Factors> vectors = VectorsOf(product))
        ConvertToMatrices(graph, product, *vectors);
    }
  }
};

class TransposeLeftOperands : public TargetReplacementPattern {
 public:
  std::string_view Description() const override {
    return "A transposed left operand of a MatMul with a constant matrix is transposed by a separate node, "
           "so "
           "that the kernels for row-major operands apply.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[3,2]} : f32[3,2]
%1 = opset1.Const "w" : f32[3,1] = dense<f32[3,1]: 1.0, 2.0, 3.0>
%2 = opset1.MatMul "p" (%0, %1) {transpose_a = true} : f32[2,1]
opset1.Result "y" (%2)
)";
  }
  Names RunAfter() const override { return {"target.ConvertVectorsToMatrices", "TargetStart"}; }
  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& product : graph.GetOpNodes(kMatMul)) {
      if (!product.ir().Bool("transpose_a")) continue;
      const ir::PartialShape& left = product.in_port(0).shape();
      if (!left.rank_known() || left.rank() < 2 || !IsConstantMatrix(product.in_port(1))) continue;
      const int64_t rank = left.rank();
      std::vector<int64_t> axes(static_cast<size_t>(rank));
      std::iota(axes.begin(), axes.end(), 0);
      const Node order =
          graph.CreateConst(TensorValue::FromInts({rank}, WithLastAxesSwapped(axes)), product.name());
      const Node rows =
          graph.CreateNode("opset1.Transpose", {product.in_port(0).GetSource(), order.out_port(0)},
                           {.name = product.name(), .origin = product.ir().origin()});
      product.in_port(0).Connect(rows.out_port(0));
      product.Set("transpose_a", false);
    }
  }
};

void RegisterMatrices(TransformationList& list) {
  list.Add<target::ConvertVectorsToMatrices>();
  list.Add<target::TransposeLeftOperands>();
}

}  // namespace nnefc::transform::target
