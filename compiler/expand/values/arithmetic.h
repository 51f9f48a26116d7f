#pragma once

#include <optional>

#include "compiler/expand/value.h"
#include "compiler/syntax/ast.h"

namespace nnefc::expand::values {

// Evaluates an operator on compile-time values other than tensors (chapter 3.3.3 of both specifications).
// Fills `fault` and returns nothing if there is no result: 64-bit overflow, division by zero, a negative
// integer exponent, a scalar that is not finite, or operands of incompatible types.
std::optional<Value> EvaluateUnary(ast::UnaryOperator op, const Value& operand, Fault& fault);
std::optional<Value> EvaluateBinary(ast::BinaryOperator op, const Value& left, const Value& right, Heap& heap,
                                    Fault& fault);

}  // namespace nnefc::expand::values
