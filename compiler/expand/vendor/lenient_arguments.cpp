// Lenient mode: conversion of arguments of another type, rank or sign to the form of the declaration. Each
// conversion is recorded as a deviation.

#include "compiler/expand/vendor/lenient_arguments.h"

#include <algorithm>
#include <cmath>

#include "compiler/expand/attributes.h"
#include "compiler/expand/generics.h"
#include "compiler/expand/rules.h"
#include "compiler/expand/vendor/fold_values.h"
#include "compiler/expand/vendor/meanings.h"
#include "compiler/expand/vendor/run_time_arguments.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::expand::vendor {

using semantics::TypeId;
using semantics::TypeKind;

namespace {

// Maximum number of elements of a tensor that becomes an attribute.
constexpr int64_t kMaxAttributeItems = 4096;
// Maximum number of constant indices that NormalizeIndices converts; kernels convert those of larger tensors.
constexpr int64_t kMaxIndices = 1 << 20;

// Returns true for an integer of a magnitude below 9e15 (about 2^53), which a double represents exactly.
bool IsExactInteger(double number) {
  return std::abs(number) < 9e15 && number == std::trunc(number);
}

// Returns the data type that the operation's row declares for its tensor input `input`; kError if it allows
// several.
TypeKind DeclaredKind(ir::OpRegistry& registry, const OpPlan& plan, size_t input) {
  switch (registry.Info(plan.op).inputs[input].types) {
    case ir::TypeClass::kFloat:
      return TypeKind::kScalar;
    case ir::TypeClass::kInteger:
      return TypeKind::kInteger;
    case ir::TypeClass::kBoolean:
      return TypeKind::kLogical;
    default:
      return TypeKind::kError;
  }
}

// Returns the number of axes that an operation adds. Its argument `axes`, an axis or a list, refers to the
// axes of the result.
int64_t AddedAxes(ir::OpId op, const Value& axes) {
  using Count = int64_t (*)(const Value& axes);
  static const ir::OpTable<Count> table(ir::StandardOps(), ir::kNnefSet,
                                        {{"unsqueeze", [](const Value& list) { return list.length(); }},
                                         {"stack", [](const Value&) { return int64_t{1}; }}});
  const Count* count = table.Find(op);
  return count == nullptr ? 0 : (*count)(axes);
}

// Returns a tensor with axes of extent 1 prepended until it has rank `rank`. Other values, and tensors of
// unknown or sufficient rank, are returned unchanged.
Value PrependAxes(int64_t rank, const Value& value, const Site& site, build::GraphBuilder& builder) {
  if (value.kind() != ValueKind::kTensor) return value;
  const ir::PartialShape& shape = builder.graph().output(value.port()).shape;
  if (!shape.rank_known() || shape.rank() >= rank) return value;
  std::vector<Value> axes;
  for (int64_t axis = 0; axis < rank - shape.rank(); ++axis) axes.push_back(Value::Integer(axis));
  return builder.MakeRatified("unsqueeze", {value, Value::Array(builder.heap(), std::move(axes))}, site);
}

// Returns the value of a constant or variable, looking through views; poison if it is unknown, of strings, or
// has more than `max_elements`. A value that is not a tensor is returned unchanged.
Value KnownValue(const Value& value, build::GraphBuilder& builder,
                 int64_t max_elements = kMaxAttributeItems) {
  if (value.kind() != ValueKind::kTensor) return value;
  const std::optional<TensorValue> known = builder.KnownTensor(value.port());
  if (!known || known->volume() > max_elements || known->type() == ElementType::kString) return {};
  return FromTensor(*known, builder.heap());
}

class LenientArguments {
 public:
  LenientArguments(const OpPlan& plan, llvm::MutableArrayRef<Value> arguments, Site& site,
                   build::GraphBuilder& builder)
      : plan_(plan), arguments_(arguments), site_(site), builder_(builder) {}

  bool Run();

