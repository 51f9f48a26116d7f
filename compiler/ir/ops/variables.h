#pragma once

#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::ir {

// Checks what no shape function of one node sees: variables whose labels are
// equal but for case have one shape and type (variable.shared-label, R 4.1.3),
// and what they share is updated at most once (update.once, R 4.8). Returns
// false if one of the rules is broken. Mistakes are told where `place` says
// that the label of a variable or the target of an update is written, or else
// at the node's place.
bool CheckVariables(
    const Graph& graph, Emitter& emitter,
    llvm::function_ref<SourceRange(NodeId)> place = [](NodeId) { return SourceRange(); });

}  // namespace nnefc::ir
