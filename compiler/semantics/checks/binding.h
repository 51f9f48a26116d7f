#pragma once

#include "compiler/semantics/check_context.h"

namespace nnefc::semantics::checks {

// Fills `slots`, one per parameter; returns false if an argument could not be bound.
bool BindArguments(CheckContext& check, const ast::InvocationExpr& invocation, Callee callee,
                   llvm::MutableArrayRef<ExprId> slots);
// Binds an argument with a name, after `positional` arguments without; returns false after an error.
[[nodiscard]] bool BindNamed(CheckContext& check, const ast::InvocationExpr& invocation,
                             const ast::Argument& argument, Callee callee, size_t positional,
                             llvm::MutableArrayRef<ExprId> slots);
// Returns true if each parameter without an argument has a default; reports those that have not.
bool CheckMissing(CheckContext& check, const ast::InvocationExpr& invocation, Callee callee,
                  llvm::ArrayRef<ExprId> slots);

}  // namespace nnefc::semantics::checks