 private:
  Value* Find(std::string_view parameter) {
    const int32_t index = plan_.Find(parameter);
    return index < 0 ? nullptr : &arguments_[static_cast<size_t>(index)];
  }
  template <typename... Args>
  void RecordDeviation(const OpPlan::Parameter& parameter, const Rule& rule,
                       fmt::format_string<Args...> format, Args&&... args) {
    builder_.reporter().Deviate(rule, plan_, parameter.name, site_,
                                fmt::format(format, std::forward<Args>(args)...));
  }
  int64_t Rank(const Value& value) const {
    if (value.kind() != ValueKind::kTensor) return value.kind() == ValueKind::kArray ? -1 : 0;
    const ir::PartialShape& shape = builder_.graph().output(value.port()).shape;
    return shape.rank_known() ? shape.rank() : -1;
  }
  void BindGeneric();
  bool AdaptTensor(const OpPlan::Parameter& parameter, TypeKind wanted, Value& value);
  Value Cast(const OpPlan::Parameter& parameter, TypeKind wanted, const Value& value);
  void ConvertAttribute(const OpPlan::Parameter& parameter, Value& value);
  Value Convert(const OpPlan::Parameter& parameter, TypeId type, const Value& value);
  std::optional<Value> Flattened(const OpPlan::Parameter& parameter, TypeId item, const Value& list);
  void NormalizeAxes();
  void NormalizeIndices();
  bool EqualizeMatrixRanks();
  void ExtendVectors();
  void ExtendTiled();
  void ExtendBatchIndex();
  void TruncateBorderValue();
  // The changes of the arguments of one operation, before and after those of all operations; null: none.
  struct Change {
    void (LenientArguments::*before)() = nullptr;
    void (LenientArguments::*after)() = nullptr;
  };
  static Change ChangeOf(ir::OpId op);

