// The standard operations of operators on tensors.

#include "compiler/semantics/operator_mapping.h"

namespace nnefc::semantics {

std::string_view OperationOf(ast::BinaryOperator op) {
  switch (op) {
    case ast::BinaryOperator::kAdd:
      return "add";
    case ast::BinaryOperator::kSub:
      return "sub";
    case ast::BinaryOperator::kMul:
      return "mul";
    case ast::BinaryOperator::kDiv:
      return "div";
    case ast::BinaryOperator::kPow:
      return "pow";
    case ast::BinaryOperator::kLt:
      return "lt";
    case ast::BinaryOperator::kLe:
      return "le";
    case ast::BinaryOperator::kGt:
      return "gt";
    case ast::BinaryOperator::kGe:
      return "ge";
    case ast::BinaryOperator::kEq:
      return "eq";
    case ast::BinaryOperator::kNe:
      return "ne";
    case ast::BinaryOperator::kAnd:
      return "and";
    case ast::BinaryOperator::kOr:
      return "or";
    case ast::BinaryOperator::kIn:
      return "";
  }
  return "";
}

std::string_view OperationOf(ast::UnaryOperator op, const ast::Dialect& dialect) {
  switch (op) {
    case ast::UnaryOperator::kPlus:
      return dialect.copy;
    case ast::UnaryOperator::kMinus:
      return "neg";
    case ast::UnaryOperator::kNot:
      return "not";
  }
  return "";
}

}  // namespace nnefc::semantics
