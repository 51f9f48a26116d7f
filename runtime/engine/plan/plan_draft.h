#pragma once

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/engine/plan/plan.h"
#include "runtime/engine/plan/plan_values.h"

namespace nnefc::runtime::engine::plan {

// A plan under construction: its steps, the value of each port of its graph, and the copies of values in
// other layouts.
class PlanDraft {
 public:
  PlanDraft(Plan& plan, const PlanOptions& options, Emitter& emitter)
      : plan_(plan), options_(options), emitter_(emitter), values_(&plan.values) {}

  Plan& plan() { return plan_; }
  const ir::Graph& graph() const { return *plan_.graph; }
  const PlanOptions& options() const { return options_; }
  Emitter& emitter() { return emitter_; }
  PlanValues& values() { return values_; }
  const PlanValues& values() const { return values_; }
  kernels::KernelRegistry::BackendHooks hooks() const { return options_.kernels->hooks(options_.backend); }
  // Returns the backends to try, in order.
  std::array<kernels::Backend, 2> backends() const {
    return {options_.backend, kernels::Backend::kReference};
  }

  ValueId ValueOf(ir::OutputPort port) const { return by_port_.at({port.node.index, port.index}); }
  // Makes `id` the value of a port, and expects the reads of all users of the port.
  void SetValue(ir::OutputPort port, ValueId id);
  // Counts one read of each input of the node.
  void CountReads(const ir::Node& node);
  bool IsHeap(ValueId id) const { return values_[id].storage == PlanValue::Storage::kHeap; }

  // Records the number of a constant, or of a view of one.
  void AddConstant(ValueId id, const TensorValue& number) { constants_.emplace(id, number); }
  // Returns null for values that are neither constants nor views of them.
  const TensorValue* ConstantOf(ValueId id) const;

  // Returns -1 if the number of bytes overflows. `layout` may be null (row-major).
  ValueId AddArenaValue(ElementType type, const Shape& shape, const tensor::Layout& layout);
  ValueId AddHeapValue(ElementType type);
  // Adds strided elements of `source`, which must be row-major or have strides.
  ValueId AddViewOf(ValueId source, const tensor::ElementsView& view);

  // Returns the value in the layout and adds a reorder step if needed. `own` requests a private copy. Returns
  // -1 if it cannot be laid out.
  ValueId InLayout(ValueId id, const tensor::Layout& layout, bool own = false);

  void AddStep(Step step) { plan_.steps.push_back(std::move(step)); }
  // Emits an error about the node. Returns false.
  bool Fail(const Rule& rule, const ir::Node& node, std::string message);

 private:
  ValueId ConstantInLayout(ValueId id, const tensor::Layout& layout);

  Plan& plan_;
  const PlanOptions& options_;
  Emitter& emitter_;
  PlanValues values_;
  std::map<std::pair<int32_t, int32_t>, ValueId> by_port_;
  std::map<ValueId, std::vector<ValueId>> reordered_;
  std::map<ValueId, TensorValue> constants_;
};

}  // namespace nnefc::runtime::engine::plan
