#pragma once

#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/lower/node_lowering.h"

namespace nnefc::lower {

// True if no element of any output of an NNEF node can be negative. This follows from its operation and from
// facts about the nodes of its inputs: `max_pool(relu(x))`.
bool IsNonNegative(const ir::Graph& source, const ir::Node& node, const std::vector<bool>& known);

// Creates one state for each label of a variable that an `update` refers to.
void FindUpdatedVariables(LowerState& state);
// Makes each stored value depend on the old value of its variable if nothing else reads that. Call it after
// all nodes and results were added.
void ReadUpdatedVariables(LowerState& state);

}  // namespace nnefc::lower
