#pragma once

#include "compiler/syntax/ast.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace nnefc::ast {

// Calls `use` with the direct children of `expr`, in source order where that is the order of evaluation.
// Skips invalid ids.
void ForEachChild(const Expr& expr, llvm::function_ref<void(ExprId)> use);

// Calls `use` with `root` and every expression inside it, in preorder. Iterative, so depth needs no stack.
// Does nothing for an invalid root.
void WalkExprs(const Document& document, ExprId root, llvm::function_ref<void(ExprId, const Expr&)> use);

// Calls `use` with each identifier of a left side: `(a, [b, c])`.
void ForEachTarget(const Document& document, ExprId left, llvm::function_ref<void(const Name&)> use);

}  // namespace nnefc::ast
