// Checks of a node's inputs and attributes against the row of its operation.

#include "compiler/ir/ops/arguments.h"
#include <utility>

#include "compiler/ir/wording.h"
#include "compiler/support/diagnostics/suggest.h"
#include "fmt/ranges.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::ir::ops {

namespace {

std::string_view KindName(AttributeKind kind, bool provisional) {
  switch (kind) {
    case AttributeKind::kInt:
      return provisional ? "extent" : "integer";
    case AttributeKind::kDouble:
      return "scalar";
    case AttributeKind::kBool:
      return "logical";
    case AttributeKind::kString:
      return "string";
    case AttributeKind::kInts:
      return provisional ? "extent[]" : "integer[]";
    case AttributeKind::kPairs:
      return provisional ? "(extent,extent)[]" : "(integer,integer)[]";
    default:
      return "array";
  }
}

// Returns the type name in the document's dialect: provisional integers are coordinates.
std::string_view ActualType(const InferContext& context, ElementType type) {
  return IsInteger(type) && IsProvisional(context.node()) ? "coordinate" : DataTypeName(type);
}

std::string_view TypeName(const InferContext& context, TypeClass types) {
  switch (types) {
    case TypeClass::kFloat:
      return "scalar";
    case TypeClass::kInteger:
      return ActualType(context, ElementType::kI64);
    case TypeClass::kBoolean:
      return "logical";
    default:
      return "any type";
  }
}

bool CheckArity(InferContext& context) {
  const Node& node = context.node();
  const auto& inputs = node.info().inputs;
  size_t num_expected = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const size_t count = node.segment(static_cast<int32_t>(i)).size();
    num_expected += count;
    if (inputs[i].variadic || count == 1 || (count == 0 && inputs[i].optional)) continue;
    context.Error(kArity, "{} is given {} tensors; expected one", Describe(context, inputs[i].name), count);
    return false;
  }
  if (num_expected == node.inputs().size()) return true;
  context.Error(kArity, "`{}` has {} inputs; expected {}", OperationName(node), node.inputs().size(),
                num_expected);
  return false;
}

bool CheckInputTypes(InferContext& context) {
  const std::vector<InputInfo>& inputs = context.node().info().inputs;
  std::string_view generic;
  for (size_t parameter = 0; parameter < inputs.size(); ++parameter) {
    const llvm::ArrayRef<const Output*> items = context.segment(static_cast<int32_t>(parameter));
    for (size_t i = 0; i < items.size(); ++i) {
      const std::string_view actual = ActualType(context, items[i]->type);
      if (!Accepts(inputs[parameter].types, items[i]->type)) {
        context.Error(kInputType, "{} is of type {}; expected {}",
                      Describe(context, static_cast<int32_t>(parameter), i), actual,
                      TypeName(context, inputs[parameter].types));
        return false;
      }
      if (!inputs[parameter].generic) continue;
      if (generic.empty()) generic = actual;
      if (generic == actual) continue;
      context.Error(kInputTypesDiffer, "{} is of type {}; the inputs before it are of type {}",
                    Describe(context, static_cast<int32_t>(parameter), i), actual, generic);
      return false;
    }
  }
  return true;
}

bool CheckAttribute(InferContext& context, const AttributeInfo& info) {
  const Attribute* attribute = context.FindAttribute(info.name);
  if (attribute == nullptr) {
    context.Error(kMissingAttribute, "`{}` has no attribute `{}`", OperationName(context.node()), info.name);
    return false;
  }
  // The shape of an `external` with extents that are known at run time.
  const bool is_open = attribute->get<PartialShape>() != nullptr && context.node().Is(OpRole::kExternal);
  // An integer is not a scalar.
  const bool is_integer = info.kind == AttributeKind::kDouble && attribute->get<int64_t>() != nullptr;
  if (is_open || (HasKind(*attribute, info.kind) && !is_integer)) return true;
  context.Error(kAttributeKind, "{} is not of type {}", Describe(context, info.name),
                KindName(info.kind, IsProvisional(context.node())));
  return false;
}

// Returns the axis that other frameworks count from the end.
std::string FromTheEnd(int64_t axis, int64_t rank) {
  return axis < 0 && axis >= -rank ? fmt::format("{}", axis + rank) : "";
}

// Returns the choice that other frameworks call `value`, or that `value` misspells.
std::string_view IntendedChoice(std::string_view value, llvm::ArrayRef<std::string_view> choices) {
  constexpr std::pair<std::string_view, std::string_view> kForeign[] = {
      {"zero", "constant"},         {"zeros", "constant"},         {"edge", "replicate"},
      {"border", "replicate"},      {"nearest", "replicate"},      {"mirror", "reflect"},
      {"reflection", "reflect"},    {"symmetric", "reflect-even"}, {"half_pixel", "symmetric"},
      {"align_corners", "aligned"},
  };
  for (const auto& [theirs, ours] : kForeign) {
    if (value == theirs && llvm::is_contained(choices, ours)) return ours;
  }
  Suggestion suggestion(value);
  for (std::string_view choice : choices) suggestion.Offer(choice);
  return suggestion.is_typo() ? suggestion.best() : std::string_view();
}

}  // namespace