  const OpPlan& plan_;
  llvm::MutableArrayRef<Value> arguments_;
  Site& site_;
  build::GraphBuilder& builder_;
};

// Binds `?` to scalar if any of the tensors is scalar, otherwise to the first tensor's type.
void LenientArguments::BindGeneric() {
  if (!plan_.signature->is_generic || site_.generic != TypeKind::kError) return;
  TypeKind common = TypeKind::kError;
  for (size_t i = 0; i < plan_.parameters.size(); ++i) {
    if (!plan_.document->types().ContainsGeneric(plan_.parameters[i].type)) continue;
    llvm::ArrayRef<Value> values = arguments_[i];
    if (plan_.parameters[i].is_array && arguments_[i].kind() == ValueKind::kArray)
      values = arguments_[i].items();
    for (const Value& value : values) {
      const TypeKind kind = ElementKind(value, builder_.graph());
      if (common == TypeKind::kError || kind == TypeKind::kScalar) common = kind;
    }
  }
  site_.generic = common;
}

Value LenientArguments::Cast(const OpPlan::Parameter& parameter, TypeKind wanted, const Value& value) {
  if (value.kind() != ValueKind::kTensor) {
    if (wanted == TypeKind::kScalar && value.kind() == ValueKind::kInteger) {
      RecordDeviation(parameter, kLenientNumber, "`{}` of `{}` is a whole number; expected `{}`",
                      parameter.called, plan_.called, parameter.type_text);
      return Value::Scalar(static_cast<double>(value.integer())).AsTensor();
    }
    return value;
  }
  const TypeKind actual = TypeKindOf(builder_.graph().output(value.port()).type);
  if (actual == wanted || actual == TypeKind::kError || actual == TypeKind::kString ||
      wanted == TypeKind::kError)
    return value;
  RecordDeviation(parameter, kLenientType, "`{}` of `{}` is a tensor of type {}; expected {}",
                  parameter.called, plan_.called, DataTypeText(actual), DataTypeText(wanted));
  return CastTensor(value, wanted, site_, builder_);
}

bool LenientArguments::AdaptTensor(const OpPlan::Parameter& parameter, TypeKind wanted, Value& value) {
  if (parameter.is_array && value.kind() == ValueKind::kArray) {
    std::vector<Value> items(value.items().begin(), value.items().end());
    for (Value& item : items) {
      const bool is_literal = item.kind() == ValueKind::kArray && !item.folded_tensor();
      if (is_literal) {
        RecordDeviation(parameter, kLenientArray, "`{}` of `{}` has an array as item; expected a tensor",
                        parameter.called, plan_.called);
      }
      if (item.kind() == ValueKind::kArray) item = MakeConstant(item, wanted, site_, builder_);
      item = Cast(parameter, wanted, item);
      if (item.poison()) return false;
    }
    value = Value::Array(builder_.heap(), std::move(items));
    return true;
  }
  if (parameter.is_array && (value.kind() == ValueKind::kTensor || value.primitive())) {
    RecordDeviation(parameter, kLenientItem, "`{}` of `{}` is one {}; expected an array of tensors",
                    parameter.called, plan_.called, value.primitive() ? "item" : "tensor");
    value = Value::Array(builder_.heap(), {Cast(parameter, wanted, value)});
    return true;
  }
  if (value.kind() == ValueKind::kArray) {
    RecordDeviation(parameter, kLenientArray, "`{}` of `{}` is an array; expected a tensor", parameter.called,
                    plan_.called);
    value = MakeConstant(value, wanted, site_, builder_);
    if (!value.poison() && wanted == TypeKind::kInteger) value = Cast(parameter, wanted, value);
    return !value.poison();
  }
  value = Cast(parameter, wanted, value);
  return !value.poison();
}

// Flattens evenly nested arrays, `[[1.0,2.0],[3.0,4.0]]`, where an array of single values is expected;
// returns nothing for other arrays. tract also joins the items of shapes and repeats, `[1,[2,3]]`.
std::optional<Value> LenientArguments::Flattened(const OpPlan::Parameter& parameter, TypeId item,
                                                 const Value& list) {
  const TypeKind kind = plan_.document->types().Kind(item);
  if (kind == TypeKind::kArray || kind == TypeKind::kTuple || kind == TypeKind::kTensor) return std::nullopt;
  const auto is_array = [](const Value& value) { return value.kind() == ValueKind::kArray; };
  std::vector<Value> items(list.items().begin(), list.items().end());
  bool flattens = false;
  const bool joins =
      builder_.settings().dialect.vendor_meanings &&
      (plan_.op == builder_.RatifiedPlan("reshape").op || plan_.op == builder_.RatifiedPlan("tile").op);
  if (joins && llvm::any_of(items, is_array) && !llvm::all_of(items, is_array)) {
    std::vector<Value> joined;
    for (const Value& each : items) {
      if (is_array(each)) {
        joined.insert(joined.end(), each.items().begin(), each.items().end());
      } else {
        joined.push_back(each);
      }
    }
    items = std::move(joined);
    flattens = true;
  }
  while (!items.empty() && llvm::all_of(items, is_array)) {
    std::vector<Value> inner;
    for (const Value& row : items) {
      if (row.length() != items.front().length()) return std::nullopt;
      inner.insert(inner.end(), row.items().begin(), row.items().end());
    }
    items = std::move(inner);
    flattens = true;
  }
  if (!flattens || llvm::any_of(items, is_array)) return std::nullopt;
  RecordDeviation(parameter, kLenientNested, "`{}` of `{}` is a nested array; expected `{}`",
                  parameter.called, plan_.called, parameter.type_text);
  return Value::Array(builder_.heap(), std::move(items));
}

// Converts a value, and recursively its items, to the declared type `type`. A value that does not fit is not
// an error here: it is reported when the node is created.
Value LenientArguments::Convert(const OpPlan::Parameter& parameter, TypeId type, const Value& value) {
  const semantics::TypeTable& types = plan_.document->types();
  const TypeKind kind = types.Kind(type);
  if (kind == TypeKind::kArray) {
    Value list = value;
    if (value.kind() == ValueKind::kArray && value.length() == 1 &&
        types.Kind(types.Item(type)) != TypeKind::kArray && value.item(0).kind() == ValueKind::kTensor) {
      // `begin = [v]`
      const Value known = KnownValue(value.item(0), builder_);
      if (known.kind() == ValueKind::kArray) {
        RecordDeviation(parameter, kLenientTensor, "an item of `{}` of `{}` is a tensor; expected `{}`",
                        parameter.called, plan_.called, parameter.type_text);
        list = known;
      }
    }
    if (list.kind() != ValueKind::kArray) {
      if (list.poison() || list.kind() == ValueKind::kTuple) return list;
      RecordDeviation(parameter, kLenientItem, "`{}` of `{}` is one item; expected `{}`", parameter.called,
                      plan_.called, parameter.type_text);
      list = Value::Array(builder_.heap(), {value});
    }
    if (const std::optional<Value> flat = Flattened(parameter, types.Item(type), list)) list = *flat;
    std::vector<Value> items;
    for (const Value& item : list.items()) items.push_back(Convert(parameter, types.Item(type), item));
    return Value::Array(builder_.heap(), std::move(items));
  }
  if (kind == TypeKind::kTuple) {
    llvm::ArrayRef<TypeId> parts = types.Items(type);
    if (!value.sequence() || value.length() != static_cast<int64_t>(parts.size())) return value;
    if (value.kind() == ValueKind::kArray) {
      RecordDeviation(parameter, kLenientPair, "`{}` of `{}` has `[..]` where `(..)` is expected",
                      parameter.called, plan_.called);
    }
    std::vector<Value> items;
    for (size_t i = 0; i < parts.size(); ++i)
      items.push_back(Convert(parameter, parts[i], value.item(static_cast<int64_t>(i))));
    return Value::Tuple(builder_.heap(), std::move(items));
  }
  Value item = value;
  const bool is_argument = type == parameter.type;  // not an item of an array
  if (is_argument && value.kind() == ValueKind::kArray && value.length() == 1 && kind != TypeKind::kString) {
    RecordDeviation(parameter, kLenientTensor, "`{}` of `{}` is an array of one item; expected `{}`",
                    parameter.called, plan_.called, parameter.type_text);
    return Convert(parameter, type, Value(value.item(0)));
  }
  if (value.kind() == ValueKind::kTensor) {
    item = KnownValue(value, builder_);
    if (item.poison()) return value;
    while (item.kind() == ValueKind::kArray && item.length() == 1) item = Value(item.item(0));
    RecordDeviation(parameter, kLenientTensor, "`{}` of `{}` is a tensor; expected `{}`", parameter.called,
                    plan_.called, parameter.type_text);
    if (kind == TypeKind::kInteger && item.kind() == ValueKind::kScalar && IsExactInteger(item.scalar()))
      return Value::Integer(static_cast<int64_t>(item.scalar()));
    if (kind == TypeKind::kScalar && item.kind() == ValueKind::kInteger)
      return Value::Scalar(static_cast<double>(item.integer()));
    return item;
  }
  const TypeKind wanted = kind == TypeKind::kGeneric ? site_.generic : kind;
  const bool is_whole = wanted == TypeKind::kScalar && value.kind() == ValueKind::kInteger;
  const bool is_logical = wanted == TypeKind::kInteger && value.kind() == ValueKind::kLogical;
  if (!is_whole && !is_logical) return value;
  RecordDeviation(parameter, kLenientNumber, "`{}` of `{}` is {}; expected `{}`", parameter.called,
                  plan_.called, KindText(value), parameter.type_text);
  if (is_logical) return Value::Integer(value.logical() ? 1 : 0);
  return Value::Scalar(static_cast<double>(value.integer()));
}

void LenientArguments::ConvertAttribute(const OpPlan::Parameter& parameter, Value& value) {
  if (value.poison()) return;
  if (value.kind() == ValueKind::kTensor &&
      plan_.document->types().Kind(parameter.type) == TypeKind::kArray) {
    const Value known = KnownValue(value, builder_);
    if (known.poison()) return;
    RecordDeviation(parameter, kLenientTensor, "`{}` of `{}` is a tensor; expected `{}`", parameter.called,
                    plan_.called, parameter.type_text);
    value = known;
  }
  value = Convert(parameter, parameter.type, value);
}

// Adds the rank to negative axes, which count from the end of the first tensor or of the result.
void LenientArguments::NormalizeAxes() {
  const Value* first = nullptr;
  for (size_t i = 0; i < plan_.parameters.size() && first == nullptr; ++i) {
    if (!plan_.parameters[i].is_tensor) continue;
    first = &arguments_[i];
    if (first->kind() == ValueKind::kArray && first->length() > 0) first = &first->item(0);
  }
  if (first == nullptr || Rank(*first) < 0) return;
  static constexpr std::pair<std::string_view, bool> kNames[] = {{"axis", false}, {"axes", true}};
  for (const auto& [name, is_list] : kNames) {
    const int32_t index = plan_.Find(name);
    if (index < 0) continue;
    Value& value = arguments_[static_cast<size_t>(index)];
    const bool fits = is_list ? value.kind() == ValueKind::kArray : value.kind() == ValueKind::kInteger;
    if (!fits) continue;
    const int64_t rank = Rank(*first) + AddedAxes(plan_.op, value);
    std::vector<Value> axes(is_list ? value.items() : llvm::ArrayRef<Value>(value));
    bool has_negative = false;
    for (Value& axis : axes) {
      if (axis.kind() != ValueKind::kInteger || axis.integer() >= 0 || axis.integer() < -rank) continue;
      has_negative = true;
      axis = Value::Integer(axis.integer() + rank);
    }
    if (!has_negative) continue;
    RecordDeviation(plan_.parameters[static_cast<size_t>(index)], kLenientAxis,
                    "`{}` of `{}` counts from the end", name, plan_.called);
    value = is_list ? Value::Array(builder_.heap(), std::move(axes)) : axes[0];
  }
}

// Adds the extent of the axis to negative indices of `gather` that are constant. Kernels convert indices that
// are known only at run time.
void LenientArguments::NormalizeIndices() {
  const Value *input = Find("input"), *axis = Find("axis");
  Value* indices = Find("indices");
  if (input->kind() != ValueKind::kTensor || axis->kind() != ValueKind::kInteger) return;
  const ir::PartialShape& shape = builder_.graph().output(input->port()).shape;
  if (!shape.rank_known() || axis->integer() < 0 || axis->integer() >= shape.rank()) return;
  const ir::Dim extent = shape[axis->integer()];
  std::optional<ValueItems> elements = ItemsOf(KnownValue(*indices, builder_, kMaxIndices));
  if (!extent.known() || !elements) return;
  bool has_negative = false;
  for (Value& index : elements->items) {
    if (index.kind() != ValueKind::kInteger || index.integer() >= 0 || index.integer() < -extent.min)
      continue;
    has_negative = true;
    index = Value::Integer(index.integer() + extent.min);
  }
  if (!has_negative) return;
  RecordDeviation(plan_.parameters[static_cast<size_t>(plan_.Find("indices"))], kLenientIndex,
                  "`indices` of `{}` count from the end of axis {}", plan_.called, axis->integer());
  *indices = MakeConstant(FromItems(*elements, builder_.heap()), TypeKind::kInteger, site_, builder_);
}

// Prepends axes of extent 1 to the matrix of lower rank, which is then broadcast along them. Returns false
// after a reported error.
bool LenientArguments::EqualizeMatrixRanks() {
  const int64_t first = Rank(arguments_[0]), second = Rank(arguments_[1]);
  if (first < 2 || second < 2 || first == second) return true;
  const OpPlan::Parameter& lower = plan_.parameters[first < second ? 0 : 1];
  RecordDeviation(lower, kLenientMatrix, "`{}` of `{}` has rank {}, the other one rank {}", lower.called,
                  plan_.called, std::min(first, second), std::max(first, second));
  for (Value& matrix : arguments_.take_front(2)) {
    matrix = PrependAxes(std::max(first, second), matrix, site_, builder_);
    if (matrix.poison()) return false;
  }
  return true;
}

// Prepends axes to the vectors that are per-channel operands, so that the channels become axis 1, or the last
// axis for a matrix multiplication.
void LenientArguments::ExtendVectors() {
  const std::vector<ir::InputInfo>& inputs = builder_.registry().Info(plan_.op).inputs;
  size_t input = 0;
  for (size_t i = 0; i < plan_.parameters.size(); ++i) {
    const OpPlan::Parameter& parameter = plan_.parameters[i];
    if (!parameter.is_tensor) continue;
    const bool are_columns = inputs[input].adjusts == ir::Adjusts::kColumns;
    const std::optional<ir::DataRole> role = inputs[input++].data;
    const bool is_per_channel = role && *role != ir::DataRole::kFilter && *role != ir::DataRole::kInput;
    if (!is_per_channel || Rank(arguments_[i]) != 1) continue;
    RecordDeviation(parameter, kLenientVector,
                    "`{}` of `{}` has one axis; expected the batch before the channels", parameter.called,
                    plan_.called);
    arguments_[i] = PrependAxes(are_columns ? Rank(arguments_[0]) : 2, arguments_[i], site_, builder_);
  }
}

// Prepends axes to a tensor if `repeats` has more items than it has axes.
void LenientArguments::ExtendTiled() {
  const Value* repeats = Find("repeats");
  const int64_t rank = Rank(arguments_[0]);
  if (repeats->kind() != ValueKind::kArray || rank < 0 || repeats->length() <= rank) return;
  RecordDeviation(plan_.parameters[static_cast<size_t>(plan_.Find("repeats"))], kLenientMatrix,
                  "`repeats` of `{}` has {} items for a tensor of rank {}", plan_.called, repeats->length(),
                  rank);
  arguments_[0] = PrependAxes(repeats->length(), arguments_[0], site_, builder_);
}

// Appends an axis to a vector of batch indices of an operation on regions. Khronos' tools write [N] for the
// specification's [N,1].
void LenientArguments::ExtendBatchIndex() {
  Value* index = Find("batch_index");
  if (index == nullptr || Rank(*index) != 1) return;
  RecordDeviation(plan_.parameters[static_cast<size_t>(plan_.Find("batch_index"))], kLenientVector,
                  "`batch_index` of `{}` has one axis; expected [N,1]", plan_.called);
  *index =
      builder_.MakeRatified("unsqueeze", {*index, Value::Array(builder_.heap(), {Value::Integer(1)})}, site_);
}

// Rounds the border value of `pad` toward zero if the input has integers.
void LenientArguments::TruncateBorderValue() {
  Value* value = Find("value");
  if (value->kind() != ValueKind::kScalar) return;
  if (ElementKind(*Find("input"), builder_.graph()) != TypeKind::kInteger) return;
  *value = Value::Scalar(std::trunc(static_cast<float>(value->scalar())));
}

LenientArguments::Change LenientArguments::ChangeOf(ir::OpId op) {
  static const ir::OpTable<Change> table(ir::StandardOps(), ir::kNnefSet,
                                         {{"gather", {.after = &LenientArguments::NormalizeIndices}},
                                          {"pad", {.before = &LenientArguments::TruncateBorderValue}},
                                          {"tile", {.after = &LenientArguments::ExtendTiled}}});
  const Change* change = table.Find(op);
  return change == nullptr ? Change() : *change;
}

bool LenientArguments::Run() {
  const Change change = ChangeOf(plan_.op);
  BindGeneric();
  if (change.before != nullptr) (this->*change.before)();
  size_t input = 0;
  for (size_t i = 0; i < plan_.parameters.size(); ++i) {
    const OpPlan::Parameter& parameter = plan_.parameters[i];
    if (!parameter.is_tensor) {
      ConvertAttribute(parameter, arguments_[i]);
      continue;
    }
    TypeKind wanted = DeclaredKind(builder_.registry(), plan_, input++);
    if (plan_.document->types().ContainsGeneric(parameter.type)) wanted = site_.generic;
    if (!AdaptTensor(parameter, wanted, arguments_[i])) return false;
  }
  NormalizeAxes();
  const bool has_matrices = builder_.registry().Info(plan_.op).provisional == ir::ProvisionalForm::kMatmul;
  if (has_matrices && !EqualizeMatrixRanks()) return false;
  ExtendVectors();
  ExtendBatchIndex();
  if (change.after != nullptr) (this->*change.after)();
  return !builder_.settings().dialect.vendor_meanings ||
         ReadVendorArguments(plan_, arguments_, site_, builder_);
}

}  // namespace

