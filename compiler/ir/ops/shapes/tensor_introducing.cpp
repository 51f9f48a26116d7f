// Shape inference of NNEF's external, constant and variable.

#include <algorithm>

#include "compiler/ir/ops/arguments.h"
#include "compiler/ir/ops/register.h"
#include "compiler/ir/ops/rows.h"
#include "compiler/ir/ops/variables.h"
#include "compiler/ir/wording.h"
#include "compiler/support/files/contained_path.h"

namespace nnefc::ir::ops {

namespace {

// The maximum number of elements of a constant whose value is also stored in the graph. Larger ones have it
// in their attribute only.
constexpr int64_t kMaxValueElements = 4096;

// Reads the attribute `shape`, whose items must be positive. With `or_open`, 0 is allowed for an open extent.
std::optional<PartialShape> PositiveShape(InferContext& context, const Rule& rule, bool or_open = false) {
  const Attribute::Integers items = context.attribute("shape").AsInts();
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i] > (or_open ? -1 : 0)) continue;
    context.Error(rule, "{} is {}; expected a positive extent{}", Describe(context, "shape", i), items[i],
                  or_open ? ", or 0 where it is open"
                  : &rule == &kExternalShape
                      ? "; `--input-shape` gives an input other extents than the document's"
                      : "");
    return std::nullopt;
  }
  return PartialShape(llvm::ArrayRef<int64_t>(items));
}

// external.shape: items of `shape` are positive (R 4.1.1). Unknown extents are known at run time only.
void InferExternal(InferContext& context) {
  const std::optional<ElementType> type = DataTypeAttribute(context);
  if (!type) return;
  if (const auto* open = context.attribute("shape").get<PartialShape>())
    return Produce(context, 0, *type, *open);
  std::optional<PartialShape> shape = PositiveShape(context, kExternalShape, IsProvisional(context.node()));
  if (shape) Produce(context, 0, *type, std::move(*shape));
}

// True if the items of a list have the given element type.
bool HasItems(const Attribute& value, ElementType type) {
  switch (type) {
    case ElementType::kF32:
      return value.get<Attribute::Scalars>() != nullptr;
    case ElementType::kI64:
      return value.get<Attribute::Integers>() != nullptr;
    case ElementType::kBoolean:
      return value.get<Attribute::Logicals>() != nullptr;
    case ElementType::kString:
      return value.get<Attribute::Strings>() != nullptr;
    default:
      return false;
  }
}

template <typename T, typename List>
TensorValue MakeTensor(ElementType type, const Shape& shape, const List& items) {
  return TensorValue::Make<T>(type, shape, [&](std::span<T> elements) {
    for (size_t i = 0; i < elements.size(); ++i) {
      elements[i] = static_cast<T>(items[items.size() == 1 ? 0 : i]);
    }
  });
}

void PropagateValue(InferContext& context, ElementType type, const Attribute& value) {
  const std::optional<Shape> shape = context.node().output().shape.extents();
  if (!shape || Volume(*shape).value_or(INT64_MAX) > kMaxValueElements) return;
  if (const auto* items = value.get<Attribute::Scalars>()) {
    context.SetOutputValue(0, MakeTensor<float>(type, *shape, *items));
  } else if (const auto* items = value.get<Attribute::Integers>()) {
    context.SetOutputValue(0, MakeTensor<int64_t>(type, *shape, *items));
  } else if (const auto* items = value.get<Attribute::Logicals>()) {
    context.SetOutputValue(0, MakeTensor<uint8_t>(type, *shape, *items));
  }
}

// constant.value: one item, or one for each element (R 4.1.2).
void InferConstant(InferContext& context) {
  const std::optional<ElementType> type = DataTypeAttribute(context);
  if (!type) return;
  std::optional<PartialShape> shape = PositiveShape(context, kConstantShape);
  if (!shape) return;
  const std::optional<int64_t> volume = shape->volume();
  Produce(context, 0, *type, std::move(*shape));
  if (context.failed()) return;
  const Attribute& value = context.attribute("value");
  const size_t count = value.ListSize();
  if (count != 1 && count != static_cast<size_t>(*volume)) {
    context.Error(kConstantValue, "{} has {} items; expected one, or {} to fill shape {}",
                  Describe(context, "value"), count, *volume, ToString(context.node().output().shape));
    return;
  }
  if (!HasItems(value, *type)) {
    context.Error(kAttributeKind, "{} is not an array of type {}", Describe(context, "value"),
                  DataTypeName(*type));
    return;
  }
  PropagateValue(context, *type, value);
}

// variable.shape, variable.label: not empty (R 4.1.3), the path of a file in the model's folder (R 5.1,
// P 5.1). CheckVariables checks the characters of labels.
void InferVariable(InferContext& context) {
  const std::optional<ElementType> type = DataTypeAttribute(context);
  if (!type) return;
  const std::string& label = context.attribute("label").AsString();
  if (label.empty()) {
    context.Error(kVariableLabel, "{} is empty", Describe(context, "label"));
    return;
  }
  if (!LabelPath(label)) {
    context.Error(kVariableLabel, "{} is `{}`, which names no file in the model's folder",
                  Describe(context, "label"), label);
    return;
  }
  std::optional<PartialShape> shape = PositiveShape(context, kVariableShape);
  if (shape) Produce(context, 0, *type, std::move(*shape));
}

}  // namespace

void RegisterTensorIntroducing(OpRegistry& registry) {
  ops::AddRow(registry, {.name = "external",
                         .section = "R 4.1.1",
                         .infer = ops::InferExternal,
                         .is_source = true,
                         .role = OpRole::kExternal,
                         .narrow = NarrowIntegers::kReplaced});
  ops::AddRow(registry, {.name = "constant",
                         .section = "R 4.1.2",
                         .infer = ops::InferConstant,
                         .is_source = true,
                         .role = OpRole::kConstant});
  ops::AddRow(registry, {.name = "variable",
                         .section = "R 4.1.3",
                         .infer = ops::InferVariable,
                         .is_source = true,
                         .role = OpRole::kVariable});
}

}  // namespace nnefc::ir::ops
