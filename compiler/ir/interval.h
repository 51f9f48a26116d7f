#pragma once

#include <cstdint>
#include <optional>

#include "compiler/ir/shape.h"

namespace nnefc::ir::nnef {

// Arithmetic on extents whose operands may come from a hostile document:
// every product and sum of a few 64-bit values is exact in Wide.
__extension__ typedef __int128 Wide;

// The value if it fits 63 bits and is not negative.
std::optional<int64_t> NarrowExtent(Wide value);
// Rounds toward minus and plus infinity; `b` > 0.
Wide FloorDiv(Wide a, Wide b);
Wide CeilDiv(Wide a, Wide b);

// Applies a non-decreasing function to the ends of an interval. Nothing if
// even the lowest extent does not fit; a highest one that does not fit leaves
// the interval unbounded.
template <typename F>
std::optional<Dim> MapDim(Dim dim, F function) {
  const std::optional<int64_t> lowest = NarrowExtent(function(Wide{dim.min}));
  if (dim.known()) return lowest ? std::optional<Dim>(*lowest) : std::nullopt;
  if (!lowest) return std::nullopt;
  if (dim.max == Dim::kUnbounded) return Dim(*lowest, Dim::kUnbounded);
  const std::optional<int64_t> highest = NarrowExtent(function(Wide{dim.max}));
  return Dim(*lowest, highest.value_or(Dim::kUnbounded));
}

// The sum of two extents; nothing on overflow.
std::optional<Dim> Add(Dim a, Dim b);
// The product of two extents; nothing on overflow.
std::optional<Dim> Multiply(Dim a, Dim b);
// What satisfies both; nothing if no extent does.
std::optional<Dim> Intersect(Dim a, Dim b);

// R 4.2.2: equal extents, or one of them singular; nothing if they cannot be.
std::optional<Dim> BroadcastDim(Dim a, Dim b);

// Broadcasts shapes that are aligned on the left: missing trailing extents are
// singular. Of unknown rank if one of them is. `axis` is where they disagree.
struct BroadcastResult {
  PartialShape shape;
  std::optional<int64_t> mismatch;
};
BroadcastResult BroadcastShapes(const PartialShape& a, const PartialShape& b);

}  // namespace nnefc::ir::nnef
