#pragma once

#include <optional>
#include <vector>

#include "runtime/engine/plan/fused_nodes.h"
#include "runtime/engine/plan/plan_draft.h"
#include "runtime/engine/plan/view_planner.h"

namespace nnefc::runtime::engine::plan {

// The operands of a step, as its kernel is requested for them.
struct StepOperands {
  std::vector<kernels::PostOperation> posts = {};
  llvm::SmallVector<ValueId, 4> input_values = {};
  llvm::SmallVector<kernels::ValueInfo, 4> inputs = {};
  llvm::SmallVector<kernels::ValueInfo, 1> outputs = {};
  std::vector<kernels::RejectedImplementation> rejected = {};
};

// A kernel and the operands that it was prepared for.
struct KernelChoice {
  StepOperands operands;
  kernels::PreparedKernel prepared;
};

// Chooses the kernels of nodes and of fused nodes, and adds their steps.
class KernelChooser {
 public:
  KernelChooser(PlanDraft& draft, const Fusions& fusions, const ViewPlanner& views)
      : draft_(draft), fusions_(fusions), views_(views) {}

  // Returns a kernel of the backend for all the nodes, or nothing.
  std::optional<KernelChoice> ChooseFused(const FusedNodes& nodes);
  // Returns a kernel of the backend, or else the reference kernel. Nothing if there is neither.
  std::optional<KernelChoice> ChooseSingle(const ir::Node& node);
  // Adds the step, with reorders of its inputs. Returns false after an error was emitted.
  [[nodiscard]] bool AddStep(const FusedNodes& nodes, const KernelChoice& choice);

 private:
  // `strided_by`: the backends whose kernels may read strided inputs.
  StepOperands OperandsOf(const FusedNodes& nodes, llvm::ArrayRef<kernels::Backend> strided_by);
  // Adds the inputs of the chain that come from outside it.
  void AddInputValues(const FusedNodes& nodes, llvm::ArrayRef<kernels::Backend> strided_by,
                      StepOperands& operands);
  std::optional<kernels::PreparedKernel> Prepare(kernels::Backend backend, const FusedNodes& nodes,
                                                 StepOperands& operands) const;
  // Returns true if an input has strides that kernels of the selected backend accept.
  bool ReadsStrides(const ir::Node& node, const StepOperands& operands) const;
  StepWork WorkOf(const FusedNodes& nodes, const StepOperands& operands) const;
  // Adds multiply-adds for nodes that have them, and one operation per result element for others.
  void AddOperations(const ir::Node& node, StepWork& sum) const;
  // Adds the inputs in the layouts of the kernel. Returns whether the result overwrites input `in_place`, or
  // nothing after an error was emitted.
  [[nodiscard]] std::optional<bool> AddInputs(const FusedNodes& nodes, const KernelChoice& choice,
                                              Step& step);
  // Computes the result in the memory of an input, if it has the same size and element order.
  void Overwrite(ValueId input, ValueId result, bool is_required);

  PlanDraft& draft_;
  const Fusions& fusions_;
  const ViewPlanner& views_;
};

}  // namespace nnefc::runtime::engine::plan
