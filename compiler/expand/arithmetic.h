#pragma once

#include <optional>

#include "compiler/expand/value.h"
#include "compiler/syntax/ast.h"

namespace nnefc::expand {

// Evaluates an operator on compile-time values (chapter 3.3.3 of both
// specifications); operands that are tensors are not for here. Nothing, with
// `fault` filled, where there is no value: 64-bit overflow, division by zero, a
// negative integer exponent, a scalar that is not finite, or operands of types
// that do not go together.
std::optional<Value> EvaluateUnary(ast::UnaryOperator op, const Value& operand, Fault& fault);
std::optional<Value> EvaluateBinary(ast::BinaryOperator op, const Value& left, const Value& right, Heap& heap,
                                    Fault& fault);

}  // namespace nnefc::expand
