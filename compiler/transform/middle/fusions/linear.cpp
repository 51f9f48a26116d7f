// Merging and simplification of constants in chains and matrix multiplications.

#include <algorithm>
#include <cmath>
#include <span>

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/values.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform::middle {

class FuseConstantSequence : public MiddleReplacementPattern {
 public:
  std::string_view Description() const override {
    return "x * a * b and x + a + b of f32 constants that are broadcast to "
           "each other become x * (a * b) and "
           "x + (a + b), and (x * a + b) * c becomes x * (a * c) + b * c, "
           "where no bits are lost: factors from "
           "2^-40 to 2^40, and sums without cancellation. (x + a) * b stays: x "
           "may be close to -a.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[2,3]} : f32[2,3]
%1 = opset1.Const "a" : f32[] = dense<f32[]: 2.0>
%2 = opset1.Multiply "m" (%0, %1) : f32[2,3]
%3 = opset1.Const "b" : f32[3] = dense<f32[3]: 1.0, 2.0, 3.0>
%4 = opset1.Multiply "n" (%2, %3) : f32[2,3]
opset1.Result "y" (%4)
)";
  }
  // Fusions into filters have priority.
  Names RunBefore() const override { return {"middle.RemoveUnneeded", "PostMiddleStart"}; }
  Names RunAfter() const override {
    return {"middle.FuseScaleIntoConvolution", "middle.FuseScaleIntoMatMul"};
  }

  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& node : graph.GetNodes()) {
      for (ir::ElementFunction function : {ir::ElementFunction::kMultiply, ir::ElementFunction::kAdd})
        if (node.exists() && node.ir().Is(function)) Fuse(graph, node, function);
      if (node.exists() && node.ir().Is(ir::ElementFunction::kMultiply)) Distribute(graph, node);
    }
  }

 private:
  // Returns the index of the input that is a known f32 tensor, if the other input is not known.
  static std::optional<int32_t> ConstantInput(const Node& node) {
    if (node.ir().String("auto_broadcast") != "numpy") return std::nullopt;
    for (int32_t i : {1, 0}) {
      const std::optional<TensorValue>& value = node.in_port(i).value();
      if (value && value->type() == ElementType::kF32 && !node.in_port(1 - i).value()) return i;
    }
    return std::nullopt;
  }

  static void Fuse(Graph& graph, const Node& outer, ir::ElementFunction function) {
    const std::optional<int32_t> second = ConstantInput(outer);
    if (!second) return;
    const Port between = outer.in_port(1 - *second).GetSource();
    const Node inner = between.node();
    if (!inner.ir().Is(function) || !OnlyDestination(between)) return;
    const std::optional<int32_t> first = ConstantInput(inner);
    if (!first) return;
    const std::optional<TensorValue> both =
        Combined(*inner.in_port(*first).value(), *outer.in_port(*second).value(), function);
    if (!both) return;
    const Node constant = graph.CreateConst(*both, graph.UniqueName(outer.name() + "/constant"));
    Port data = outer.in_port(1 - *second);
    Port term = outer.in_port(*second);
    data.Connect(inner.in_port(1 - *first).GetSource());
    term.Connect(constant.out_port(0));
    graph.Remove(inner);
  }

  // Rewrites (x * a + b) * c.
  static void Distribute(Graph& graph, const Node& outer) {
    const std::optional<int32_t> c = ConstantInput(outer);
    if (!c) return;
    const Port sum = outer.in_port(1 - *c).GetSource();
    if (!sum.node().ir().Is(ir::ElementFunction::kAdd) || !OnlyDestination(sum) ||
        !(sum.shape() == outer.out_port(0).shape()))
      return;
    const std::optional<int32_t> b = ConstantInput(sum.node());
    if (!b) return;
    const Port product = sum.node().in_port(1 - *b).GetSource();
    if (!product.node().ir().Is(ir::ElementFunction::kMultiply) || !OnlyDestination(product) ||
        !(product.shape() == sum.shape()))
      return;
    const std::optional<int32_t> a = ConstantInput(product.node());
    if (!a) return;
    const TensorValue& factor = *outer.in_port(*c).value();
    const auto scaled = [&](const Port& constant) {
      return Combined(*constant.value(), factor, ir::ElementFunction::kMultiply);
    };
    Port first = product.node().in_port(*a), term = sum.node().in_port(*b);
    const std::optional<TensorValue> factors = scaled(first), terms = scaled(term);
    if (!factors || !terms) return;
    const auto constant = [&](const TensorValue& value, const char* name) {
      return graph.CreateConst(value, graph.UniqueName(outer.name() + name)).out_port(0);
    };
    first.Connect(constant(*factors, "/factors"));
    term.Connect(constant(*terms, "/terms"));
    graph.DropTensorNames(product);
    graph.DropTensorNames(sum);
    TakePlace(graph, outer, sum.node());
    graph.Remove(outer);
  }

  // Returns the elementwise result for two tensors, one of them broadcast to the other.
  static std::optional<TensorValue> Combined(const TensorValue& a, const TensorValue& b,
                                             ir::ElementFunction function) {
    const bool is_wider = a.volume() != b.volume() ? a.volume() > b.volume() : a.rank() > b.rank();
    const TensorValue& whole = is_wider ? a : b;
    const TensorValue& part = is_wider ? b : a;
    if (part.rank() > whole.rank() || whole.volume() == 0) return std::nullopt;
    const auto missing = static_cast<size_t>(whole.rank() - part.rank());
    for (size_t i = 0; i < part.shape().size(); ++i) {
      if (part.shape()[i] != 1 && part.shape()[i] != whole.shape()[i + missing]) return std::nullopt;
    }
    bool is_exact = true;
    const TensorValue made =
        TensorValue::Make<float>(ElementType::kF32, whole.shape(), [&](std::span<float> out) {
          for (size_t i = 0; i < out.size(); ++i) {
            const double p = whole.ElementAsDouble(static_cast<int64_t>(i));
            const double q = part.ElementAsDouble(PlaceIn(part, whole, i));
            const double both = function == ir::ElementFunction::kAdd ? p + q : p * q;
            is_exact &= function == ir::ElementFunction::kAdd ? IsPlainSum(p, q) : IsPlain(p) && IsPlain(q);
            is_exact &= std::isfinite(both);
            out[i] = static_cast<float>(both);
          }
        });
    if (!is_exact) return std::nullopt;
    return made;
  }
  // Returns the index in a broadcast tensor of element i of the whole.
  static int64_t PlaceIn(const TensorValue& part, const TensorValue& whole, size_t i) {
    int64_t place = 0, stride = 1;
    auto rest = static_cast<int64_t>(i);
    const auto missing = static_cast<size_t>(whole.rank() - part.rank());
    for (size_t axis = whole.shape().size(); axis-- > missing;) {
      const int64_t extent = part.shape()[axis - missing];
      if (extent != 1) place += rest % whole.shape()[axis] * stride;
      rest /= whole.shape()[axis];
      stride *= extent;
    }
    return place;
  }
  static bool IsPlain(double factor) {
    const double size = std::abs(factor);
    return factor == 0 || (size >= 0x1p-40 && size <= 0x1p40);
  }
  static bool IsPlainSum(double a, double b) {
    return std::abs(a + b) >= std::max(std::abs(a), std::abs(b)) / 16 && std::abs(a + b) <= 0x1p100;
  }
};

