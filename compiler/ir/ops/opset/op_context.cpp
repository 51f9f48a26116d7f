// Checks shared by the shape functions of OpenVINO operations.

#include "compiler/ir/ops/opset/op_context.h"

#include <algorithm>

#include "fmt/format.h"

namespace nnefc::ir::ops::opset {

namespace {

constexpr int64_t kLongestList = 1 << 13;  // shapes, axes, pads and lengths of parts are never longer

std::string_view KindName(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kBool:
      return "a boolean";
    case AttributeKind::kInt:
      return "an integer";
    case AttributeKind::kDouble:
      return "a number";
    case AttributeKind::kString:
      return "a string";
    case AttributeKind::kInts:
      return "a list of integers";
    case AttributeKind::kDoubles:
      return "a list of numbers";
    case AttributeKind::kType:
      return "an element type";
    case AttributeKind::kShape:
      return "a shape";
    case AttributeKind::kPairs:
    case AttributeKind::kGeneric:
      return "a list";
  }
  return "";
}

std::vector<double> Numbers(const Attribute& attribute, AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kInt:
      return {static_cast<double>(attribute.AsInt())};
    case AttributeKind::kDouble:
      return {attribute.AsDouble()};
    case AttributeKind::kInts: {
      const std::vector<int64_t> items = attribute.AsInts();
      return {items.begin(), items.end()};
    }
    case AttributeKind::kDoubles:
      if (const auto* items = attribute.get<Attribute::Scalars>()) return {items->begin(), items->end()};
      return {};
    default:
      return {};
  }
}

std::string_view TypeClassName(TypeClass types) {
  switch (types) {
    case TypeClass::kAny:
      return "any";
    case TypeClass::kNumber:
      return "a number";
    case TypeClass::kFloat:
      return "a float";
    case TypeClass::kInteger:
      return "an integer";
    case TypeClass::kIndex:
      return "i32 or i64";
    case TypeClass::kBoolean:
      return "boolean";
    case TypeClass::kBits:
      return "an integer or boolean";
  }
  return "";
}

std::string Ranks(int64_t lowest, int64_t highest) {
  if (highest == INT64_MAX) return fmt::format("at least {}", lowest);
  if (lowest == highest) return fmt::format("{}", lowest);
  return fmt::format("{} {} {}", lowest, highest == lowest + 1 ? "or" : "to", highest);
}

}  // namespace

bool OpContext::CheckSchema() {
  if (!CheckArity()) return false;
  for (int32_t i = 0; i < num_inputs(); ++i) CheckInput(i);
  for (const AttributeInfo& info : row_.attributes) CheckAttribute(info);
  return !failed();
}

bool OpContext::CheckArity() {
  int32_t needed = 0;
  bool variadic = false;
  for (const InputInfo& input : row_.inputs) {
    if (!input.optional && !input.variadic) ++needed;
    variadic |= input.variadic;
  }
  const auto most = static_cast<int32_t>(row_.inputs.size());
  if (num_inputs() >= needed && (variadic || num_inputs() <= most)) return true;
  Error(kOpsetArity, "`{}` has {} inputs; expected {}", row_.name, num_inputs(),
        variadic         ? fmt::format("at least {}", needed)
        : needed == most ? fmt::format("{}", needed)
                         : fmt::format("{} to {}", needed, most));
  return false;
}

void OpContext::CheckInput(int32_t index) {
  const InputInfo& rule = row_.inputs[Entry(index)];
  const ElementType given = type(index);
  if (given != ElementType::kDynamic && !Accepts(rule.types, given)) {
    Error(kOpsetElementType, "{} has the element type {}; expected {}", InputName(index), Name(given),
          TypeClassName(rule.types));
    return;
  }
  if (!CheckRank(index, rule.lowest_rank, rule.highest_rank) || !rule.one_element) return;
  const std::optional<int64_t> volume = shape(index).volume();
  if (volume && *volume != 1) {
    Error(kOpsetExtent, "{} has the shape {}; expected one element", InputName(index),
          ToString(shape(index)));
  }
}

void OpContext::CheckAttribute(const AttributeInfo& info) {
  const Attribute* value = node().attributes().Find(info.name);
  if (value == nullptr) {
    if (info.fallback) return;
    Error(kOpsetAttributeMissing, "`{}` lacks the attribute `{}`", row_.name, info.name);
  } else if (!HasKind(*value, info.kind)) {
    Error(kOpsetAttributeKind, "`{}` of `{}` is not {}", info.name, row_.name, KindName(info.kind));
  } else if (!info.choices.empty() &&
             std::find(info.choices.begin(), info.choices.end(), value->AsString()) == info.choices.end()) {
    Error(kOpsetAttributeValue, "`{}` of `{}` is `{}`; expected one of `{}`", info.name, row_.name,
          value->AsString(), fmt::join(info.choices, "`, `"));
  } else if (info.range != AttributeRange::kAny) {
    const bool is_list = value->IsList();
    const bool is_double = info.kind == AttributeKind::kDouble || info.kind == AttributeKind::kDoubles;
    for (double number : Numbers(*value, info.kind)) {
      if (info.range == AttributeRange::kPositive ? number > 0 : number >= 0) continue;
      Error(kOpsetAttributeValue, "`{}` of `{}` {} {}; expected {}", info.name, row_.name,
            is_list ? "has the item" : "is", number,
            info.range == AttributeRange::kNonNegative ? "at least 0"
            : is_double                                ? "more than 0"
                                                       : "at least 1");
      return;
    }
  }
}

