// Copies of nodes and graphs, with their bodies.

#include "compiler/ir/algorithms/copy.h"

namespace nnefc::ir {

NodeId CopyNode(Graph& target, const Node& node, llvm::ArrayRef<OutputPort> inputs, Bodies bodies) {
  const bool same_inputs = inputs.size() == node.inputs().size();
  const NodeId copy = target.AddNode({.op = node.op(),
                                      .name = node.name(),
                                      .inputs = inputs,
                                      .segments = same_inputs ? node.segments() : llvm::ArrayRef<int32_t>(),
                                      .attributes = node.attributes(),
                                      .num_outputs = node.num_outputs(),
                                      .origin = node.origin()});
  for (const auto& [path, value] : node.rt_info()) target.SetRtInfo(copy, path, value);
  for (int32_t i = 0; i < node.num_outputs(); ++i) {
    const Output& output = node.output(i);
    target.SetOutputType({copy, i}, output.type, output.shape);
    target.SetOutputValue({copy, i}, output.value);
    target.SetOutputNames({copy, i}, output.names);
  }
  if (bodies == Bodies::kLeave) return copy;
  for (const Body& body : node.bodies()) {
    target.AddBody(copy, {.role = body.role,
                          .graph = Clone(*body.graph),
                          .inputs = body.inputs,
                          .outputs = body.outputs,
                          .back_edges = body.back_edges});
  }
  return copy;
}

NodeId NodeCopier::Copy(const Node& node, Bodies bodies) {
  llvm::SmallVector<OutputPort, 4> inputs;
  for (OutputPort port : node.inputs()) {
    inputs.push_back(Mapped(port));
    NNEFC_CHECK(inputs.back().valid());
  }
  const NodeId copy = CopyNode(target_, node, inputs, bodies);
  for (int32_t i = 0; i < node.num_outputs(); ++i) Map(node.port(i), {copy, i});
  return copy;
}

std::unique_ptr<Graph> Clone(const Graph& graph, llvm::ArrayRef<NamedPort> more_results) {
  auto copy = std::make_unique<Graph>(&graph.registry(), graph.name());
  for (const auto& [path, value] : graph.rt_info()) copy->SetRtInfo(path, value);
  const std::optional<std::vector<NodeId>> order = TopologicalOrder(graph);
  NNEFC_CHECK(order.has_value());
  NodeCopier copier(*copy);
  std::vector<NodeId> twins(graph.node_bound());
  for (NodeId id : *order) twins[static_cast<size_t>(id.index)] = copier.Copy(graph.node(id));
  const auto twin_of = [&](NodeId id) { return twins[static_cast<size_t>(id.index)]; };
  for (NodeId id : graph.parameters()) copy->AddToParameters(twin_of(id));
  for (NodeId id : graph.results()) copy->AddToResults(twin_of(id));
  for (const auto& [name, port] : more_results) AddResult(*copy, name, copier.Mapped(port));
  std::vector<NodeId> sinks;
  for (NodeId id : graph.sinks()) sinks.push_back(twin_of(id));
  copy->OrderSinks(sinks);
  return copy;
}

}  // namespace nnefc::ir
