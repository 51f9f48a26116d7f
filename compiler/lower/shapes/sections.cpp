// Lowerings of NNEF's concat, stack, split, unstack, slice and pad to OpenVINO operations.

#include <algorithm>

#include "compiler/lower/table.h"
#include "compiler/lower/windows/window.h"

namespace nnefc::lower {

namespace {

std::vector<OutputPort> AllInputs(const NodeLowering& n) {
  std::vector<OutputPort> inputs;
  inputs.reserve(static_cast<size_t>(n.num_inputs()));
  for (int32_t i = 0; i < n.num_inputs(); ++i) inputs.push_back(n.input(i));
  return inputs;
}

void LowerConcat(NodeLowering& n) {
  n.SetOutput(n.Add("opset1", "Concat", AllInputs(n), Attributes({{"axis", n.Int("axis")}})));
}

// Inserts the new axis into each value, then concatenates them along it.
void LowerStack(NodeLowering& n) {
  std::vector<OutputPort> values = AllInputs(n);
  const int64_t axis = n.Int("axis");
  for (OutputPort& value : values) {
    value = n.Add("opset1", "Unsqueeze", {value, n.ConstInts({axis}, "axes")});
  }
  n.SetOutput(n.Add("opset1", "Concat", values, Attributes({{"axis", axis}})));
}

// `split(value, axis = 1, ratios = [1, 2])`
void LowerSplit(NodeLowering& n) {
  const std::vector<int64_t> ratios = n.Ints("ratios");
  const int64_t axis = n.Int("axis");
  const auto parts = static_cast<int32_t>(ratios.size());
  const OutputPort axis_port = n.ConstInt(axis, "axis");
  ir::NodeId split;
  if (std::all_of(ratios.begin(), ratios.end(), [&](int64_t ratio) { return ratio == ratios.front(); })) {
    split = n.AddNode("opset1", "Split", {n.input(0), axis_port},
                      Attributes({{"num_splits", int64_t{parts}}}), parts);
  } else {
    std::vector<int64_t> lengths;
    for (int32_t i = 0; i < parts; ++i) {
      const ir::Dim extent = n.output_shape(i)[axis];
      if (!extent.known()) return n.UnknownExtent("`value`", axis);
      lengths.push_back(extent.value());
    }
    split = n.AddNode("opset1", "VariadicSplit", {n.input(0), axis_port, n.ConstInts(lengths, "lengths")}, {},
                      parts);
  }
  for (int32_t i = 0; i < parts; ++i) n.SetOutput(i, {split, i});
}

void LowerUnstack(NodeLowering& n) {
  const int32_t parts = n.node().num_outputs();
  const int64_t axis = n.Int("axis");
  const ir::NodeId split = n.AddNode("opset1", "Split", {n.input(0), n.ConstInt(axis, "axis")},
                                     Attributes({{"num_splits", int64_t{parts}}}), parts);
  for (int32_t i = 0; i < parts; ++i) {
    n.SetOutput(i, n.Add("opset1", "Squeeze", {OutputPort{split, i}, n.ConstInts({axis}, "axes")}));
  }
}

// `slice(input, axes = [1], begin = [0], end = [3])`. Negative ends count from the end, as in Slice.
// `end = 0` means "to the end" if all strides are 1 (deprecated in 1.0.4).
void LowerSlice(NodeLowering& n) {
  const std::vector<int64_t> axes = n.Ints("axes");
  const std::vector<int64_t> begin = n.Ints("begin");
  std::vector<int64_t> end = n.Ints("end");
  std::vector<int64_t> stride = n.Ints("stride");
  if (axes.empty()) {
    n.SetOutput(n.input(0));
    return;
  }
  if (stride.empty()) stride.assign(axes.size(), 1);
  if (std::all_of(stride.begin(), stride.end(), [](int64_t s) { return s == 1; })) {
    std::replace(end.begin(), end.end(), int64_t{0}, INT64_MAX);
  }
  n.SetOutput(n.Add("opset8", "Slice",
                    {n.input(0), n.ConstInts(begin, "start"), n.ConstInts(end, "stop"),
                     n.ConstInts(stride, "step"), n.ConstInts(axes, "axes")}));
}

// `pad(input, padding = [(0,0), (0,0), (1,1), (1,1)], border = 'replicate')`
void LowerPad(NodeLowering& n) {
  n.SetOutput(PadBy(n, n.node(), n.input(0), n.Double("value")));
}

}  // namespace

void RegisterSections(LoweringTable& table) {
  table["concat"] = LowerConcat;
  table["stack"] = LowerStack;
  table["split"] = LowerSplit;
  table["unstack"] = LowerUnstack;
  table["slice"] = LowerSlice;
  table["pad"] = LowerPad;
}

}  // namespace nnefc::lower
