#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace nnefc::ir {

// The topological order of a graph, shared by the passes over it until one connects its nodes differently.
class NodeOrder {
 public:
  NodeOrder() = default;
  // Starts with a known order.
  NodeOrder(const Graph& graph, std::vector<NodeId> order) : order_(std::move(order)) { Record(graph); }

  // Returns the nodes so that each follows its inputs; null if the graph has a cycle. Erased nodes and new
  // nodes without inputs only adapt the known order; other new nodes replace it by a new one. The list is
  // valid until the next call.
  const std::vector<NodeId>* Of(const Graph& graph);
  // Drops the order, because inputs are connected to other nodes.
  void Reset() { is_known_ = false; }

 private:
  void Record(const Graph& graph);

  std::vector<NodeId> order_;
  bool is_known_ = false;
  size_t bound_ = 0;  // Graph::node_bound() of the order
};

}  // namespace nnefc::ir
