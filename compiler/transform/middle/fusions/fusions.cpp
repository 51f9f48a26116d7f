// Fusions of sub-graphs into single operations. The fused nodes have no other consumers, so that nothing is
// computed twice.

#include <algorithm>
#include <limits>

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/values.h"

namespace nnefc::transform::middle {

namespace {

bool IsRead(const Node& node) {
  return OnlyDestination(node.out_port(0)).has_value();
}

// The fused operations take no integers, unlike those that they replace.
bool IsReal(const Port& value) {
  return IsFloat(value.data().type);
}

}  // namespace

class SwishFusion : public MiddleReplacementPattern {
 public:
  std::string_view Description() const override {
    return "x * sigmoid(x), or x * sigmoid(beta * x), becomes Swish. Of -inf both are NaN.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[2,3]} : f32[2,3]
%1 = opset1.Sigmoid "s" (%0) : f32[2,3]
%2 = opset1.Multiply "m" (%0, %1) : f32[2,3]
opset1.Result "y" (%2)
)";
  }

 protected:
  Pattern GetPattern() const override {
    return {.nodes = {Op("sigmoid", "opset.Sigmoid"), Op("mul", "opset.Multiply")},
            .edges = {{"sigmoid", "mul"}}};
  }
  void ReplacePattern(Graph& graph, const Match& match) override {
    const Node mul = match["mul"];
    const Node sigmoid = match["sigmoid"];
    const std::optional<Port> x = OtherInput(mul, sigmoid);
    if (!x || !IsRead(sigmoid)) return;
    const Port argument = sigmoid.in_port(0).GetSource();
    std::vector<Port> sources = {*x};
    if (!(argument == *x)) {
      const std::optional<double> beta = Scale(argument.node(), *x);
      if (!beta || !(argument.shape() == x->shape())) return;
      const TensorValue value = TensorValue::Filled(x->data().type, {}, *beta);
      sources.push_back(graph.CreateConst(value, mul.name() + "/beta").out_port(0));
    }
    const Node swish = graph.CreateNode("opset4.Swish", sources, {.origin = mul.ir().origin()});
    TakePlace(graph, mul, swish);
    RemoveNodes(graph, {mul, sigmoid});
  }

 private:
  // Returns the factor of x in a multiplication without other consumers.
  static std::optional<double> Scale(const Node& node, const Port& x) {
    if (!node.ir().Is(ir::ElementFunction::kMultiply) || !IsRead(node)) return std::nullopt;
    for (int32_t i : {0, 1}) {
      if (node.in_port(i).GetSource() == x) return KnownNumber(node.in_port(1 - i));
    }
    return std::nullopt;
  }
};

class HSwishFusion : public MiddleReplacementPattern {
 public:
  std::string_view Description() const override {
    return "x * clamp(x + 3, 0, 6) / 6 becomes HSwish, whichever of the factors is divided.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[2,3]} : f32[2,3]
%1 = opset1.Const "three" : f32[] = dense<f32[]: 3.0>
%2 = opset1.Add "a" (%0, %1) : f32[2,3]
%3 = opset1.Clamp "c" (%2) {min = 0.0, max = 6.0} : f32[2,3]
%4 = opset1.Multiply "m" (%0, %3) : f32[2,3]
%5 = opset1.Const "six" : f32[] = dense<f32[]: 6.0>
%6 = opset1.Divide "d" (%4, %5) : f32[2,3]
opset1.Result "y" (%6)
)";
  }

 protected:
  Pattern GetPattern() const override {
    return {.nodes = {Op("add", "opset.Add"),
                      Op("clamp", "opset.Clamp", {{"min", ir::Attribute(0.0)}, {"max", ir::Attribute(6.0)}})},
            .edges = {{"add", "clamp"}}};
  }
  void ReplacePattern(Graph& graph, const Match& match) override {
    const Node add = match["add"];
    const Node clamp = match["clamp"];
    const std::optional<Port> x = Without(add, 3);
    if (!x || !IsReal(*x) || !IsRead(add)) return;
    const std::optional<Port> first = OnlyDestination(clamp.out_port(0));
    if (!first || first->node().num_out_ports() != 1) return;
    // The multiplication by x and the division by six, in either order.
    const Node middle = first->node();
    const std::optional<Port> reader = OnlyDestination(middle.out_port(0));
    if (!reader) return;
    const Node last = reader->node();
    const bool divides_first = IsSixth(middle, clamp) && IsProduct(last, middle, *x);
    const bool divides_last = IsProduct(middle, clamp, *x) && IsSixth(last, middle);
    if (!divides_first && !divides_last) return;
    if (!(last.ir().output().shape == x->shape())) return;
    const Node made = graph.CreateNode("opset4.HSwish", {*x}, {.origin = last.ir().origin()});
    TakePlace(graph, last, made);
    RemoveNodes(graph, {last, middle, clamp, add});
  }

 private:
  // Returns the operand other than the added number.
  static std::optional<Port> Without(const Node& add, double number) {
    for (int32_t i : {1, 0}) {
      if (KnownNumber(add.in_port(i)) == number) return add.in_port(1 - i).GetSource();
    }
    return std::nullopt;
  }
  static bool IsProduct(const Node& node, const Node& factor, const Port& x) {
    return node.ir().Is(ir::ElementFunction::kMultiply) && OtherInput(node, factor) == x;
  }
  // Returns whether node = of / 6, or of * (1 / 6).
  static bool IsSixth(const Node& node, const Node& of) {
    if (node.ir().Is(ir::ElementFunction::kDivide))
      return node.in_node(0) == of && KnownNumber(node.in_port(1)) == 6;
    if (!node.ir().Is(ir::ElementFunction::kMultiply)) return false;
    const int32_t other = node.in_node(0) == of ? 1 : 0;
    const std::optional<double> number = KnownNumber(node.in_port(other));
    return number && node.in_node(1 - other) == of && static_cast<float>(*number) == 1.0F / 6.0F;
  }
};

