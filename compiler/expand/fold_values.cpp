#include "compiler/expand/fold_values.h"

#include <algorithm>
#include <cmath>

#include "compiler/expand/arithmetic.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc::expand {
namespace {

// Maximum number of elements; larger tensors are not folded.
constexpr int64_t kMaxItems = int64_t{1} << 20;

bool IsItem(const Value& value) {
  return value.kind() == ValueKind::kInteger || value.kind() == ValueKind::kScalar ||
         value.kind() == ValueKind::kLogical || value.kind() == ValueKind::kUnknownExtent;
}

// Recursion follows the nesting of the text.
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

Value Nest(const ValueItems& items, size_t depth, int64_t& next, Heap& heap) {
  if (depth == items.shape.size()) return items.items[static_cast<size_t>(next++)];
  std::vector<Value> nested;
  for (int64_t i = 0; i < items.shape[depth]; ++i) nested.push_back(Nest(items, depth + 1, next, heap));
  return Value::Array(heap, std::move(nested));
}

// A call to fold.
struct FoldCall {
  const OpPlan& plan;
  llvm::ArrayRef<Value> arguments;
  TypeKind generic;
  std::vector<ValueItems> tensors;  // in order; arrays are flattened

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
};
using Folded = std::optional<ValueItems>;
using FoldFunction = Folded (*)(const FoldCall&);

// Returns the axis, counted from the end if it is negative; nothing if it is out of range.
std::optional<size_t> AxisOf(int64_t axis, size_t rank) {
  const auto limit = static_cast<int64_t>(rank);
  if (axis < -limit || axis >= limit) return std::nullopt;
  return static_cast<size_t>(axis < 0 ? axis + limit : axis);
}

// Returns the items at the indices `places` along an axis.
ValueItems Take(const ValueItems& from, size_t axis, llvm::ArrayRef<int64_t> places) {
  ValueItems taken;
  taken.shape = from.shape;
  taken.shape[axis] = static_cast<int64_t>(places.size());
  int64_t inner = 1, outer = 1;
  for (size_t i = 0; i < axis; ++i) outer *= from.shape[i];
  for (size_t i = axis + 1; i < from.shape.size(); ++i) inner *= from.shape[i];
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t place : places) {
      const int64_t begin = (o * from.shape[axis] + place) * inner;
      taken.items.insert(taken.items.end(), from.items.begin() + begin, from.items.begin() + begin + inner);
    }
  }
  return taken;
}

Folded FoldSlice(const FoldCall& call) {
  const auto axes = call.Integers("axes"), begin = call.Integers("begin"), end = call.Integers("end"),
             stride = call.Integers("stride");
  if (!axes || !begin || !end || !stride || begin->size() != axes->size() || end->size() != axes->size())
    return std::nullopt;
  ValueItems items = call.tensors[0];
  const bool is_unit = llvm::all_of(*stride, [](int64_t step) { return step == 1; });
  for (size_t i = 0; i < axes->size(); ++i) {
    const auto axis = AxisOf((*axes)[i], items.shape.size());
    const int64_t step = i < stride->size() ? (*stride)[i] : 1;
    if (!axis || step < 1) return std::nullopt;
    const int64_t extent = items.shape[*axis];
    const auto from = (*begin)[i] < 0 ? (*begin)[i] + extent : (*begin)[i];
    // Same as ir::nnef::SliceAxis.
    const bool counts_back = (*end)[i] < 0 || ((*end)[i] == 0 && is_unit);
    const auto to = counts_back ? (*end)[i] + extent : std::min((*end)[i], extent);
    if (from < 0 || from >= to) return std::nullopt;
    std::vector<int64_t> places;
    for (int64_t place = from; place < to; place += step) places.push_back(place);
    items = Take(items, *axis, places);
  }
  return items;
}

Folded FoldSqueeze(const FoldCall& call) {
  const auto axes = call.Integers("axes");
  if (!axes) return std::nullopt;
  ValueItems items = call.tensors[0];
  std::vector<bool> removed(items.shape.size());
  for (int64_t each : *axes) {
    const auto axis = AxisOf(each, items.shape.size());
    if (!axis || items.shape[*axis] != 1) return std::nullopt;
    removed[*axis] = true;
  }
  Shape shape;
  for (size_t i = 0; i < removed.size(); ++i) {
    if (!removed[i]) shape.push_back(items.shape[i]);
  }
  items.shape = std::move(shape);
  return items;
}

Folded FoldUnsqueeze(const FoldCall& call) {
  const auto axes = call.Integers("axes");
  if (!axes) return std::nullopt;
  ValueItems items = call.tensors[0];
  const size_t rank = items.shape.size() + axes->size();
  std::vector<bool> inserted(rank);
  for (int64_t each : *axes) {
    const auto axis = AxisOf(each, rank);
    if (!axis || inserted[*axis]) return std::nullopt;
    inserted[*axis] = true;
  }
  Shape shape;
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) shape.push_back(inserted[i] ? 1 : items.shape[next++]);
  items.shape = std::move(shape);
  return items;
}

