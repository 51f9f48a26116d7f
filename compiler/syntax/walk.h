#pragma once

#include "compiler/syntax/ast.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace nnefc::ast {

// Calls `use` with the expressions directly inside `expr`, in the order of the
// text where that is the order of evaluation; invalid ids are passed over.
void ForEachChild(const Expr& expr, llvm::function_ref<void(ExprId)> use);

// Calls `use` with `root` and every expression inside it, outer ones first. No
// recursion: the depth of a text costs no stack. An invalid root has none.
void WalkExprs(const Document& document, ExprId root, llvm::function_ref<void(ExprId, const Expr&)> use);

// Calls `use` with each identifier of a left side: `(a, [b, c])`.
void ForEachTarget(const Document& document, ExprId left, llvm::function_ref<void(const Name&)> use);

}  // namespace nnefc::ast
