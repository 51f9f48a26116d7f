#pragma once

#include <cstdint>
#include <optional>

#include "compiler/ir/shape.h"

namespace nnefc::ir {

// Arithmetic of extents, whose operands may come from a hostile document: every
// product and sum of a few 64-bit values is exact in Wide, and what does not fit an
// extent is nothing.
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

// The sum, or the product, of two extents; nothing if it does not fit.
std::optional<Dim> Add(Dim a, Dim b);
std::optional<Dim> Multiply(Dim a, Dim b);

// What satisfies both; nothing if no extent does.
std::optional<Dim> Merge(Dim a, Dim b);
std::optional<PartialShape> Merge(const PartialShape& a, const PartialShape& b);

// Equal extents, or one of them singular; nothing if they cannot be.
std::optional<Dim> BroadcastDim(Dim a, Dim b);

// At which end shapes of unequal rank are aligned; what is missing at the other is
// singular: NNEF aligns the first axes (R 4.2.2), NumPy and OpenVINO the last ones.
enum class Alignment : uint8_t { kFirst, kLast };

// `shape` is of unknown rank if one of them is; `mismatch` is the axis of the longer
// shape where they disagree.
struct [[nodiscard]] BroadcastResult {
  PartialShape shape;
  std::optional<int64_t> mismatch;
};
BroadcastResult BroadcastShapes(const PartialShape& a, const PartialShape& b, Alignment alignment);

}  // namespace nnefc::ir
