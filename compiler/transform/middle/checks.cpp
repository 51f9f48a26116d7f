// What a graph must be, whoever made it; and the end of what nobody needs.

#include "compiler/transform/standard.h"

namespace nnefc::transform {
namespace middle {

class CheckForCycle : public MiddleReplacementPattern {
 public:
  Names RunBefore() const override { return {"PreMiddleStart"}; }
  Names RunAfter() const override { return {std::string(kLowering)}; }
  void FindAndReplacePattern(Graph& graph) override {
    if (!graph.ir().TopologicalOrder()) throw Error("the graph contains a cycle");
  }
};

// What no result and no sink needs; parameters stay.
class RemoveUnneeded : public MiddleReplacementPattern {
 public:
  Names RunBefore() const override { return {"PostMiddleStart"}; }
  Names RunAfter() const override { return {"MiddleFinish"}; }
  void FindAndReplacePattern(Graph& graph) override { graph.CleanUp(); }
};

}  // namespace middle

void RegisterChecks(TransformationList& list) {
  list.Add<middle::CheckForCycle>();
  list.Add<middle::RemoveUnneeded>();
}

}  // namespace nnefc::transform
