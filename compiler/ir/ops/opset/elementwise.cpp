#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir {

namespace {

void RequireType(OpContext& op, int32_t input, bool (*accepts)(ElementType), std::string_view expected) {
  const ElementType type = op.type(input);
  if (type == ElementType::kDynamic || accepts(type)) return;
  op.Error(kOpsetElementType, "{} has the element type {}; expected {}", op.InputName(input), Name(type),
           expected);
}

bool IsNumeric(ElementType type) {
  return IsFloat(type) || IsInteger(type);
}
bool IsBoolean(ElementType type) {
  return type == ElementType::kBoolean;
}

void InferUnary(OpContext& op) {
  RequireType(op, 0, IsNumeric, "a number");
  op.Set(op.type(0), op.shape(0));
}

void InferLogicalNot(OpContext& op) {
  RequireType(op, 0, IsBoolean, "boolean");
  op.Set(ElementType::kBoolean, op.shape(0));
}

void InferBinary(OpContext& op) {
  const ElementType type = op.CommonType(0, 2);
  RequireType(op, 0, IsNumeric, "a number");
  const std::optional<PartialShape> shape = op.Broadcast(0, 1);
  if (shape) op.Set(type, *shape);
}

void InferComparison(OpContext& op) {
  op.CommonType(0, 2);
  const std::optional<PartialShape> shape = op.Broadcast(0, 1);
  if (shape) op.Set(ElementType::kBoolean, *shape);
}

void InferLogical(OpContext& op) {
  RequireType(op, 0, IsBoolean, "boolean");
  RequireType(op, 1, IsBoolean, "boolean");
  const std::optional<PartialShape> shape = op.Broadcast(0, 1);
  if (shape) op.Set(ElementType::kBoolean, *shape);
}

// IsNaN, IsInf, IsFinite: of floats.
void InferPredicate(OpContext& op) {
  RequireType(op, 0, IsFloat, "a float");
  op.Set(ElementType::kBoolean, op.shape(0));
}

bool HasBits(ElementType type) {
  return IsInteger(type) || IsBoolean(type);
}

void InferBitwiseNot(OpContext& op) {
  RequireType(op, 0, HasBits, "an integer or boolean");
  op.Set(op.type(0), op.shape(0));
}

void InferBitwise(OpContext& op) {
  const ElementType type = op.CommonType(0, 2);
  RequireType(op, 0, HasBits, "an integer or boolean");
  const std::optional<PartialShape> shape = op.Broadcast(0, 1);
  if (shape) op.Set(type, *shape);
}

void InferShift(OpContext& op) {
  RequireType(op, 0, IsInteger, "an integer");
  InferBitwise(op);
}

// ConvertLike-1: the element type of the second input.
void InferConvertLike(OpContext& op) {
  op.Set(op.type(1), op.shape(0));
}

// Select-1: the condition stretches to the broadcast of the branches, and they to it.
void InferSelect(OpContext& op) {
  RequireType(op, 0, IsBoolean, "boolean");
  const ElementType type = op.CommonType(1, 3);
  const std::optional<PartialShape> branches = op.Broadcast(1, 2);
  if (!branches) return;
  const std::string rule = op.String("auto_broadcast");
  std::optional<PartialShape> shape;
  if (rule == "numpy") {
    shape = BroadcastNumpy(*branches, op.shape(0));
  } else if (rule == "pdpd") {
    shape = BroadcastPdpd(*branches, op.shape(0), -1);
  } else {
    shape = Merge(*branches, op.shape(0));
  }
  if (!shape) {
    op.Error(kOpsetBroadcast, "{} has the shape {}, which does not broadcast with {} ({})", op.InputName(0),
             ToString(op.shape(0)), ToString(*branches), rule);
    return;
  }
  op.Set(type, *shape);
}

void InferClamp(OpContext& op) {
  RequireType(op, 0, IsNumeric, "a number");
  if (op.Double("min") > op.Double("max")) {
    op.Error(kOpsetAttributeValue, "`min` of `Clamp` is {}, above `max`, which is {}", op.Double("min"),
             op.Double("max"));
  }
  op.Set(op.type(0), op.shape(0));
}

constexpr int64_t kLargestConvertedValue = 1024;  // elements of shapes, axes and the like

void InferConvert(OpContext& op) {
  const ElementType type = op.Type("destination_type");
  op.Set(type, op.shape(0));
  const std::optional<TensorValue>& value = op.input(0).value;
  const bool convertible = type != ElementType::kDynamic && type != ElementType::kString && value &&
                           value->type() != ElementType::kString && !IsStorageOnly(type);
  if (convertible && value->volume() <= kLargestConvertedValue) op.SetValue(0, value->ConvertedTo(type));
}

std::vector<OpRow> MakeRows(std::string_view set, std::vector<std::string_view> names,
                            std::vector<std::string_view> inputs, std::vector<AttributeInfo> attributes,
                            InferFunction infer) {
  std::vector<OpRow> rows;
  for (std::string_view name : names) {
    rows.push_back(
        MakeRow({.set = set, .name = name, .inputs = inputs, .attributes = attributes, .infer = infer}));
  }
  return rows;
}

}  // namespace

