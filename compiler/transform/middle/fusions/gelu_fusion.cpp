// Fusion of Gelu from the elementary operations that frameworks export.

#include <cmath>
#include <numbers>

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/product.h"
#include "compiler/transform/values.h"

namespace nnefc::transform::middle {

// A fusion of x * g(x) with the gate g(x) = `0.5 * (1 + f(x))`, where f is erf(x / sqrt(2)) or tanh(sqrt(2 /
// pi) * (x + 0.044715 * x^3)).
class GeluFusion : public MiddleReplacementPattern {
 public:
  GeluFusion() { force_clean_up = true; }
  std::string_view Description() const override {
    return "0.5 * x * (1 + erf(x / sqrt(2))), and its approximation by tanh, become Gelu, however the "
           "factors are ordered. Where 2 * x is not finite, products on the way may have been "
           "infinite.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[2,3]} : f32[2,3]
%1 = opset1.Const "root" : f32[] = dense<f32[]: 1.41421354>
%2 = opset1.Divide "d" (%0, %1) : f32[2,3]
%3 = opset1.Erf "e" (%2) : f32[2,3]
%4 = opset1.Const "one" : f32[] = dense<f32[]: 1.0>
%5 = opset1.Add "a" (%3, %4) : f32[2,3]
%6 = opset1.Multiply "m" (%0, %5) : f32[2,3]
%7 = opset1.Const "half" : f32[] = dense<f32[]: 0.5>
%8 = opset1.Multiply "h" (%6, %7) : f32[2,3]
opset1.Result "y" (%8)
)";
  }
  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& erf : graph.GetOpNodes("opset1.Erf")) Fuse(graph, erf, "ERF");
    for (const Node& tanh : graph.GetOpNodes("opset1.Tanh")) Fuse(graph, tanh, "TANH");
  }

 private:
  // The maximum number of nodes between f and the final multiplication.
  static constexpr int kSteps = 6;

  static void Fuse(Graph& graph, const Node& function, const char* mode) {
    Port output = function.out_port(0);
    for (int step = 0; step < kSteps; ++step) {
      const std::optional<Port> reader = OnlyDestination(output);
      if (!reader || reader->node().num_out_ports() != 1) return;
      output = reader->node().out_port(0);
      if (const std::optional<Port> x = Match(output, function)) {
        Graph::Spec spec{.origin = output.node().ir().origin()};
        spec.attributes.Set("approximation_mode", mode);
        const Node made = graph.CreateNode("opset7.Gelu", {*x}, std::move(spec));
        TakePlace(graph, output.node(), made);
        return;
      }
    }
  }

  // Returns x if an output is the Gelu of x computed with `function`.
  static std::optional<Port> Match(const Port& output, const Node& function) {
    const Product whole = ProductOf(output);
    if (whole.nodes.empty() || whole.factors.size() != 2) return std::nullopt;
    for (size_t i : {0U, 1U}) {
      const Product::Factor& gate = whole.factors[i];
      const Product::Factor& x = whole.factors[1 - i];
      if (gate.exponent != 1 || x.exponent != 1 || !(x.value.shape() == output.shape())) continue;
      const std::optional<NumberAdded> sum = MatchNumberAdded(gate.value);
      if (!sum || !IsNearly(whole.number * sum->number, 0.5)) continue;
      const Product scaled = ProductOf(sum->value);
      const bool is_gate = scaled.factors.size() == 1 && scaled.Exponent(function.out_port(0)) == 1 &&
                           IsNearly(scaled.number, sum->number);
      if (is_gate && TakesArgument(function, x.value)) return x.value;
    }
    return std::nullopt;
  }

  static bool TakesArgument(const Node& function, const Port& x) {
    const Product argument = ProductOf(function.in_port(0).GetSource());
    if (IsOperation(function, "opset1", "Erf"))
      return argument.factors.size() == 1 && argument.Exponent(x) == 1 &&
             IsNearly(argument.number, 1 / std::numbers::sqrt2);
    return IsCubic(argument, x);
  }

  // Matches sqrt(2 / pi) * (x + c * x^3), or sqrt(2 / pi) * x * (1 + c * x^2).
  static bool IsCubic(const Product& argument, const Port& x) {
    constexpr double kCubic = 0.044715;
    if (!IsNearly(argument.number, std::sqrt(2 / std::numbers::pi))) return false;
    if (argument.factors.size() == 2 && argument.Exponent(x) == 1) {
      const std::optional<NumberAdded> sum = MatchNumberAdded(Other(argument, x));
      return sum && sum->number == 1 && IsPower(sum->value, x, 2, kCubic);
    }
    const std::optional<Port> sum = argument.factors.size() == 1 ? argument.Only(1) : std::nullopt;
    if (!sum || !sum->node().ir().Is(ir::ElementFunction::kAdd)) return false;
    for (int32_t i : {0, 1}) {
      if (sum->node().in_port(i).GetSource() == x)
        return IsPower(sum->node().in_port(1 - i).GetSource(), x, 3, kCubic);
    }
    return false;
  }
  static Port Other(const Product& product, const Port& x) {
    return product.factors[product.factors[0].value == x ? 1 : 0].value;
  }
  // Matches number * x^exponent.
  static bool IsPower(const Port& output, const Port& x, double exponent, double number) {
    const Product product = ProductOf(output);
    for (const Product::Factor& factor : product.factors) {
      if (!(factor.value == x)) return false;
    }
    return product.Exponent(x) == exponent && IsNearly(product.number, number);
  }
};

void RegisterGeluFusion(TransformationList& list) {
  list.Add<middle::GeluFusion>();
}

}  // namespace nnefc::transform::middle