class FuseTransposeIntoMatMul : public MiddleReplacementPattern {
 public:
  std::string_view Description() const override {
    return "A Transpose of the last two axes before a MatMul becomes its "
           "`transpose_a` or `transpose_b`; "
           "`transpose_a` only where the right matrix is not a constant, whose "
           "layout is chosen once.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[4,3]} : f32[4,3]
%1 = opset1.Parameter "w" {element_type = f32, shape = shape[2,3]} : f32[2,3]
%2 = opset1.Const "o" : i64[2] = dense<i64[2]: 1, 0>
%3 = opset1.Transpose "t" (%1, %2) : f32[3,2]
%4 = opset1.MatMul "p" (%0, %3) {transpose_a = false, transpose_b = false} : f32[4,2]
opset1.Result "y" (%4)
)";
  }

  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& product : graph.GetOpNodes("opset1.MatMul")) {
      for (int32_t i : {0, 1}) {
        Port input = product.in_port(i);
        const Node transpose = input.GetSource().node();
        if (!IsSwap(transpose) || (i == 0 && product.in_port(1).value())) continue;
        const std::string_view attribute = i == 0 ? "transpose_a" : "transpose_b";
        product.Set(attribute, !product.ir().Bool(attribute));
        input.Connect(transpose.in_port(0).GetSource());
      }
    }
  }

 private:
  static bool IsSwap(const Node& node) {
    if (!node.ir().Is(ir::Rearrangement::kTranspose)) return false;
    const std::optional<std::vector<int64_t>> order = KnownInts(node.in_port(1));
    // An empty order reverses the axes.
    const ir::PartialShape& shape = node.ir().output().shape;
    if (order && order->empty()) return shape.rank_known() && shape.rank() == 2;
    return order && order->size() >= 2 && KeepsAxes(WithLastAxesSwapped(*order));
  }
};

class SqueezeConstantMatrix : public MiddleReplacementPattern {
 public:
  SqueezeConstantMatrix() { force_clean_up = true; }
  std::string_view Description() const override {
    return "A constant right operand of MatMul whose leading extents are 1, of "
           "no higher rank than the left "
           "one, becomes a matrix.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[2,3,2]} : f32[2,3,2]
%1 = opset1.Const "w" : f32[1,2,1] = dense<f32[1,2,1]: 1.0, 2.0>
%2 = opset1.MatMul "p" (%0, %1) {transpose_a = false, transpose_b = false} : f32[2,3,1]
opset1.Result "y" (%2)
)";
  }

  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& product : graph.GetOpNodes("opset1.MatMul")) {
      Port input = product.in_port(1);
      const std::optional<TensorValue>& value = input.value();
      const ir::PartialShape& left = product.in_port(0).shape();
      if (!value || value->rank() <= 2 || !left.rank_known() || left.rank() < value->rank()) continue;
      const llvm::ArrayRef<int64_t> extents = value->shape();
      if (llvm::any_of(extents.drop_back(2), [](int64_t extent) { return extent != 1; })) continue;
      const llvm::ArrayRef<int64_t> matrix = extents.take_back(2);
      const std::string name = graph.UniqueName(input.GetSource().node().name() + "/matrix");
      const Node made = graph.CreateConst(value->Reshaped(Shape(matrix.begin(), matrix.end())), name);
      input.Connect(made.out_port(0));
    }
  }
};

void RegisterLinear(TransformationList& list) {
  list.Add<FuseConstantSequence>();
  list.Add<FuseTransposeIntoMatMul>();
  list.Add<middle::SqueezeConstantMatrix>();
}

}  // namespace nnefc::transform::middle