class L2NormToNorm : public MiddleReplacementPattern {
 public:
  std::string_view Description() const override {
    return "x * pow(max(sum(pow(x, 2), axes), eps), -0.5) becomes NormalizeL2 over channels, or channels and "
           "all "
           "axes behind them, of rank 2 to 4.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[2,3,4]} : f32[2,3,4]
%1 = opset1.Const "two" : f32[] = dense<f32[]: 2.0>
%2 = opset1.Power "q" (%0, %1) : f32[2,3,4]
%3 = opset1.Const "axes" : i64[1] = dense<i64[1]: 1>
%4 = opset1.ReduceSum "sum" (%2, %3) {keep_dims = true} : f32[2,1,4]
%5 = opset1.Const "eps" : f32[] = dense<f32[]: 0.5>
%6 = opset1.Maximum "max" (%4, %5) : f32[2,1,4]
%7 = opset1.Const "half" : f32[] = dense<f32[]: -0.5>
%8 = opset1.Power "root" (%6, %7) : f32[2,1,4]
%9 = opset1.Multiply "m" (%0, %8) : f32[2,3,4]
opset1.Result "y" (%9)
)";
  }
  Names RunBefore() const override { return {"MiddleStart"}; }
  Names RunAfter() const override { return {"PreMiddleStart"}; }

 protected:
  Pattern GetPattern() const override {
    return {.nodes = {Data("x"), Op("square", "opset.Power"), Data("squared"), Op("sum", "opset.ReduceSum"),
                      Data("summed"), Op("max", "opset.Maximum"), Data("bounded"), Op("root", "opset.Power"),
                      Data("inverse"), Op("mul", "opset.Multiply")},
            .edges = {{"x", "square", {0}},
                      {"square", "squared"},
                      {"squared", "sum", {0}},
                      {"sum", "summed"},
                      {"summed", "max"},
                      {"max", "bounded"},
                      {"bounded", "root", {0}},
                      {"root", "inverse"},
                      {"inverse", "mul"},
                      {"x", "mul"}}};
  }
  void ReplacePattern(Graph& graph, const Match& match) override {
    const Port x = match.Data("x");
    const Node max = match["max"];
    const Node sum = match["sum"];
    if (KnownNumber(match["square"].in_port(1)) != 2 || KnownNumber(match["root"].in_port(1)) != -0.5) return;
    const std::optional<double> epsilon = KnownNumber(OtherInput(max, sum).value_or(max.in_port(0)));
    if (!epsilon || *epsilon <= 0 || !sum.ir().Bool("keep_dims") || !HasAxes(x, sum)) return;
    for (const char* alias : {"square", "sum", "max", "root"}) {
      if (!IsRead(match[alias])) return;
    }
    Graph::Spec spec{.origin = match["mul"].ir().origin()};
    spec.attributes.Set("eps", *epsilon);
    spec.attributes.Set("eps_mode", "max");
    const Node made =
        graph.CreateNode("opset1.NormalizeL2", {x, sum.in_port(1).GetSource()}, std::move(spec));
    TakePlace(graph, match["mul"], made);
    RemoveNodes(graph, {match["mul"], match["root"], max, sum, match["square"]});
  }

 private:
  static bool HasAxes(const Port& x, const Node& sum) {
    const ir::PartialShape& shape = x.shape();
    std::optional<std::vector<int64_t>> axes = KnownInts(sum.in_port(1));
    if (!axes || axes->empty() || !shape.rank_known() || shape.rank() < 2 || shape.rank() > 4) return false;
    for (int64_t& axis : *axes) axis += axis < 0 ? shape.rank() : 0;
    std::sort(axes->begin(), axes->end());
    if (*axes == std::vector<int64_t>{1}) return true;
    for (size_t i = 0; i < axes->size(); ++i) {
      if ((*axes)[i] != static_cast<int64_t>(i) + 1) return false;
    }
    return static_cast<int64_t>(axes->size()) == shape.rank() - 1;
  }
};

