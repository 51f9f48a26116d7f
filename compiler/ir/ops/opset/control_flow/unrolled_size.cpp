// The sizes of loops that are replaced by their iterations.

#include "compiler/ir/ops/opset/control_flow/unrolled_size.h"

#include <algorithm>
#include <string>

#include "compiler/ir/ops/opset/control_flow/iterations.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::ir::ops::opset {

namespace {

template <typename Mapping>
PartRange RangeOfParts(const Mapping& mapping) {
  return {mapping.start, mapping.end, mapping.stride, mapping.part_size};
}

// Returns the extent of an axis, if known.
std::optional<int64_t> ExtentOf(const PartialShape& shape, int64_t axis) {
  if (!shape.rank_known() || axis < 0 || axis >= shape.rank() || !shape[axis].known()) return std::nullopt;
  return shape[axis].value();
}

// Returns true if a one-element tensor is known to be nonzero.
bool IsKnownTrue(const Output& output) {
  return output.value && output.value->volume() == 1 && output.value->ElementAsInt(0) != 0;
}

// Returns the output of the body that a result reads.
OutputPort SourceOfResult(const Body& body, int32_t result) {
  return body.graph->node(body.graph->results()[static_cast<size_t>(result)]).input(0);
}

// Returns the trip count of a Loop that neither condition can end early; `parts` is the number of slices of
// its inputs.
std::optional<int64_t> TripsOf(const Graph& graph, const Node& loop, std::optional<int64_t> parts) {
  const Body& body = loop.bodies()[0];
  const bool goes_on = llvm::all_of(body.outputs, [&](const OutputMapping& mapping) {
    return mapping.external >= 0 || IsKnownTrue(body.graph->output(SourceOfResult(body, mapping.internal)));
  });
  const std::optional<TensorValue>& trips = graph.output(loop.input(0)).value;
  if (!goes_on || !IsKnownTrue(graph.output(loop.input(1))) || !trips || trips->volume() != 1)
    return std::nullopt;
  const int64_t count = trips->ElementAsInt(0);
  if (count < 0) return parts;
  return std::min(count, parts.value_or(count));
}

}  // namespace

bool IsLoop(const Node& node) {
  return node.Is(OpRole::kTensorIterator) || node.Is(OpRole::kLoop);
}

std::optional<int64_t> KnownIterations(const Graph& graph, const Node& loop) {
  const Body& body = loop.bodies()[0];
  std::optional<int64_t> parts;
  std::string reason;
  for (const InputMapping& mapping : body.inputs) {
    if (!mapping.axis) continue;
    const auto extent = ExtentOf(graph.output(loop.input(mapping.external)).shape, *mapping.axis);
    if (!extent) return std::nullopt;
    parts = CountIterations(RangeOfParts(mapping), *extent, &reason);
    if (!parts) return std::nullopt;
  }
  if (loop.Is(OpRole::kLoop)) return TripsOf(graph, loop, parts);
  if (parts) return parts;
  for (const OutputMapping& mapping : body.outputs) {
    if (mapping.axis && mapping.start >= 0 && mapping.end >= 0)
      return CountIterations(RangeOfParts(mapping), std::max(mapping.start, mapping.end), &reason);
  }
  return 1;
}

std::optional<int64_t> UnrolledSize(const Graph& graph, const Node& loop, int64_t max_nodes) {
  const std::optional<int64_t> iterations = KnownIterations(graph, loop);
  if (!iterations || *iterations < 1 || *iterations > max_nodes) return std::nullopt;
  const Graph& body = *loop.bodies()[0].graph;
  int64_t size = 0;
  for (NodeId id : body.nodes()) {
    const Node& node = body.node(id);
    if (node.Is(OpRole::kParameter) || node.Is(OpRole::kResult)) continue;
    // A node with state depends on the number of its executions.
    const bool has_state = node.info().is_sink || node.Is(OpRole::kReadValue) ||
                           (node.info().is_source && !node.Is(OpRole::kConst));
    if (has_state || node.info().infer == nullptr) return std::nullopt;
    size += IsLoop(node) ? UnrolledSize(body, node, max_nodes).value_or(1) : 1;
    if (size > max_nodes / *iterations) return std::nullopt;
  }
  return size * *iterations;
}

}  // namespace nnefc::ir::ops::opset