// Concatenates values along an axis; all other extents are equal.
ValueItems Join(llvm::ArrayRef<ValueItems> parts, size_t axis, llvm::SmallVector<int64_t, 4> shape) {
  ValueItems joined{std::move(shape), {}};
  size_t lines = 1;
  for (size_t i = 0; i < axis; ++i) lines *= static_cast<size_t>(joined.shape[i]);
  for (size_t line = 0; line < lines; ++line) {
    for (const ValueItems& part : parts) {
      const size_t count = part.items.size() / lines;
      const auto begin = part.items.begin() + static_cast<int64_t>(line * count);
      joined.items.insert(joined.items.end(), begin, begin + static_cast<int64_t>(count));
    }
  }
  return joined;
}

Folded FoldConcat(const FoldCall& call) {
  const auto given = call.Integers("axis");
  if (!given || given->size() != 1 || call.tensors.empty()) return std::nullopt;
  auto shape = call.tensors[0].shape;
  const auto axis = AxisOf((*given)[0], shape.size());
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
  const auto given = call.Integers("axis");
  if (!given || given->size() != 1 || call.tensors.empty()) return std::nullopt;
  auto shape = call.tensors[0].shape;
  const auto axis = AxisOf((*given)[0], shape.size() + 1);
  if (!axis) return std::nullopt;
  for (const ValueItems& each : call.tensors) {
    if (each.shape != shape) return std::nullopt;
  }
  shape.insert(shape.begin() + static_cast<int64_t>(*axis), static_cast<int64_t>(call.tensors.size()));
  return Join(call.tensors, *axis, std::move(shape));
}

Folded FoldGather(const FoldCall& call) {
  const auto given = call.Integers("axis");
  const ValueItems &input = call.tensors[0], &indices = call.tensors[1];
  if (!given || given->size() != 1 || indices.shape.size() > 1) return std::nullopt;
  const auto axis = AxisOf((*given)[0], input.shape.size());
  if (!axis) return std::nullopt;
  std::vector<int64_t> places;
  for (const Value& index : indices.items) {
    if (index.kind() != ValueKind::kInteger) return std::nullopt;
    const int64_t extent = input.shape[*axis];
    const int64_t place = index.integer() < 0 ? index.integer() + extent : index.integer();
    if (place < 0 || place >= extent) return std::nullopt;
    places.push_back(place);
  }
  ValueItems taken = Take(input, *axis, places);
  if (indices.shape.empty()) taken.shape.erase(taken.shape.begin() + static_cast<int64_t>(*axis));
  return taken;
}

Folded FoldSame(const FoldCall& call) {
  return call.tensors[0];
}

Folded FoldReshape(const FoldCall& call) {
  const auto shape = call.Integers("shape");
  const auto start = call.Integers("axis_start"), count = call.Integers("axis_count");
  if (!shape || !start || !count || (*start)[0] != 0 || (*count)[0] != -1) return std::nullopt;
  ValueItems items = call.tensors[0];
  int64_t volume = 1;
  for (int64_t extent : *shape) {
    if (extent == 0 || extent < -1) return std::nullopt;
    if (extent > 0 && (volume *= extent) > kMaxItems) return std::nullopt;
  }
  Shape target(shape->begin(), shape->end());
  const auto total = static_cast<int64_t>(items.items.size());
  for (int64_t& extent : target) {
    if (extent != -1) continue;
    extent = total / volume;
    volume *= extent;
  }
  if (volume != total || llvm::is_contained(target, -1)) return std::nullopt;
  items.shape = std::move(target);
  return items;
}

Value Promoted(const Value& value, bool to_scalar) {
  return to_scalar && value.kind() == ValueKind::kInteger
             ? Value::Scalar(static_cast<double>(value.integer()))
             : value;
}

// Computes one element of a binary operation; nothing if it has no value.
template <ast::BinaryOperator kOp>
std::optional<Value> Compute(const Value& x, const Value& y) {
  if (x.kind() == ValueKind::kUnknownExtent || y.kind() == ValueKind::kUnknownExtent)
    return Value::UnknownExtent();
  const bool mixed = x.kind() == ValueKind::kScalar || y.kind() == ValueKind::kScalar;
  Heap heap(0);
  Fault fault;
  return EvaluateBinary(kOp, Promoted(x, mixed), Promoted(y, mixed), heap, fault);
}

template <bool kLarger>
std::optional<Value> Choose(const Value& x, const Value& y) {
  if (x.kind() == ValueKind::kUnknownExtent || y.kind() == ValueKind::kUnknownExtent)
    return Value::UnknownExtent();
  if (x.kind() != y.kind() || x.kind() == ValueKind::kLogical) return std::nullopt;
  const bool less = x.kind() == ValueKind::kInteger ? x.integer() < y.integer() : x.scalar() < y.scalar();
  return less == kLarger ? y : x;
}

