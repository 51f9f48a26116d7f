#pragma once

#include <cstdint>

#include "compiler/ir/graph.h"

namespace nnefc::transform {

// The cost model of branches: whether it pays to run one of two alternatives
// behind an If instead of both before a Select.
//
// An If costs a change of plans and the copies of what enters and leaves its
// bodies, about as much as touching kRealWork elements. Convolutions, matrix
// products, recurrent layers, resampling and nodes with bodies are real work by
// themselves, however small; other operations count the elements of their
// largest input or output; views, constants and what has no known shape count
// nothing.
inline constexpr int64_t kRealWork = int64_t{1} << 16;

// The work of one node, at most kRealWork.
int64_t WorkOf(const ir::Graph& graph, const ir::Node& node);

}  // namespace nnefc::transform
