// Checks of the graph regardless of its origin, and the removal of unused nodes.

#include "compiler/transform/pipeline/standard.h"

namespace nnefc::transform::middle {

class CheckForCycle : public MiddleReplacementPattern {
 public:
  std::string_view Description() const override { return "Refuses a graph with a cycle, whoever made it."; }
  Names RunBefore() const override { return {"PreMiddleStart"}; }
  Names RunAfter() const override { return {std::string(kLowering)}; }
  void FindAndReplacePattern(Graph& graph) override {
    if (!ir::TopologicalOrder(graph.ir())) throw Error("the graph contains a cycle");
  }
};

class RemoveUnneeded : public MiddleReplacementPattern {
 public:
  std::string_view Description() const override {
    return "Removes what no result and no sink needs. Parameters stay.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[2,3]} : f32[2,3]
%1 = opset1.ReLU "r" (%0) : f32[2,3]
%2 = opset1.Abs "dead" (%0) : f32[2,3]
opset1.Result "y" (%1)
)";
  }
  Names RunBefore() const override { return {"PostMiddleStart"}; }
  Names RunAfter() const override { return {"MiddleFinish"}; }
  void FindAndReplacePattern(Graph& graph) override { graph.CleanUp(); }
};

void RegisterChecks(TransformationList& list) {
  list.Add<CheckForCycle>();
  list.Add<RemoveUnneeded>();
}

}  // namespace nnefc::transform::middle
