// Evaluation of built-in functions, such as `length_of`, `range_of` and `shape_of` (chapter 3.3.3).

#include "compiler/expand/values/builtins.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

#include "compiler/expand/rules.h"

namespace nnefc::expand::values {
namespace {

using ast::Builtin;

std::optional<Value> WrongArgument(Builtin builtin, const Value& argument, Fault& fault) {
  fault =
      argument.kind() == ValueKind::kUnknownExtent
          ? Fault::Of(kShapeUnknown,
                      "the argument of `{}` is left open by an external; give it with "
                      "`--input-shape`",
                      ast::Spelling(builtin))
          : Fault::Of(kValueType, "the argument of `{}` is {}", ast::Spelling(builtin), KindText(argument));
  return std::nullopt;
}

std::optional<Value> IntegersUpTo(int64_t count, Heap& heap, Fault& fault) {
  if (!heap.Reserve(count, fault)) return std::nullopt;
  std::vector<Value> items;
  items.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) items.push_back(Value::Integer(i));
  heap.work += count;
  return Value::Array(heap, std::move(items));
}

// Returns the shape of nested arrays; nothing if they are empty or have unequal lengths.
std::optional<Shape> ShapeOfItems(const Value& value) {
  if (value.kind() != ValueKind::kArray) return Shape();
  if (value.length() == 0) return std::nullopt;
  std::optional<Shape> shape = ShapeOfItems(value.item(0));
  for (const Value& item : value.items()) {
    if (ShapeOfItems(item) != shape) return std::nullopt;
  }
  if (shape) shape->insert(shape->begin(), value.length());
  return shape;
}

// Returns a shape. R: its length is the rank; P: at least 2. Values other than tensors have the singleton
// shape.
std::optional<Value> ShapeOf(const Value& argument, const ast::Dialect& dialect, const ir::Graph& graph,
                             Heap& heap, Fault& fault) {
  std::vector<Value> extents;
  if (argument.kind() == ValueKind::kTensor) {
    const ir::PartialShape& shape = graph.output(argument.port()).shape;
    if (!shape.rank_known()) {
      fault = Fault::Of(kShapeUnknown, "the rank of this tensor is not known during compilation");
      return std::nullopt;
    }
    for (ir::Dim dim : shape.dims()) {
      extents.push_back(dim.known() ? Value::Integer(dim.value()) : Value::UnknownExtent());
    }
  } else if (argument.folded_tensor()) {
    const std::optional<Shape> shape = ShapeOfItems(argument);
    if (!shape) return WrongArgument(Builtin::kShapeOf, argument, fault);
    for (int64_t extent : *shape) extents.push_back(Value::Integer(extent));
  } else if (!argument.primitive()) {
    return WrongArgument(Builtin::kShapeOf, argument, fault);
  }
  while (dialect.at_least_two_extents && extents.size() < 2) extents.push_back(Value::Integer(1));
  return Value::Array(heap, std::move(extents));
}

bool AllDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Returns true if `text` is a complete numeric literal with an optional sign: digits, `.` and digits,
// exponent. Sets `integer` if it has digits only.
bool IsNumericLiteral(std::string_view text, bool& integer) {
  if (!text.empty() && text[0] == '-') text.remove_prefix(1);
  integer = AllDigits(text);
  if (integer) return true;
  size_t exponent = text.find_first_of("eE");
  if (exponent != std::string_view::npos) {
    std::string_view digits = text.substr(exponent + 1);
    if (!digits.empty() && (digits[0] == '+' || digits[0] == '-')) digits.remove_prefix(1);
    if (!AllDigits(digits)) return false;
    text = text.substr(0, exponent);
  }
  size_t point = text.find('.');
  if (point == std::string_view::npos) return AllDigits(text);
  return AllDigits(text.substr(0, point)) && AllDigits(text.substr(point + 1));
}

std::optional<Value> NotLiteral(Builtin builtin, std::string_view text, Fault& fault) {
  fault = Fault::Of(kCastNotLiteral, "invalid {} literal `'{}'`", ast::Spelling(builtin), text.substr(0, 64));
  return std::nullopt;
}

std::optional<Value> CastToInteger(Builtin builtin, const Value& argument, Fault& fault) {
  switch (argument.kind()) {
    case ValueKind::kInteger:
      return Value::Integer(argument.integer());
    case ValueKind::kLogical:
      return Value::Integer(argument.logical() ? 1 : 0);
    case ValueKind::kScalar: {
      double value = std::floor(argument.scalar());
      if (!(value >= -0x1p63 && value < 0x1p63)) {
        fault = Fault::Of(kCastOutOfRange, "`{}` does not fit 64 bits", ScalarText(argument.scalar()));
        return std::nullopt;
      }
      return Value::Integer(static_cast<int64_t>(value));
    }
    case ValueKind::kString: {
      std::string_view text = argument.text();
      bool integer = false;
      if (!IsNumericLiteral(text, integer) || !integer) return NotLiteral(builtin, text, fault);
      int64_t value = 0;
      auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc()) {
        fault = Fault::Of(kCastOutOfRange, "`'{}'` does not fit 64 bits", text.substr(0, 64));
        return std::nullopt;
      }
      return Value::Integer(value);
    }
    default:
      return WrongArgument(builtin, argument, fault);
  }
}

