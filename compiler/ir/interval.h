#pragma once

#include <cstdint>
#include <optional>

#include "compiler/ir/shape.h"

namespace nnefc::ir {

// Arithmetic of extents whose operands may come from a hostile document. Sums and products of two or three
// 64-bit values are exact in Wide; results that are not valid extents become nullopt.
__extension__ typedef __int128 Wide;

// Returns the value if it is in [0, INT64_MAX), since INT64_MAX is Dim::kUnbounded.
std::optional<int64_t> NarrowExtent(Wide value);
// Division that rounds toward minus and plus infinity; `b` > 0.
Wide FloorDiv(Wide a, Wide b);
Wide CeilDiv(Wide a, Wide b);

// Applies a non-decreasing function to the ends of an interval. Returns nothing if the lower end overflows;
// an upper end that overflows becomes unbounded.
template <typename F>
std::optional<Dim> MapDim(Dim dim, F function) {
  const std::optional<int64_t> lowest = NarrowExtent(function(Wide{dim.min}));
  if (dim.known()) return lowest ? std::optional<Dim>(*lowest) : std::nullopt;
  if (!lowest) return std::nullopt;
  if (dim.max == Dim::kUnbounded) return Dim(*lowest, Dim::kUnbounded);
  const std::optional<int64_t> highest = NarrowExtent(function(Wide{dim.max}));
  return Dim(*lowest, highest.value_or(Dim::kUnbounded));
}

// Returns the sum or the product of two extents, or nothing if it overflows.
std::optional<Dim> Add(Dim a, Dim b);
std::optional<Dim> Multiply(Dim a, Dim b);

// Returns the intersection, or nothing if it is empty.
std::optional<Dim> Merge(Dim a, Dim b);
std::optional<PartialShape> Merge(const PartialShape& a, const PartialShape& b);

// Returns the broadcast extent: both are equal, or one is 1. Nothing if they are incompatible.
std::optional<Dim> BroadcastDim(Dim a, Dim b);

// The end where shapes of unequal rank are aligned; missing axes have extent 1. NNEF aligns the first axes
// (R 4.2.2), NumPy and OpenVINO the last ones.
enum class Alignment : uint8_t { kFirst, kLast };

// The broadcast shape, of unknown rank if an operand's rank is unknown. `mismatch` is the first axis of the
// longer shape where the extents are incompatible.
struct [[nodiscard]] BroadcastResult {
  PartialShape shape;
  std::optional<int64_t> mismatch;
};
BroadcastResult BroadcastShapes(const PartialShape& a, const PartialShape& b, Alignment alignment);

}  // namespace nnefc::ir
