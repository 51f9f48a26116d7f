// Raising of OpenVINO's Concat, splits, slices, Pad and Reverse to NNEF operations.

#include <algorithm>
#include <numeric>

#include "compiler/raise/node_raising.h"
#include "compiler/raise/table.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::raise {

namespace {

void RaiseConcat(NodeRaising& n) {
  std::vector<OutputPort> values;
  for (int32_t i = 0; i < n.num_inputs(); ++i) {
    if (!llvm::is_contained(n.input_shape(i), 0)) values.push_back(n.input(i));
  }
  const int64_t axis = AxisFromFront(n.node().Int("axis"), n.output_rank());
  if (values.empty()) n.Decline("its result has no elements");
  if (values.size() == 1) return n.SetOutput(values.front());
  n.SetOutput(
      n.Add("concat", values, Attributes({{"axis", axis}, {"dtype", DataTypeName(n.output_type())}})));
}

// tract has no `split`.
void SplitBySlices(NodeRaising& n, int64_t axis, const Integers& extents) {
  int64_t begin = 0;
  for (int32_t i = 0; i < n.node().num_outputs(); ++i) {
    const int64_t end = begin + extents[static_cast<size_t>(i)];
    n.SetOutput(i, n.Add("slice", n.input(0),
                         Attributes({{"axes", Integers{axis}},
                                     {"begin", Integers{begin}},
                                     {"end", Integers{end}},
                                     {"dtype", DataTypeName(n.output_type(i))}}),
                         fmt::format("part_{}", i)));
    begin = end;
  }
}

// Splits by the extents of the results along an axis. Equal ones have the ratio 1.
void Split(NodeRaising& n, int64_t axis) {
  const int32_t parts = n.node().num_outputs();
  Integers ratios;
  for (int32_t i = 0; i < parts; ++i) ratios.push_back(n.output_shape(i)[static_cast<size_t>(axis)]);
  if (llvm::is_contained(ratios, 0)) n.Decline("one of its results has no elements");
  if (parts == 1) return n.SetOutput(n.input(0));
  if (IsForTract(n)) return SplitBySlices(n, axis, ratios);
  const int64_t divisor = std::accumulate(ratios.begin(), ratios.end(), int64_t{0},
                                          [](int64_t a, int64_t b) { return std::gcd(a, b); });
  for (int64_t& ratio : ratios) ratio /= divisor;
  const ir::NodeId split = n.AddNode(
      {ir::kNnefSet, "split"}, n.input(0),
      Attributes({{"axis", axis}, {"ratios", ratios}, {"dtype", DataTypeName(n.output_type())}}), parts);
  for (int32_t i = 0; i < parts; ++i) n.SetOutput(i, {split, i});
}

void RaiseSplit(NodeRaising& n) {
  const Integers axis = n.ConstIntegers(1, "axis");
  Split(n, AxisFromFront(axis.front(), n.input_rank(0)));
}

OutputPort PickElements(NodeRaising& n, OutputPort x, int64_t axis, const Integers& indices) {
  const OutputPort table = n.Constant(TensorValue::FromInts({static_cast<int64_t>(indices.size())}, indices),
                                      fmt::format("indices_{}", axis));
  return n.Add("gather", {x, table}, Attributes({{"axis", axis}, {"dtype", DataTypeName(n.output_type())}}),
               fmt::format("picked_{}", axis));
}

// A range of elements along one axis of the input.
struct Range {
  int64_t begin = 0;
  int64_t step = 1;
  int64_t count = 0;
};

// Returns the first element of a range: negative ones count from the end, and others are clamped to the
// nearest one from which `step` enters the tensor.
int64_t FirstElement(int64_t begin, int64_t step, int64_t extent) {
  if (begin < 0) begin += extent;
  return step > 0 ? std::clamp<int64_t>(begin, 0, extent) : std::clamp<int64_t>(begin, -1, extent - 1);
}

// tract has no slices of negative strides.
OutputPort Picked(NodeRaising& n, OutputPort x, int64_t axis, const Range& range) {
  Integers indices;
  for (int64_t i = 0; i < range.count; ++i) indices.push_back(range.begin + i * range.step);
  return PickElements(n, x, axis, indices);
}

// Slices all axes; those with all elements are omitted.
OutputPort SliceRanges(NodeRaising& n, OutputPort x, llvm::ArrayRef<Range> ranges) {
  const nnefc::Shape shape = n.Shape(x);
  Integers axes, begin, end, stride;
  for (size_t axis = 0; axis < ranges.size(); ++axis) {
    const Range& range = ranges[axis];
    if (range.count == 0) n.Decline("its result has no elements");
    if (range.count == shape[axis] && (range.step == 1 || range.count == 1)) continue;
    const int64_t step = range.count == 1 ? 1 : range.step;
    if (IsForTract(n) && step < 0) {
      x = Picked(n, x, static_cast<int64_t>(axis), range);
      continue;
    }
    const int64_t past = range.begin + (range.count - 1) * step + (step > 0 ? 1 : -1);
    axes.push_back(static_cast<int64_t>(axis));
    begin.push_back(range.begin);
    end.push_back(past < 0 ? -shape[axis] - 1 : past);  // -1 is the last element
    stride.push_back(step);
  }
  if (axes.empty()) return x;
  if (llvm::all_of(stride, [](int64_t step) { return step == 1; })) stride.clear();
  return n.Add("slice", x,
               Attributes({{"axes", axes},
                           {"begin", begin},
                           {"end", end},
                           {"stride", stride},
                           {"dtype", DataTypeName(n.output_type())}}));
}

std::vector<Range> WholeRanges(const nnefc::Shape& shape) {
  std::vector<Range> ranges;
  for (int64_t extent : shape) ranges.push_back({.count = extent});
  return ranges;
}

// Slice-8: data, start, stop, step, axes.
void RaiseSlice(NodeRaising& n) {
  const nnefc::Shape shape = n.input_shape(0);
  const nnefc::Shape output = n.output_shape();
  const Integers start = n.ConstIntegers(1, "start");
  const Integers step = n.ConstIntegers(3, "step");
  Integers axes(start.size());
  std::iota(axes.begin(), axes.end(), int64_t{0});
  if (n.has_input(4)) axes = n.ConstIntegers(4, "axes");
  std::vector<Range> ranges = WholeRanges(shape);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(AxisFromFront(axes[i], n.input_rank(0)));
    ranges[axis] = {
        .begin = FirstElement(start[i], step[i], shape[axis]), .step = step[i], .count = output[axis]};
  }
  n.SetOutput(SliceRanges(n, n.input(0), ranges));
}