bool ConvertLenientArguments(const OpPlan& plan, llvm::MutableArrayRef<Value> arguments, Site& site,
                             build::GraphBuilder& builder) {
  return LenientArguments(plan, arguments, site, builder).Run();
}

namespace {

// Converts scalars with integer values where the type expects integers: exporters store extents in tensors of
// floats.
Value ToIntegers(const semantics::TypeTable& types, TypeId type, const Value& value, Heap& heap) {
  const TypeKind kind = types.Kind(type);
  if (kind == TypeKind::kArray && value.kind() == ValueKind::kArray) {
    const auto is_number = [](const Value& item) { return item.kind() == ValueKind::kScalar; };
    if (types.Kind(types.Item(type)) != TypeKind::kInteger || llvm::none_of(value.items(), is_number))
      return value;
    std::vector<Value> items;
    for (const Value& item : value.items()) items.push_back(ToIntegers(types, types.Item(type), item, heap));
    return Value::Array(heap, std::move(items));
  }
  if (kind != TypeKind::kInteger || value.kind() != ValueKind::kScalar) return value;
  return IsExactInteger(value.scalar()) ? Value::Integer(static_cast<int64_t>(value.scalar())) : value;
}

}  // namespace

Value ConvertLenientParameter(const semantics::TypeTable& types, TypeId type, const Value& value,
                              build::GraphBuilder& builder) {
  if (types.ContainsTensor(type)) return value;
  if (value.kind() != ValueKind::kTensor) return ToIntegers(types, type, value, builder.heap());
  Value known = KnownValue(value, builder);
  if (known.poison()) return value;
  const bool is_list = types.Kind(type) == TypeKind::kArray;
  while (!is_list && known.kind() == ValueKind::kArray && known.length() == 1) known = Value(known.item(0));
  return ToIntegers(types, type, known, builder.heap());
}

