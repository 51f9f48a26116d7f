// Shape and type inference of OpenVINO's elementwise operations and conversions.

#include <algorithm>
#include <array>

#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir::ops::opset {

namespace {

void InferUnary(OpContext& op) {
  op.Set(op.type(0), op.shape(0));
}

void InferBinary(OpContext& op) {
  const ElementType type = op.CommonType(0, 2);
  const std::optional<PartialShape> shape = op.Broadcast(0, 1);
  if (shape) op.Set(type, *shape);
}

void InferComparison(OpContext& op) {
  op.CommonType(0, 2);
  const std::optional<PartialShape> shape = op.Broadcast(0, 1);
  if (shape) op.Set(ElementType::kBoolean, *shape);
}

void InferPredicate(OpContext& op) {
  op.Set(ElementType::kBoolean, op.shape(0));
}

// ConvertLike-1: the element type of the second input.
void InferConvertLike(OpContext& op) {
  op.Set(op.type(1), op.shape(0));
}

// Select-1: the condition and the broadcast shape of the branches broadcast with each other.
void InferSelect(OpContext& op) {
  const ElementType type = op.CommonType(1, 3);
  const std::optional<PartialShape> branches = op.Broadcast(1, 2);
  if (!branches) return;
  const std::optional<PartialShape> shape = op.BroadcastShapes(*branches, op.shape(0));
  if (!shape) {
    op.Error(kOpsetBroadcast, "{} has the shape {}, which does not broadcast with {} ({})", op.InputName(0),
             ToString(op.shape(0)), ToString(*branches), op.String("auto_broadcast"));
    return;
  }
  op.Set(type, *shape);
}

void InferClamp(OpContext& op) {
  if (op.Double("min") > op.Double("max")) {
    op.Error(kOpsetAttributeValue, "`min` of `Clamp` is {}, above `max`, which is {}", op.Double("min"),
             op.Double("max"));
  }
  op.Set(op.type(0), op.shape(0));
}

constexpr int64_t kLargestConvertedValue = 1024;  // elements of shapes, axes and similar lists

void InferConvert(OpContext& op) {
  const ElementType type = op.Type("destination_type");
  op.Set(type, op.shape(0));
  const std::optional<TensorValue>& value = op.input(0).value;
  const bool convertible = type != ElementType::kDynamic && type != ElementType::kString && value &&
                           value->type() != ElementType::kString && !IsStorageOnly(type);
  if (convertible && value->volume() <= kLargestConvertedValue) op.SetValue(0, value->ConvertedTo(type));
}

bool HasSign(ElementType type) {
  return KindOf(type) != ElementKind::kUnsigned;
}

ElementType SignedInteger(int64_t bits) {
  switch (bits) {
    case 8:
      return ElementType::kI8;
    case 16:
      return ElementType::kI16;
    case 32:
      return ElementType::kI32;
    default:
      return ElementType::kI64;
  }
}

// Returns the common type of ConvertPromoteTypes, or kDynamic if there is none. `scalar` states whether their
// rank is 0. Safe promotions preserve all values.
ElementType PromotedType(OpContext& op, std::array<bool, 2> scalar) {
  const ElementType a = op.type(0), b = op.type(1);
  const bool is_unsafe = op.Bool("promote_unsafe");
  if (a == b || b == ElementType::kBoolean) return a;
  if (a == ElementType::kBoolean) return b;
  const int64_t a_bits = BitWidth(a), b_bits = BitWidth(b);
  const bool a_is_float = Accepts(TypeClass::kFloat, a), b_is_float = Accepts(TypeClass::kFloat, b);
  if (a_is_float != b_is_float) {
    const int64_t float_bits = a_is_float ? a_bits : b_bits, integer_bits = a_is_float ? b_bits : a_bits;
    return is_unsafe || float_bits >= 2 * integer_bits ? (a_is_float ? a : b) : ElementType::kDynamic;
  }
  if (op.Bool("pytorch_scalar_promotion") && scalar[0] != scalar[1]) {
    const ElementType tensor = scalar[0] ? b : a, number = scalar[0] ? a : b;
    const bool holds = HasSign(tensor) == HasSign(number)
                           ? BitWidth(tensor) >= BitWidth(number)
                           : HasSign(tensor) && 2 * BitWidth(tensor) >= BitWidth(number);
    return is_unsafe || holds ? tensor : ElementType::kDynamic;
  }
  if (HasSign(a) != HasSign(b)) {
    const int64_t unsigned_bits = HasSign(a) ? b_bits : a_bits, signed_bits = HasSign(a) ? a_bits : b_bits;
    if (unsigned_bits <= 32 && (is_unsafe || 2 * unsigned_bits <= signed_bits))
      return SignedInteger(std::max(2 * unsigned_bits, signed_bits));
    return is_unsafe ? op.Type("u64_integer_promotion_target") : ElementType::kDynamic;
  }
  if (a_bits != b_bits) return a_bits > b_bits ? a : b;
  return is_unsafe && a_bits == 16 ? ElementType::kF32 : ElementType::kDynamic;  // f16 and bf16
}

// ConvertPromoteTypes-14: converts both inputs to one type. It may depend on unknown ranks.
void InferConvertPromoteTypes(OpContext& op) {
  std::array<bool, 2> scalar;
  bool is_open = false;
  for (int32_t i = 0; i < 2; ++i) {
    if (op.type(i) == ElementType::kDynamic) return;
    scalar[static_cast<size_t>(i)] = op.shape(i).rank_known() && op.shape(i).rank() == 0;
    is_open = is_open || !op.shape(i).rank_known();
  }
  is_open = is_open && op.Bool("pytorch_scalar_promotion") && op.type(0) != op.type(1);
  const ElementType type = is_open ? ElementType::kDynamic : PromotedType(op, scalar);
  if (type == ElementType::kDynamic && !is_open) {
    op.Error(kOpsetElementType, "{} of {} and {} of {} have no common type that holds all values of both",
             op.InputName(0), Name(op.type(0)), op.InputName(1), Name(op.type(1)));
    return;
  }
  op.Set(0, type, op.shape(0));
  op.Set(1, type, op.shape(1));
}

struct NamedFunction {
  NamedFunction(const char* named) : name(named) {}
  NamedFunction(const char* named, ElementFunction computed, FunctionCost costs = FunctionCost::kUnknown)
      : name(named), function(computed), cost(costs) {}
  NamedFunction(const char* named, FunctionCost costs) : name(named), cost(costs) {}

