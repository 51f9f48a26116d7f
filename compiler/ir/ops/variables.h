#pragma once

#include <string>
#include <string_view>

#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics/diagnostics.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::ir::ops {

// Marks a variable whose label is used verbatim: any text, and case-sensitive (P 4.1.3).
inline constexpr std::string_view kExactLabel = "exact_label";
bool HasExactLabel(const Node& variable);
// Returns a key that is equal for variables that share their data: the label, in lower case unless it is
// exact (R 4.1.3).
std::string VariableKey(const Node& variable);

// Checks the rules across nodes. Variables with equal keys have one shape and type (variable.shared-label,
// R 4.1.3), those with different keys have files that fit into one folder (variable.file, R 5.1), and shared
// data is updated at most once (update.once, R 4.8). Returns false if a rule is violated. `place` returns the
// source range of a variable's label or an update's target; if it is invalid, the node's range is reported.
[[nodiscard]] bool CheckVariables(
    const Graph& graph, Emitter& emitter,
    llvm::function_ref<SourceRange(NodeId)> place = [](NodeId) { return SourceRange(); });

}  // namespace nnefc::ir::ops
