#include "runtime/engine/plan/fused_nodes.h"

#include <utility>

namespace nnefc::runtime::engine::plan {

Fusions::Fusions(const ir::Graph& graph, const PlanOptions& options) {
  const kernels::KernelRegistry::BackendHooks hooks = options.kernels->hooks(options.backend);
  if (hooks.find_codes != nullptr && options.precision != kernels::Precision::kExact) {
    quantized_ = hooks.find_codes(graph, *options.weights);
  }
  if (hooks.find_fusions == nullptr || !options.fuse) return;
  for (const kernels::FusionGroup& group : hooks.find_fusions(graph, quantized_.results)) {
    FusedNodes nodes{.main = &graph.node(group.main), .second = group.second};
    members_.insert(group.main);
    for (ir::NodeId post : group.posts) {
      nodes.posts.push_back(&graph.node(post));
      members_.insert(post);
    }
    const ir::NodeId last = nodes.last().id();
    by_last_[last] = std::move(nodes);
  }
}

}  // namespace nnefc::runtime::engine::plan
