#pragma once

#include "compiler/semantics/check_context.h"

namespace nnefc::semantics::checks {

// Checks the body of a compound against its declaration.
void CheckFragmentBody(CheckContext& check, ast::FragmentId id);
// Checks the declaration and the body of a graph.
void CheckGraphBody(CheckContext& check, const ast::Graph& graph);

}  // namespace nnefc::semantics::checks
