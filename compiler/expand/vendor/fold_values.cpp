// Evaluation of operations whose arguments are all known, without creating a node.

#include "compiler/expand/vendor/fold_values.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "compiler/expand/values/arithmetic.h"
#include "compiler/ir/interval.h"
#include "compiler/ir/ops/shapes/slice_shape.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc::expand::vendor {

using semantics::TypeKind;

namespace {

// Maximum number of elements; larger tensors are not folded.
constexpr int64_t kMaxItems = int64_t{1} << 20;

bool IsItem(const Value& value) {
  return value.kind() == ValueKind::kInteger || value.kind() == ValueKind::kScalar ||
         value.kind() == ValueKind::kLogical || value.kind() == ValueKind::kUnknownExtent;
}

// Appends the elements of nested arrays of the shape `found.shape`. Returns false if the value has another
// form or too many elements. Recursion follows the nesting of the text.
bool Collect(const Value& value, size_t depth, ValueItems& found) {
  if (IsItem(value)) {
    found.items.push_back(value);
    return depth == found.shape.size();
  }
  if (value.kind() != ValueKind::kArray || value.length() == 0) return false;
  if (depth >= found.shape.size() || found.shape[depth] != value.length()) return false;
  if (static_cast<int64_t>(found.items.size()) + value.length() > kMaxItems) return false;
  return llvm::all_of(value.items(), [&](const Value& item) { return Collect(item, depth + 1, found); });
}

// Returns the elements from index `next` on as arrays nested from axis `depth` on, and advances `next`.
Value Nest(const ValueItems& items, size_t depth, int64_t& next, Heap& heap) {
  if (depth == items.shape.size()) return items.items[static_cast<size_t>(next++)];
  std::vector<Value> nested;
  for (int64_t i = 0; i < items.shape[depth]; ++i) nested.push_back(Nest(items, depth + 1, next, heap));
  return Value::Array(heap, std::move(nested));
}

// An invocation of an operation with known values.
struct FoldCall {
  const OpPlan& plan;
  llvm::ArrayRef<Value> arguments;  // in the order of the plan's parameters
  TypeKind generic;                 // type bound to `?`
  build::SymbolScopes& symbols;
  std::vector<ValueItems> tensors;  // the tensor arguments in order; arrays of tensors are flattened

  const Value& Argument(std::string_view name) const {
    return arguments[static_cast<size_t>(plan.Find(name))];
  }
  std::optional<std::vector<int64_t>> Integers(std::string_view name) const {
    const Value& value = Argument(name);
    if (value.kind() == ValueKind::kInteger) return std::vector<int64_t>{value.integer()};
    if (value.kind() != ValueKind::kArray) return std::nullopt;
    std::vector<int64_t> list;
    for (const Value& item : value.items()) {
      if (item.kind() != ValueKind::kInteger) return std::nullopt;
      list.push_back(item.integer());
    }
    return list;
  }
  std::optional<int64_t> Integer(std::string_view name) const {
    const std::optional<std::vector<int64_t>> list = Integers(name);
    return list && list->size() == 1 ? std::optional((*list)[0]) : std::nullopt;
  }
};
// The elements of the result; nothing if the operation must become a node.
using Folded = std::optional<ValueItems>;
using FoldFunction = Folded (*)(const FoldCall&);

// Returns the axis, counted from the end if it is negative; nothing if it is out of range.
std::optional<size_t> AxisOf(int64_t axis, size_t rank) {
  const auto limit = static_cast<int64_t>(rank);
  if (axis < -limit || axis >= limit) return std::nullopt;
  return static_cast<size_t>(axis < 0 ? axis + limit : axis);
}

// Marks the listed axes of a tensor; returns nothing if one is out of range or repeated.
std::optional<std::vector<bool>> MarkAxes(llvm::ArrayRef<int64_t> axes, size_t rank) {
  std::vector<bool> marked(rank);
  for (int64_t each : axes) {
    const std::optional<size_t> axis = AxisOf(each, rank);
    if (!axis || marked[*axis]) return std::nullopt;
    marked[*axis] = true;
  }
  return marked;
}

// Returns true if a tensor of this shape is small enough to be folded.
bool IsSmall(const Shape& shape) {
  const std::optional<int64_t> volume = Volume(shape);
  return volume && *volume <= kMaxItems;
}

// Returns the elements at `indices` along an axis, like numpy.take; nothing if there are too many.
Folded Take(const ValueItems& from, size_t axis, llvm::ArrayRef<int64_t> indices) {
  ValueItems taken;
  taken.shape = from.shape;
  taken.shape[axis] = static_cast<int64_t>(indices.size());
  if (!IsSmall(taken.shape)) return std::nullopt;
  int64_t inner = 1, outer = 1;
  for (size_t i = 0; i < axis; ++i) outer *= from.shape[i];
  for (size_t i = axis + 1; i < from.shape.size(); ++i) inner *= from.shape[i];
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t index : indices) {
      const int64_t begin = (o * from.shape[axis] + index) * inner;
      taken.items.insert(taken.items.end(), from.items.begin() + begin, from.items.begin() + begin + inner);
    }
  }
  return taken;
}

