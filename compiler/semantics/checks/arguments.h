#pragma once

#include "compiler/semantics/check_context.h"

namespace nnefc::semantics::checks {

// Returns true if the bound arguments, and defaults that depend on `?`, are castable to the types of their
// parameters, with `generic` for `?`; reports those that are not.
bool CheckArgumentTypes(CheckContext& check, const ast::InvocationExpr& invocation, Callee callee,
                        llvm::ArrayRef<ExprId> slots, TypeId generic);
// Reports an argument or operand whose type is not castable to `expected`.
void ReportArgument(CheckContext& check, ExprId argument, TypeId expected, const TypedName& parameter,
                    const Signature& signature);
// Reports an undefined name where a string is expected, `border = constant`; returns true if it did.
bool ReportBareWord(CheckContext& check, const ast::InvocationExpr& invocation,
                    const ast::Argument& argument);
// Reports a word for no value, `border = None`, for an argument that has a default; returns true if it did.
bool ReportNoValue(CheckContext& check, const ast::InvocationExpr& invocation, const ast::Argument& argument,
                   Callee callee);

}  // namespace nnefc::semantics::checks
