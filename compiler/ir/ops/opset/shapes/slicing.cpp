// Shape inference of OpenVINO's StridedSlice, Slice and SliceScatter.

#include <algorithm>
#include <cstdlib>

#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir::ops::opset {

namespace {

struct Range {
  int64_t start = 0;
  int64_t stop = INT64_MAX;
  int64_t step = 1;
};

// Returns the number of elements that the range selects from an axis of `extent` elements. Negative ends
// count from the end; ends out of range are clamped.
int64_t Count(Range range, int64_t extent) {
  const bool forward = range.step > 0;
  const int64_t lowest = forward ? 0 : -1;
  const int64_t highest = forward ? extent : extent - 1;
  const auto place = [&](int64_t end) {
    return std::clamp(end < 0 ? SaturatingAdd(end, extent) : end, lowest, std::max(lowest, highest));
  };
  const int64_t length =
      forward ? place(range.stop) - place(range.start) : place(range.start) - place(range.stop);
  if (length <= 0) return 0;
  return static_cast<int64_t>(CeilDiv(length, range.step == INT64_MIN ? INT64_MAX : std::abs(range.step)));
}

Dim Count(Range range, Dim extent) {
  if (extent.known()) return Count(range, extent.value());
  // The count is non-decreasing in the extent unless the range runs from the end to a fixed index.
  const bool grows = range.step > 0 && !(range.start < 0 && range.stop > 0);
  const auto bounded = [&](int64_t x) { return Count(range, x); };
  if (!grows) return Dim(0, extent.max);
  const bool open =
      extent.max == Dim::kUnbounded && (range.stop < 0 || range.stop == INT64_MAX) && range.start >= 0;
  return Dim(bounded(extent.min), open ? Dim::kUnbounded : bounded(extent.max));
}

// The masks of a StridedSlice, indexed like `begin`.
class Masks {
 public:
  explicit Masks(OpContext& op)
      : begin_(op.Ints("begin_mask")),
        end_(op.Ints("end_mask")),
        added_(op.Ints("new_axis_mask")),
        removed_(op.Ints("shrink_axis_mask")),
        ellipsis_(op.Ints("ellipsis_mask")) {}

  // Emits kOpsetAttributeValue for a mask that has items other than 0 and 1, or is neither empty nor as long
  // as `begin_mask`.
  static bool Check(OpContext& op) {
    const size_t length = op.Ints("begin_mask").size();
    for (std::string_view name :
         {"begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask"}) {
      const std::vector<int64_t> mask = op.Ints(name);
      for (int64_t item : mask) {
        if (item == 0 || item == 1) continue;
        op.Error(kOpsetAttributeValue, "`{}` of `StridedSlice` has the item {}; expected 0 or 1", name, item);
        return false;
      }
      if (mask.empty() || mask.size() == length) continue;
      op.Error(kOpsetAttributeValue, "`{}` of `StridedSlice` has {} items; expected {} as `begin_mask` has",
               name, mask.size(), length);
      return false;
    }
    return true;
  }

  bool begin(size_t i) const { return Bit(begin_, i); }
  bool end(size_t i) const { return Bit(end_, i); }
  bool added(size_t i) const { return Bit(added_, i); }
  bool removed(size_t i) const { return Bit(removed_, i); }
  bool ellipsis(size_t i) const { return Bit(ellipsis_, i); }

 private:
  static bool Bit(const std::vector<int64_t>& mask, size_t i) { return i < mask.size() && mask[i] != 0; }