bool MaskBit(const Integers& mask, size_t i) {
  return i < mask.size() && mask[i] != 0;
}

// StridedSlice: items of `begin` are axes; masks make an item cover several axes (ellipsis), insert an axis
// (new) or remove one (shrink).
void RaiseStridedSlice(NodeRaising& n) {
  const nnefc::Shape shape = n.input_shape(0);
  const nnefc::Shape output = n.output_shape();
  const Integers begin = n.ConstIntegers(1, "begin");
  const Integers steps = n.has_input(3) ? n.ConstIntegers(3, "strides") : Integers(begin.size(), 1);
  const auto mask = [&](std::string_view name) { return n.node().Ints(name); };
  const Integers begin_mask = mask("begin_mask"), new_axis = mask("new_axis_mask"),
                 shrink = mask("shrink_axis_mask"), ellipsis = mask("ellipsis_mask");
  size_t consumed = 0;
  for (size_t i = 0; i < begin.size(); ++i) consumed += !MaskBit(ellipsis, i) && !MaskBit(new_axis, i);
  std::vector<Range> ranges = WholeRanges(shape);
  Integers removed, inserted;
  size_t axis = 0, result = 0;
  for (size_t i = 0; i < begin.size(); ++i) {
    if (MaskBit(ellipsis, i)) {
      const size_t covered = shape.size() - consumed;
      axis += covered;
      result += covered;
    } else if (MaskBit(new_axis, i)) {
      inserted.push_back(static_cast<int64_t>(result++));
    } else if (MaskBit(shrink, i)) {
      removed.push_back(static_cast<int64_t>(axis));
      ranges[axis] = {.begin = begin[i] < 0 ? begin[i] + shape[axis] : begin[i], .count = 1};
      ++axis;
    } else {
      const int64_t whole = steps[i] > 0 ? 0 : shape[axis] - 1;
      ranges[axis] = {.begin = MaskBit(begin_mask, i) ? whole : FirstElement(begin[i], steps[i], shape[axis]),
                      .step = steps[i],
                      .count = output[result++]};
      ++axis;
    }
  }
  const OutputPort sliced = n.Squeeze(SliceRanges(n, n.input(0), ranges), removed, "elements");
  n.SetOutput(n.Unsqueeze(sliced, inserted, "inserted"));
}

// Padding at the begin and at the end of each axis; negative numbers remove elements.
using Padding = std::vector<std::pair<int64_t, int64_t>>;

// Pads by a `gather` of elements of the tensor: tract has one border of the three, and no negative padding.
void PadByElements(NodeRaising& n, const Padding& padding, std::string_view mode) {
  OutputPort x = n.input(0);
  const nnefc::Shape shape = n.input_shape(0);
  for (size_t axis = 0; axis < padding.size(); ++axis) {
    const auto [begin, end] = padding[axis];
    if (begin == 0 && end == 0) continue;
    const int64_t last = shape[axis] - 1;
    Integers indices;
    for (int64_t i = -begin; i <= last + end; ++i) {
      const int64_t mirrored = mode == "reflect" ? -i : -1 - i;
      const int64_t returned = mode == "reflect" ? 2 * last - i : 2 * last + 1 - i;
      const int64_t reflected = i < 0 ? mirrored : i > last ? returned : i;
      indices.push_back(mode == "edge" ? std::clamp<int64_t>(i, 0, last) : reflected);
    }
    x = PickElements(n, x, static_cast<int64_t>(axis), indices);
  }
  n.SetOutput(x);
}

