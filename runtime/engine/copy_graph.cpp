#include "runtime/engine/copy_graph.h"

namespace nnefc::runtime {

namespace {

ir::Body CopyBody(const ir::Body& body) {
  return {.role = body.role,
          .graph = CopyGraph(*body.graph),
          .inputs = body.inputs,
          .outputs = body.outputs,
          .back_edges = body.back_edges};
}

}  // namespace

ir::OutputPort NodeCopier::Mapped(ir::OutputPort port) const {
  const ir::OutputPort base = mapped_.lookup(port.node);
  return {base.node, base.index + port.index};
}

ir::NodeId NodeCopier::Copy(const ir::Node& node) {
  ir::NodeId copy;
  if (node.Is("opset1", "Const") && node.output().value) {
    copy = target_.AddConst(node.output().value->Aligned(8), node.name(), node.origin());
  } else {
    llvm::SmallVector<ir::OutputPort, 4> inputs;
    for (ir::OutputPort port : node.inputs()) inputs.push_back(Mapped(port));
    copy = target_.AddNode({.op = node.op(),
                            .name = node.name(),
                            .inputs = inputs,
                            .segments = node.segments(),
                            .attributes = node.attributes(),
                            .num_outputs = node.num_outputs(),
                            .origin = node.origin()});
    for (const ir::Body& body : node.bodies()) target_.AddBody(copy, CopyBody(body));
    for (int32_t i = 0; i < node.num_outputs(); ++i)
      target_.SetOutputType({copy, i}, node.output(i).type, node.output(i).shape);
  }
  Map(node.id(), {copy, 0});
  return copy;
}

std::unique_ptr<ir::Graph> CopyGraph(const ir::Graph& source, llvm::ArrayRef<NamedPort> more_results) {
  auto copy = std::make_unique<ir::Graph>(&source.registry(), source.name());
  NodeCopier copier(*copy);
  for (ir::NodeId id : source.parameters()) {
    const ir::Node& node = source.node(id);
    const ir::Output& output = node.output();
    const ir::NodeId parameter = copy->AddParameter(node.name(), output.type, output.shape, node.origin());
    copier.Map(id, {parameter, 0});
  }
  const std::optional<std::vector<ir::NodeId>> order = source.TopologicalOrder();
  NNEFC_CHECK(order.has_value());
  for (ir::NodeId id : *order) {
    const ir::Node& node = source.node(id);
    if (!node.Is("opset1", "Parameter") && !node.Is("opset1", "Result")) copier.Copy(node);
  }
  for (ir::NodeId id : source.results()) {
    const ir::Node& node = source.node(id);
    copy->AddResult(node.name(), copier.Mapped(node.input(0)), node.origin());
  }
  for (const auto& [name, port] : more_results) copy->AddResult(name, copier.Mapped(port));
  return copy;
}

}  // namespace nnefc::runtime