Folded FoldSlice(const FoldCall& call) {
  const auto axes = call.Integers("axes"), begin = call.Integers("begin"), end = call.Integers("end"),
             stride = call.Integers("stride");
  if (!axes || !begin || !end || !stride || begin->size() != axes->size() || end->size() != axes->size() ||
      (!stride->empty() && stride->size() != axes->size()))
    return std::nullopt;
  Folded items = call.tensors[0];
  const size_t rank = items->shape.size();
  if (!MarkAxes(*axes, rank)) return std::nullopt;
  const bool is_unit = llvm::all_of(*stride, [](int64_t step) { return step == 1; });
  for (size_t i = 0; i < axes->size(); ++i) {
    const int64_t step = stride->empty() ? 1 : (*stride)[i];
    const ir::ops::SliceAxis slice = {(*begin)[i], (*end)[i], step, is_unit && (*end)[i] == 0};
    const size_t axis = *AxisOf((*axes)[i], rank);
    const int64_t extent = items->shape[axis];
    const auto range = ir::ops::ResolvedRange(extent, slice);
    if (!range) return std::nullopt;
    const int64_t count = ir::ops::SlicedExtent(ir::Dim(extent), slice)->value();
    if (count == 0) return std::nullopt;
    std::vector<int64_t> indices;
    for (int64_t k = 0; k < count; ++k) indices.push_back(range->begin + k * step);
    items = Take(*items, axis, indices);
    if (!items) return std::nullopt;
  }
  return items;
}

Folded FoldSqueeze(const FoldCall& call) {
  const auto axes = call.Integers("axes");
  if (!axes) return std::nullopt;
  ValueItems items = call.tensors[0];
  const auto removed = MarkAxes(*axes, items.shape.size());
  if (!removed) return std::nullopt;
  Shape shape;
  for (size_t i = 0; i < items.shape.size(); ++i) {
    if (!(*removed)[i]) {
      shape.push_back(items.shape[i]);
    } else if (items.shape[i] != 1) {
      return std::nullopt;
    }
  }
  items.shape = std::move(shape);
  return items;
}

Folded FoldUnsqueeze(const FoldCall& call) {
  const auto axes = call.Integers("axes");
  if (!axes) return std::nullopt;
  ValueItems items = call.tensors[0];
  const size_t rank = items.shape.size() + axes->size();
  const auto inserted = MarkAxes(*axes, rank);
  if (!inserted) return std::nullopt;
  Shape shape;
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) shape.push_back((*inserted)[i] ? 1 : items.shape[next++]);
  items.shape = std::move(shape);
  return items;
}

// Concatenates the parts along an axis, or stacks them along a new one, into the shape `shape`; all extents
// after the axis are equal. Returns nothing if there are too many elements.
Folded Join(llvm::ArrayRef<ValueItems> parts, size_t axis, Shape shape) {
  if (!IsSmall(shape)) return std::nullopt;
  ValueItems joined{std::move(shape), {}};
  size_t outer = 1;
  for (size_t i = 0; i < axis; ++i) outer *= static_cast<size_t>(joined.shape[i]);
  for (size_t o = 0; o < outer; ++o) {
    for (const ValueItems& part : parts) {
      const size_t count = part.items.size() / outer;
      const auto begin = part.items.begin() + static_cast<int64_t>(o * count);
      joined.items.insert(joined.items.end(), begin, begin + static_cast<int64_t>(count));
    }
  }
  return joined;
}

