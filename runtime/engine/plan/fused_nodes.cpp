#include "runtime/engine/plan/fused_nodes.h"

#include <utility>

#include "compiler/ir/ops/arithmetic/quantized_values.h"

namespace nnefc::runtime::engine::plan {

Fusions::Fusions(const ir::Graph& graph, const PlanOptions& options) {
  for (ir::NodeId id : graph.nodes()) {
    if (std::optional<ir::FilterQuantization> filter = ir::ops::QuantizedFilterOf(graph.node(id)))
      filters_[id] = std::move(*filter);
  }
  const kernels::KernelRegistry::BackendHooks hooks = options.kernels->hooks(options.backend);
  if (hooks.find_fusions == nullptr || !options.fuse) return;
  for (const kernels::FusionGroup& group : hooks.find_fusions(graph)) {
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
