#pragma once

#include "compiler/semantics/check_context.h"

namespace nnefc::semantics::checks {

// Returns the type bound to `?` of the callee: invalid if it is not generic, Error after a report that
// there is none.
TypeId DeduceGeneric(CheckContext& check, const ast::InvocationExpr& invocation, const Signature& signature,
                     llvm::ArrayRef<ExprId> slots);

}  // namespace nnefc::semantics::checks
