#pragma once

#include "compiler/semantics/check_context.h"

namespace nnefc::semantics::checks {

// Returns the origin of the value of `right`.
Origin OriginOf(const CheckContext& check, ExprId right);
// Returns true if `right` invokes `external`, or selects between such invocations.
bool IsExternal(const CheckContext& check, ExprId right);
// Removes the externals that `right` consists of from those of the assignment.
void ForgetExternals(CheckContext& check, ExprId right);
// Validates an invocation of an operation that is restricted to certain bodies.
void CheckPlace(CheckContext& check, ExprId id, const ast::InvocationExpr& invocation, Callee callee);
// Checks that the target of `update` is a variable (4.8; 4.7). Expansion checks it if it depends on a
// fragment's parameters or results.
void CheckUpdateTarget(CheckContext& check, ExprId target);

}  // namespace nnefc::semantics::checks