  std::string_view name;
  ElementFunction function = ElementFunction::kOther;
  FunctionCost cost = FunctionCost::kUnknown;
};

std::vector<OpInfo> MakeRows(std::string_view set, std::vector<NamedFunction> operations,
                             std::vector<std::string_view> inputs, std::vector<AttributeInfo> attributes,
                             InferFunction infer) {
  std::vector<OpInfo> rows;
  rows.reserve(operations.size());
  for (const NamedFunction& operation : operations) {
    rows.push_back(MakeRow({.set = set,
                            .name = operation.name,
                            .inputs = inputs,
                            .attributes = attributes,
                            .infer = infer,
                            .is_elementwise = true,
                            .function = operation.function,
                            .function_cost = operation.cost}));
  }
  return rows;
}

std::vector<OpInfo> Commutative(std::vector<OpInfo> rows) {
  for (OpInfo& row : rows) row.is_commutative = true;
  return rows;
}

}  // namespace

std::vector<OpInfo> ElementwiseRows() {
  using Of = ElementFunction;
  const std::vector<AttributeInfo> broadcast = BroadcastAttributes();
  std::vector<AttributeInfo> division = broadcast;
  division.push_back({"m_pythondiv", AttributeKind::kBool, true});
  std::vector<OpInfo> rows;
  const auto append = [&](std::vector<OpInfo> more) {
    for (OpInfo& row : more) rows.push_back(std::move(row));
  };
  append(MakeRows("opset1",
                  {{"Abs", Of::kAbs, FunctionCost::kLow},
                   {"Negative", FunctionCost::kLow},
                   "Sign",
                   {"Exp", FunctionCost::kHigh},
                   {"Log", FunctionCost::kHigh},
                   {"Sqrt", Of::kSqrt, FunctionCost::kHigh},
                   {"Floor", FunctionCost::kHigh},
                   "Ceiling",
                   "Sin",
                   "Cos",
                   "Tan",
                   "Sinh",
                   "Cosh",
                   {"Tanh", Of::kTanh, FunctionCost::kHigh},
                   "Asin",
                   "Acos",
                   "Atan",
                   {"Erf", FunctionCost::kHigh}},
                  {"data: number"}, {}, Infer<InferUnary>));
  append(MakeRows("opset4", {"Asinh", "Acosh", "Atanh"}, {"data: number"}, {}, Infer<InferUnary>));
  append(MakeRows("opset5", {"Round"}, {"data: number"},
                  {{"mode", AttributeKind::kString, "half_to_even", {"half_to_even", "half_away_from_zero"}}},
                  Infer<InferUnary>));
  append(Commutative(MakeRows("opset1", {{"Add", Of::kAdd}, {"Multiply", Of::kMultiply}, "SquaredDifference"},
                              {"a: number", "b: number"}, broadcast, Infer<InferBinary>)));
  // The maximum of a number and NaN depends on their order.
  append(MakeRows("opset1",
                  {{"Subtract", Of::kSubtract},
                   "Power",
                   {"Minimum", Of::kMinimum},
                   {"Maximum", Of::kMaximum},
                   "Mod",
                   "FloorMod"},
                  {"a: number", "b: number"}, broadcast, Infer<InferBinary>));
  append(MakeRows("opset1", {{"Divide", Of::kDivide}}, {"a: number", "b: number"}, division,
                  Infer<InferBinary>));
  append(MakeRows("opset1", {"Less", "LessEqual", "Greater", "GreaterEqual"}, {"a", "b"}, broadcast,
                  Infer<InferComparison>));
  append(
      Commutative(MakeRows("opset1", {"Equal", "NotEqual"}, {"a", "b"}, broadcast, Infer<InferComparison>)));
  append(Commutative(MakeRows("opset1", {"LogicalAnd", "LogicalOr", "LogicalXor"},
                              {"a: boolean", "b: boolean"}, broadcast, Infer<InferComparison>)));
  append(Commutative(
      MakeRows("opset1", {"Xor"}, {"a: boolean", "b: boolean"}, broadcast, Infer<InferComparison>)));
  append(MakeRows("opset1", {"LogicalNot"}, {"data: boolean"}, {}, Infer<InferPredicate>));
  append(MakeRows("opset1", {{"Select", Of::kSelect}}, {"condition: boolean", "then", "else"}, broadcast,
                  Infer<InferSelect>));
  append(MakeRows("opset1", {{"Clamp", Of::kClamp, FunctionCost::kLow}}, {"data: number"},
                  {{"min", AttributeKind::kDouble}, {"max", AttributeKind::kDouble}}, Infer<InferClamp>));
  append(MakeRows("opset10", {"IsNaN", "IsFinite"}, {"data: float"}, {}, Infer<InferPredicate>));
  append(MakeRows(
      "opset10", {"IsInf"}, {"data: float"},
      {{"detect_negative", AttributeKind::kBool, true}, {"detect_positive", AttributeKind::kBool, true}},
      Infer<InferPredicate>));
  append(Commutative(MakeRows("opset13", {"BitwiseAnd", "BitwiseOr", "BitwiseXor"}, {"a: bits", "b: bits"},
                              broadcast, Infer<InferBinary>)));
  append(MakeRows("opset13", {"BitwiseNot"}, {"data: bits"}, {}, Infer<InferUnary>));
  append(MakeRows("opset15", {"BitwiseLeftShift", "BitwiseRightShift"}, {"a: integer", "b: integer"},
                  broadcast, Infer<InferBinary>));
  rows.push_back(MakeRow({.set = "opset1",
                          .name = "ConvertLike",
                          .inputs = {"data", "like"},
                          .infer = Infer<InferConvertLike>}));
  rows.push_back(
      MakeRow({.set = "opset14",
               .name = "ConvertPromoteTypes",
               .inputs = {"input_0", "input_1"},
               .attributes = {{"promote_unsafe", AttributeKind::kBool, false},
                              {"pytorch_scalar_promotion", AttributeKind::kBool, false},
                              {"u64_integer_promotion_target", AttributeKind::kType, ElementType::kF32}},
               .infer = Infer<InferConvertPromoteTypes>,
               .outputs = {"output_0", "output_1"}}));
  append(MakeRows("opset1", {{"Convert", Of::kConvert}}, {"data"},
                  {{"destination_type", AttributeKind::kType}}, Infer<InferConvert>));
  return rows;
}

}  // namespace nnefc::ir::ops::opset
