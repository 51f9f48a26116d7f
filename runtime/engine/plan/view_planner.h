#pragma once

#include "runtime/engine/plan/fused_nodes.h"
#include "runtime/engine/plan/plan_draft.h"

namespace nnefc::runtime::engine::plan {

// Returns true if the kernels of one of these backends read the input of the node with strides.
bool AcceptsStrides(const PlanOptions& options, const ir::Node& node, int32_t input,
                    llvm::ArrayRef<kernels::Backend> backends);

// Plans nodes that only move elements and need no step: their outputs are views of the first input.
class ViewPlanner {
 public:
  ViewPlanner(PlanDraft& draft, const Fusions& fusions) : draft_(draft), fusions_(fusions) {}

  // Makes the outputs strided views of the first input, which are contiguous or whose readers accept the
  // strides, or parts of its backend layout. Returns false, without an error, if that is impossible.
  [[nodiscard]] bool TryViews(const ir::Node& node);
  // Makes the output of a Transpose that only a FakeQuantize reads a view of its row-major input in a backend
  // layout. Returns false, without an error, if that is impossible.
  [[nodiscard]] bool TryTransposedLayout(const ir::Node& node);
  // Makes the output of a node like Reshape a view of its input, which is copied to row-major order if no
  // view of its layout has the same element order. Returns false after an error was emitted.
  [[nodiscard]] bool AddReshape(const ir::Node& node);
  // Returns the output layout whose Transpose, if that is its only reader, would be row-major; null if there
  // is none.
  tensor::Layout WantedOutput(const ir::Node& node) const;

 private:
  // Makes the output a view of a value in a backend layout, if that keeps the order of the elements.
  bool TryReshapedLayout(const ir::Node& node, const Shape& shape);
  // Makes the output a view of all elements of `source` in another layout.
  void SetViewInLayout(const ir::Node& node, ValueId source, const Shape& shape, tensor::Layout layout);
  // Makes the outputs parts of a value in a backend layout, if they are stored in separate ranges of it.
  bool TryPartsOfLayout(const ir::Node& node);
  std::optional<tensor::ElementsView> ElementsOf(const ir::Node& node, int32_t output,
                                                 const tensor::ElementsView& source) const;
  // Returns true if all readers of the output accept these strides. Follows up to `depth` further views.
  bool AreReadAs(ir::OutputPort port, const tensor::ElementsView& view, int depth) const;

  PlanDraft& draft_;
  const Fusions& fusions_;
};

}  // namespace nnefc::runtime::engine::plan
