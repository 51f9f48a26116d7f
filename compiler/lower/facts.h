#pragma once

#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/lower/node_lowering.h"

namespace nnefc::lower {

// True if no element of any output of an NNEF node can be below zero, judged by
// its operation and by what is known of its inputs' nodes: `max_pool(relu(x))`.
bool IsNonNegative(const ir::Graph& source, const ir::Node& node, const std::vector<bool>& known);

// Prepares the variables that an `update` names: one state for each label.
void FindUpdatedVariables(LowerState& state);
// Lets what is stored in a variable depend on its value where nothing else
// reads that, when all nodes and results are there.
void ReadUpdatedVariables(LowerState& state);

}  // namespace nnefc::lower