  std::vector<int64_t> begin_, end_, added_, removed_, ellipsis_;
};

// StridedSlice-1 with constant ends.
void SliceByMasks(OpContext& op, const std::vector<int64_t>& begin, const std::vector<int64_t>& end,
                  const std::vector<int64_t>& strides) {
  const PartialShape& data = op.shape(0);
  const Masks masks(op);
  int64_t consumed = 0;  // data axes that items before and after the ellipsis use
  for (size_t i = 0; i < begin.size(); ++i) consumed += masks.ellipsis(i) || masks.added(i) ? 0 : 1;
  if (consumed > data.rank()) {
    op.Error(kOpsetRank, "`StridedSlice` slices {} axes of a tensor of rank {}", consumed, data.rank());
    return;
  }
  llvm::SmallVector<Dim, 4> dims;
  int64_t axis = 0;
  bool skipped = false;
  for (size_t i = 0; i < begin.size(); ++i) {
    if (masks.ellipsis(i)) {
      if (skipped) {
        op.Error(kOpsetAttributeValue, "`ellipsis_mask` of `StridedSlice` has a second 1");
        return;
      }
      for (int64_t rest = data.rank() - consumed; rest > 0; --rest) dims.push_back(data[axis++]);
      skipped = true;
    } else if (masks.added(i)) {
      dims.push_back(Dim(1));
    } else if (masks.removed(i)) {
      const int64_t place = begin[i] < 0 ? -(begin[i] + 1) : begin[i];
      if (data[axis].max != Dim::kUnbounded && place >= data[axis].max) {
        op.Error(kOpsetExtent, "`StridedSlice` takes element {} of axis {} of extent {}", begin[i], axis,
                 data[axis].max);
        return;
      }
      ++axis;
    } else {
      const int64_t step = i < strides.size() ? strides[i] : 1;
      if (step == 0) {
        op.Error(kOpsetConstantInput, "a stride of `StridedSlice` is 0");
        return;
      }
      Range range{.start = begin[i], .stop = end[i], .step = step};
      if (masks.begin(i)) range.start = step > 0 ? 0 : INT64_MAX;
      if (masks.end(i)) range.stop = step > 0 ? INT64_MAX : INT64_MIN;
      dims.push_back(Count(range, data[axis++]));
    }
  }
  while (axis < data.rank()) dims.push_back(data[axis++]);
  op.Set(op.type(0), PartialShape(dims));
}

void InferStridedSlice(OpContext& op) {
  if (!Masks::Check(op)) return;
  const std::optional<std::vector<int64_t>> begin = op.Integers(1);
  const std::optional<std::vector<int64_t>> end = op.Integers(2);
  const std::optional<std::vector<int64_t>> strides =
      op.has_input(3) ? op.Integers(3) : std::optional(std::vector<int64_t>{});
  if (!op.shape(0).rank_known() || !begin || !end || !strides) return op.Set(op.type(0), PartialShape());
  if (begin->size() != end->size() || (!strides->empty() && strides->size() != begin->size())) {
    op.Error(kOpsetConstantInput, "`StridedSlice` has {} begins, {} ends and {} strides", begin->size(),
             end->size(), strides->size());
    return;
  }
  SliceByMasks(op, *begin, *end, *strides);
}

// The number of items that the lists from input `first` to `last`, not included, have in common, as far as it
// is known; nothing after a mistake.
std::optional<Dim> CommonLength(OpContext& op, int32_t first, int32_t last) {
  Dim length;
  for (int32_t i = first; i < last; ++i) {
    if (!op.shape(i).rank_known()) continue;
    const std::optional<Dim> merged = Merge(length, op.shape(i)[0]);
    if (!merged) {
      op.Error(kOpsetExtent, "{} has the shape {}; expected {} items as before it", op.InputName(i),
               ToString(op.shape(i)), length.min);
      return std::nullopt;
    }
    length = *merged;
  }
  return length;
}

// The shape of the slice by inputs start, stop, step and axes, of which `first` is the first: of the axes of
// the last one, which may be left out, or the first ones. Where positions are unknown, so are the extents
// along these axes; nothing after a mistake.
std::optional<PartialShape> SliceShape(OpContext& op, int32_t first) {
  const PartialShape& data = op.shape(0);
  const bool has_axes = op.has_input(first + 3);
  const std::optional<std::vector<int64_t>> start = op.Integers(first);
  const std::optional<std::vector<int64_t>> stop = op.Integers(first + 1);
  const std::optional<std::vector<int64_t>> step = op.Integers(first + 2);
  std::optional<std::vector<int64_t>> axes = has_axes ? op.Integers(first + 3) : std::vector<int64_t>{};
  if (step && std::find(step->begin(), step->end(), 0) != step->end()) {
    op.Error(kOpsetConstantInput, "{} has the item 0", op.InputName(first + 2));
    return std::nullopt;
  }
  if (!data.rank_known()) return PartialShape();
  const std::optional<Dim> length = CommonLength(op, first, first + (has_axes ? 4 : 3));
  if (!length) return std::nullopt;
  PartialShape shape = data;
  if (!axes || (!has_axes && !length->known())) {
    for (int64_t axis = 0; axis < data.rank(); ++axis) shape.set(axis, Dim(0, data[axis].max));
    return shape;
  }
  if (!has_axes) {
    for (int64_t i = 0; i < std::min(length->value(), data.rank() + 1); ++i) axes->push_back(i);
  }
  const std::optional<std::vector<int64_t>> normal = op.NormalizeAxes(*axes, data.rank());
  if (!normal) return std::nullopt;
  const bool is_known = start && stop && step;
  for (size_t i = 0; i < normal->size(); ++i) {
    const int64_t axis = (*normal)[i];
    shape.set(axis, is_known
                        ? Count({.start = (*start)[i], .stop = (*stop)[i], .step = (*step)[i]}, data[axis])
                        : Dim(0, data[axis].max));
  }
  return shape;
}

void InferSlice(OpContext& op) {
  if (const std::optional<PartialShape> shape = SliceShape(op, 1)) op.Set(op.type(0), *shape);
}

// SliceScatter-15: the shape of the data; the updates have the shape of the slice.
void InferSliceScatter(OpContext& op) {
  const ElementType type = op.CommonType(0, 2);
  const std::optional<PartialShape> slice = SliceShape(op, 2);
  if (!slice || op.failed()) return;
  if (op.shape(0).rank_known() && op.shape(2).rank_known() && op.shape(2)[0].min > op.shape(0).rank()) {
    op.Error(kOpsetExtent, "{} has the shape {}; expected at most {} axes", op.InputName(2),
             ToString(op.shape(2)), op.shape(0).rank());
    return;
  }
  if (!Merge(*slice, op.shape(1))) {
    op.Error(kOpsetExtent, "{} has the shape {}; expected that of the slice, {}", op.InputName(1),
             ToString(op.shape(1)), ToString(*slice));
    return;
  }
  op.Set(type, op.shape(0));
}

}  // namespace

