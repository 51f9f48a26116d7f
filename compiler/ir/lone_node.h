#pragma once

#include <optional>

#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics.h"

namespace nnefc::ir {

// A node in a graph of its own, its inputs parameters: to infer it from what
// somebody else knows of them. Bodies are left out.
class LoneNode {
 public:
  // Types, shapes and values of the inputs are those of `graph`.
  LoneNode(const Graph& graph, const Node& node);

  void SetInput(int32_t index, ElementType type, PartialShape shape, std::optional<TensorValue> value);
  // False after a mistake.
  bool Infer(Emitter& emitter);
  const Node& node() const { return graph_.node(node_); }
  const Output& input(int32_t index) const { return graph_.output(node().input(index)); }

 private:
  Graph graph_;
  NodeId node_;
};

}  // namespace nnefc::ir
