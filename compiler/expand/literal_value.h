#pragma once

#include <optional>

#include "compiler/expand/value.h"
#include "compiler/support/text/symbol.h"
#include "compiler/syntax/ast.h"

namespace nnefc::expand {

// Returns the value of an expression that consists of literals only: `[(0,0), (1,1)]`, `-1.0`.
std::optional<Value> LiteralValue(const ast::Document& document, ast::ExprId expr, const SymbolTable& symbols,
                                  Heap& heap);

// Returns `expr` without the parentheses around it.
ast::ExprId StripParens(const ast::Document& document, ast::ExprId expr);

}  // namespace nnefc::expand
