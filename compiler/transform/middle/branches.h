#pragma once

#include "compiler/ir/graph.h"

namespace nnefc::transform {

// Turns Select into If-8 where the condition has one element and a branch does
// real work (branch_work.h), which then is done only when it is asked for. A
// body holds the operations that nothing but its branch uses; what others use
// too becomes an input of the If, constants are repeated (their bytes are
// shared). Selects of one condition that do not depend on each other become one
// If. States are read outside. Results are the same bit for bit.
//
// `depth` is how many bodies the graph is in; bodies never nest deeper than
// ir::kMaxBodyNesting.
void ChooseBranches(ir::Graph& graph, int depth);

}  // namespace nnefc::transform
