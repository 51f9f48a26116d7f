#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/graph.h"

namespace nnefc::ir::ops {

// The attributes of a `slice` along one axis (R 4.5.4).
struct SliceAxis {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t stride = 1;
  // `end` was 0 and all strides are 1: slices to the end (deprecated in 1.0.4).
  bool to_end = false;
};

// Resolved begin and end for a known extent, in [-1, extent].
struct SliceRange {
  int64_t begin = 0;
  int64_t end = 0;
};

// Returns the slices of a `slice` node that passed inference, one for each item of `axes`.
std::vector<SliceAxis> SliceAxesOf(const Node& node);

// Adds the extent to negative ends and clamps to [-1, extent]. Returns nothing unless 0 <= begin <= end
// (stride > 0) or end <= begin < extent (stride < 0).
std::optional<SliceRange> ResolvedRange(int64_t extent, const SliceAxis& slice);

// Returns the number of items, ceil((end - begin) / stride). The specification's formula rounds down, but it
// would drop the last item of `x[0:5:2]`; this rounds up, like Khronos' reference implementation. Returns
// nothing if ResolvedRange returns nothing.
std::optional<Dim> SlicedExtent(Dim extent, const SliceAxis& slice);

}  // namespace nnefc::ir::ops
