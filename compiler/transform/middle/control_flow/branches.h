#pragma once

#include "compiler/ir/graph.h"

namespace nnefc::transform::middle {

// Replaces a Select by If-8 if the condition has one element and a branch does real work (branch_work.h), so
// that only the selected branch runs. A body contains the operations that only its branch uses. Values that
// other nodes use as well become inputs of the If; constants are duplicated (they share their bytes).
// Independent Selects with the same condition become one If. States are read outside the bodies. Results are
// bitwise equal.
//
// `depth` is the number of bodies around the graph; bodies never nest deeper than ir::kMaxBodyNesting.
void ChooseBranches(ir::Graph& graph, int depth);

}  // namespace nnefc::transform::middle
