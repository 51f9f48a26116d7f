#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/graph.h"

namespace nnefc::ir::nnef {

// A `slice` along one axis (R 4.5.4).
struct SliceAxis {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t stride = 1;
  // `end` was 0 and all strides are 1: up to the end (deprecated in 1.0.4).
  bool to_end = false;
};

// begin and end as they are meant for an extent: in [-1, extent].
struct SliceRange {
  int64_t begin = 0;
  int64_t end = 0;
};

// The slices of a `slice` node that passed inference, one for each of `axes`.
std::vector<SliceAxis> SliceAxesOf(const Node& node);

// Adds the extent to negative ends and clamps to [-1, extent]. Nothing unless
// 0 <= begin <= end (stride > 0) or end <= begin < extent (stride < 0).
std::optional<SliceRange> ResolvedRange(int64_t extent, const SliceAxis& slice);

// The number of items, ceil((end - begin) / stride): the specification's
// formula rounds down, which would drop the last item of `x[0:5:2]`; Khronos'
// reference implementation rounds up, and so does this. Nothing where
// ResolvedRange has nothing.
std::optional<Dim> SlicedExtent(Dim extent, const SliceAxis& slice);

}  // namespace nnefc::ir::nnef
