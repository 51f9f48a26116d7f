#pragma once

#include <string_view>

#include "compiler/syntax/ast.h"

namespace nnefc::semantics {

// Returns the standard operation for an operator on tensors (3.3.3, table 1); empty for `in`, as it has no
// tensor form.
std::string_view OperationOf(ast::BinaryOperator op);
std::string_view OperationOf(ast::UnaryOperator op, const ast::Dialect& dialect);

}  // namespace nnefc::semantics