Folded FoldConcat(const FoldCall& call) {
  const auto axis_argument = call.Integer("axis");
  if (!axis_argument || call.tensors.empty()) return std::nullopt;
  auto shape = call.tensors[0].shape;
  const auto axis = AxisOf(*axis_argument, shape.size());
  if (!axis) return std::nullopt;
  shape[*axis] = 0;
  for (const ValueItems& each : call.tensors) {
    auto others = each.shape;
    if (others.size() != shape.size()) return std::nullopt;
    const int64_t extent = std::exchange(others[*axis], shape[*axis]);
    if (others != shape) return std::nullopt;
    shape[*axis] += extent;
  }
  return Join(call.tensors, *axis, std::move(shape));
}

Folded FoldStack(const FoldCall& call) {
  const auto axis_argument = call.Integer("axis");
  if (!axis_argument || call.tensors.empty()) return std::nullopt;
  auto shape = call.tensors[0].shape;
  const auto axis = AxisOf(*axis_argument, shape.size() + 1);
  if (!axis) return std::nullopt;
  for (const ValueItems& each : call.tensors) {
    if (each.shape != shape) return std::nullopt;
  }
  shape.insert(shape.begin() + static_cast<int64_t>(*axis), static_cast<int64_t>(call.tensors.size()));
  return Join(call.tensors, *axis, std::move(shape));
}

Folded FoldGather(const FoldCall& call) {
  const auto axis_argument = call.Integer("axis");
  const ValueItems &input = call.tensors[0], &indices = call.tensors[1];
  if (!axis_argument || indices.shape.size() > 1) return std::nullopt;
  const auto axis = AxisOf(*axis_argument, input.shape.size());
  if (!axis) return std::nullopt;
  std::vector<int64_t> normalized;
  for (const Value& index : indices.items) {
    if (index.kind() != ValueKind::kInteger) return std::nullopt;
    const int64_t extent = input.shape[*axis];
    const int64_t at = index.integer() < 0 ? index.integer() + extent : index.integer();
    if (at < 0 || at >= extent) return std::nullopt;
    normalized.push_back(at);
  }
  Folded taken = Take(input, *axis, normalized);
  if (taken && indices.shape.empty()) taken->shape.erase(taken->shape.begin() + static_cast<int64_t>(*axis));
  return taken;
}

Folded FoldCopy(const FoldCall& call) {
  return call.tensors[0];
}

Folded FoldReshape(const FoldCall& call) {
  const auto shape = call.Integers("shape");
  if (!shape || call.Integer("axis_start") != 0 || call.Integer("axis_count") != -1) return std::nullopt;
  if (llvm::count(*shape, -1) > 1) return std::nullopt;
  ValueItems items = call.tensors[0];
  int64_t volume = 1;
  for (int64_t extent : *shape) {
    if (extent == 0 || extent < -1) return std::nullopt;
    if (extent > kMaxItems / volume) return std::nullopt;
    if (extent > 0) volume *= extent;
  }
  Shape target(shape->begin(), shape->end());
  const auto total = static_cast<int64_t>(items.items.size());
  for (int64_t& extent : target) {
    if (extent != -1) continue;
    extent = total / volume;
    volume *= extent;
  }
  if (volume != total) return std::nullopt;
  items.shape = std::move(target);
  return items;
}

// Returns a scalar of a tensor, an f32, as the double of the same shortest text.
Value OfFloat(double number) {
  double shortest = static_cast<float>(number);
  const std::string text = fmt::format("{}", static_cast<float>(number));
  std::from_chars(text.data(), text.data() + text.size(), shortest);
  return Value::Scalar(shortest);
}

// Returns a scalar as the f32 that tensors hold, and an integer as one if `to_scalar`; other values
// unchanged.
Value Promoted(const Value& value, bool to_scalar) {
  if (value.kind() == ValueKind::kScalar) return Value::Scalar(static_cast<float>(value.scalar()));
  if (!to_scalar || value.kind() != ValueKind::kInteger) return value;
  return Value::Scalar(static_cast<float>(value.integer()));
}