// Removes the elements that negative padding removes, and sets it to zero.
OutputPort Cropped(NodeRaising& n, OutputPort x, Padding& padding) {
  std::vector<Range> ranges = WholeRanges(n.input_shape(0));
  for (size_t axis = 0; axis < padding.size(); ++axis) {
    auto& [begin, end] = padding[axis];
    ranges[axis].begin = std::max<int64_t>(-begin, 0);
    ranges[axis].count += std::min<int64_t>(begin, 0) + std::min<int64_t>(end, 0);
    if (ranges[axis].count <= 0) n.Decline("its padding removes all elements of axis {}", axis);
    begin = std::max<int64_t>(begin, 0);
    end = std::max<int64_t>(end, 0);
  }
  return SliceRanges(n, x, ranges);
}

// Pad: NNEF's borders have other names.
void RaisePad(NodeRaising& n) {
  n.RequireScalars();
  const Integers begin = n.ConstIntegers(1, "pads_begin");
  const Integers end = n.ConstIntegers(2, "pads_end");
  Padding padding;
  for (size_t i = 0; i < begin.size(); ++i) padding.emplace_back(begin[i], end[i]);
  if (llvm::all_of(padding, [](const auto& item) { return item == std::pair<int64_t, int64_t>(0, 0); }))
    return n.SetOutput(n.input(0));
  constexpr std::pair<std::string_view, std::string_view> kBorders[] = {
      {"constant", "constant"}, {"edge", "replicate"}, {"reflect", "reflect"}, {"symmetric", "reflect-even"}};
  const std::string& mode = n.node().String("pad_mode");
  const auto* border = llvm::find_if(kBorders, [&](const auto& each) { return each.first == mode; });
  NNEFC_CHECK(border != std::end(kBorders));
  if (IsForTract(n) && mode != "constant") return PadByElements(n, padding, mode);
  OutputPort x = n.input(0);
  if (IsForTract(n)) x = Cropped(n, x, padding);
  ir::AttributeMap attributes = Attributes({{"border", border->second}});
  attributes.Set("padding", ir::PairList(padding));
  if (mode == "constant" && n.has_input(3)) {
    const std::optional<double> value = n.ScalarValue(3);
    if (!value) n.Decline("its `pad_value` depends on data");
    attributes.Set("value", *value);
  }
  n.SetOutput(n.Add("pad", x, std::move(attributes)));
}

// Reverses axes by slices with the stride -1.
void RaiseReverse(NodeRaising& n) {
  const nnefc::Shape shape = n.input_shape(0);
  Integers axes = n.ConstIntegers(1, "reversed_axes");
  if (n.node().String("mode") == "mask") {
    Integers chosen;
    for (size_t i = 0; i < axes.size(); ++i) {
      if (axes[i] != 0) chosen.push_back(static_cast<int64_t>(i));
    }
    axes = std::move(chosen);
  }
  std::vector<Range> ranges = WholeRanges(shape);
  for (int64_t axis : axes) {
    Range& range = ranges[static_cast<size_t>(AxisFromFront(axis, n.input_rank(0)))];
    range = {.begin = range.count - 1, .step = -1, .count = range.count};
  }
  n.SetOutput(SliceRanges(n, n.input(0), ranges));
}

// Roll: the last elements of an axis precede the others. Shifts of the same axis are added.
void RaiseRoll(NodeRaising& n) {
  const nnefc::Shape shape = n.input_shape(0);
  const Integers axes = n.ConstIntegers(2, "axes");
  const Integers given = n.ConstIntegers(1, "shift");
  if (llvm::is_contained(shape, 0)) n.Decline("its result has no elements");
  Integers shifts(shape.size(), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(AxisFromFront(axes[i], n.input_rank(0)));
    shifts[axis] = (shifts[axis] + given[given.size() == 1 ? 0 : i] % shape[axis]) % shape[axis];
  }
  OutputPort x = n.input(0);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const int64_t extent = shape[axis];
    const int64_t shift = (shifts[axis] + extent) % extent;
    if (shift == 0) continue;
    const auto section = [&](int64_t begin, int64_t count) {
      std::vector<Range> ranges = WholeRanges(shape);
      ranges[axis] = {.begin = begin, .count = count};
      return SliceRanges(n, x, ranges);
    };
    const OutputPort last = section(extent - shift, shift);
    const OutputPort first = section(0, extent - shift);
    x = n.Add("concat", {last, first},
              Attributes({{"axis", static_cast<int64_t>(axis)}, {"dtype", DataTypeName(n.output_type())}}));
  }
  n.SetOutput(x);
}

}  // namespace

std::vector<RaiseEntry> SectionsEntries() {
  return {{"Concat", RaiseConcat},
          {"Split", RaiseSplit},
          {"VariadicSplit", RaiseSplit},
          {"Slice", RaiseSlice},
          {"StridedSlice", RaiseStridedSlice},
          {"Pad", RaisePad},
          {"Reverse", RaiseReverse},
          {"Roll", RaiseRoll}};
}

}  // namespace nnefc::raise
