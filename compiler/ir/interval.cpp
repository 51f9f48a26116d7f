// Arithmetic of extents without overflow.

#include "compiler/ir/interval.h"

#include <algorithm>

namespace nnefc::ir {

std::optional<int64_t> NarrowExtent(Wide value) {
  if (value < 0 || value >= INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(value);
}

Wide FloorDiv(Wide a, Wide b) {
  const Wide quotient = a / b;
  return a % b < 0 ? quotient - 1 : quotient;
}

Wide CeilDiv(Wide a, Wide b) {
  return -FloorDiv(-a, b);
}

namespace {

// Combines intervals by a function that does not decrease in either operand and is at least each of them, so
// that what has no bound has none in the result.
template <typename F>
std::optional<Dim> Combine(Dim a, Dim b, F function) {
  const std::optional<int64_t> lowest = NarrowExtent(function(Wide{a.min}, Wide{b.min}));
  if (!lowest) return std::nullopt;
  if (a.known() && b.known()) return Dim(*lowest);
  return Dim(*lowest, NarrowExtent(function(Wide{a.max}, Wide{b.max})).value_or(Dim::kUnbounded));
}

}  // namespace

std::optional<Dim> Add(Dim a, Dim b) {
  return Combine(a, b, [](Wide x, Wide y) { return x + y; });
}

std::optional<Dim> Multiply(Dim a, Dim b) {
  if (a == Dim(0) || b == Dim(0)) return Dim(0);
  return Combine(a, b, [](Wide x, Wide y) { return x * y; });
}

std::optional<Dim> Merge(Dim a, Dim b) {
  if (!a.Compatible(b)) return std::nullopt;
  return Dim(std::max(a.min, b.min), std::min(a.max, b.max));
}

std::optional<PartialShape> Merge(const PartialShape& a, const PartialShape& b) {
  if (!a.rank_known()) return b;
  if (!b.rank_known()) return a;
  if (a.rank() != b.rank()) return std::nullopt;
  PartialShape merged = a;
  for (int64_t i = 0; i < a.rank(); ++i) {
    const std::optional<Dim> dim = Merge(a[i], b[i]);
    if (!dim) return std::nullopt;
    merged.set(i, *dim);
  }
  return merged;
}

std::optional<Dim> BroadcastDim(Dim a, Dim b) {
  const auto may_be_singular = [](Dim dim) { return dim.Compatible(Dim(1)); };
  if (!may_be_singular(a) && !may_be_singular(b)) return Merge(a, b);
  // An extent that cannot be 1 prevails: the other one equals it or is broadcast.
  if (!may_be_singular(a)) return a;
  if (!may_be_singular(b)) return b;
  return Dim(std::min(a.min, b.min), std::max(a.max, b.max));
}

BroadcastResult BroadcastShapes(const PartialShape& a, const PartialShape& b, Alignment alignment) {
  if (!a.rank_known() || !b.rank_known()) return {};
  const PartialShape& longer = a.rank() >= b.rank() ? a : b;
  const PartialShape& shorter = a.rank() >= b.rank() ? b : a;
  const int64_t before = alignment == Alignment::kFirst ? 0 : longer.rank() - shorter.rank();
  BroadcastResult result{longer, std::nullopt};
  for (int64_t i = 0; i < shorter.rank(); ++i) {
    const int64_t axis = before + i;
    const std::optional<Dim> dim = BroadcastDim(longer[axis], shorter[i]);
    if (!dim) {
      result.mismatch = axis;
      return result;
    }
    result.shape.set(axis, *dim);
  }
  return result;
}

}  // namespace nnefc::ir
