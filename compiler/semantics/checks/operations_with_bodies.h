#pragma once

#include "compiler/semantics/checks/expressions.h"

namespace nnefc::semantics::checks {

// Checks an invocation of an operation whose signature runs bodies; returns its type.
TypeId CheckWithBodies(CheckContext& check, ExprId id, const ast::InvocationExpr& invocation, Callee callee,
                       Use use);
// Returns true if `right` invokes such an operation, or selects between such invocations.
bool RunsBodies(const CheckContext& check, ExprId right);

}  // namespace nnefc::semantics::checks
