// The topological order of a graph, shared by passes.

#include "compiler/ir/node_order.h"

#include <utility>

#include "llvm/ADT/STLExtras.h"

namespace nnefc::ir {

void NodeOrder::Record(const Graph& graph) {
  is_known_ = true;
  bound_ = graph.node_bound();
}

const std::vector<NodeId>* NodeOrder::Of(const Graph& graph) {
  std::vector<NodeId> sources;
  for (size_t i = bound_; is_known_ && i < graph.node_bound(); ++i) {
    const NodeId id(static_cast<int32_t>(i));
    if (!graph.Contains(id)) continue;
    is_known_ = graph.node(id).num_inputs() == 0;
    sources.push_back(id);
  }
  if (!is_known_) {
    std::optional<std::vector<NodeId>> order = TopologicalOrder(graph);
    if (!order) return nullptr;
    order_ = std::move(*order);
  } else {
    if (!sources.empty()) order_.insert(order_.begin(), sources.begin(), sources.end());
    if (order_.size() != graph.num_nodes())
      llvm::erase_if(order_, [&](NodeId id) { return !graph.Contains(id); });
  }
  Record(graph);
  return &order_;
}

}  // namespace nnefc::ir