std::vector<OpRow> ElementwiseRows() {
  const AttributeInfo broadcast{"auto_broadcast", AttributeKind::kString, "numpy", {"none", "numpy", "pdpd"}};
  std::vector<OpRow> rows;
  const auto append = [&](std::vector<OpRow> more) {
    for (OpRow& row : more) rows.push_back(std::move(row));
  };
  append(MakeRows("opset1",
                  {"Abs", "Negative", "Sign", "Exp", "Log", "Sqrt", "Floor", "Ceiling", "Sin", "Cos", "Tan",
                   "Sinh", "Cosh", "Tanh", "Asin", "Acos", "Atan", "Erf"},
                  {"data"}, {}, Infer<InferUnary>));
  append(MakeRows("opset4", {"Asinh", "Acosh", "Atanh"}, {"data"}, {}, Infer<InferUnary>));
  append(MakeRows("opset5", {"Round"}, {"data"},
                  {{"mode", AttributeKind::kString, "half_to_even", {"half_to_even", "half_away_from_zero"}}},
                  Infer<InferUnary>));
  append(MakeRows(
      "opset1",
      {"Add", "Subtract", "Multiply", "Power", "Minimum", "Maximum", "Mod", "FloorMod", "SquaredDifference"},
      {"a", "b"}, {broadcast}, Infer<InferBinary>));
  append(MakeRows("opset1", {"Divide"}, {"a", "b"}, {broadcast, {"m_pythondiv", AttributeKind::kBool, true}},
                  Infer<InferBinary>));
  append(MakeRows("opset1", {"Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual"}, {"a", "b"},
                  {broadcast}, Infer<InferComparison>));
  append(MakeRows("opset1", {"LogicalAnd", "LogicalOr", "LogicalXor"}, {"a", "b"}, {broadcast},
                  Infer<InferLogical>));
  append(MakeRows("opset1", {"LogicalNot"}, {"data"}, {}, Infer<InferLogicalNot>));
  append(MakeRows("opset1", {"Select"}, {"condition", "then", "else"}, {broadcast}, Infer<InferSelect>));
  append(MakeRows("opset1", {"Clamp"}, {"data"},
                  {{"min", AttributeKind::kDouble}, {"max", AttributeKind::kDouble}}, Infer<InferClamp>));
  append(MakeRows("opset10", {"IsNaN", "IsFinite"}, {"data"}, {}, Infer<InferPredicate>));
  append(MakeRows(
      "opset10", {"IsInf"}, {"data"},
      {{"detect_negative", AttributeKind::kBool, true}, {"detect_positive", AttributeKind::kBool, true}},
      Infer<InferPredicate>));
  append(MakeRows("opset13", {"BitwiseAnd", "BitwiseOr", "BitwiseXor"}, {"a", "b"}, {broadcast},
                  Infer<InferBitwise>));
  append(MakeRows("opset13", {"BitwiseNot"}, {"data"}, {}, Infer<InferBitwiseNot>));
  append(MakeRows("opset15", {"BitwiseLeftShift", "BitwiseRightShift"}, {"a", "b"}, {broadcast},
                  Infer<InferShift>));
  append(MakeRows("opset1", {"ConvertLike"}, {"data", "like"}, {}, Infer<InferConvertLike>));
  append(MakeRows("opset1", {"Convert"}, {"data"}, {{"destination_type", AttributeKind::kType}},
                  Infer<InferConvert>));
  return rows;
}

}  // namespace nnefc::ir