std::optional<Value> CastToScalar(const Value& argument, Fault& fault) {
  switch (argument.kind()) {
    case ValueKind::kScalar:
      return Value::Scalar(argument.scalar());
    case ValueKind::kInteger:
      return Value::Scalar(static_cast<double>(argument.integer()));
    case ValueKind::kLogical:
      return Value::Scalar(argument.logical() ? 1.0 : 0.0);
    case ValueKind::kString: {
      std::string_view text = argument.text();
      bool integer = false;
      if (!IsNumericLiteral(text, integer)) return NotLiteral(Builtin::kScalar, text, fault);
      double value = 0;
      auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      // Distinguishes overflow from underflow; the latter becomes nearly zero.
      if (error == std::errc::result_out_of_range) value = std::strtod(std::string(text).c_str(), nullptr);
      if (!std::isfinite(value)) {
        fault = Fault::Of(kCastOutOfRange, "`'{}'` is not a finite number", text.substr(0, 64));
        return std::nullopt;
      }
      return Value::Scalar(value);
    }
    default:
      return WrongArgument(Builtin::kScalar, argument, fault);
  }
}

std::optional<Value> CastToLogical(const Value& argument, Fault& fault) {
  switch (argument.kind()) {
    case ValueKind::kLogical:
      return Value::Logical(argument.logical());
    case ValueKind::kInteger:
      return Value::Logical(argument.integer() != 0);
    case ValueKind::kScalar:
      return Value::Logical(argument.scalar() != 0);
    case ValueKind::kString:
      return Value::Logical(argument.length() != 0);
    default:
      return WrongArgument(Builtin::kLogical, argument, fault);
  }
}

std::optional<Value> CastToString(const Value& argument, Heap& heap, Fault& fault) {
  switch (argument.kind()) {
    case ValueKind::kString:
      return argument;
    case ValueKind::kInteger:
      return Value::String(heap, fmt::format("{}", argument.integer()));
    case ValueKind::kScalar:
      return Value::String(heap, ScalarText(argument.scalar()));
    case ValueKind::kLogical:
      return Value::String(heap, argument.logical() ? "true" : "false");
    default:
      return WrongArgument(Builtin::kString, argument, fault);
  }
}

}  // namespace

std::optional<Value> EvaluateBuiltin(Builtin builtin, const Value& argument, const ast::Dialect& dialect,
                                     const ir::Graph& graph, Heap& heap, Fault& fault) {
  if (builtin == Builtin::kShapeOf) return ShapeOf(argument, dialect, graph, heap, fault);
  if (argument.tensor()) return WrongArgument(builtin, argument, fault);
  switch (builtin) {
    case Builtin::kShapeOf:
      break;
    case Builtin::kLengthOf:
    case Builtin::kRangeOf:
      if (argument.kind() != ValueKind::kArray && argument.kind() != ValueKind::kString) break;
      if (builtin == Builtin::kLengthOf) return Value::Integer(argument.length());
      return IntegersUpTo(argument.length(), heap, fault);
    case Builtin::kInteger:
    case Builtin::kExtent:
      return CastToInteger(builtin, argument, fault);
    case Builtin::kScalar:
      return CastToScalar(argument, fault);
    case Builtin::kLogical:
      return CastToLogical(argument, fault);
    case Builtin::kString:
      return CastToString(argument, heap, fault);
  }
  return WrongArgument(builtin, argument, fault);
}

}  // namespace nnefc::expand::values