template <auto kCompute>
Folded FoldBinary(const FoldCall& call) {
  const ValueItems &x = call.tensors[0], &y = call.tensors[1];
  if (x.shape != y.shape && x.items.size() != 1 && y.items.size() != 1) return std::nullopt;
  // A single element is broadcast to the other operand's shape; for two single elements, the higher rank
  // wins.
  const bool takes_first = x.items.size() != 1 || (y.items.size() == 1 && x.shape.size() >= y.shape.size());
  ValueItems result{takes_first ? x.shape : y.shape, {}};
  const size_t count = std::max(x.items.size(), y.items.size());
  for (size_t i = 0; i < count; ++i) {
    auto item = kCompute(x.items[x.items.size() == 1 ? 0 : i], y.items[y.items.size() == 1 ? 0 : i]);
    if (!item) return std::nullopt;
    result.items.push_back(std::move(*item));
  }
  return result;
}

// Folds a function of extents (integers) and of values computed from them.
template <double (*kFunction)(double)>
Folded FoldUnary(const FoldCall& call) {
  ValueItems result = call.tensors[0];
  for (Value& item : result.items) {
    if (item.kind() == ValueKind::kUnknownExtent) continue;
    if (item.kind() != ValueKind::kScalar && item.kind() != ValueKind::kInteger) return std::nullopt;
    const bool is_scalar = item.kind() == ValueKind::kScalar;
    if (!is_scalar && !(std::abs(static_cast<double>(item.integer())) < 9e15)) return std::nullopt;
    const double value = kFunction(is_scalar ? item.scalar() : static_cast<double>(item.integer()));
    item = is_scalar ? Value::Scalar(value) : Value::Integer(static_cast<int64_t>(value));
  }
  return result;
}

double Negated(double value) {
  return -value;
}

// Folds `select`; a single element broadcasts to any shape.
Folded FoldSelect(const FoldCall& call) {
  const ValueItems* widest = &call.tensors[0];
  for (const ValueItems& each : call.tensors) {
    if (each.items.size() > widest->items.size() || each.shape.size() > widest->shape.size()) widest = &each;
  }
  bool has_scalar = false;
  for (const ValueItems& each : call.tensors) {
    if (each.items.size() != 1 && each.shape != widest->shape) return std::nullopt;
    has_scalar |= &each != &call.tensors[0] && llvm::any_of(each.items, [](const Value& item) {
      return item.kind() == ValueKind::kScalar;
    });
  }
  ValueItems result{widest->shape, {}};
  const auto item = [](const ValueItems& of, size_t i) { return of.items[of.items.size() == 1 ? 0 : i]; };
  for (size_t i = 0; i < widest->items.size(); ++i) {
    const Value condition = item(call.tensors[0], i);
    if (condition.kind() == ValueKind::kUnknownExtent) {
      result.items.push_back(Value::UnknownExtent());
      continue;
    }
    if (condition.kind() != ValueKind::kLogical) return std::nullopt;
    result.items.push_back(Promoted(item(call.tensors[condition.logical() ? 1 : 2], i), has_scalar));
  }
  return result;
}

// R 4.5.8: a cast to integer rounds down.
Folded FoldCast(const FoldCall& call) {
  ValueItems items = call.tensors[0];
  for (Value& item : items.items) {
    if (item.kind() == ValueKind::kUnknownExtent && call.generic == TypeKind::kInteger) continue;
    if (item.kind() == ValueKind::kInteger && call.generic == TypeKind::kScalar) {
      item = Value::Scalar(static_cast<double>(item.integer()));
    } else if (item.kind() == ValueKind::kScalar && call.generic == TypeKind::kInteger) {
      const double floor = std::floor(item.scalar());
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
    item = Value::Integer(static_cast<int64_t>(item.scalar()));
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
      {"copy", FoldSame},
      {"reshape", FoldReshape},
      {"cast", FoldCast},
      {"tract_core_to_integer", FoldToInteger},
      {"add", FoldBinary<Compute<BinaryOperator::kAdd>>},
      {"sub", FoldBinary<Compute<BinaryOperator::kSub>>},
      {"mul", FoldBinary<Compute<BinaryOperator::kMul>>},
      {"div", FoldBinary<Compute<BinaryOperator::kDiv>>},
      {"lt", FoldBinary<Compute<BinaryOperator::kLt>>},
      {"gt", FoldBinary<Compute<BinaryOperator::kGt>>},
      {"le", FoldBinary<Compute<BinaryOperator::kLe>>},
      {"ge", FoldBinary<Compute<BinaryOperator::kGe>>},
      {"eq", FoldBinary<Compute<BinaryOperator::kEq>>},
      {"ne", FoldBinary<Compute<BinaryOperator::kNe>>},
      {"select", FoldSelect},
      {"neg", FoldUnary<Negated>},
      {"abs", FoldUnary<std::abs>},
      {"floor", FoldUnary<std::floor>},
      {"ceil", FoldUnary<std::ceil>},
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
                                Heap& heap) {
  const auto fold = Folds().find(plan.name);
  if (fold == Folds().end() || plan.is_custom) return std::nullopt;
  FoldCall call{plan, arguments, generic, {}};
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
  const auto made = static_cast<int64_t>(folded->items.size());
  heap.work += made;  // charged as steps
  Fault full;
  if (!heap.Reserve(made, full)) return std::nullopt;
  return FromItems(*folded, heap);
}

}  // namespace nnefc::expand
