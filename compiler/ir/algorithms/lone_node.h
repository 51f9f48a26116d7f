#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc::ir {

// A node inferred outside of a graph, with other types, shapes and values of its inputs. `node` must outlive
// this.
class LoneNode {
 public:
  // Initializes types, shapes and values of the inputs from `graph`.
  LoneNode(const Graph& graph, const Node& node);
  // Leaves all inputs unknown.
  explicit LoneNode(const Node& node) : node_(node), inputs_(node.inputs().size()) {}

  void SetInput(int32_t index, ElementType type, PartialShape shape, std::optional<TensorValue> value);
  // Returns false after an error.
  [[nodiscard]] bool Infer(Emitter& emitter);
  const Output& input(int32_t index) const { return inputs_[static_cast<size_t>(index)]; }
  // The outputs of the last successful Infer.
  llvm::ArrayRef<Output> outputs() const { return outputs_; }

 private:
  const Node& node_;
  std::vector<Output> inputs_;
  std::vector<Output> outputs_;
};

}  // namespace nnefc::ir
