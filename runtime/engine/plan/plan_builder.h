#pragma once

#include "runtime/engine/plan/fused_nodes.h"
#include "runtime/engine/plan/kernel_chooser.h"
#include "runtime/engine/plan/plan_draft.h"
#include "runtime/engine/plan/prepare_graph.h"
#include "runtime/engine/plan/view_planner.h"

namespace nnefc::runtime::engine::plan {

// Converts a prepared graph into steps, node by node in topological order.
class PlanBuilder {
 public:
  PlanBuilder(Plan& plan, const UncheckedInputs& unchecked, const PlanOptions& options, Emitter& emitter)
      : draft_(plan, options, emitter),
        concat_(draft_.graph().registry().Find("opset1", "Concat")),
        unchecked_(unchecked),
        fusions_(draft_.graph(), options),
        views_(draft_, fusions_),
        kernels_(draft_, fusions_, views_) {}

  // Creates steps, values and results of the nodes, each after its inputs. Returns false if an error was
  // emitted.
  [[nodiscard]] bool Build(llvm::ArrayRef<ir::NodeId> order);

 private:
  bool AddParameters();
  bool AddNode(const ir::Node& node);
  bool AddSource(const ir::Node& node);
  // Makes one step of the longest prefix of the chain that has a kernel.
  bool AddChain(const FusedNodes& chain);
  bool AddSingle(const ir::Node& node);
  // Adds steps that check the nodes of a step whose output shapes are static but whose shape functions needed
  // values that are only known at run time.
  bool AddShapeCheckSteps(const FusedNodes& nodes);
  bool AddShapeCheckStep(const ir::Node& node);
  bool AddStateStep(const ir::Node& node);
  bool AddDynamicStep(const ir::Node& node);
  // Adds the inputs of a node in row-major order.
  bool AddDenseInputs(const ir::Node& node, Step& step);
  bool AddResult(const ir::Node& node);
  // Lets the caller of the plan place the buffers of results.
  void OpenResults();

  PlanDraft draft_;
  const ir::OpId concat_;
  const UncheckedInputs& unchecked_;
  const Fusions fusions_;
  ViewPlanner views_;
  KernelChooser kernels_;
};

}  // namespace nnefc::runtime::engine::plan
