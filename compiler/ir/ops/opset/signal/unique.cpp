// Unique: the distinct elements or slices of a tensor.

#include "compiler/ir/ops/opset/signal/unique.h"

#include <algorithm>
#include <numeric>

#include "compiler/ir/ops/opset/op_context.h"
#include "compiler/ir/ops/opset/signal/rows.h"
#include "compiler/support/tensor/element_visitor.h"

namespace nnefc::ir::ops::opset::signal {

namespace {

// Returns a negative number, zero or a positive number for `a` before, equal to or after `b`. NaN is last.
template <typename T>
int Compare(T a, T b) {
  using C = ComputeType<T>;
  const C x = static_cast<C>(a), y = static_cast<C>(b);
  if constexpr (kIsFloating<T>) {
    const bool a_is_nan = x != x, b_is_nan = y != y;
    if (a_is_nan || b_is_nan) return static_cast<int>(a_is_nan) - static_cast<int>(b_is_nan);
  }
  return x < y ? -1 : static_cast<int>(y < x);
}

// The slices of a row-major tensor along an axis; without one, its elements.
struct Slices {
  int64_t count = 1;  // number of slices
  int64_t outer = 1;
  int64_t inner = 1;

  Slices(const Shape& shape, std::optional<int64_t> axis) {
    for (size_t i = 0; i < shape.size(); ++i) {
      if (!axis || static_cast<int64_t>(i) == *axis) {
        count *= shape[i];
      } else {
        (static_cast<int64_t>(i) < *axis ? outer : inner) *= shape[i];
      }
    }
  }

  template <typename T>
  int Compare(const T* data, int64_t a, int64_t b) const {
    for (int64_t i = 0; i < outer; ++i) {
      const T* row = data + i * count * inner;
      for (int64_t j = 0; j < inner; ++j) {
        const int order = signal::Compare(row[a * inner + j], row[b * inner + j]);
        if (order != 0) return order;
      }
    }
    return 0;
  }
};

template <typename T>
UniqueItems FindUniqueAs(const T* data, const Slices& slices, bool sorted) {
  std::vector<int64_t> order(static_cast<size_t>(slices.count));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return slices.Compare(data, a, b) < 0; });
  UniqueItems found;
  found.inverse.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || slices.Compare(data, order[i - 1], order[i]) != 0) {
      found.first.push_back(order[i]);
      found.counts.push_back(0);
    }
    ++found.counts.back();
    found.inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(found.first.size()) - 1;
  }
  if (sorted) return found;
  std::vector<int64_t> by_first(found.first.size()), rank(found.first.size());
  std::iota(by_first.begin(), by_first.end(), 0);
  const auto first = [&](int64_t item) { return found.first[static_cast<size_t>(item)]; };
  std::sort(by_first.begin(), by_first.end(), [&](int64_t a, int64_t b) { return first(a) < first(b); });
  UniqueItems reordered{.first = {}, .counts = {}, .inverse = std::move(found.inverse)};
  for (size_t i = 0; i < by_first.size(); ++i) {
    const auto item = static_cast<size_t>(by_first[i]);
    rank[item] = static_cast<int64_t>(i);
    reordered.first.push_back(found.first[item]);
    reordered.counts.push_back(found.counts[item]);
  }
  for (int64_t& item : reordered.inverse) item = rank[static_cast<size_t>(item)];
  return reordered;
}

// Unique-10: distinct items, the index of each one's first occurrence, the index of each item's distinct
// item, and the number of occurrences.
void InferUnique(OpContext& op) {
  for (std::string_view attribute : {"index_element_type", "count_element_type"}) {
    const ElementType type = op.Type(attribute);
    if (type == ElementType::kI32 || type == ElementType::kI64) continue;
    op.Error(kOpsetAttributeValue, "`{}` of `Unique` is {}; expected i32 or i64", attribute, Name(type));
    return;
  }
  const std::optional<TensorValue>& value = op.Value(0);
  const bool has_axis = op.has_input(1);
  const std::optional<std::vector<int64_t>> given = has_axis ? op.Integers(1) : std::nullopt;
  const PartialShape& data = op.shape(0);
  std::optional<int64_t> axis;
  if (given && data.rank_known()) {
    axis = op.NormalizeAxis(given->front(), data.rank());
    if (!axis) return;
  }
  const std::optional<int64_t> volume = data.volume();
  Dim count(volume.value_or(0) > 0 ? 1 : 0, volume.value_or(Dim::kUnbounded));
  Dim items = volume ? Dim(*volume) : Dim();
  PartialShape distinct = has_axis ? PartialShape() : PartialShape{count};
  if (has_axis && data.rank_known()) {
    distinct = axis ? data : PartialShape::OfRank(data.rank());
    items = axis ? data[*axis] : Dim();
  }
  if (axis) count = Dim(std::min<int64_t>(items.min, 1), items.max);
  if (value && (!has_axis || axis)) {
    const TensorValue aligned = value->AlignedToElements();
    const auto found = FindUnique(aligned.type(), aligned.shape(), aligned.bytes(), axis, op.Bool("sorted"));
    if (found) count = Dim(static_cast<int64_t>(found->first.size()));
  }
  if (!has_axis) distinct = PartialShape{count};
  if (axis) distinct.set(*axis, count);
  op.Set(0, op.type(0), distinct);
  op.Set(1, op.Type("index_element_type"), PartialShape{count});
  op.Set(2, op.Type("index_element_type"), PartialShape{items});
  op.Set(3, op.Type("count_element_type"), PartialShape{count});
}

}  // namespace

std::optional<UniqueItems> FindUnique(ElementType type, const Shape& shape, const std::byte* bytes,
                                      std::optional<int64_t> axis, bool sorted) {
  std::optional<UniqueItems> found;
  VisitAnyType(type, [&]<typename T>(TypeTag<T>) {
    found = FindUniqueAs(reinterpret_cast<const T*>(bytes), Slices(shape, axis), sorted);
  });
  return found;
}

std::vector<OpInfo> UniqueRows() {
  return {MakeRow({.set = "opset10",
                   .name = "Unique",
                   .inputs = {"data", "axis?: index 0..1 one"},
                   .attributes = {{"sorted", AttributeKind::kBool, true},
                                  {"index_element_type", AttributeKind::kType, ElementType::kI64},
                                  {"count_element_type", AttributeKind::kType, ElementType::kI64}},
                   .infer = Infer<InferUnique>,
                   .outputs = {"unique_elements", "indices", "reverse_indices", "counts"}})};
}

}  // namespace nnefc::ir::ops::opset::signal
