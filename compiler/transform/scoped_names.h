#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc::transform {

// The names by which configurations know nodes. A node that an instantiation of
// a fragment made is called by it and by its own name there, `incept1/conv1x1`, or by
// its operation if the tensor belongs to a fragment further out; any other has its
// own name. Results are called as the outputs of the model are: no scope has them.
class ScopedNames {
 public:
  explicit ScopedNames(const ir::Graph& graph);

  const std::string& Of(ir::NodeId node) const { return names_[static_cast<size_t>(node.index)]; }
  // The node of a name, by which it is known here or in the graph, results left
  // out; an invalid id if there is none.
  ir::NodeId Find(std::string_view name) const;
  // In order of insertion; results are not among the operations.
  const std::vector<ir::NodeId>& nodes() const { return nodes_; }
  const std::vector<ir::NodeId>& operations() const { return operations_; }

 private:
  std::vector<ir::NodeId> nodes_;
  std::vector<ir::NodeId> operations_;
  std::vector<std::string> names_;  // by node
  llvm::StringMap<ir::NodeId> by_name_;
};

// Whether a node is a literal of a document: one for all that write it, so of no scope.
bool IsLiteral(const ir::Node& node);

}  // namespace nnefc::transform