std::optional<Value> FoldKnownTensors(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site,
                                      build::GraphBuilder& builder) {
  if (std::optional<Value> folded =
          FoldValues(plan, arguments, site.generic, builder.heap(), builder.symbols()))
    return folded;
  constexpr int64_t kMaxExtents = 64;
  std::vector<Value> known(arguments.begin(), arguments.end());
  bool has_value = false, has_tensor = false;
  for (size_t i = 0; i < plan.parameters.size(); ++i) {
    if (!plan.parameters[i].is_tensor) continue;
    has_value |= known[i].kind() != ValueKind::kTensor;
    if (known[i].kind() != ValueKind::kTensor) continue;
    has_tensor = true;
    const ir::Output& output = builder.graph().output(known[i].port());
    const bool is_constant = builder.graph().node(known[i].port().node).Is(ir::OpRole::kConstant);
    const bool is_single = is_constant && output.shape.rank_known() && output.shape.rank() == 0;
    const bool is_extents =
        IsInteger(output.type) && output.shape.volume().value_or(kMaxExtents + 1) <= kMaxExtents;
    if (!is_single && !is_extents) return std::nullopt;
    known[i] = KnownValue(known[i], builder);
    if (known[i].poison()) return std::nullopt;
  }
  if (!has_tensor) return std::nullopt;
  std::optional<Value> folded = FoldValues(plan, known, site.generic, builder.heap(), builder.symbols());
  // Fold to an array only if it has integers and an argument was a value already.
  const bool is_list = folded && folded->kind() == ValueKind::kArray;
  const bool is_integer = is_list && ElementKind(*folded, builder.graph()) == TypeKind::kInteger;
  return is_list && !(is_integer && has_value) ? std::nullopt : folded;
}

