#pragma once

#include <string_view>

#include "compiler/syntax/ast.h"

namespace nnefc {

// The standard operation that an operator on tensors stands for (3.3.3, table
// 1); empty for `in`, which takes no tensors.
std::string_view OperationOf(ast::BinaryOperator op);
std::string_view OperationOf(ast::UnaryOperator op, const ast::Dialect& dialect);

}  // namespace nnefc
