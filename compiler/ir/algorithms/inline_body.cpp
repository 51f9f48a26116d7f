// Inlining of a body into the surrounding graph.

#include "compiler/ir/algorithms/inline_body.h"

#include "compiler/ir/algorithms/copy.h"

namespace nnefc::ir {

InlinedBody InlineBody(Graph& graph, NodeId id, size_t index, llvm::ArrayRef<OutputPort> parameters) {
  const Graph& body = *graph.node(id).bodies()[index].graph;
  const std::optional<std::vector<NodeId>> order = TopologicalOrder(body);
  NNEFC_CHECK(order.has_value() && parameters.size() == body.parameters().size());
  NodeCopier copier(graph);
  for (size_t i = 0; i < parameters.size(); ++i) copier.Map({body.parameters()[i], 0}, parameters[i]);
  InlinedBody made;
  for (NodeId inner : *order) {
    const Node& source = body.node(inner);
    if (source.Is(OpRole::kParameter) || source.Is(OpRole::kResult)) continue;
    made.nodes.push_back(copier.Copy(source));
  }
  for (NodeId result : body.results()) made.results.push_back(copier.Mapped(body.node(result).input(0)));
  return made;
}

std::vector<OutputPort> ParametersOfBranch(const Graph& graph, NodeId id, size_t index) {
  const Body& body = graph.node(id).bodies()[index];
  std::vector<OutputPort> parameters(body.graph->parameters().size());
  for (const InputMapping& mapping : body.inputs)
    parameters[static_cast<size_t>(mapping.internal)] = graph.node(id).input(mapping.external);
  return parameters;
}

std::vector<OutputPort> OutputsOfBranch(const Node& node, size_t index, llvm::ArrayRef<OutputPort> results) {
  std::vector<OutputPort> outputs(static_cast<size_t>(node.num_outputs()));
  for (const OutputMapping& mapping : node.bodies()[index].outputs)
    outputs[static_cast<size_t>(mapping.external)] = results[static_cast<size_t>(mapping.internal)];
  return outputs;
}

}  // namespace nnefc::ir
