#include "compiler/ir/lone_node.h"

#include "compiler/ir/infer.h"

namespace nnefc::ir {

LoneNode::LoneNode(const Graph& graph, const Node& node) : graph_(&graph.registry()) {
  llvm::SmallVector<OutputPort, 4> inputs;
  for (OutputPort port : node.inputs()) {
    const Output& output = graph.output(port);
    inputs.push_back({graph_.AddParameter("", output.type, output.shape), 0});
    if (output.value) graph_.SetOutputValue(inputs.back(), output.value);
  }
  node_ = graph_.AddNode({.op = node.op(),
                          .name = node.name(),
                          .inputs = inputs,
                          .segments = node.segments(),
                          .attributes = node.attributes(),
                          .num_outputs = node.num_outputs()});
}

void LoneNode::SetInput(int32_t index, ElementType type, PartialShape shape,
                        std::optional<TensorValue> value) {
  const OutputPort port = node().input(index);
  graph_.SetOutputType(port, type, std::move(shape));
  graph_.SetOutputValue(port, std::move(value));
}

bool LoneNode::Infer(Emitter& emitter) {
  return InferNode(graph_, node_, emitter);
}

}  // namespace nnefc::ir
