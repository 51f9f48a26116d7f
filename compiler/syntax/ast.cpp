// Spellings of operators and built-in functions, and keywords that may be names.

#include "compiler/syntax/ast.h"

#include "llvm/ADT/STLExtras.h"

namespace nnefc::ast {

bool IsSoftKeyword(std::string_view word, const Dialect& dialect) {
  return llvm::is_contained(dialect.keywords, word);
}

std::string_view Spelling(UnaryOperator op) {
  switch (op) {
    case UnaryOperator::kPlus:
      return "+";
    case UnaryOperator::kMinus:
      return "-";
    case UnaryOperator::kNot:
      return "!";
  }
  return "";
}

std::string_view Spelling(BinaryOperator op) {
  switch (op) {
    case BinaryOperator::kAdd:
      return "+";
    case BinaryOperator::kSub:
      return "-";
    case BinaryOperator::kMul:
      return "*";
    case BinaryOperator::kDiv:
      return "/";
    case BinaryOperator::kPow:
      return "^";
    case BinaryOperator::kLt:
      return "<";
    case BinaryOperator::kLe:
      return "<=";
    case BinaryOperator::kGt:
      return ">";
    case BinaryOperator::kGe:
      return ">=";
    case BinaryOperator::kEq:
      return "==";
    case BinaryOperator::kNe:
      return "!=";
    case BinaryOperator::kAnd:
      return "&&";
    case BinaryOperator::kOr:
      return "||";
    case BinaryOperator::kIn:
      return "in";
  }
  return "";
}

std::string_view Spelling(Builtin builtin) {
  switch (builtin) {
    case Builtin::kShapeOf:
      return "shape_of";
    case Builtin::kLengthOf:
      return "length_of";
    case Builtin::kRangeOf:
      return "range_of";
    case Builtin::kInteger:
      return "integer";
    case Builtin::kExtent:
      return "extent";
    case Builtin::kScalar:
      return "scalar";
    case Builtin::kLogical:
      return "logical";
    case Builtin::kString:
      return "string";
  }
  return "";
}

std::string_view Spelling(PrimitiveName name) {
  switch (name) {
    case PrimitiveName::kInteger:
      return "integer";
    case PrimitiveName::kExtent:
      return "extent";
    case PrimitiveName::kScalar:
      return "scalar";
    case PrimitiveName::kLogical:
      return "logical";
    case PrimitiveName::kString:
      return "string";
    case PrimitiveName::kGeneric:
      return "?";
  }
  return "";
}

}  // namespace nnefc::ast