// A fusion of x / max(norm(x), epsilon), for different operations that compute the maximum.
class DivisionByNorm : public MiddleReplacementPattern {
 public:
  Names RunBefore() const override { return {"MiddleStart"}; }
  Names RunAfter() const override { return {"PreMiddleStart"}; }

 protected:
  virtual std::string_view bound_type() const = 0;
  // Returns the epsilon of a node that only computes the maximum.
  virtual std::optional<double> EpsilonOf(const Node& bound, const Node& norm) const = 0;

  Pattern GetPattern() const override {
    return {.nodes = {Op("norm", "opset.ReduceL2"), Op("bound", std::string(bound_type())),
                      Op("divide", "opset.Divide")},
            .edges = {{"norm", "bound"}, {"bound", "divide", {1}}}};
  }
  void ReplacePattern(Graph& graph, const Match& match) override {
    const Node norm = match["norm"], bound = match["bound"], divide = match["divide"];
    const Port x = divide.in_port(0).GetSource();
    if (!(norm.in_port(0).GetSource() == x) || !norm.ir().Bool("keep_dims") || !KnownInts(norm.in_port(1)))
      return;
    const ir::PartialShape& shape = x.shape();
    if (!IsReal(x) || (shape.rank_known() && shape.rank() == 0)) return;
    if (!IsRead(norm) || !IsRead(bound)) return;
    const std::optional<double> epsilon = EpsilonOf(bound, norm);
    // NormalizeL2 compares the sum of squares with epsilon^2; f32 must represent it accurately.
    constexpr double kLeast = 1e-18, kMost = 1e18;
    if (!epsilon || !(*epsilon >= kLeast && *epsilon <= kMost)) return;
    Graph::Spec spec{.origin = divide.ir().origin()};
    spec.attributes.Set("eps", *epsilon * *epsilon);
    spec.attributes.Set("eps_mode", "max");
    const Node made =
        graph.CreateNode("opset1.NormalizeL2", {x, norm.in_port(1).GetSource()}, std::move(spec));
    TakePlace(graph, divide, made);
    RemoveNodes(graph, {divide, bound, norm});
  }
};

class DivisionByClampedNorm : public DivisionByNorm {
 public:
  std::string_view Description() const override {
    return "x / clamp(norm(x), eps, the largest number or infinity), as exporters say vectors of length 1, "
           "becomes NormalizeL2.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[2,3,4]} : f32[2,3,4]
%1 = opset1.Const "axes" : i64[1] = dense<i64[1]: 2>
%2 = opset4.ReduceL2 "norm" (%0, %1) {keep_dims = true} : f32[2,3,1]
%3 = opset1.Clamp "bound" (%2) {min = 0.5, max = 3.4028234663852886e38} : f32[2,3,1]
%4 = opset1.Divide "d" (%0, %3) : f32[2,3,4]
opset1.Result "y" (%4)
)";
  }

 protected:
  std::string_view bound_type() const override { return "opset.Clamp"; }
  std::optional<double> EpsilonOf(const Node& bound, const Node&) const override {
    if (bound.ir().Double("max") < static_cast<double>(std::numeric_limits<float>::max()))
      return std::nullopt;
    return bound.ir().Double("min");
  }
};

class DivisionByLargerNorm : public DivisionByNorm {
 public:
  std::string_view Description() const override { return "x / max(norm(x), eps) becomes NormalizeL2."; }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[2,3,4]} : f32[2,3,4]
%1 = opset1.Const "axes" : i64[1] = dense<i64[1]: 2>
%2 = opset4.ReduceL2 "norm" (%0, %1) {keep_dims = true} : f32[2,3,1]
%3 = opset1.Const "eps" : f32[] = dense<f32[]: 0.5>
%4 = opset1.Maximum "bound" (%2, %3) : f32[2,3,1]
%5 = opset1.Divide "d" (%0, %4) : f32[2,3,4]
opset1.Result "y" (%5)
)";
  }

 protected:
  std::string_view bound_type() const override { return "opset.Maximum"; }
  std::optional<double> EpsilonOf(const Node& bound, const Node& norm) const override {
    const std::optional<Port> other = OtherInput(bound, norm);
    return other ? KnownNumber(*other) : std::nullopt;
  }
};

void RegisterMiddleFusions(TransformationList& list) {
  list.Add<SwishFusion>();
  list.Add<HSwishFusion>();
  list.Add<L2NormToNorm>();
  list.Add<DivisionByClampedNorm>();
  list.Add<DivisionByLargerNorm>();
}

}  // namespace nnefc::transform::middle
