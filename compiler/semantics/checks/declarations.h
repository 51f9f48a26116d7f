#pragma once

#include "compiler/semantics/check_context.h"

namespace nnefc::semantics::checks {

// Declares all fragments, because they may be used before their definition.
void DeclareFragments(CheckContext& check);
// Reports parameters and results of one declaration that have the same name.
void CheckNames(CheckContext& check, llvm::ArrayRef<ast::Name> parameters, llvm::ArrayRef<ast::Name> results);
// Returns the type that a primitive name denotes.
TypeId ResolvePrimitive(CheckContext& check, ast::PrimitiveName name);

}  // namespace nnefc::semantics::checks
