#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc::transform {

// The node names used by configurations. A node of a fragment's instance has the instance's scope and its own
// name there, `incept1/conv1x1`, or its operation if the tensor belongs to an outer fragment. Any other node
// has its own name. Results have the names of the model's outputs and no scope.
class ScopedNames {
 public:
  explicit ScopedNames(const ir::Graph& graph);

  const std::string& Of(ir::NodeId node) const { return names_[static_cast<size_t>(node.index)]; }
  // Returns the node with a scoped name or a name in the graph, excluding results; an invalid id if there is
  // none.
  ir::NodeId Find(std::string_view name) const;
  // All nodes in order of insertion; `operations` excludes results.
  const std::vector<ir::NodeId>& nodes() const { return nodes_; }
  const std::vector<ir::NodeId>& operations() const { return operations_; }

 private:
  std::vector<ir::NodeId> nodes_;
  std::vector<ir::NodeId> operations_;
  std::vector<std::string> names_;  // indexed by node
  llvm::StringMap<ir::NodeId> by_name_;
};

// Returns whether a node is a literal of a document, shared by all its uses and therefore without a scope.
bool IsLiteral(const ir::Node& node);

}  // namespace nnefc::transform