Value CastTensor(const Value& tensor, TypeKind to, const Site& site, build::GraphBuilder& builder) {
  Site generic = site;
  generic.generic = to;
  std::optional<Value> folded;
  if (builder.is_lenient()) folded = FoldKnownTensors(builder.RatifiedPlan("cast"), tensor, generic, builder);
  return folded ? folded->AsTensor() : builder.MakeRatified("cast", tensor, generic);
}

Value MakeConstant(const Value& value, TypeKind wanted, const Site& site, build::GraphBuilder& builder) {
  if (value.kind() == ValueKind::kArray && value.length() == 0 &&
      builder.settings().dialect.vendor_meanings) {
    // No constant of NNEF is without elements.
    Site integers = site;
    integers.generic = TypeKind::kInteger;
    const Value zero = Value::Integer(0).AsTensor();
    return builder.MakeRatified("tract_core_range", {zero, zero, Value::Integer(1).AsTensor()}, integers);
  }
  std::optional<ValueItems> items = ItemsOf(value);
  if (!items || items->items.empty()) {
    builder.Report(
        Fault::Of(kValueType, "{} is not a tensor: items of equal lengths are expected", KindText(value)),
        site);
    return {};
  }
  bool has_scalar = wanted == TypeKind::kScalar;
  for (const Value& item : items->items) {
    has_scalar |= item.kind() == ValueKind::kScalar;
    if (item.kind() == ValueKind::kString) {
      builder.Report(Fault::Of(kValueType, "a string is not a tensor"), site);
      return {};
    }
    if (item.kind() != ValueKind::kUnknownExtent) continue;
    if (const std::optional<Value> tensor = ExtentsAsTensor(value, site, builder)) return *tensor;
    builder.Report(OpenExtent(), site);
    return {};
  }
  Site constant_site = site;
  constant_site.generic = has_scalar ? TypeKind::kScalar : ElementKind(items->items[0], builder.graph());
  std::vector<Value> shape;
  for (int64_t extent : items->shape) shape.push_back(Value::Integer(extent));
  for (Value& item : items->items) {
    if (has_scalar && item.kind() == ValueKind::kInteger)
      item = Value::Scalar(static_cast<double>(item.integer()));
  }
  Heap& heap = builder.heap();
  return builder.MakeRatified(
      "constant", {Value::Array(heap, std::move(shape)), Value::Array(heap, std::move(items->items))},
      constant_site);
}

}  // namespace nnefc::expand::vendor
