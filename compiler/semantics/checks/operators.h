#pragma once

#include "compiler/semantics/check_context.h"

namespace nnefc::semantics::checks {

// Return the type of an operator's result, Error after a report. `operand`, `left` and `right` are the types
// of the operands.
TypeId UnaryType(CheckContext& check, const ast::Expr& whole, const ast::UnaryExpr& unary, TypeId operand);
TypeId BinaryType(CheckContext& check, const ast::Expr& whole, const ast::BinaryExpr& binary, TypeId left,
                  TypeId right);

}  // namespace nnefc::semantics::checks