// Computes one element of a binary operation; nothing if it has no finite value. Sums, products and quotients
// of doubles are those of f32 after rounding.
template <ast::BinaryOperator kOp>
std::optional<Value> Compute(const Value& x, const Value& y) {
  const bool mixed = x.kind() == ValueKind::kScalar || y.kind() == ValueKind::kScalar;
  Heap heap(0);
  Fault fault;
  auto value = values::EvaluateBinary(kOp, Promoted(x, mixed), Promoted(y, mixed), heap, fault);
  if (!value || value->kind() != ValueKind::kScalar) return value;
  value = OfFloat(value->scalar());
  return std::isfinite(value->scalar()) ? value : std::nullopt;
}

// Computes `min` or `max`, which are defined by `select(x < y, x, y)` and `select(x > y, x, y)`.
template <bool kLarger>
std::optional<Value> Choose(const Value& x, const Value& y) {
  const bool mixed = x.kind() == ValueKind::kScalar || y.kind() == ValueKind::kScalar;
  const Value a = Promoted(x, mixed), b = Promoted(y, mixed);
  if (a.kind() != b.kind() || a.kind() == ValueKind::kLogical) return std::nullopt;
  const auto chooses = [](auto one, auto other) { return kLarger ? one > other : one < other; };
  const bool first =
      a.kind() == ValueKind::kInteger ? chooses(a.integer(), b.integer()) : chooses(a.scalar(), b.scalar());
  const Value& chosen = first ? a : b;
  return chosen.kind() == ValueKind::kScalar ? OfFloat(chosen.scalar()) : chosen;
}

// Returns the shape of operands that are broadcast: leading axes are aligned, and missing axes have the
// extent 1 (R 4.2). Returns nothing if extents differ or the result is too large.
std::optional<Shape> BroadcastShape(llvm::ArrayRef<ValueItems> operands) {
  ir::PartialShape common = ir::PartialShape::OfRank(0);
  for (const ValueItems& operand : operands) {
    ir::BroadcastResult result = ir::BroadcastShapes(
        common, ir::PartialShape(llvm::ArrayRef<int64_t>(operand.shape)), ir::Alignment::kFirst);
    if (result.mismatch) return std::nullopt;
    common = std::move(result.shape);
  }
  Shape shape = common.known_extents();
  return IsSmall(shape) ? std::optional(std::move(shape)) : std::nullopt;
}

// Returns the items of an operand repeated to a shape of BroadcastShape.
ValueItems BroadcastTo(const Shape& shape, const ValueItems& operand) {
  if (operand.shape == shape) return operand;
  ValueItems result{operand.shape, operand.items};
  result.shape.resize(shape.size(), 1);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (result.shape[axis] == shape[axis]) continue;
    const std::vector<int64_t> zeros(static_cast<size_t>(shape[axis]), 0);
    result = *Take(result, axis, zeros);
  }
  return result;
}

// Returns the result of an operator on an unknown extent.
using OpenFunction = Value (*)(const FoldCall&, const Value&, const Value&);

Value NoExtent(const FoldCall&, const Value&, const Value&) {
  return Value::UnknownExtent();
}

template <ast::BinaryOperator kOp>
Value ExtentOf(const FoldCall& call, const Value& x, const Value& y) {
  Fault fault;
  return call.symbols.ExtentOf(kOp, x, y, fault).value_or(Value::UnknownExtent());
}

template <auto kCompute, OpenFunction kOpen = NoExtent>
Folded FoldBinary(const FoldCall& call) {
  const std::optional<Shape> shape = BroadcastShape(call.tensors);
  if (!shape) return std::nullopt;
  const ValueItems x = BroadcastTo(*shape, call.tensors[0]), y = BroadcastTo(*shape, call.tensors[1]);
  ValueItems result{*shape, {}};
  for (size_t i = 0; i < x.items.size(); ++i) {
    const bool is_open =
        x.items[i].kind() == ValueKind::kUnknownExtent || y.items[i].kind() == ValueKind::kUnknownExtent;
    auto item =
        is_open ? std::optional(kOpen(call, x.items[i], y.items[i])) : kCompute(x.items[i], y.items[i]);
    if (!item) return std::nullopt;
    result.items.push_back(std::move(*item));
  }
  return result;
}

