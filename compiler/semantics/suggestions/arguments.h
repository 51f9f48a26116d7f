#pragma once

#include "compiler/semantics/check_context.h"
#include "compiler/semantics/suggestions/proposal.h"

namespace nnefc::semantics::suggestions {

// Proposes a repair for an argument whose name the callee does not have: a misspelt name, the name in another
// framework, the name in the other dialect.
Proposal ForUnknownArgument(const CheckContext& check, const ast::InvocationExpr& invocation,
                            const ast::Argument& argument, Callee callee);

// Returns the edit that removes one of several arguments with the comma before it, or with the one after it
// for the first argument.
FixIt RemoveArgument(const CheckContext& check, const ast::InvocationExpr& invocation,
                     const ast::Argument& argument);

}  // namespace nnefc::semantics::suggestions
