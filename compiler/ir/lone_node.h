#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics.h"

namespace nnefc::ir {

// A node as it would be on other inputs: to infer it, in no graph, from what
// somebody else knows of them. `node` must outlive it.
class LoneNode {
 public:
  // Types, shapes and values of the inputs are those of `graph`.
  LoneNode(const Graph& graph, const Node& node);
  // Nothing is known of the inputs.
  explicit LoneNode(const Node& node) : node_(node), inputs_(node.inputs().size()) {}

  void SetInput(int32_t index, ElementType type, PartialShape shape, std::optional<TensorValue> value);
  // False after a mistake.
  [[nodiscard]] bool Infer(Emitter& emitter);
  const Output& input(int32_t index) const { return inputs_[static_cast<size_t>(index)]; }
  // As inferred last.
  llvm::ArrayRef<Output> outputs() const { return outputs_; }

 private:
  const Node& node_;
  std::vector<Output> inputs_;
  std::vector<Output> outputs_;
};

}  // namespace nnefc::ir
