// Inference of a node outside of a graph.

#include "compiler/ir/algorithms/lone_node.h"

#include "compiler/ir/algorithms/infer.h"

namespace nnefc::ir {

LoneNode::LoneNode(const Graph& graph, const Node& node) : node_(node) {
  for (OutputPort port : node.inputs()) inputs_.push_back(graph.output(port));
}

void LoneNode::SetInput(int32_t index, ElementType type, PartialShape shape,
                        std::optional<TensorValue> value) {
  Output& input = inputs_[static_cast<size_t>(index)];
  input.type = type;
  input.shape = std::move(shape);
  input.value = std::move(value);
}

bool LoneNode::Infer(Emitter& emitter) {
  llvm::SmallVector<const Output*, 4> inputs;
  for (const Output& input : inputs_) inputs.push_back(&input);
  std::optional<std::vector<Output>> outputs = InferApart(node_, inputs, emitter);
  if (!outputs) return false;
  outputs_ = std::move(*outputs);
  return true;
}

}  // namespace nnefc::ir