ElementType OpContext::Type(std::string_view name) const {
  const auto* type = attribute(name).get<ElementType>();
  NNEFC_CHECK(type != nullptr);
  return *type;
}

std::optional<std::vector<int64_t>> OpContext::Integers(int32_t index) {
  const std::optional<TensorValue>& value = Value(index);
  if (!value || !IsInteger(value->type())) return std::nullopt;
  if (value->volume() > kLongestList) {
    Error(kOpsetConstantInput, "{} has {} items; expected at most {}", InputName(index), value->volume(),
          kLongestList);
    return std::nullopt;
  }
  std::vector<int64_t> items;
  items.reserve(static_cast<size_t>(value->volume()));
  for (int64_t i = 0; i < value->volume(); ++i) items.push_back(value->ElementAsInt(i));
  return items;
}

size_t OpContext::Entry(int32_t index) const {
  return std::min(static_cast<size_t>(index), row_.inputs.size() - 1);
}

std::string OpContext::InputName(int32_t index) const {
  const InputInfo& info = row_.inputs[Entry(index)];
  if (!info.variadic) return fmt::format("`{}` of `{}`", info.name, row_.name);
  const size_t item = static_cast<size_t>(index) + 1 - row_.inputs.size();
  return fmt::format("`{}[{}]` of `{}`", info.name, item, row_.name);
}

void OpContext::Set(int32_t index, ElementType type, PartialShape shape) {
  if (index < node().num_outputs()) context_.SetOutput(index, type, std::move(shape));
}

void OpContext::SetValue(int32_t index, TensorValue value) {
  if (index < node().num_outputs()) context_.SetOutputValue(index, std::move(value));
}

ElementType OpContext::CommonType(int32_t first, int32_t last) {
  ElementType common = ElementType::kDynamic;
  for (int32_t i = first; i < last; ++i) {
    if (type(i) == ElementType::kDynamic) continue;
    if (common == ElementType::kDynamic) common = type(i);
    if (common == type(i)) continue;
    Error(kOpsetElementType, "{} has the element type {}; expected {} as before it", InputName(i),
          Name(type(i)), Name(common));
    return ElementType::kDynamic;
  }
  return common;
}

std::optional<int64_t> OpContext::NormalizeAxis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) {
    Error(kOpsetAxis, "axis {} of `{}` is outside a tensor of rank {}", axis, row_.name, rank);
    return std::nullopt;
  }
  return axis < 0 ? axis + rank : axis;
}

std::optional<std::vector<int64_t>> OpContext::NormalizeAxes(std::vector<int64_t> axes, int64_t rank) {
  std::vector<bool> seen(static_cast<size_t>(std::max<int64_t>(rank, 0)), false);
  for (int64_t& axis : axes) {
    const std::optional<int64_t> normal = NormalizeAxis(axis, rank);
    if (!normal) return std::nullopt;
    axis = *normal;
    if (seen[static_cast<size_t>(axis)]) {
      Error(kOpsetAxis, "axis {} of `{}` is given twice", axis, row_.name);
      return std::nullopt;
    }
    seen[static_cast<size_t>(axis)] = true;
  }
  return axes;
}

bool OpContext::CheckRank(int32_t index, int64_t lowest, int64_t highest) {
  if (!shape(index).rank_known()) return true;
  const int64_t rank = shape(index).rank();
  if (rank >= lowest && rank <= highest) return true;
  Error(kOpsetRank, "{} has rank {}; expected {}", InputName(index), rank, Ranks(lowest, highest));
  return false;
}

std::optional<PartialShape> OpContext::BroadcastShapes(const PartialShape& a, const PartialShape& b) const {
  const std::string rule = String("auto_broadcast");
  if (rule == "none") return Merge(a, b);
  return rule == "pdpd" ? BroadcastPdpd(a, b, Int(kPdpdAxis)) : BroadcastNumpy(a, b);
}

std::optional<PartialShape> OpContext::Broadcast(int32_t a, int32_t b) {
  const std::optional<PartialShape> result = BroadcastShapes(shape(a), shape(b));
  if (!result) {
    Error(kOpsetBroadcast, "{} has the shape {}, which does not broadcast with {} ({})", InputName(b),
          ToString(shape(b)), ToString(shape(a)), String("auto_broadcast"));
  }
  return result;
}

void InferChecked(InferContext& context, OpInferFunction function) {
  OpContext op(context);
  if (op.CheckSchema()) function(op);
}

}  // namespace nnefc::ir::ops::opset