// Folds a function of extents (integers) and of values computed from them.
template <double (*kFunction)(double), bool kKeepsIntegers = false>
Folded FoldUnary(const FoldCall& call) {
  ValueItems result = call.tensors[0];
  for (Value& item : result.items) {
    if (item.kind() == ValueKind::kUnknownExtent) {
      if (!kKeepsIntegers || !IsSymbolic(item)) item = Value::UnknownExtent();
      continue;
    }
    if (item.kind() != ValueKind::kScalar && item.kind() != ValueKind::kInteger) return std::nullopt;
    const bool is_scalar = item.kind() == ValueKind::kScalar;
    if (!is_scalar && !(std::abs(static_cast<double>(item.integer())) < 9e15)) return std::nullopt;
    const double value =
        kFunction(is_scalar ? static_cast<float>(item.scalar()) : static_cast<double>(item.integer()));
    item = is_scalar ? OfFloat(value) : Value::Integer(static_cast<int64_t>(value));
  }
  return result;
}

double Negated(double value) {
  return -value;
}

Folded FoldSelect(const FoldCall& call) {
  const std::optional<Shape> shape = BroadcastShape(call.tensors);
  if (!shape) return std::nullopt;
  const bool has_scalar = llvm::any_of(llvm::drop_begin(call.tensors), [](const ValueItems& branch) {
    return llvm::any_of(branch.items, [](const Value& item) { return item.kind() == ValueKind::kScalar; });
  });
  const ValueItems conditions = BroadcastTo(*shape, call.tensors[0]);
  const std::array<ValueItems, 2> branches = {BroadcastTo(*shape, call.tensors[1]),
                                              BroadcastTo(*shape, call.tensors[2])};
  ValueItems result{*shape, {}};
  for (size_t i = 0; i < conditions.items.size(); ++i) {
    const Value& condition = conditions.items[i];
    if (condition.kind() == ValueKind::kUnknownExtent) {
      const Value &one = branches[0].items[i], &other = branches[1].items[i];
      const bool is_same = IsSymbolic(one) && IsSymbolic(other) && one.symbol() == other.symbol();
      result.items.push_back(is_same ? one : Value::UnknownExtent());
      continue;
    }
    if (condition.kind() != ValueKind::kLogical) return std::nullopt;
    const Value chosen = Promoted(branches[condition.logical() ? 0 : 1].items[i], has_scalar);
    result.items.push_back(chosen.kind() == ValueKind::kScalar ? OfFloat(chosen.scalar()) : chosen);
  }
  return result;
}

// R 4.5.8: a cast to integer rounds down.
Folded FoldCast(const FoldCall& call) {
  ValueItems items = call.tensors[0];
  for (Value& item : items.items) {
    if (item.kind() == ValueKind::kUnknownExtent && call.generic == TypeKind::kInteger) continue;
    if (item.kind() == ValueKind::kUnknownExtent) {
      // Arithmetic with the scalar is not that of extents.
      if (IsSymbolic(item)) return std::nullopt;
    } else if (item.kind() == ValueKind::kInteger && call.generic == TypeKind::kScalar) {
      item = OfFloat(static_cast<double>(item.integer()));
    } else if (item.kind() == ValueKind::kScalar && call.generic == TypeKind::kInteger) {
      const double floor = std::floor(static_cast<float>(item.scalar()));
      if (!(std::abs(floor) < 9e15)) return std::nullopt;
      item = Value::Integer(static_cast<int64_t>(floor));
    } else if (item.kind() == ValueKind::kInteger && call.generic != TypeKind::kInteger) {
      return std::nullopt;
    } else if (item.kind() == ValueKind::kScalar && call.generic != TypeKind::kScalar) {
      return std::nullopt;
    } else if (item.kind() == ValueKind::kLogical && call.generic != TypeKind::kLogical) {
      return std::nullopt;
    }
  }
  return items;
}

// tract's conversion rounds toward zero.
Folded FoldToInteger(const FoldCall& call) {
  ValueItems items = call.tensors[0];
  for (Value& item : items.items) {
    if (item.kind() == ValueKind::kInteger || item.kind() == ValueKind::kUnknownExtent) continue;
    if (item.kind() != ValueKind::kScalar || !(std::abs(item.scalar()) < 9e15)) return std::nullopt;
    item = Value::Integer(static_cast<int64_t>(static_cast<float>(item.scalar())));
  }
  return items;
}

