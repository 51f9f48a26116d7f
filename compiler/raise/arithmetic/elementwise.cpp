// Raising of OpenVINO's elementwise operations and conversions to NNEF operations.

#include <array>
#include <cmath>

#include "compiler/raise/arithmetic/integer_arithmetic.h"
#include "compiler/raise/arithmetic/rounding.h"
#include "compiler/raise/node_raising.h"
#include "compiler/raise/table.h"

namespace nnefc::raise {

namespace {

// Declines a broadcast other than NumPy's.
void RequireNumPyBroadcast(NodeRaising& n) {
  const std::string& rule = n.node().String("auto_broadcast");
  if (rule == "numpy" || n.input_shape(0) == n.input_shape(1)) return;
  n.Decline("it broadcasts by the rule `{}`", rule);
}

void RaiseUnary(NodeRaising& n) {
  const std::string_view operation = FindEquivalent(n.node().op());
  const bool may_be_integer = operation == "neg" || operation == "abs" || operation == "sign";
  may_be_integer ? RequireNumbers(n) : n.RequireScalars();
  n.SetOutput(InRangeOf(n, n.output_type(), n.Unary(operation, n.input(0))));
}

void RaiseLogicalNot(NodeRaising& n) {
  n.SetOutput(n.Unary("not", n.input(0)));
}

std::pair<OutputPort, OutputPort> NumericOperands(NodeRaising& n) {
  RequireNumbers(n);
  RequireNumPyBroadcast(n);
  return n.AlignedPair(0, 1, n.output_rank());
}

std::pair<OutputPort, OutputPort> ScalarOperands(NodeRaising& n) {
  n.RequireScalars();
  RequireNumPyBroadcast(n);
  return n.AlignedPair(0, 1, n.output_rank());
}

void RaiseBinary(NodeRaising& n) {
  const auto [x, y] = NumericOperands(n);
  const std::string_view operation = FindEquivalent(n.node().op());
  const OutputPort result = operation == "mul" ? Product(n, x, y) : n.Binary(operation, x, y);
  const bool is_choice = operation == "min" || operation == "max";
  n.SetOutput(is_choice ? result : InRangeOf(n, n.output_type(), result));
}

// Quotients of integers are rounded toward zero: the reader of IR reports others (openvino.rounded-division).
void RaiseDivide(NodeRaising& n) {
  if (HasIntegerArithmetic(n)) {
    const auto [x, y] = NumericOperands(n);
    return n.SetOutput(InRangeOf(n, n.output_type(), n.Binary("div", x, y)));
  }
  const auto [x, y] = ScalarOperands(n);
  if (n.ScalarValue(0) == 1.0 && n.IsFullOperand(1, n.output_rank())) return n.SetOutput(n.Unary("rcp", y));
  n.SetOutput(n.Binary("div", x, y));
}

// Constant exponents with an operation of their own.
void RaisePower(NodeRaising& n) {
  const auto [x, y] = ScalarOperands(n);
  const std::optional<double> exponent = n.ScalarValue(1);
  constexpr std::pair<double, std::string_view> kPowers[] = {
      {2.0, "sqr"}, {0.5, "sqrt"}, {-1.0, "rcp"}, {-0.5, "rsqrt"}, {-2.0, "rsqr"}};
  for (const auto& [power, operation] : kPowers) {
    if (exponent == power && n.IsFullOperand(0, n.output_rank())) return n.SetOutput(n.Unary(operation, x));
  }
  if (exponent == 1.0 && n.IsFullOperand(0, n.output_rank())) return n.SetOutput(x);
  n.SetOutput(n.Binary("pow", x, y));
}

void RaiseSquaredDifference(NodeRaising& n) {
  const auto [x, y] = NumericOperands(n);
  const OutputPort difference = n.Binary("sub", x, y, "difference");
  const OutputPort square =
      HasIntegerArithmetic(n) ? Product(n, difference, difference) : n.Unary("sqr", difference);
  n.SetOutput(InRangeOf(n, n.output_type(), square));
}

OutputPort Xor(NodeRaising& n, OutputPort x, OutputPort y, std::string_view suffix = {}) {
  const OutputPort both = n.Binary("and", x, y, "both");
  const OutputPort either = n.Binary("or", x, y, "either");
  return n.Binary("and", either, n.Unary("not", both, "not_both"), suffix);
}

// `lt` and the like compare scalars. Logicals are compared by other logical operations, and integers as
// scalars: nnefc compares such casts as integers.
void RaiseComparison(NodeRaising& n) {
  RequireNumPyBroadcast(n);
  const std::string_view operation = FindEquivalent(n.node().op());
  const ElementType type = n.input_type(0);
  if (type == ElementType::kBoolean) {
    const auto [x, y] = n.AlignedPair(0, 1, n.output_rank());
    if (operation == "ne") return n.SetOutput(Xor(n, x, y));
    if (operation == "eq") return n.SetOutput(n.Unary("not", Xor(n, x, y, "differ")));
    n.Decline("NNEF has no order of logicals");
  }
  if (type == ElementType::kF32 || IsForTract(n)) {
    const auto [x, y] = n.AlignedPair(0, 1, n.output_rank());
    return n.SetOutput(n.Binary(operation, x, y));
  }
  std::array<OutputPort, 2> operands;
  for (int32_t i = 0; i < 2; ++i) {
    const std::optional<double> number = n.ScalarValue(i);
    const bool is_literal = number && n.IsFullOperand(1 - i, n.output_rank()) && std::abs(*number) <= 0x1p24;
    operands[static_cast<size_t>(i)] =
        is_literal ? n.Literal(*number)
                   : n.Cast(n.Aligned(i, n.output_rank(), n.IsFullOperand(1 - i, n.output_rank())),
                            ElementType::kF32, fmt::format("scalars_{}", i));
  }
  n.SetOutput(n.Binary(operation, operands[0], operands[1]));
}

void RaiseLogical(NodeRaising& n) {
  RequireNumPyBroadcast(n);
  const auto [x, y] = n.AlignedPair(0, 1, n.output_rank());
  n.SetOutput(n.Binary(FindEquivalent(n.node().op()), x, y));
}

void RaiseXor(NodeRaising& n) {
  RequireNumPyBroadcast(n);
  const auto [x, y] = n.AlignedPair(0, 1, n.output_rank());
  n.SetOutput(Xor(n, x, y));
}

// The largest finite f32.
constexpr double kLargestScalar = 0x1.fffffep127;

// NaN differs from itself.
void RaiseIsNaN(NodeRaising& n) {
  n.RequireScalars();
  n.SetOutput(n.Binary("ne", n.input(0), n.input(0)));
}

void RaiseIsFinite(NodeRaising& n) {
  n.RequireScalars();
  n.SetOutput(n.Binary("le", n.Unary("abs", n.input(0), "magnitude"), n.Literal(kLargestScalar)));
}

void RaiseIsInf(NodeRaising& n) {
  n.RequireScalars();
  const OutputPort x = n.input(0);
  const bool finds_negative = n.node().Bool("detect_negative");
  const bool finds_positive = n.node().Bool("detect_positive");
  if (finds_negative != finds_positive) {
    const OutputPort limit = n.Literal(finds_positive ? kLargestScalar : -kLargestScalar);
    return n.SetOutput(n.Binary(finds_positive ? "gt" : "lt", x, limit));
  }
  const OutputPort magnitude = n.Unary("abs", x, "magnitude");
  // No magnitude is negative.
  n.SetOutput(finds_positive ? n.Binary("gt", magnitude, n.Literal(kLargestScalar))
                             : n.Binary("lt", magnitude, n.Literal(0.0)));
}

void RaiseSelect(NodeRaising& n) {
  const std::string& rule = n.node().String("auto_broadcast");
  const bool is_equal = n.input_shape(0) == n.input_shape(1) && n.input_shape(1) == n.input_shape(2);
  if (rule != "numpy" && !is_equal) n.Decline("it broadcasts by the rule `{}`", rule);
  const int64_t rank = n.output_rank();
  std::array<OutputPort, 3> operands;
  for (int32_t i = 0; i < 3; ++i) {
    bool has_full = false;
    for (int32_t other = 0; other < 3; ++other) has_full |= other != i && n.IsFullOperand(other, rank);
    operands[static_cast<size_t>(i)] = n.Aligned(i, rank, has_full);
  }
  n.SetOutput(n.Add("select", operands, Attributes({{"dtype", DataTypeName(n.output_type())}})));
}

// Limits of integers are rounded inward.
void ClampIntegers(NodeRaising& n) {
  constexpr double kLargest = 0x1p62;
  const nnefc::Shape one(static_cast<size_t>(n.output_rank()), 1);
  const auto limit = [&](double value, std::string_view role) {
    const auto whole = static_cast<int64_t>(std::clamp(value, -kLargest, kLargest));
    return n.Constant(TensorValue::FromInts(one, {whole}), role);
  };
  const OutputPort low = limit(std::ceil(n.node().Double("min")), "lowest");
  const OutputPort high = limit(std::floor(n.node().Double("max")), "highest");
  n.SetOutput(n.Binary("min", n.Binary("max", n.input(0), low, "bounded"), high));
}

// Clamp: limits that are infinite are omitted.
void RaiseClamp(NodeRaising& n) {
  if (HasIntegerArithmetic(n)) return ClampIntegers(n);
  n.RequireScalars();
  const double low = n.node().Double("min");
  const double high = n.node().Double("max");
  const auto is_open = [](double limit) { return std::abs(limit) > static_cast<double>(3.4028234e38f); };
  const OutputPort x = n.input(0);
  if (low == 0 && is_open(high)) return n.SetOutput(n.Unary("relu", x));
  if (is_open(low) && is_open(high)) return n.SetOutput(x);
  if (is_open(high)) return n.SetOutput(n.Binary("max", x, n.Literal(low)));
  if (is_open(low)) return n.SetOutput(n.Binary("min", x, n.Literal(high)));
  n.SetOutput(n.Add("clamp", {x, n.Literal(low), n.Literal(high)}));
}

// True if integers of 64 bits represent the results of a conversion to `type`, that is, if it does not wrap
// around. Indices in i64 are assumed to fit i32.
bool HasUnboundedForm(ElementType from, ElementType type) {
  if (!IsInteger(type) || from == ElementType::kBoolean) return true;
  if (IsFloat(from) || from == ElementType::kI64)
    return type == ElementType::kI32 || type == ElementType::kI64;
  if (IsSigned(from) == IsSigned(type)) return BitWidth(type) >= BitWidth(from);
  return IsSigned(type) && BitWidth(type) > BitWidth(from);
}

// Convert truncates toward zero, and `cast` rounds down. Integers of NNEF have 64 bits, so that a conversion
// between types that both represent the values is none.
void ConvertTo(NodeRaising& n, ElementType type) {
  const ElementType from = n.input_type(0);
  if (IsForTract(n)) {
    const OutputPort x = n.input(0);
    const OutputPort cast =
        IsFloat(from) && IsInteger(type) ? n.Unary("tract_core_to_integer", x) : n.Cast(x, type);
    const bool wraps = IsInteger(from) && !HasUnboundedForm(from, type);
    return n.SetOutput(wraps ? InRangeOf(n, type, cast) : cast);
  }
  if (!HasUnboundedForm(from, type))
    n.Decline("it converts {} to {}, and integers of NNEF have 64 bits", Name(from), Name(type));
  OutputPort x = n.input(0);
  if (IsFloat(from) && IsInteger(type)) {
    const OutputPort is_negative = n.Binary("lt", x, n.Literal(0.0), "is_negative");
    x = n.Add("select", {is_negative, n.Unary("ceil", x, "up"), n.Unary("floor", x, "down")},
              Attributes({{"dtype", "scalar"}}), "truncated");
  }
  n.SetOutput(n.Cast(x, type));
}

void RaiseConvert(NodeRaising& n) {
  ConvertTo(n, n.output_type());
}

// Rounds to the nearest integer, halves to even or away from zero. NNEF's `round` rounds halves up.
void RaiseRound(NodeRaising& n) {
  n.RequireScalars();
  const OutputPort x = n.input(0);
  if (n.node().String("mode") == "half_to_even") return n.SetOutput(RoundHalfToEven(n, x));
  const OutputPort magnitude = n.Unary("round", n.Unary("abs", x), "magnitude");
  n.SetOutput(n.Binary("mul", n.Unary("sign", x), magnitude));
}

}  // namespace

std::vector<RaiseEntry> ElementwiseEntries() {
  std::vector<RaiseEntry> entries{
      {"LogicalNot", RaiseLogicalNot}, {"Divide", RaiseDivide},
      {"Power", RaisePower},           {"SquaredDifference", RaiseSquaredDifference},
      {"LogicalXor", RaiseXor},        {"Xor", RaiseXor},
      {"Select", RaiseSelect},         {"Clamp", RaiseClamp},
      {"Convert", RaiseConvert},       {"ConvertLike", RaiseConvert},
      {"Round", RaiseRound},           {"IsNaN", RaiseIsNaN},
      {"IsFinite", RaiseIsFinite},     {"IsInf", RaiseIsInf}};
  const ir::OpRegistry& ops = ir::StandardOps();
  for (size_t i = 0; i < ops.size(); ++i) {
    const ir::OpInfo& info = ops.Info(ir::OpId(static_cast<int32_t>(i)));
    const bool is_unary = info.is_elementwise && info.inputs.size() == 1;
    if (is_unary && !info.equivalent.empty() && info.inputs[0].types == ir::TypeClass::kFloat)
      entries.push_back({info.equivalent, RaiseUnary});
  }
  for (std::string_view name : {"Add", "Subtract", "Multiply", "Minimum", "Maximum"})
    entries.push_back({name, RaiseBinary});
  for (std::string_view name : {"Less", "Greater", "LessEqual", "GreaterEqual", "Equal", "NotEqual"})
    entries.push_back({name, RaiseComparison});
  for (std::string_view name : {"LogicalAnd", "LogicalOr"}) entries.push_back({name, RaiseLogical});
  return entries;
}

}  // namespace nnefc::raise
