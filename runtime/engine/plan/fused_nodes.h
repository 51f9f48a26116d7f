#pragma once

#include <optional>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "runtime/engine/plan/plan.h"

namespace nnefc::runtime::engine::plan {

// A node and the nodes fused to it, which become one step. Each of `posts` reads the result before it.
struct FusedNodes {
  const ir::Node* main;
  std::vector<const ir::Node*> posts = {};
  std::optional<size_t> second = std::nullopt;  // FusionGroup::second

  const ir::Node& last() const { return posts.empty() ? *main : *posts.back(); }
};

// The chains of a graph that the backend may run as one step each, and its filters that are marked as
// quantized.
class Fusions {
 public:
  Fusions(const ir::Graph& graph, const PlanOptions& options);

  // Returns the chain whose last node is `id`, or null.
  const FusedNodes* EndingAt(ir::NodeId id) const {
    const auto found = by_last_.find(id);
    return found == by_last_.end() ? nullptr : &found->second;
  }
  // Returns true for each node of a chain.
  bool Contains(ir::NodeId id) const { return members_.contains(id); }
  // Returns the quantization of the node's filter, or null.
  const ir::FilterQuantization* FilterOf(ir::NodeId id) const {
    const auto found = filters_.find(id);
    return found == filters_.end() ? nullptr : &found->second;
  }

 private:
  llvm::DenseMap<ir::NodeId, FusedNodes> by_last_;
  llvm::DenseSet<ir::NodeId> members_;
  llvm::DenseMap<ir::NodeId, ir::FilterQuantization> filters_;
};

}  // namespace nnefc::runtime::engine::plan