std::vector<OpInfo> SlicingRows() {
  const Attribute none = Attribute::Integers{};
  return {
      MakeRow({.set = "opset1",
               .name = "StridedSlice",
               .inputs = {"data: 1..", "begin: integer 1", "end: integer 1", "strides?: integer 1"},
               .attributes = {{"begin_mask", AttributeKind::kInts, none},
                              {"end_mask", AttributeKind::kInts, none},
                              {"new_axis_mask", AttributeKind::kInts, none},
                              {"shrink_axis_mask", AttributeKind::kInts, none},
                              {"ellipsis_mask", AttributeKind::kInts, none}},
               .infer = Infer<InferStridedSlice>}),
      MakeRow({.set = "opset8",
               .name = "Slice",
               .inputs = {"data: 1..", "start: integer 1", "stop: integer 1", "step: integer 1",
                          "axes?: integer 1"},
               .infer = Infer<InferSlice>,
               .rearrangement = Rearrangement::kSlice}),
      MakeRow({.set = "opset15",
               .name = "SliceScatter",
               .inputs = {"data: 1..", "updates: 1..", "start: integer 1", "stop: integer 1",
                          "step: integer 1", "axes?: integer 1"},
               .infer = Infer<InferSliceScatter>}),
  };
}

}  // namespace nnefc::ir::ops::opset
