// Operations of lenient documents that a constant or another value replaces.

#include "compiler/expand/vendor/replacements.h"

#include <array>
#include <cmath>

#include "compiler/expand/generics.h"
#include "compiler/expand/rules.h"
#include "compiler/expand/vendor/fold_values.h"
#include "compiler/expand/vendor/lenient_arguments.h"
#include "compiler/expand/vendor/narrow_integers.h"
#include "compiler/expand/vendor/products.h"
#include "compiler/ir/interval.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::expand::vendor {
namespace {

bool IsNumber(const Value& value) {
  return value.kind() == ValueKind::kInteger || value.kind() == ValueKind::kScalar;
}

// Removes a cast to the tensor's own type.
template <bool kToInteger>
std::optional<Value> ReplaceCast(const OpPlan&, llvm::ArrayRef<Value> arguments, const Site& site,
                                 build::GraphBuilder& builder) {
  const semantics::TypeKind wanted = kToInteger ? semantics::TypeKind::kInteger : site.generic;
  // A cast of quantized values dequantizes, so it is not removed.
  const bool is_same = arguments[0].kind() == ValueKind::kTensor &&
                       builder.settings().options.quantized.empty() &&
                       ElementKind(arguments[0], builder.graph()) == wanted;
  return is_same ? std::optional<Value>(arguments[0]) : std::nullopt;
}

// A numeric mask is added unchanged.
std::optional<Value> ReplaceMask(const OpPlan&, llvm::ArrayRef<Value> arguments, const Site&,
                                 build::GraphBuilder& builder) {
  const bool is_logical = ElementKind(arguments[0], builder.graph()) == semantics::TypeKind::kLogical;
  return is_logical ? std::nullopt : std::optional<Value>(arguments[0]);
}

// Returns the item of a tensor of one element that is known; other values unchanged.
Value ItemOf(const Value& value, build::GraphBuilder& builder) {
  if (value.kind() != ValueKind::kTensor) return builder.symbols().ValueOf(value);
  const std::optional<TensorValue> known = builder.KnownTensor(value.port());
  if (!known || known->volume() != 1) return value;
  Value item = FromTensor(*known, builder.heap());
  while (item.kind() == ValueKind::kArray) item = Value(item.item(0));
  return item;
}

// Returns the operation for a `k` that data of a run determine.
std::optional<Value> ReplaceTopK(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site,
                                 build::GraphBuilder& builder) {
  if (arguments[static_cast<size_t>(plan.Find("k"))].kind() != ValueKind::kTensor) return std::nullopt;
  return builder.MakeRatified("tract_core_topk_by", arguments, site);
}

// Returns a constant with the numbers from `start` (inclusive) to `end` (exclusive) in steps of `step`, or
// nothing if data of a run determine them.
std::optional<Value> ReplaceRange(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site,
                                  build::GraphBuilder& builder) {
  const auto fail = [&](const Fault& fault) {
    builder.Report(fault, plan, site);
    return Value();
  };
  std::array<Value, 3> bounds;  // start, end, step
  for (size_t i = 0; i < bounds.size(); ++i) {
    bounds[i] = ItemOf(arguments[i], builder);
    if (bounds[i].kind() == ValueKind::kTensor) return std::nullopt;
    const std::string& name = plan.parameters[i].name;
    if (!IsNumber(bounds[i])) {
      return fail(
          WrongValue(bounds[i], fmt::format("`{}` of `{}` is {}; expected a number known during compilation",
                                            name, plan.called, KindText(bounds[i])))
              .At(name));
    }
  }
  const bool is_whole =
      llvm::all_of(bounds, [](const Value& bound) { return bound.kind() == ValueKind::kInteger; });
  const auto number = [&](size_t i) {
    const bool is_integer = bounds[i].kind() == ValueKind::kInteger;
    return is_integer ? static_cast<double>(bounds[i].integer()) : bounds[i].scalar();
  };
  // The printed form of a constant without elements.
  if (is_whole && bounds[0].integer() == 0 && bounds[1].integer() == 0) return std::nullopt;
  // Scalars are f32: from 0.0 to 0.3 in steps of 0.1 there are 4.
  const auto narrow = [&](size_t i) { return static_cast<double>(static_cast<float>(number(i))); };
  const double start = number(0), step = number(2);
  if ((is_whole ? step : narrow(2)) == 0)
    return fail(Fault::Of(kDivisionByZero, "`step` of `{}` is 0", plan.called).At(plan.parameters[2].name));
  const double count =
      is_whole ? std::ceil(static_cast<double>(ir::Wide{bounds[1].integer()} - bounds[0].integer()) / step)
               : std::ceil((narrow(1) - narrow(0)) / narrow(2));
  if (!(count >= 1 && count < 0x1p53)) {
    return fail(Fault::Of(kValueType, "`{}` from {} to {} in steps of {} makes {} numbers", plan.called,
                          start, number(1), step, count < 1 ? "no" : "too many"));
  }
  Fault fault;
  if (!builder.heap().Reserve(static_cast<int64_t>(count), fault)) return fail(fault);
  std::vector<Value> items;
  for (int64_t i = 0; i < static_cast<int64_t>(count); ++i) {
    items.push_back(is_whole ? Value::Integer(static_cast<int64_t>(bounds[0].integer() +
                                                                   ir::Wide{i} * bounds[2].integer()))
                             : Value::Scalar(start + static_cast<double>(i) * step));
  }
  return MakeConstant(Value::Array(builder.heap(), std::move(items)),
                      is_whole ? semantics::TypeKind::kInteger : semantics::TypeKind::kScalar, site, builder);
}

// Replaces a variable without elements: tract's writer stores empty constants as variables.
std::optional<Value> ReplaceVariable(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site,
                                     build::GraphBuilder& builder) {
  const Value& shape = arguments[static_cast<size_t>(plan.Find("shape"))];
  if (!builder.settings().dialect.vendor_meanings || shape.kind() != ValueKind::kArray) return std::nullopt;
  const auto is_extent = [](const Value& item) {
    return item.kind() == ValueKind::kInteger && item.integer() >= 0;
  };
  const auto is_zero = [](const Value& item) { return item.integer() == 0; };
  if (!llvm::all_of(shape.items(), is_extent) || llvm::none_of(shape.items(), is_zero)) return std::nullopt;
  Site typed = site;  // with the default type of `variable` where none is written
  if (typed.generic == semantics::TypeKind::kError)
    typed.generic = DeduceGeneric(*plan.document, *plan.signature, arguments, builder.graph());
  const Value empty = MakeConstant(Value::Array(builder.heap(), {}), typed.generic, typed, builder);
  const Value extents = MakeConstant(shape, semantics::TypeKind::kInteger, typed, builder);
  if (empty.poison() || extents.poison()) return Value();
  const bool is_integer = typed.generic == semantics::TypeKind::kInteger;
  const Value converted = is_integer ? empty : builder.MakeRatified("cast", {empty}, typed);
  return converted.poison() ? converted
                            : builder.MakeRatified("tract_core_reshape_by", {converted, extents}, typed);
}

}  // namespace

std::optional<Value> ReplaceOperation(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site,
                                      build::GraphBuilder& builder) {
  using Replace =
      std::optional<Value> (*)(const OpPlan&, llvm::ArrayRef<Value>, const Site&, build::GraphBuilder&);
  static const ir::OpTable<Replace> table(ir::StandardOps(), ir::kNnefSet,
                                          {{"cast", ReplaceCast<false>},
                                           {"tract_core_to_integer", ReplaceCast<true>},
                                           {"tract_core_range", ReplaceRange},
                                           {"tract_core_of_width", ReplaceOfWidth},
                                           {"tract_core_to_width", ReplaceToWidth},
                                           {"tract_core_to_width_of", ReplaceToWidthOf},
                                           {"tract_core_aligned", ReplaceAligned},
                                           {"tract_core_products", ReplaceProducts},
                                           {"tract_core_matmul", ReplaceMatmul},
                                           {"tract_core_topk", ReplaceTopK},
                                           {"variable", ReplaceVariable},
                                           {"tract_transformers_added_mask", ReplaceMask}});
  const Replace* replace = table.Find(plan.op);
  return replace == nullptr ? std::nullopt : (*replace)(plan, arguments, site, builder);
}

}  // namespace nnefc::expand::vendor