void CheckArguments(InferContext& context) {
  const Node& node = context.node();
  if (!CheckArity(context) || !CheckInputTypes(context)) return;
  for (const AttributeInfo& info : node.info().attributes) {
    if (!CheckAttribute(context, info)) return;
  }
  const std::vector<std::string>& outputs = node.info().outputs;
  if (outputs.back().ends_with("[]") || node.outputs().size() == outputs.size()) return;
  context.Error(kArity, "`{}` has {} results; expected {}", OperationName(node), node.num_outputs(),
                outputs.size());
}

std::string_view DataTypeName(ElementType type) {
  if (IsFloat(type)) return "scalar";
  if (IsInteger(type)) return "integer";
  if (type == ElementType::kBoolean) return "logical";
  if (type == ElementType::kString) return "string";
  return Name(type);
}

std::optional<ElementType> DataTypeAttribute(InferContext& context) {
  const Attribute* attribute = context.FindAttribute("dtype");
  const std::string* name = attribute == nullptr ? nullptr : attribute->get<std::string>();
  if (name == nullptr) {
    context.Error(kMissingAttribute, "`{}` has no attribute `dtype`", OperationName(context.node()));
    return std::nullopt;
  }
  if (*name == "scalar") return ElementType::kF32;
  if (*name == "integer") return ElementType::kI64;
  if (*name == "logical") return ElementType::kBoolean;
  if (*name == "string") return ElementType::kString;
  context.Error(kDataType, "`{}` is not a data type that `{}` can have", *name,
                OperationName(context.node()));
  return std::nullopt;
}

const Output* FindInput(const InferContext& context, int32_t parameter) {
  const llvm::ArrayRef<const Output*> items = context.segment(parameter);
  return items.empty() ? nullptr : items.front();
}

Argument Describe(const InferContext& context, int32_t parameter) {
  return Describe(context, parameter, 0);
}

Argument Describe(const InferContext& context, int32_t parameter, size_t item) {
  const InputInfo& info = context.node().info().inputs[static_cast<size_t>(parameter)];
  if (info.variadic) return Describe(context, info.name, item);
  return Describe(context, info.name);
}

Argument Describe(const InferContext& context, std::string_view name) {
  return {.name = ArgumentName(context.node(), name), .operation = OperationName(context.node())};
}

Argument Describe(const InferContext& context, std::string_view name, size_t item) {
  const auto index = static_cast<int64_t>(item);
  return {.name = ArgumentName(context.node(), name),
          .operation = OperationName(context.node()),
          .item = index,
          .place = index};
}

bool CheckChoice(InferContext& context, const Rule& rule, std::string_view name,
                 llvm::ArrayRef<std::string_view> choices) {
  const std::string& value = context.attribute(name).AsString();
  if (llvm::is_contained(choices, value)) return true;
  const std::string_view meant = IntendedChoice(value, choices);
  const std::string list =
      choices.size() == 1
          ? fmt::format("'{}'", choices.front())
          : fmt::format("'{}' or '{}'", fmt::join(choices.drop_back(), "', '"), choices.back());
  context.ErrorWithFix(meant.empty() ? "" : fmt::format("'{}'", meant), rule, "{} is '{}'; expected {}",
                       Describe(context, name), value, list);
  return false;
}

void Produce(InferContext& context, int32_t index, ElementType type, PartialShape shape) {
  if (shape.known() && !shape.volume()) {
    context.Error(kShapeOverflow, "the result of `{}` would have shape {}: too many elements",
                  OperationName(context.node()), ToString(shape));
    return;
  }
  context.SetOutput(index, type, std::move(shape));
}

void ProduceLikeInput(InferContext& context) {
  Produce(context, 0, context.input(0).type, context.input(0).shape);
}

namespace {

// Checks the range of an axis. The provisional dialect implies trailing axes, so it has no upper bound.
bool CheckAxisRange(InferContext& context, const Argument& argument, int64_t axis, int64_t rank) {
  if (axis >= 0 && axis < rank) return true;
  const std::string bound = IsProvisional(context.node()) ? "" : fmt::format(" and less than {}", rank);
  context.ErrorWithFix(FromTheEnd(axis, rank), kAxisRange, "{} is {}; expected at least 0{}", argument, axis,
                       bound);
  return false;
}

}  // namespace

bool CheckAxis(InferContext& context, std::string_view name, int64_t axis, int64_t rank) {
  return CheckAxisRange(context, Describe(context, name), axis, rank);
}

bool CheckAxes(InferContext& context, std::string_view name, llvm::ArrayRef<int64_t> axes, int64_t rank) {
  llvm::DenseSet<int64_t> distinct;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!CheckAxisRange(context, Describe(context, name, i), axes[i], rank)) return false;
    if (!distinct.insert(axes[i]).second) {
      context.Error(kAxisRepeated, "{} lists {} twice", Describe(context, name).At(i), axes[i]);
      return false;
    }
  }
  return true;
}

}  // namespace nnefc::ir::ops
