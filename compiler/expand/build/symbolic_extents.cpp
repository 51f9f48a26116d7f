#include "compiler/expand/build/symbolic_extents.h"

#include <algorithm>

#include "compiler/expand/values/arithmetic.h"
#include "compiler/ir/interval.h"

namespace nnefc::expand::build {
namespace {

using ast::BinaryOperator;

// Numbers of symbols from here on are those of expressions.
constexpr uint32_t kFirstExpression = uint32_t{1} << 30;
// Numbers from here on, up to expressions, are those of extents of tensors.
constexpr uint32_t kFirstUnknown = uint32_t{1} << 29;

// Maximum number of operators of an expression; bounds the recursion and the time of an evaluation.
constexpr int64_t kMaxOperators = 256;

bool MakesExtent(BinaryOperator op) {
  return op == BinaryOperator::kAdd || op == BinaryOperator::kSub || op == BinaryOperator::kMul ||
         op == BinaryOperator::kDiv;
}

// Returns the operand that makes the result of the operator `actual`; nothing if there is none. `other` is
// the operand after it, or before it if `is_right`. A division rounds down: the smallest operand is returned.
std::optional<int64_t> Invert(BinaryOperator op, int64_t actual, int64_t other, bool is_right) {
  ir::Wide operand = 0;
  switch (op) {
    case BinaryOperator::kAdd:
      operand = ir::Wide{actual} - other;
      break;
    case BinaryOperator::kSub:
      operand = is_right ? ir::Wide{other} - actual : ir::Wide{actual} + other;
      break;
    case BinaryOperator::kMul:
      if (other == 0 || actual % other != 0) return std::nullopt;
      operand = actual / other;
      break;
    default:
      if (is_right) return std::nullopt;
      operand = ir::Wide{actual} * other;
  }
  constexpr ir::Wide kMaxExtent = INT64_MAX;
  return operand < 0 || operand > kMaxExtent ? std::nullopt : std::optional(static_cast<int64_t>(operand));
}

bool IsNumber(const Value& value, int64_t number) {
  return value.kind() == ValueKind::kInteger && !IsSymbolic(value) && value.integer() == number;
}

// Returns the result of operators that leave an extent unchanged, and of those on equal extents.
std::optional<Value> Simplified(BinaryOperator op, const Value& left, const Value& right) {
  const bool adds = op == BinaryOperator::kAdd, subtracts = op == BinaryOperator::kSub;
  const bool multiplies = op == BinaryOperator::kMul, divides = op == BinaryOperator::kDiv;
  const bool is_unit =
      ((adds || subtracts) && IsNumber(right, 0)) || ((multiplies || divides) && IsNumber(right, 1));
  if (is_unit) return left;
  if ((adds && IsNumber(left, 0)) || (multiplies && IsNumber(left, 1))) return right;
  const bool is_same = IsSymbolic(left) && IsSymbolic(right) && left.symbol() == right.symbol();
  if (is_same && subtracts) return Value::Integer(0);
  return is_same && divides ? std::optional(Value::Integer(1)) : std::nullopt;
}

}  // namespace

Value SymbolicExtents::ExtentAlong(Unknown extent) {
  const auto* found = std::find(unknown_.data(), unknown_.data() + unknown_.size(), extent);
  const auto index = static_cast<size_t>(found - unknown_.data());
  if (index == unknown_.size()) unknown_.push_back(extent);
  return Value::UnknownExtent(static_cast<uint32_t>(kFirstUnknown + index));
}

const SymbolicExtents::Unknown* SymbolicExtents::UnknownOf(const Value& extent) const {
  const bool is_unknown =
      IsSymbolic(extent) && extent.symbol() >= kFirstUnknown && extent.symbol() < kFirstExpression;
  return is_unknown ? &unknown_[extent.symbol() - kFirstUnknown] : nullptr;
}

const SymbolicExtents::Expression* SymbolicExtents::ExpressionOf(const Value& extent) const {
  return !IsSymbolic(extent) || extent.symbol() < kFirstExpression
             ? nullptr
             : &expressions_[extent.symbol() - kFirstExpression];
}

int64_t SymbolicExtents::NumOperators(const Value& extent) const {
  const Expression* expression = IsSymbolic(extent) ? ExpressionOf(extent) : nullptr;
  return expression == nullptr ? 0 : expression->num_operators;
}

std::optional<Value> SymbolicExtents::Make(BinaryOperator op, const Value& left, const Value& right,
                                           Heap& heap, Fault& fault) {
  const auto is_extent = [](const Value& value) {
    return value.kind() == ValueKind::kInteger || IsSymbolic(value);
  };
  if (!MakesExtent(op) || !is_extent(left) || !is_extent(right)) return std::nullopt;
  const int64_t num_operators = NumOperators(left) + NumOperators(right) + 1;
  if (num_operators > kMaxOperators) return std::nullopt;
  if (std::optional<Value> simple = Simplified(op, left, right)) return simple;
  const auto symbol = static_cast<uint32_t>(kFirstExpression + expressions_.size());
  Value result = Value::UnknownExtent(symbol);
  if (left.kind() == ValueKind::kInteger && right.kind() == ValueKind::kInteger) {
    const std::optional<Value> value = values::EvaluateBinary(op, left, right, heap, fault);
    if (!value) return std::nullopt;
    result = Value::KnownExtent(symbol, value->integer());
  }
  expressions_.push_back({op, left, right, num_operators});
  return result;
}

std::optional<int64_t> SymbolicExtents::Find(uint32_t symbol) const {
  const auto found = bound_.find(symbol);
  return found == bound_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<int64_t> SymbolicExtents::Find(const Value& extent,
                                             const std::function<int64_t(uint32_t)>& tried) const {
  if (!IsSymbolic(extent))
    return extent.kind() == ValueKind::kInteger ? std::optional(extent.integer()) : std::nullopt;
  const Expression* expression = ExpressionOf(extent);
  if (expression == nullptr) {
    const std::optional<int64_t> bound = Find(extent.symbol());
    return bound || !tried || UnknownOf(extent) != nullptr ? bound : std::optional(tried(extent.symbol()));
  }
  const std::optional<int64_t> left = Find(expression->left, tried), right = Find(expression->right, tried);
  if (!left || !right) return std::nullopt;
  Heap heap(0);
  Fault fault;
  const std::optional<Value> value =
      values::EvaluateBinary(expression->op, Value::Integer(*left), Value::Integer(*right), heap, fault);
  return value ? std::optional(value->integer()) : std::nullopt;
}

bool SymbolicExtents::Bind(const Value& extent, int64_t actual) {
  if (const std::optional<int64_t> known = Find(extent)) return *known == actual;
  if (!IsSymbolic(extent)) return true;
  const Expression* expression = ExpressionOf(extent);
  if (expression == nullptr) return bound_.emplace(extent.symbol(), actual).second;
  const std::optional<int64_t> left = Find(expression->left), right = Find(expression->right);
  if (!left && !right) return true;
  const std::optional<int64_t> operand =
      Invert(expression->op, actual, left ? *left : *right, left.has_value());
  return operand && Bind(left ? expression->right : expression->left, *operand);
}

std::string SymbolicExtents::TextOf(const Value& extent,
                                    const std::function<std::string(uint32_t)>& name) const {
  if (!IsSymbolic(extent))
    return extent.kind() == ValueKind::kInteger ? fmt::format("{}", extent.integer()) : "?";
  const Expression* expression = ExpressionOf(extent);
  if (expression == nullptr) return name(extent.symbol());
  const auto operand = [&](const Value& value) {
    const bool is_expression = IsSymbolic(value) && ExpressionOf(value) != nullptr;
    return is_expression ? fmt::format("({})", TextOf(value, name)) : TextOf(value, name);
  };
  return fmt::format("{}{}{}", operand(expression->left), ast::Spelling(expression->op),
                     operand(expression->right));
}

}  // namespace nnefc::expand::build
