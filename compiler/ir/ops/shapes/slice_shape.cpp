// The range of a `slice` along one axis, and its extent.

#include "compiler/ir/ops/shapes/slice_shape.h"

#include <algorithm>

#include "compiler/ir/interval.h"

namespace nnefc::ir::ops {

std::vector<SliceAxis> SliceAxesOf(const Node& node) {
  const Attribute::Integers begin = node.attribute("begin").AsInts();
  const Attribute::Integers end = node.attribute("end").AsInts();
  const Attribute::Integers stride = node.attribute("stride").AsInts();
  const bool unit = std::all_of(stride.begin(), stride.end(), [](int64_t s) { return s == 1; });
  std::vector<SliceAxis> slices(begin.size());
  for (size_t i = 0; i < slices.size(); ++i) {
    slices[i] = {begin[i], end[i], stride.empty() ? 1 : stride[i], unit && end[i] == 0};
  }
  return slices;
}

std::optional<SliceRange> ResolvedRange(int64_t extent, const SliceAxis& slice) {
  // No overflow: the extent is added to negative values only.
  const auto resolve = [&](int64_t offset) {
    if (offset < 0) offset += extent;
    return std::clamp<int64_t>(offset, -1, extent);
  };
  const SliceRange range{resolve(slice.begin), slice.to_end ? extent : resolve(slice.end)};
  const bool forward = slice.stride > 0 && range.begin >= 0 && range.begin <= range.end;
  const bool backward = slice.stride < 0 && range.end <= range.begin && range.begin < extent;
  if (!forward && !backward) return std::nullopt;
  return range;
}

namespace {

int64_t CountOf(const SliceRange& range, int64_t stride) {
  const Wide length = Wide{range.end} - range.begin;
  return static_cast<int64_t>(stride > 0 ? CeilDiv(length, stride) : CeilDiv(-length, -Wide{stride}));
}

}  // namespace

std::optional<Dim> SlicedExtent(Dim extent, const SliceAxis& slice) {
  if (extent.known()) {
    const std::optional<SliceRange> range = ResolvedRange(extent.min, slice);
    if (!range) return std::nullopt;
    return Dim(CountOf(*range, slice.stride));
  }
  const Wide step = slice.stride > 0 ? Wide{slice.stride} : -Wide{slice.stride};
  Dim sliced = extent;
  sliced.min = 0;
  if (extent.max != Dim::kUnbounded) sliced.max = static_cast<int64_t>(CeilDiv(extent.max, step));
  // Ends that are both counted from the same side bound the length.
  const bool same_side = !slice.to_end && (slice.begin < 0) == (slice.end < 0);
  if (!same_side) return sliced;
  const Wide length = slice.stride > 0 ? Wide{slice.end} - slice.begin : Wide{slice.begin} - slice.end;
  if (length < 0) return sliced;  // in order only if a small extent clamps both ends
  if (const auto bound = NarrowExtent(CeilDiv(length, step))) sliced.max = std::min(sliced.max, *bound);
  return sliced;
}

}  // namespace nnefc::ir::ops
