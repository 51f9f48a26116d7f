#pragma once

#include <cstdint>

#include "compiler/ir/graph.h"

namespace nnefc::transform::middle {

// The cost model of branches: whether to run one of two alternatives in an If instead of both before a
// Select.
//
// An If costs a switch of execution plans and copies of the inputs and outputs of its bodies, about as much
// as touching kRealWork elements. Convolutions, matrix multiplications, recurrent layers, resampling and
// nodes with bodies always count as kRealWork. Other operations count the elements of their largest input or
// output. Views, constants and nodes with unknown shapes count zero.
inline constexpr int64_t kRealWork = int64_t{1} << 16;

// Returns the work of one node, at most kRealWork.
int64_t WorkOf(const ir::Graph& graph, const ir::Node& node);

}  // namespace nnefc::transform::middle
