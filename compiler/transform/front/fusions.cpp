// Sub-graphs of NNEF operations that one operation of OpenVINO says.

#include "compiler/transform/standard.h"
#include "compiler/transform/values.h"

namespace nnefc::transform {
namespace front {

// log(exp(x) + 1) -> softplus(x), which is defined so. Where exp(x) is too large for its
// type the sub-graph gives infinity and the operation x.
class SoftplusFusion : public FrontReplacementSubgraph {
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
    log.out_port(0).GetConnection().SetSource(softplus.out_port(0));
    graph.TakeName(log, softplus);
    RemoveNodes(graph, {log, add, exp});
  }
};

// x * tanh(softplus(x)) -> opset4.Mish
class MishFusion : public FrontReplacementSubgraph {
 public:
  Names RunAfter() const override { return {"front.SoftplusFusion", "FrontStart"}; }

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
    mul.out_port(0).GetConnection().SetSource(mish.out_port(0));
    graph.TakeName(mul, mish);
  }
};

}  // namespace front

void RegisterFusions(TransformationList& list) {
  list.Add<front::SoftplusFusion>();
  list.Add<front::MishFusion>();
}

}  // namespace nnefc::transform
