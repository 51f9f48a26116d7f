// Integers of 8, 16 and 32 bits in documents for tract.

#include "compiler/expand/vendor/narrow_integers.h"

#include <vector>

#include "compiler/expand/generics.h"
#include "compiler/expand/vendor/hooks.h"
#include "compiler/expand/vendor/lenient_arguments.h"

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

// Makes an operation that the document may invoke with integers.
Value MakeIntegers(std::string_view name, std::vector<Value> arguments, const Site& site,
                   build::GraphBuilder& builder) {
  return MakeLeniently(builder.RatifiedPlan(name), arguments, site, builder);
}

Value ToWidth(const Value& integers, ElementType type, const Site& site, build::GraphBuilder& builder) {
  if (integers.kind() != ValueKind::kTensor) return integers;
  const ElementType actual = builder.widths().Find(integers.port());
  if (actual == type && type == ElementType::kI64) return integers;
  const ir::Node& producer = builder.graph().node(integers.port().node);
  const ir::OpId conversion = builder.RatifiedPlan("tract_core_to_integer").op;
  if (type != ElementType::kI64 && producer.op() == conversion &&
      IsFloat(builder.graph().output(producer.inputs()[0]).type)) {
    // Converts the floats that the type has; NaN becomes 0.
    const IntegerRange range = IntegerRangeOf(type);
    const Value floats = Value::Tensor(producer.inputs()[0]);
    const Value is_number = builder.MakeRatified("eq", {floats, floats}, site);
    if (is_number.poison()) return is_number;
    const Value numbers = builder.MakeRatified("select", {is_number, floats, Value::Scalar(0)}, site);
    if (numbers.poison()) return numbers;
    const Value clamped = builder.MakeRatified("clamp",
                                               {numbers, Value::Scalar(static_cast<double>(range.min)),
                                                Value::Scalar(static_cast<double>(range.max))},
                                               site);
    if (clamped.poison()) return clamped;
    Value converted = builder.MakeRatified("tract_core_to_integer", {clamped}, site);
    // As an f32, the largest integer of 32 bits is rounded up.
    if (BitWidth(type) == 32 && !converted.poison())
      converted = MakeIntegers("min", {converted, Value::Integer(range.max)}, site, builder);
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

namespace {

// Returns the tensor that an operation squares, if any.
std::optional<Value> SquaredBy(const OpPlan& plan, llvm::ArrayRef<Value> given,
                               build::GraphBuilder& builder) {
  if (given.empty() || given[0].kind() != ValueKind::kTensor) return std::nullopt;
  if (plan.op == builder.RatifiedPlan("sqr").op) return given[0];
  if (given.size() < 2) return std::nullopt;
  const Value& second = given[1];
  const bool is_product = plan.op == builder.RatifiedPlan("mul").op && second.kind() == ValueKind::kTensor &&
                          second.port() == given[0].port();
  const bool is_power = plan.op == builder.RatifiedPlan("pow").op &&
                        ((second.kind() == ValueKind::kScalar && second.scalar() == 2) ||
                         (second.kind() == ValueKind::kInteger && second.integer() == 2));
  return is_product || is_power ? std::optional<Value>(given[0]) : std::nullopt;
}

// Returns squares as tract computes them for integers of 8 and 32 bits: in f32, saturated.
Value SaturatedSquare(const Value& x, ElementType type, const Site& site, build::GraphBuilder& builder) {
  Site floats = site;
  floats.generic = TypeKind::kScalar;
  const Value numbers = CastTensor(x, TypeKind::kScalar, site, builder);
  if (numbers.poison()) return numbers;
  const Value squares = builder.MakeRatified("sqr", {numbers}, floats);
  if (squares.poison()) return squares;
  const Value integers = builder.MakeRatified("tract_core_to_integer", {squares}, site);
  return integers.poison() ? integers : ToWidth(integers, type, site, builder);
}

// Returns sums as tract computes them for integers of 8 and 16 bits: saturated.
Value SaturatedSum(const Value& sums, ElementType type, const Site& site, build::GraphBuilder& builder) {
  const IntegerRange range = IntegerRangeOf(type);
  const Value numbers = CastTensor(sums, TypeKind::kScalar, site, builder);
  if (numbers.poison()) return numbers;
  const Value clamped = builder.MakeRatified(
      "clamp",
      {numbers, Value::Scalar(static_cast<double>(range.min)), Value::Scalar(static_cast<double>(range.max))},
      site);
  if (clamped.poison()) return clamped;
  return Marked(builder.MakeRatified("tract_core_to_integer", {clamped}, site), type, builder);
}

}  // namespace

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
  const bool saturates = type == ElementType::kI8 || type == ElementType::kU8 || type == ElementType::kI32;
  if (const std::optional<Value> squared = saturates ? SquaredBy(plan, given, builder) : std::nullopt)
    return SaturatedSquare(*squared, type, site, builder);
  if (result.kind() != ValueKind::kTensor || !IsInteger(builder.graph().output(result.port()).type))
    return result;
  if (plan.op == builder.RatifiedPlan("sum_reduce").op && BitWidth(type) < 32)
    return SaturatedSum(result, type, site, builder);
  return narrow == ir::NarrowIntegers::kReduced ? Reduced(result, type, site, builder)
                                                : Marked(result, type, builder);
}

}  // namespace nnefc::expand::vendor
