// Evaluation of operators on compile-time values (chapter 3.3.3).

#include "compiler/expand/values/arithmetic.h"

#include <cmath>

#include "compiler/expand/rules.h"
#include "compiler/expand/values/sequences.h"

namespace nnefc::expand::values {
namespace {

using ast::BinaryOperator;

// Computes `a ^ b`; returns nothing on overflow.
std::optional<int64_t> IntegerPower(int64_t base, int64_t exponent) {
  if (base == 0 || base == 1) return exponent == 0 ? 1 : base;
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  int64_t result = 1;
  for (int64_t i = 0; i < exponent; ++i) {  // at most 63 rounds before overflow
    if (__builtin_mul_overflow(result, base, &result)) return std::nullopt;
  }
  return result;
}

std::optional<Value> IntegerArithmetic(BinaryOperator op, int64_t a, int64_t b, Fault& fault) {
  int64_t result = 0;
  bool overflow = false;
  switch (op) {
    case BinaryOperator::kAdd:
      overflow = __builtin_add_overflow(a, b, &result);
      break;
    case BinaryOperator::kSub:
      overflow = __builtin_sub_overflow(a, b, &result);
      break;
    case BinaryOperator::kMul:
      overflow = __builtin_mul_overflow(a, b, &result);
      break;
    case BinaryOperator::kDiv:
      if (b == 0) {
        fault = Fault::Of(kDivisionByZero, "`{} / 0` divides by zero", a);
        return std::nullopt;
      }
      overflow = a == INT64_MIN && b == -1;
      if (!overflow) result = a / b;  // rounds toward zero
      break;
    case BinaryOperator::kPow: {
      if (b < 0) {
        fault = Fault::Of(kNegativeExponent, "`{} ^ {}` has a negative exponent; only scalars may have one",
                          a, b);
        return std::nullopt;
      }
      std::optional<int64_t> power = IntegerPower(a, b);
      overflow = !power;
      result = power.value_or(0);
      break;
    }
    default:
      NNEFC_CHECK(false);
  }
  if (overflow) {
    fault = Fault::Of(kIntegerOverflow, "`{} {} {}` does not fit 64 bits", a, ast::Spelling(op), b);
    return std::nullopt;
  }
  return Value::Integer(result);
}

std::optional<Value> ScalarArithmetic(BinaryOperator op, double a, double b, Fault& fault) {
  double result = 0;
  switch (op) {
    case BinaryOperator::kAdd:
      result = a + b;
      break;
    case BinaryOperator::kSub:
      result = a - b;
      break;
    case BinaryOperator::kMul:
      result = a * b;
      break;
    case BinaryOperator::kDiv:
      if (b == 0) {
        fault = Fault::Of(kDivisionByZero, "`{} / {}` divides by zero", ScalarText(a), ScalarText(b));
        return std::nullopt;
      }
      result = a / b;
      break;
    case BinaryOperator::kPow:
      result = std::pow(a, b);
      break;
    default:
      NNEFC_CHECK(false);
  }
  if (!std::isfinite(result)) {
    fault = Fault::Of(kNotFinite, "`{} {} {}` is not a finite number", ScalarText(a), ast::Spelling(op),
                      ScalarText(b));
    return std::nullopt;
  }
  return Value::Scalar(result);
}

template <typename T>
Value Compare(BinaryOperator op, T a, T b) {
  switch (op) {
    case BinaryOperator::kLt:
      return Value::Logical(a < b);
    case BinaryOperator::kLe:
      return Value::Logical(a <= b);
    case BinaryOperator::kGt:
      return Value::Logical(a > b);
    case BinaryOperator::kGe:
      return Value::Logical(a >= b);
    default:
      NNEFC_CHECK(false);
  }
  return {};
}

std::optional<Value> WrongOperands(BinaryOperator op, const Value& left, const Value& right, Fault& fault) {
  fault = Fault::Of(kValueType, "operands of `{}` are {} and {}", ast::Spelling(op), KindText(left),
                    KindText(right));
  return std::nullopt;
}

std::optional<Value> Contains(const Value& item, const Value& array, Heap& heap, Fault& fault) {
  if (array.kind() != ValueKind::kArray) return WrongOperands(BinaryOperator::kIn, item, array, fault);
  if (array.length() > 0 && !Comparable(item, array.item(0))) {
    fault = Fault::Of(kValueType, "`in` looks for {} among items that are each {}", KindText(item),
                      KindText(array.item(0)));
    return std::nullopt;
  }
  bool is_known = true;
  for (const Value& candidate : array.items()) {
    const std::optional<bool> equal = Equal(item, candidate, heap);
    if (equal == true) return Value::Logical(true);
    is_known = is_known && equal.has_value();
  }
  return is_known ? Value::Logical(false) : Value::UnknownExtent();
}

bool BothAre(const Value& a, const Value& b, ValueKind kind) {
  return a.kind() == kind && b.kind() == kind;
}

}  // namespace

std::optional<Value> EvaluateUnary(ast::UnaryOperator op, const Value& operand, Fault& fault) {
  switch (op) {
    case ast::UnaryOperator::kPlus:
      if (operand.kind() == ValueKind::kInteger || operand.kind() == ValueKind::kScalar) return operand;
      break;
    case ast::UnaryOperator::kMinus:
      if (operand.kind() == ValueKind::kScalar) return Value::Scalar(-operand.scalar());
      if (operand.kind() == ValueKind::kInteger) {
        if (operand.integer() == INT64_MIN) {
          fault = Fault::Of(kIntegerOverflow, "`-({})` does not fit 64 bits", operand.integer());
          return std::nullopt;
        }
        return Value::Integer(-operand.integer());
      }
      break;
    case ast::UnaryOperator::kNot:
      if (operand.kind() == ValueKind::kLogical) return Value::Logical(!operand.logical());
      break;
  }
  fault = Fault::Of(kValueType, "the operand of `{}` is {}", ast::Spelling(op), KindText(operand));
  return std::nullopt;
}

std::optional<Value> EvaluateBinary(BinaryOperator op, const Value& left, const Value& right, Heap& heap,
                                    Fault& fault) {
  switch (op) {
    case BinaryOperator::kAdd:
      if (BothAre(left, right, ValueKind::kArray) || BothAre(left, right, ValueKind::kString)) {
        return Concatenate(left, right, heap, fault);
      }
      [[fallthrough]];
    case BinaryOperator::kMul:
      if (op == BinaryOperator::kMul && right.kind() == ValueKind::kInteger &&
          (left.kind() == ValueKind::kArray || left.kind() == ValueKind::kString)) {
        return Repeat(left, right.integer(), heap, fault);
      }
      [[fallthrough]];
    case BinaryOperator::kSub:
    case BinaryOperator::kDiv:
    case BinaryOperator::kPow:
      if (BothAre(left, right, ValueKind::kInteger)) {
        return IntegerArithmetic(op, left.integer(), right.integer(), fault);
      }
      if (BothAre(left, right, ValueKind::kScalar))
        return ScalarArithmetic(op, left.scalar(), right.scalar(), fault);
      break;
    case BinaryOperator::kLt:
    case BinaryOperator::kLe:
    case BinaryOperator::kGt:
    case BinaryOperator::kGe:
      if (BothAre(left, right, ValueKind::kInteger)) return Compare(op, left.integer(), right.integer());
      if (BothAre(left, right, ValueKind::kScalar)) return Compare(op, left.scalar(), right.scalar());
      break;
    case BinaryOperator::kEq:
    case BinaryOperator::kNe:
      if (!Comparable(left, right)) break;
      if (const std::optional<bool> equal = Equal(left, right, heap))
        return Value::Logical(*equal == (op == BinaryOperator::kEq));
      return Value::UnknownExtent();
    case BinaryOperator::kAnd:
    case BinaryOperator::kOr:
      if (!BothAre(left, right, ValueKind::kLogical)) break;
      return Value::Logical(op == BinaryOperator::kAnd ? left.logical() && right.logical()
                                                       : left.logical() || right.logical());
    case BinaryOperator::kIn:
      return Contains(left, right, heap, fault);
  }
  return WrongOperands(op, left, right, fault);
}

}  // namespace nnefc::expand::values
