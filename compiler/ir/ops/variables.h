#pragma once

#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics.h"

namespace nnefc::ir {

// Checks what no shape function of one node sees: variables whose labels are
// equal but for case have one shape and type (variable.shared-label, R 4.1.3),
// and what they share is updated at most once (update.once, R 4.8). Returns
// false if one of the rules is broken.
bool CheckVariables(const Graph& graph, Emitter& emitter);

}  // namespace nnefc::ir
