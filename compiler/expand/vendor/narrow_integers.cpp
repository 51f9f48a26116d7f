// Integers of 8, 16 and 32 bits in documents for tract.

#include "compiler/expand/vendor/narrow_integers.h"

#include "compiler/expand/generics.h"

namespace nnefc::expand::vendor {

using semantics::TypeKind;

namespace {

// The smallest and the largest integer of a type.
struct IntegerRange {
  int64_t min, max;
};

IntegerRange IntegerRangeOf(ElementType type) {
  const int64_t count = int64_t{1} << BitWidth(type);
  return IsSigned(type) ? IntegerRange{-count / 2, count / 2 - 1} : IntegerRange{0, count - 1};
}

bool IsWithin(ElementType type, ElementType wider) {
  if (wider == ElementType::kI64 || type == wider) return true;
  if (type == ElementType::kI64) return false;
  const IntegerRange inner = IntegerRangeOf(type), outer = IntegerRangeOf(wider);
  return inner.min >= outer.min && inner.max <= outer.max;
}

// Records the type of a new tensor.
Value Marked(const Value& tensor, ElementType type, build::GraphBuilder& builder) {
  if (!tensor.poison()) builder.widths().Set(tensor.port(), type);
  return tensor;
}

Value Reduced(const Value& tensor, ElementType type, const Site& site, build::GraphBuilder& builder) {
  const Value name = Value::String(builder.heap(), std::string(Name(type)), false);
  return Marked(builder.MakeRatified("tract_core_to_width", {tensor, name}, site), type, builder);
}

// Returns the type of all tensors of integers among the arguments that determine the type of the result; i64
// if they differ.
ElementType CommonType(const OpPlan& plan, llvm::ArrayRef<Value> given, build::GraphBuilder& builder) {
  std::optional<ElementType> common;
  for (size_t i = 0; i < plan.parameters.size(); ++i) {
    const OpPlan::Parameter& parameter = plan.parameters[i];
    if (!parameter.is_tensor) continue;
    if (plan.signature->is_generic && !plan.document->types().ContainsGeneric(parameter.type)) continue;
    llvm::ArrayRef<Value> values = given[i];
    if (given[i].kind() == ValueKind::kArray) values = given[i].items();
    for (const Value& value : values) {
      if (value.kind() != ValueKind::kTensor) continue;
      if (!IsInteger(builder.graph().output(value.port()).type)) continue;
      const ElementType type = builder.widths().Find(value.port());
      if (!common || IsWithin(*common, type)) {
        common = type;
      } else if (!IsWithin(type, *common)) {
        return ElementType::kI64;
      }
    }
  }
  return common.value_or(ElementType::kI64);
}

}  // namespace

ElementType IntegersOf(std::string_view data_type) {
  const std::optional<ElementType> type = ParseElementType(data_type);
  const bool is_narrow = type && IsInteger(*type) && BitWidth(*type) >= 8 && BitWidth(*type) < 64;
  return is_narrow && Name(*type) == data_type ? *type : ElementType::kI64;
}

std::optional<Value> ReplaceOfWidth(const OpPlan&, llvm::ArrayRef<Value> arguments, const Site&,
                                    build::GraphBuilder& builder) {
  if (arguments[0].kind() != ValueKind::kTensor) return arguments[0];
  return Marked(arguments[0], IntegersOf(arguments[1].text()), builder);
}

namespace {

Value ToWidth(const Value& integers, ElementType type, const Site& site, build::GraphBuilder& builder) {
  if (integers.kind() != ValueKind::kTensor) return integers;
  const ElementType actual = builder.widths().Find(integers.port());
  if (actual == type && type == ElementType::kI64) return integers;
  const ir::Node& producer = builder.graph().node(integers.port().node);
  const ir::OpId conversion = builder.RatifiedPlan("tract_core_to_integer").op;
  if (type != ElementType::kI64 && producer.op() == conversion &&
      IsFloat(builder.graph().output(producer.inputs()[0]).type)) {
    // Converts the floats that the type has.
    const IntegerRange range = IntegerRangeOf(type);
    const Value clamped = builder.MakeRatified(
        "clamp",
        {Value::Tensor(producer.inputs()[0]), Value::Scalar(static_cast<double>(range.min)),
         Value::Scalar(static_cast<double>(range.max))},
        site);
    if (clamped.poison()) return clamped;
    const Value converted = builder.MakeRatified("tract_core_to_integer", {clamped}, site);
    return Marked(converted, type, builder);
  }
  if (IsWithin(actual, type)) {
    Site copy = site;
    copy.generic = TypeKind::kInteger;
    return Marked(builder.MakeRatified("copy", {integers}, copy), type, builder);
  }
  return Reduced(integers, type, site, builder);
}

}  // namespace

std::optional<Value> ReplaceToWidth(const OpPlan&, llvm::ArrayRef<Value> arguments, const Site& site,
                                    build::GraphBuilder& builder) {
  const std::string_view name = arguments[1].kind() == ValueKind::kString ? arguments[1].text() : "";
  const ElementType type = IntegersOf(name);
  // Inference reports other names.
  if (type == ElementType::kI64 && name != "i64" && name != "u64" && name != "tdim") return std::nullopt;
  return ToWidth(arguments[0], type, site, builder);
}

std::optional<Value> ReplaceToWidthOf(const OpPlan&, llvm::ArrayRef<Value> arguments, const Site& site,
                                      build::GraphBuilder& builder) {
  const bool is_tensor = arguments[1].kind() == ValueKind::kTensor;
  return ToWidth(arguments[0], is_tensor ? builder.widths().Find(arguments[1].port()) : ElementType::kI64,
                 site, builder);
}

Value KeepWidth(const OpPlan& plan, llvm::ArrayRef<Value> given, const Value& result, const Site& site,
                build::GraphBuilder& builder) {
  if (plan.is_custom) return result;
  const ir::NarrowIntegers narrow = builder.registry().Info(plan.op).narrow;
  if (narrow == ir::NarrowIntegers::kReplaced) return result;
  if (plan.role == ir::OpRole::kVariable) {
    const auto& data_of = builder.settings().options.variable_data;
    const Value& label = given[static_cast<size_t>(plan.Find("label"))];
    const bool has_integers = result.kind() == ValueKind::kTensor && label.kind() == ValueKind::kString &&
                              IsInteger(builder.graph().output(result.port()).type);
    if (!has_integers || !data_of) return result;
    const std::optional<TensorValue> data = data_of(std::string(label.text()), ElementType::kDynamic);
    const bool is_narrow =
        data && data->valid() && IsInteger(data->type()) && data->type() != ElementType::kU64;
    return is_narrow ? Marked(result, data->type(), builder) : result;
  }
  const ElementType type = CommonType(plan, given, builder);
  if (type == ElementType::kI64) return result;
  if (result.sequence()) {
    for (const Value& item : result.items()) {
      if (item.kind() == ValueKind::kTensor && plan.signature->is_generic)
        builder.widths().Set(item.port(), type);
    }
    return result;
  }
  if (result.kind() != ValueKind::kTensor || !IsInteger(builder.graph().output(result.port()).type))
    return result;
  return narrow == ir::NarrowIntegers::kReduced ? Reduced(result, type, site, builder)
                                                : Marked(result, type, builder);
}

}  // namespace nnefc::expand::vendor
