// Provisional operations: their conversion to ratified ones, or expansion of their bodies where the meanings
// differ.

#include "compiler/expand/provisional/arguments.h"

#include <algorithm>
#include <optional>

#include "compiler/expand/generics.h"
#include "compiler/expand/provisional/windows.h"
#include "compiler/expand/provisional_names.h"
#include "compiler/expand/rules.h"
#include "compiler/support/tensor/trailing_ones.h"

namespace nnefc::expand::provisional {
namespace {

// Pooling indices are coordinates in this dialect, numbers in the ratified one: for printing, only sampling
// may use them (P 4.3.3).
bool CheckPrintable(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const ir::Graph& graph,
                    Fault& fault) {
  for (size_t i = 0; i < plan.parameters.size(); ++i) {
    const OpPlan::Parameter& parameter = plan.parameters[i];
    if (!parameter.is_tensor || arguments[i].primitive()) continue;
    if (ElementKind(arguments[i], graph) != semantics::TypeKind::kInteger) continue;
    if (parameter.name == "index" || plan.name == "copy_n") continue;
    fault =
        Fault::Of(
            kCoordinate,
            "`{}` of `{}` holds coordinates, which have a ratified form only as the `index` of `sample` and "
            "`desample`",
            parameter.called, plan.called)
            .At(parameter.name);
    return false;
  }
  return true;
}

// Checks restrictions that only this dialect has.
bool CheckRanges(Adapter& adapter, const OpPlan& plan, Fault& fault) {
  if (plan.name == "copy") {
    const Value& x = *adapter.Find("x");
    const semantics::TypeKind kind = ElementKind(x, adapter.builder().graph());
    if (kind == semantics::TypeKind::kLogical || kind == semantics::TypeKind::kInteger) {
      fault = Fault::Of(kProvisionalArgument, "`x` of `{}` is of type {}; expected scalar", plan.called,
                        kind == semantics::TypeKind::kLogical ? "logical" : "coordinate")
                  .At("x");
      return false;
    }
  }
  const Value* groups = adapter.Find("groups");
  if (groups != nullptr && groups->kind() == ValueKind::kInteger && groups->integer() <= 0 &&
      !adapter.IsDefault("groups")) {
    fault = Fault::Of(kProvisionalArgument, "`groups` of `{}` is {}; expected a positive number", plan.called,
                      groups->integer())
                .At("groups");
    return false;
  }
  const Value* padding = adapter.Find("padding");
  if (padding == nullptr || padding->kind() != ValueKind::kArray) return true;
  for (int64_t i = 0; i < padding->length(); ++i) {
    for (const Value& item : padding->item(i).items()) {
      if (item.kind() != ValueKind::kInteger || item.integer() >= 0) continue;
      fault = Fault::Of(kProvisionalArgument, "an item of `padding` of `{}` is {}; expected none below 0",
                        plan.called, item.integer())
                  .At("padding", i);
      return false;
    }
  }
  return true;
}

bool AdaptFactor(Adapter& adapter) {
  std::optional<std::vector<int64_t>> factor = adapter.Integers("factor");
  Value& input = *adapter.Find("input");
  int64_t rank = adapter.Rank(input);
  if (!factor || rank < 0) return true;
  factor->resize(WithoutTrailingOnes(*factor).size());
  rank = std::max({rank, static_cast<int64_t>(factor->size()) + 2, int64_t{2}});
  if (rank > Adapter::kMaxRank) return true;
  factor->resize(static_cast<size_t>(rank - 2), 1);
  adapter.Set("factor", *factor);
  return adapter.Raise(input, rank);
}

// Raises an operand to the largest axis in a list.
bool RaiseToAxis(Adapter& adapter, Value& input, int64_t axis) {
  return axis < 0 || axis >= Adapter::kMaxRank || adapter.Raise(input, axis + 1);
}

bool AdaptAxes(Adapter& adapter) {
  std::optional<std::vector<int64_t>> axes = adapter.Integers("axes");
  Value* input = adapter.Find("input") != nullptr ? adapter.Find("input") : adapter.Find("x");
  if (!axes || axes->empty()) return true;
  return RaiseToAxis(adapter, *input, *std::max_element(axes->begin(), axes->end()));
}

bool AdaptPerm(Adapter& adapter) {
  const Value& perm = *adapter.Find("axes");
  return RaiseToAxis(adapter, *adapter.Find("input"), perm.length() - 1);
}

bool AdaptConcat(Adapter& adapter, Heap& heap) {
  Value& values = *adapter.Find("values");
  const Value& axis = *adapter.Find("axis");
  if (values.kind() != ValueKind::kArray || axis.kind() != ValueKind::kInteger) return true;
  int64_t rank = axis.integer() < Adapter::kMaxRank ? axis.integer() + 1 : 0;
  bool same = true;
  for (const Value& value : values.items()) rank = std::max(rank, adapter.Rank(value));
  for (const Value& value : values.items()) same &= adapter.Rank(value) == rank;
  if (same) return true;
  std::vector<Value> raised(values.items().begin(), values.items().end());
  for (Value& value : raised) {
    if (!adapter.Raise(value, rank)) return false;
  }
  values = Value::Array(heap, std::move(raised));
  return true;
}

// An inherited extent of `shape` beyond the rank is 1.
bool AdaptReshape(Adapter& adapter) {
  std::optional<std::vector<int64_t>> shape = adapter.Integers("shape");
  int64_t rank = adapter.Rank(*adapter.Find("input"));
  if (!shape || rank < 0) return true;
  bool changed = false;
  for (size_t i = static_cast<size_t>(rank); i < shape->size(); ++i) {
    if ((*shape)[i] != 0) continue;
    (*shape)[i] = 1;
    changed = true;
  }
  if (changed) adapter.Set("shape", *shape);
  return true;
}

bool AdaptMatmul(Adapter& adapter, std::string_view operation) {
  for (std::string_view parameter : {"A", "B", "input", "filter"}) {
    Value* value = adapter.Find(parameter);
    if (value == nullptr) continue;
    if (!adapter.Raise(*value, 2) || !adapter.Lower(*value, 2)) return false;
    if (adapter.Rank(*value) <= 2) continue;
    adapter.fault() =
        Fault::Of(kMatrixRank, "`{}` of `{}` has shape {}; expected at most 2 extents that are not singular",
                  parameter, operation, adapter.ShapeText(*value))
            .At(parameter);
    return false;
  }
  return true;
}

bool AdaptUpdate(Adapter& adapter) {
  int64_t rank = adapter.Rank(*adapter.Find("variable"));
  Value& value = *adapter.Find("value");
  if (rank < 0) return true;
  return adapter.Raise(value, rank) && adapter.Lower(value, rank);
}

bool IsSingular(const Adapter& adapter, const Value& value) {
  for (int64_t axis = 0; axis < adapter.Rank(value); ++axis) {
    if (!adapter.Extent(value, axis).Compatible(ir::Dim(1))) return false;
  }
  return true;
}

// The operands of `select` have one shape, or one of them has extent 1 in all axes (P 4.2.3); trailing
// extents of 1 are implied. The bodies of `min`, `max` and `clamp` have the same rule (P 4.2.4).
bool CheckChoice(Adapter& adapter, std::string_view operation, std::string_view first_name,
                 std::string_view second_name) {
  const Value& first = *adapter.Find(first_name);
  const Value& second = *adapter.Find(second_name);
  bool same = true;
  for (int64_t axis = 0; axis < std::max(adapter.Rank(first), adapter.Rank(second)); ++axis) {
    same &= adapter.Extent(first, axis).Compatible(adapter.Extent(second, axis));
  }
  if (same || IsSingular(adapter, first) || IsSingular(adapter, second)) return true;
  adapter.fault() =
      Fault::Of(kSelectShapes,
                "`{}` of `{}` has shape {}, `{}` {}; expected one shape, or one of them to be "
                "singular in all dimensions",
                first_name, operation, adapter.ShapeText(first), second_name, adapter.ShapeText(second))
          .At(second_name);
  return false;
}

// Checks max(min(x, b), a).
bool CheckClamp(Adapter& adapter) {
  const bool takes_b = IsSingular(adapter, *adapter.Find("x"));
  return CheckChoice(adapter, "clamp", "x", "b") && CheckChoice(adapter, "clamp", takes_b ? "b" : "x", "a");
}

// Returns true in the body of a quantization; its range need only broadcast (P 7.1, P 7.2).
bool IsQuantizing(const Site& site) {
  for (const ir::Frame* frame = site.frame.get(); frame != nullptr; frame = frame->parent.get()) {
    if (IsQuantization(frame->fragment)) return true;
  }
  return false;
}

}  // namespace

bool AdaptProvisional(const OpPlan& plan, llvm::MutableArrayRef<Value> arguments, const Site& site,
                      build::GraphBuilder& builder, Fault& fault) {
  Adapter adapter(plan, arguments, site, builder, fault);
  const bool is_printed = builder.settings().options.purpose == Purpose::kPrint;
  if (is_printed && !CheckPrintable(plan, arguments, builder.graph(), fault)) return false;
  if (!CheckRanges(adapter, plan, fault)) return false;
  switch (plan.form) {
    case ir::ProvisionalForm::kSame:
      return true;
    case ir::ProvisionalForm::kBox:
      return AdaptBox(adapter, plan.name);
    case ir::ProvisionalForm::kConv:
      return AdaptConv(adapter, plan.name);
    case ir::ProvisionalForm::kFactor:
      return AdaptFactor(adapter);
    case ir::ProvisionalForm::kAxes:
      return AdaptAxes(adapter);
    case ir::ProvisionalForm::kAxis: {
      const Value& axis = *adapter.Find("axis");
      return axis.kind() != ValueKind::kInteger ||
             RaiseToAxis(adapter, *adapter.Find("value"), axis.integer());
    }
    case ir::ProvisionalForm::kConcat:
      return AdaptConcat(adapter, builder.heap());
    case ir::ProvisionalForm::kPerm:
      return AdaptPerm(adapter);
    case ir::ProvisionalForm::kReshape:
      return AdaptReshape(adapter);
    case ir::ProvisionalForm::kMatmul:
      return AdaptMatmul(adapter, plan.called);
    case ir::ProvisionalForm::kUpdate:
      return AdaptUpdate(adapter);
    case ir::ProvisionalForm::kSelect:
      return IsQuantizing(site) || CheckChoice(adapter, plan.called, "true_value", "false_value");
    case ir::ProvisionalForm::kMinMax:
      return IsQuantizing(site) || CheckChoice(adapter, plan.called, "x", "y");
    case ir::ProvisionalForm::kClamp:
      return IsQuantizing(site) || CheckClamp(adapter);
  }
  return true;
}

bool MeaningChanged(std::string_view name, const semantics::Signature& signature,
                    llvm::ArrayRef<Value> arguments, const SymbolTable& symbols, const ir::Graph& graph) {
  if (IsQuantization(name)) return true;
  if (!MayChangeMeaning(name)) return false;
  auto argument = [&](std::string_view parameter) -> const Value* {
    for (size_t i = 0; i < signature.parameters.size(); ++i) {
      if (symbols.Text(signature.parameters[i].name.symbol) == parameter) return &arguments[i];
    }
    return nullptr;
  };
  // In this dialect each channel has as many planes as the filter; in the ratified dialect, one.
  if (const Value* filter = argument("plane_filter")) {
    if (filter->kind() != ValueKind::kTensor) return false;
    const ir::PartialShape& shape = graph.output(filter->port()).shape;
    return shape.rank_known() && shape.rank() > 1 && !shape[1].Compatible(ir::Dim(1));
  }
  // x / (s + bias) and x / max(s + bias, 0.0) are equal where bias is not negative, x / sqrt(s + bias) and x
  // / max(sqrt(s) + bias, 0.0) where it is 0.
  const Value* bias = argument("bias");
  if (bias == nullptr || bias->kind() != ValueKind::kScalar) return true;
  return name == "l1_normalization" ? bias->scalar() < 0 : bias->scalar() != 0;
}

}  // namespace nnefc::expand::provisional
