// Fusion of normalization by mean and variance from elementary operations of layer and instance
// normalization.

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/product.h"
#include "compiler/transform/values.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform::middle {

class MVNFusion : public MiddleReplacementPattern {
 public:
  MVNFusion() { force_clean_up = true; }
  std::string_view Description() const override {
    return "d / sqrt(mean(d^2) + epsilon), where d = x - mean(x) over the same axes, becomes MVN; one "
           "further factor, such as a gain that was multiplied first, is multiplied behind it.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[2,3]} : f32[2,3]
%1 = opset1.Const "axes" : i64[1] = dense<i64[1]: 1>
%2 = opset1.ReduceMean "mean" (%0, %1) {keep_dims = true} : f32[2,1]
%3 = opset1.Subtract "d" (%0, %2) : f32[2,3]
%4 = opset1.Multiply "q" (%3, %3) : f32[2,3]
%5 = opset1.ReduceMean "variance" (%4, %1) {keep_dims = true} : f32[2,1]
%6 = opset1.Const "eps" : f32[] = dense<f32[]: 0.00001>
%7 = opset1.Add "bounded" (%5, %6) : f32[2,1]
%8 = opset1.Sqrt "root" (%7) : f32[2,1]
%9 = opset1.Divide "m" (%3, %8) : f32[2,3]
opset1.Result "y" (%9)
)";
  }
  // Equal differences must be merged first.
  Names RunAfter() const override { return {"middle.MergeEqualNodes"}; }

  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& variance : graph.GetOpNodes("opset1.ReduceMean")) {
      if (variance.exists()) Fuse(graph, variance);
    }
  }

 private:
  // The maximum number of nodes between the sum of variance and epsilon and the division.
  static constexpr int kSteps = 4;

  static void Fuse(Graph& graph, const Node& variance) {
    const std::optional<Port> difference = MatchDifference(variance);
    const std::optional<Port> adder = OnlyDestination(variance.out_port(0));
    if (!difference || !adder || adder->node().num_out_ports() != 1) return;
    const std::optional<NumberAdded> bounded = MatchNumberAdded(adder->node().out_port(0));
    if (!bounded || !(bounded->value == variance.out_port(0)) || bounded->number <= 0) return;
    Port output = bounded->node.out_port(0);
    for (int step = 0; step < kSteps; ++step) {
      const std::optional<Port> reader = OnlyDestination(output);
      if (!reader || reader->node().num_out_ports() != 1) return;
      output = reader->node().out_port(0);
      const Product product = ProductOf(output);
      if (!IsNormalized(product, *difference, bounded->node.out_port(0))) continue;
      Replace(graph, variance, *difference, bounded->number, output, product);
      return;
    }
  }

  // Matches mean(d^2) where d = x - mean(x) over the same axes, and returns d.
  static std::optional<Port> MatchDifference(const Node& variance) {
    if (!variance.ir().Bool("keep_dims")) return std::nullopt;
    const Product square = ProductOf(variance.in_port(0).GetSource());
    if (square.factors.empty() || square.number != 1) return std::nullopt;
    const Port d = square.factors.front().value;
    for (const Product::Factor& factor : square.factors) {
      if (!(factor.value == d)) return std::nullopt;
    }
    if (square.Exponent(d) != 2 || !d.node().ir().Is(ir::ElementFunction::kSubtract)) return std::nullopt;
    const Node mean = d.node().in_node(1);
    if (mean.ir().op() != variance.ir().op() || !mean.ir().Bool("keep_dims")) return std::nullopt;
    const Port x = d.node().in_port(0).GetSource();
    const auto axes = KnownInts(variance.in_port(1));
    if (!axes || KnownInts(mean.in_port(1)) != axes || !(mean.in_port(0).GetSource() == x))
      return std::nullopt;
    // The axes must be a vector, and the difference must not broadcast x.
    if (variance.in_port(1).shape().rank() != 1 || !(x.shape() == d.shape())) return std::nullopt;
    // MVN takes no integers and no scalars.
    if (!IsFloat(x.data().type) || (x.shape().rank_known() && x.shape().rank() == 0)) return std::nullopt;
    return d;
  }

  // Matches d * bounded^-0.5, times at most one other factor.
  static bool IsNormalized(const Product& product, const Port& d, const Port& bounded) {
    if (product.number != 1 || product.nodes.empty() || product.factors.size() > 3) return false;
    if (product.Exponent(d) != 1 || product.Exponent(bounded) != -0.5) return false;
    return llvm::all_of(product.factors, [&](const Product::Factor& factor) {
      return factor.value == d || factor.value == bounded || factor.exponent == 1;
    });
  }

  static void Replace(Graph& graph, const Node& variance, const Port& d, double epsilon, const Port& output,
                      const Product& product) {
    // Only the square and the quotient may read d, so that nothing is computed twice.
    const Node square = variance.in_node(0);
    for (const Port& reader : d.GetDestinations()) {
      if (!(reader.node() == square) && !llvm::is_contained(product.nodes, reader.node())) return;
    }
    const ir::Origin origin = output.node().ir().origin();
    Graph::Spec spec{.origin = origin};
    spec.attributes.Set("normalize_variance", true);
    spec.attributes.Set("eps", epsilon);
    spec.attributes.Set("eps_mode", "inside_sqrt");
    const Port x = d.node().in_port(0).GetSource();
    Node made = graph.CreateNode("opset6.MVN", {x, variance.in_port(1).GetSource()}, std::move(spec));
    for (const Product::Factor& factor : product.factors) {
      if (factor.exponent == 1 && !(factor.value == d))
        made = graph.CreateNode("opset1.Multiply", {made.out_port(0), factor.value}, {.origin = origin});
    }
    TakePlace(graph, output.node(), made);
  }
};

void RegisterMvnFusion(TransformationList& list) {
  list.Add<middle::MVNFusion>();
}

}  // namespace nnefc::transform::middle
