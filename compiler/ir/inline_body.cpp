#include "compiler/ir/inline_body.h"

#include "compiler/ir/copy.h"

namespace nnefc::ir {

InlinedBody InlineBody(Graph& graph, NodeId id, size_t index) {
  const Body& body = graph.node(id).bodies()[index];
  const std::optional<std::vector<NodeId>> order = body.graph->TopologicalOrder();
  NNEFC_CHECK(order.has_value());
  NodeCopier copier(graph);
  for (const InputMapping& mapping : body.inputs) {
    copier.Map({body.graph->parameters()[static_cast<size_t>(mapping.internal)], 0},
               graph.node(id).input(mapping.external));
  }
  InlinedBody made;
  for (NodeId inner : *order) {
    const Node& source = body.graph->node(inner);
    if (source.Is(OpRole::kParameter) || source.Is(OpRole::kResult)) continue;
    made.nodes.push_back(copier.Copy(source));
  }
  made.outputs.resize(static_cast<size_t>(graph.node(id).num_outputs()));
  for (const OutputMapping& mapping : body.outputs) {
    const Node& result = body.graph->node(body.graph->results()[static_cast<size_t>(mapping.internal)]);
    made.outputs[static_cast<size_t>(mapping.external)] = copier.Mapped(result.input(0));
  }
  return made;
}

}  // namespace nnefc::ir
