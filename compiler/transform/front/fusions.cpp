// Sub-graphs of NNEF operations that one operation of OpenVINO says.

#include "compiler/transform/standard.h"

namespace nnefc::transform {
namespace front {

// x * tanh(softplus(x)) -> opset4.Mish
class MishFusion : public FrontReplacementSubgraph {
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
  list.Add<front::MishFusion>();
}

}  // namespace nnefc::transform