const llvm::StringMap<FoldFunction>& Folds() {
  using ast::BinaryOperator;
  static const auto* folds = new llvm::StringMap<FoldFunction>{
      {"slice", FoldSlice},
      {"squeeze", FoldSqueeze},
      {"unsqueeze", FoldUnsqueeze},
      {"concat", FoldConcat},
      {"stack", FoldStack},
      {"gather", FoldGather},
      {"copy", FoldCopy},
      {"reshape", FoldReshape},
      {"cast", FoldCast},
      {"tract_core_to_integer", FoldToInteger},
      {"add", FoldBinary<Compute<BinaryOperator::kAdd>, ExtentOf<BinaryOperator::kAdd>>},
      {"sub", FoldBinary<Compute<BinaryOperator::kSub>, ExtentOf<BinaryOperator::kSub>>},
      {"mul", FoldBinary<Compute<BinaryOperator::kMul>, ExtentOf<BinaryOperator::kMul>>},
      {"div", FoldBinary<Compute<BinaryOperator::kDiv>, ExtentOf<BinaryOperator::kDiv>>},
      {"lt", FoldBinary<Compute<BinaryOperator::kLt>>},
      {"gt", FoldBinary<Compute<BinaryOperator::kGt>>},
      {"le", FoldBinary<Compute<BinaryOperator::kLe>>},
      {"ge", FoldBinary<Compute<BinaryOperator::kGe>>},
      {"eq", FoldBinary<Compute<BinaryOperator::kEq>>},
      {"ne", FoldBinary<Compute<BinaryOperator::kNe>>},
      {"select", FoldSelect},
      {"neg", FoldUnary<Negated>},
      {"abs", FoldUnary<std::abs>},
      {"floor", FoldUnary<std::floor, true>},
      {"ceil", FoldUnary<std::ceil, true>},
      {"min", FoldBinary<Choose<false>>},
      {"max", FoldBinary<Choose<true>>},
  };
  return *folds;
}

}  // namespace

std::optional<ValueItems> ItemsOf(const Value& value) {
  ValueItems found;
  // The shape is that of the first items.
  for (const Value* item = &value; item->kind() == ValueKind::kArray && item->length() > 0;
       item = &item->items()[0])
    found.shape.push_back(item->length());
  if (!Collect(value, 0, found)) return std::nullopt;
  return found;
}

Value FromItems(const ValueItems& items, Heap& heap) {
  int64_t next = 0;
  return Nest(items, 0, next, heap);
}

Value FromTensor(const TensorValue& tensor, Heap& heap) {
  ValueItems items{tensor.shape(), {}};
  for (int64_t i = 0; i < tensor.volume(); ++i) {
    if (tensor.type() == ElementType::kBoolean) {
      items.items.push_back(Value::Logical(tensor.ElementAsInt(i) != 0));
    } else if (IsInteger(tensor.type())) {
      items.items.push_back(Value::Integer(tensor.ElementAsInt(i)));
    } else {
      items.items.push_back(Value::Scalar(tensor.ElementAsDouble(i)));
    }
  }
  return FromItems(items, heap);
}

std::optional<Value> FoldValues(const OpPlan& plan, llvm::ArrayRef<Value> arguments, TypeKind generic,
                                Heap& heap, build::SymbolScopes& symbols) {
  const auto fold = Folds().find(plan.name);
  if (fold == Folds().end() || plan.is_custom) return std::nullopt;
  FoldCall call{plan, arguments, generic, symbols, {}};
  for (size_t i = 0; i < plan.parameters.size(); ++i) {
    if (!plan.parameters[i].is_tensor) continue;
    llvm::ArrayRef<Value> values = arguments[i];
    if (plan.parameters[i].is_array && arguments[i].kind() == ValueKind::kArray)
      values = arguments[i].items();
    for (const Value& value : values) {
      auto items = ItemsOf(value);
      if (!items) return std::nullopt;
      call.tensors.push_back(std::move(*items));
    }
  }
  if (call.tensors.empty()) return std::nullopt;
  const Folded folded = fold->second(call);
  if (!folded) return std::nullopt;
  const auto num_items = static_cast<int64_t>(folded->items.size());
  heap.work += num_items;
  Fault full;
  if (!heap.Reserve(num_items, full)) return std::nullopt;
  return FromItems(*folded, heap);
}

}  // namespace nnefc::expand::vendor
