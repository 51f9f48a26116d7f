#pragma once

#include "compiler/semantics/checks/expressions.h"

namespace nnefc::semantics::checks {

// Checks an invocation with its arguments and returns its type: Error if that is unknown.
TypeId CheckInvocation(CheckContext& check, ExprId id, const ast::InvocationExpr& invocation, Use use);
// Returns the operation of a tolerated old name, after a warning. Reports any other undeclared operation
// and returns an invalid callee.
Callee ResolveUndeclared(CheckContext& check, const ast::InvocationExpr& invocation);
// Records the binding; its arguments are copied.
void RecordBinding(CheckContext& check, ExprId id, Binding binding);
// Returns true if the callee's result may be an argument; reports it otherwise.
bool CheckChaining(CheckContext& check, const ast::InvocationExpr& invocation, const Signature& signature);
// Returns the type of an invocation: the result's type, or a tuple of several.
TypeId ResultType(CheckContext& check, const Signature& signature, TypeId generic);

}  // namespace nnefc::semantics::checks
