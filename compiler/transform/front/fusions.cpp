// Fusions of NNEF sub-graphs into single OpenVINO operations.

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/values.h"

namespace nnefc::transform::front {

class SoftplusFusion : public FrontReplacementSubgraph {
 public:
  std::string_view Description() const override {
    return "log(exp(x) + 1) becomes softplus(x), which is defined so. Where exp(x) is too large for its "
           "type the sub-graph gives infinity and the operation x.";
  }
  std::string_view Example() const override {
    return R"(%0 = nnef.external "x" {shape = [2,3], dtype = "scalar"} : f32[2,3]
%1 = nnef.exp "e" (%0) : f32[2,3]
%2 = opset1.Const "one" : f32[] = dense<f32[]: 1.0>
%3 = nnef.add "a" (%1, %2) : f32[2,3]
%4 = nnef.log "l" (%3) : f32[2,3]
opset1.Result "y" (%4)
)";
  }

  bool MayChange(const ir::Graph& graph) const override {
    return HasOperation(graph, ir::kNnefSet, "exp") && HasOperation(graph, ir::kNnefSet, "log");
  }

 protected:
  Pattern GetPattern() const override {
    return {.nodes = {Op("exp", "nnef.exp"), Op("add", "nnef.add"), Op("log", "nnef.log")},
            .edges = {{"exp", "add"}, {"add", "log"}}};
  }

  void ReplaceSubGraph(Graph& graph, const Match& match) override {
    const Node exp = match["exp"];
    const Node add = match["add"];
    const Node log = match["log"];
    const std::optional<Port> one = OtherInput(add, exp);
    if (!one || KnownNumber(*one) != 1 || !(add.ir().output().shape == exp.ir().output().shape)) return;
    if (!OnlyDestination(exp.out_port(0)) || !OnlyDestination(add.out_port(0))) return;
    const Node softplus =
        graph.CreateNode("nnef.softplus", {exp.in_port(0).GetSource()}, {.origin = log.ir().origin()});
    TakePlace(graph, log, softplus);
    RemoveNodes(graph, {log, add, exp});
  }
};

class MishFusion : public FrontReplacementSubgraph {
 public:
  std::string_view Description() const override { return "x * tanh(softplus(x)) becomes Mish."; }
  std::string_view Example() const override {
    return R"(%0 = nnef.external "x" {shape = [2,3], dtype = "scalar"} : f32[2,3]
%1 = nnef.softplus "s" (%0) : f32[2,3]
%2 = nnef.tanh "t" (%1) : f32[2,3]
%3 = nnef.mul "m" (%0, %2) : f32[2,3]
opset1.Result "y" (%3)
)";
  }
  Names RunAfter() const override { return {"front.SoftplusFusion", "FrontStart"}; }
  bool MayChange(const ir::Graph& graph) const override {
    return HasOperation(graph, ir::kNnefSet, "softplus") && HasOperation(graph, ir::kNnefSet, "tanh");
  }

 protected:
  Pattern GetPattern() const override {
    return {.nodes = {Op("mul", "nnef.mul"), Op("tanh", "nnef.tanh"), Op("softplus", "nnef.softplus")},
            .edges = {{"softplus", "tanh"}, {"tanh", "mul"}}};
  }

  void ReplaceSubGraph(Graph& graph, const Match& match) override {
    const Node mul = match["mul"];
    const int32_t other = mul.in_node(0) == match["tanh"] ? 1 : 0;
    const Port x = mul.in_port(other).GetSource();
    if (!(x == match["softplus"].in_port(0).GetSource())) return;
    const Node mish = graph.CreateNode("opset4.Mish", {x}, {.origin = mul.ir().origin()});
    TakePlace(graph, mul, mish);
  }
};

void RegisterFusions(TransformationList& list) {
  list.Add<SoftplusFusion>();
  list.Add<MishFusion>();
}

}  // namespace nnefc::transform::front
