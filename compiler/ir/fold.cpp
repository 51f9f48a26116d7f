#include "compiler/ir/fold.h"

#include <algorithm>

namespace nnefc::ir {

bool IsFoldable(const Node& node) {
  const OpInfo& info = node.info();
  return !info.is_source && !info.is_sink && node.num_outputs() > 0 && node.bodies().empty() &&
         !node.Is(OpRole::kReadValue);
}

std::optional<std::vector<TensorValue>> KnownInputs(const Graph& graph, const Node& node, FoldBound bound) {
  std::vector<TensorValue> values;
  size_t bytes = 0;
  for (OutputPort port : node.inputs()) {
    const Output& output = graph.output(port);
    if (!output.value) return std::nullopt;
    values.push_back(*output.value);
    bytes += output.value->byte_size();
  }
  size_t result_bytes = 0;
  for (const Output& output : node.outputs()) {
    const std::optional<int64_t> volume = output.shape.volume();
    const std::optional<size_t> size = volume ? ByteSize(output.type, *volume) : std::nullopt;
    if (!size) return std::nullopt;
    result_bytes += *size;
  }
  if (result_bytes > std::max(bound.bytes, bound.times_inputs * bytes)) return std::nullopt;
  return values;
}

}  // namespace nnefc::ir
