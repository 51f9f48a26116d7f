// Constant folding of single nodes: the conditions, and the values of the inputs.

#include "compiler/ir/algorithms/fold.h"

#include <algorithm>

#include "compiler/ir/algorithms/random.h"

namespace nnefc::ir {

bool IsFoldable(const Node& node) {
  const OpInfo& info = node.info();
  return !info.is_source && !info.is_sink && !DrawsRandomNumbers(info) && node.num_outputs() > 0 &&
         node.bodies().empty() && !node.Is(OpRole::kReadValue);
}

std::optional<std::vector<TensorValue>> KnownInputs(const Graph& graph, const Node& node, FoldBound bound) {
  std::vector<TensorValue> values;
  size_t bytes = 0;
  size_t elements = 0;
  for (OutputPort port : node.inputs()) {
    const Output& output = graph.output(port);
    if (!output.value) return std::nullopt;
    values.push_back(*output.value);
    bytes += output.value->byte_size();
    elements += static_cast<size_t>(output.value->volume());
  }
  size_t result_bytes = 0;
  size_t result_elements = 0;
  for (const Output& output : node.outputs()) {
    const std::optional<int64_t> volume = output.shape.volume();
    const std::optional<size_t> size = volume ? ByteSize(output.type, *volume) : std::nullopt;
    if (!size) return std::nullopt;
    result_bytes += *size;
    result_elements += static_cast<size_t>(*volume);
  }
  const bool modest = bound.counts_elements ? result_elements <= bound.times_inputs * elements
                                            : result_bytes <= bound.times_inputs * bytes;
  if (!modest && result_bytes > bound.bytes) return std::nullopt;
  return values;
}

}  // namespace nnefc::ir
