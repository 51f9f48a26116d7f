// If nodes whose condition is known when a plan is made.

#include "compiler/ir/algorithms/inline_body.h"
#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/target/quantizations.h"

namespace nnefc::transform::target {

class InlineSelectedBranch : public TargetReplacementPattern {
 public:
  std::string_view Description() const override {
    return "An If whose condition is constant for the inputs of a plan becomes the selected branch.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[2]} : f32[2]
%1 = opset1.Const "c" : boolean[] = dense<boolean[]: 0>
%2 = opset8.If "i" (%1, %0) : f32[2] bodies {
  "then_body" input 1 -> 0 output 0 -> 0 graph "then" {
    %0 = opset1.Parameter "a" {element_type = f32, shape = shape[2]} : f32[2]
    %1 = opset1.ReLU "r" (%0) : f32[2]
    opset1.Result "o" (%1)
  }
  "else_body" input 1 -> 0 output 0 -> 0 graph "else" {
    %0 = opset1.Parameter "b" {element_type = f32, shape = shape[2]} : f32[2]
    opset1.Result "o" (%0)
  }
}
opset1.Result "y" (%2)
)";
  }
  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& node : graph.GetNodes()) {
      if (!node.ir().Is(ir::OpRole::kIf)) continue;
      const std::optional<TensorValue>& condition = node.in_port(0).value();
      if (condition && condition->volume() == 1) Inline(graph, node, condition->ElementAsInt(0) != 0 ? 0 : 1);
    }
  }

 private:
  static void Inline(Graph& graph, const Node& node, size_t selected) {
    std::vector<Port> parameters;
    for (ir::OutputPort source : ir::ParametersOfBranch(graph.ir(), node.id(), selected))
      parameters.push_back(PortOf(graph, source));
    std::vector<ir::OutputPort> results;
    for (const Port& result : graph.InlineBody(node, selected, parameters).results)
      results.push_back({result.node().id(), result.index()});
    const std::vector<ir::OutputPort> outputs = ir::OutputsOfBranch(node.ir(), selected, results);
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].valid())
        graph.ReplaceAllUses(node.out_port(static_cast<int32_t>(i)), PortOf(graph, outputs[i]));
    }
  }
};

void RegisterSelectedBranches(TransformationList& list) {
  list.Add<target::InlineSelectedBranch>();
}

}  // namespace nnefc::transform::target
