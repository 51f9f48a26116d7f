// Values of ports that do not depend on a graph's inputs.

#include "compiler/raise/constants.h"

#include "llvm/ADT/STLExtras.h"

namespace nnefc::raise {

namespace {

// Values of up to 64 MiB are computed from inputs of any size.
constexpr size_t kMaxBytes = size_t{64} << 20;
// Larger values have at most 4 times the bytes of their inputs, as those of compressed weights.
constexpr size_t kMaxGrowth = 4;

bool IsModest(const ir::Node& node, llvm::ArrayRef<TensorValue> inputs) {
  size_t input_bytes = 0;
  for (const TensorValue& input : inputs) input_bytes += input.byte_size();
  size_t bytes = 0;
  for (const ir::Output& output : node.outputs()) {
    const std::optional<int64_t> volume = output.shape.volume();
    const std::optional<size_t> size = volume ? ByteSize(output.type, *volume) : std::nullopt;
    if (!size) return false;
    bytes += *size;
  }
  return bytes <= kMaxBytes || bytes / kMaxGrowth <= input_bytes;
}

}  // namespace

ConstantValues::ConstantValues(const ir::Graph& graph, llvm::ArrayRef<ir::NodeId> order,
                               const RaiseOptions& options)
    : values_(graph.node_bound()), from_half_(graph.node_bound(), false) {
  for (ir::NodeId id : order) Evaluate(graph, graph.node(id), options);
}

void ConstantValues::Evaluate(const ir::Graph& graph, const ir::Node& node, const RaiseOptions& options) {
  auto& values = values_[static_cast<size_t>(node.id().index)];
  values.resize(static_cast<size_t>(node.num_outputs()));
  if (options.keeps_repetition && IsRepetition(graph, node)) return;
  for (int32_t i = 0; i < node.num_outputs(); ++i) {
    if (node.output(i).value) values[static_cast<size_t>(i)] = *node.output(i).value;
  }
  const auto is_from_half = [&](ir::OutputPort port) {
    return graph.output(port).type == ElementType::kF16 || IsFromHalf(port);
  };
  from_half_[static_cast<size_t>(node.id().index)] = llvm::any_of(node.inputs(), is_from_half);
  if (llvm::all_of(values, [](const TensorValue& value) { return value.valid(); })) return;
  if (!ir::IsFoldable(node) || node.num_inputs() == 0) return;
  std::vector<TensorValue> inputs;
  for (ir::OutputPort port : node.inputs()) {
    const TensorValue* value = Find(port);
    if (value == nullptr) return;
    inputs.push_back(*value);
  }
  if (!IsModest(node, inputs)) return;
  const auto results = options.evaluate(node, node.outputs(), inputs);
  if (!results) return;
  for (size_t i = 0; i < values.size(); ++i) values[i] = (*results)[i];
}

const TensorValue* ConstantValues::Find(ir::OutputPort port) const {
  const auto& values = values_[static_cast<size_t>(port.node.index)];
  const auto index = static_cast<size_t>(port.index);
  return index < values.size() && values[index].valid() ? &values[index] : nullptr;
}

}  // namespace nnefc::raise
