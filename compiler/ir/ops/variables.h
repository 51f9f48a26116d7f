#pragma once

#include <string>
#include <string_view>

#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::ir {

// Of a variable whose label is taken as it is written: any text, and another
// variable's if a letter differs in case (P 4.1.3).
inline constexpr std::string_view kExactLabel = "exact_label";
bool HasExactLabel(const Node& variable);
// What variables that share their data have alike: the label, in lower case
// unless it is exact (R 4.1.3).
std::string VariableKey(const Node& variable);

// Checks what no shape function of one node sees: variables of equal
// keys have one shape and type (variable.shared-label, R 4.1.3), those of others have files
// that one folder can hold (variable.file, R 5.1),
// and what they share is updated at most once (update.once, R 4.8). Returns
// false if one of the rules is broken. Mistakes are told where `place` says
// that the label of a variable or the target of an update is written, or else
// at the node's place.
bool CheckVariables(
    const Graph& graph, Emitter& emitter,
    llvm::function_ref<SourceRange(NodeId)> place = [](NodeId) { return SourceRange(); });

}  // namespace nnefc::ir
