#pragma once

#include <cstdint>
#include <optional>

#include "compiler/ir/graph.h"

namespace nnefc::ir::ops::opset {

// True for a TensorIterator or a Loop.
bool IsLoop(const Node& node);
// Returns the number of iterations of a loop in `graph`; nothing if it depends on data.
std::optional<int64_t> KnownIterations(const Graph& graph, const Node& loop);
// Returns the number of nodes of the iterations of a loop, with those of nested loops; nothing if their
// number is unknown or above `max_nodes`, or if the body has state. The recursion depth is the nesting depth
// of bodies.
std::optional<int64_t> UnrolledSize(const Graph& graph, const Node& loop, int64_t max_nodes);

}  // namespace nnefc::ir::ops::opset
