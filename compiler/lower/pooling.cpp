#include "compiler/lower/pooling.h"

#include <algorithm>

#include "compiler/ir/ops/opset/dims.h"
#include "compiler/lower/convolution.h"
#include "compiler/lower/table.h"

namespace nnefc::lower {

ir::AttributeMap PoolAttributes(const Window& window) {
  return Attributes({{"strides", window.stride},
                     {"pads_begin", window.pad_begin},
                     {"pads_end", window.pad_end},
                     {"kernel", window.size},
                     {"rounding_type", "floor"},
                     {"auto_pad", "explicit"}});
}

namespace {

// True if some window may lie in the padding as a whole, which OpenVINO refuses
// or leaves undefined.
bool MayMissTensor(const Window& window) {
  for (size_t i = 0; i < window.rank(); ++i) {
    const int64_t overlap = window.dilation[i] == 1 ? window.size[i] : 1;
    if (window.pad_begin[i] >= overlap || window.pad_end[i] >= overlap) return true;
  }
  return false;
}

// A depth-wise filter of equal weights, for what AvgPool has not: dilation.
OutputPort EqualWeights(NodeLowering& n, OutputPort x, const PartialShape& shape, const Window& window,
                        double weight) {
  if (!shape[1].known()) {
    n.UnknownExtent("a tensor under a dilated window", 1);
    return x;
  }
  nnefc::Shape extents{shape[1].value(), 1};
  extents.append(window.size.begin(), window.size.end());
  if (!Volume(extents) || *Volume(extents) > (int64_t{1} << 28)) {
    n.Error(kWindowTooLarge, "a dilated window of `{}` has more than 2^28 elements", n.node().type());
    return x;
  }
  const OutputPort weights = n.Constant(TensorValue::Filled(ElementType::kF32, extents, weight), "weights");
  return Convolve(n, x, shape, {.port = weights, .shape = PartialShape(extents), .groups = 0}, window);
}

// How many elements of the tensor lie under each place of a window along one
// axis.
std::vector<int64_t> Overlaps(const Window& window, size_t axis, int64_t extent, int64_t places) {
  std::vector<int64_t> counts;
  for (int64_t place = 0; place < places; ++place) {
    const int64_t start = place * window.stride[axis] - window.pad_begin[axis];
    const int64_t d = window.dilation[axis];
    const int64_t first = start >= 0 ? 0 : ir::CeilDivide(-start, d);
    const int64_t last = std::min(window.size[axis] - 1, ir::FloorDivide(extent - 1 - start, d));
    counts.push_back(std::max<int64_t>(last - first + 1, 0));
  }
  return counts;
}

// Divides sums by the number of elements under each place (border 'ignore').
OutputPort DivideByOverlaps(NodeLowering& n, OutputPort sums, const PartialShape& shape, const Window& window) {
  const PartialShape slid = SlidShape(shape, window, 2);
  for (size_t i = 0; i < window.rank(); ++i) {
    const auto axis = static_cast<int64_t>(i) + 2;
    if (!shape[axis].known() || !slid[axis].known()) {
      n.UnknownExtent("a tensor under a dilated window with border 'ignore'", axis);
      return sums;
    }
    if (slid[axis].value() > kMostPlaces) {
      n.Error(kWindowTooLarge, "the window of `{}` has more than {} places along axis {}", n.node().type(),
              kMostPlaces, axis);
      return sums;
    }
    const std::vector<int64_t> counts = Overlaps(window, i, shape[axis].value(), slid[axis].value());
    nnefc::Shape extents(window.rank() + 2, 1);
    extents[i + 2] = static_cast<int64_t>(counts.size());
    const std::vector<float> divisors(counts.begin(), counts.end());
    sums = n.Binary("Divide", sums, n.Constant(TensorValue::FromFloats(extents, divisors), "overlaps"), "overlap");
  }
  return sums;
}

// Sums or averages under a window over spatial dimensions.
OutputPort SpatialBox(NodeLowering& n, OutputPort x, const PartialShape& shape, const Window& window,
                      bool normalize) {
  const auto volume = static_cast<double>(window.Volume());
  const bool exclude = normalize && window.border == "ignore" && window.IsPadded();
  if (window.IsDilated()) {
    const OutputPort result = EqualWeights(n, x, shape, window, normalize && !exclude ? 1.0 / volume : 1.0);
    return exclude ? DivideByOverlaps(n, result, shape, window) : result;
  }
  ir::AttributeMap attributes = PoolAttributes(window);
  attributes.Set("exclude-pad", exclude);
  const OutputPort mean = n.Add("opset1", "AvgPool", x, attributes);
  if (normalize || volume == 1) return mean;
  return n.Binary("Multiply", mean, n.ConstFloat(volume, "volume"), "sum");
}

}  // namespace

OutputPort Box(NodeLowering& n, OutputPort x, const PartialShape& shape, const PartialShape& output, Window window,
               bool normalize) {
  x = CropBeforehand(n, x, window, 0);
  const bool zeros = window.border == "constant" || (window.border == "ignore" && !normalize);
  if (!zeros && window.border != "ignore") x = PadBeforehand(n, x, window, 0);
  if (zeros && MayMissTensor(window)) x = PadBeforehand(n, x, window, 0);
  return SlideSeparable(n, x, n.Shape(x, shape.rank()), output, window,
                        [&](OutputPort view, const PartialShape& view_shape, const Window& moving) {
                          return SpatialBox(n, view, view_shape, moving, normalize);
                        });
}

OutputPort LocalMean(NodeLowering& n, OutputPort x, const PartialShape& shape, const std::vector<int64_t>& size) {
  const auto window = AutomaticWindow(n, {.size = size, .extents = shape});
  return window ? Box(n, x, shape, shape, *window, true) : x;
}

namespace {

OutputPort SpatialMaxPool(NodeLowering& n, OutputPort x, const Window& window) {
  ir::AttributeMap attributes = PoolAttributes(window);
  if (!window.IsDilated()) return n.Add("opset1", "MaxPool", x, attributes);
  attributes.Set("dilations", window.dilation);
  attributes.Set("index_element_type", ElementType::kI64);
  attributes.Set("axis", 0);
  return {n.AddNode("opset8", "MaxPool", x, attributes, 2), 0};
}

}  // namespace

// OpenVINO never lets padding win (border 'ignore'). With border 'constant'
// zeros take part: they cannot win over a tensor that is nowhere negative.
OutputPort MaxPool(NodeLowering& n, OutputPort x, const PartialShape& shape, const PartialShape& output,
                   Window window, bool non_negative) {
  x = CropBeforehand(n, x, window, 0);
  const bool padding_loses =
      window.border == "ignore" || (window.border == "constant" && non_negative && !MayMissTensor(window));
  if (!padding_loses) x = PadBeforehand(n, x, window, 0);
  return SlideSeparable(n, x, n.Shape(x, shape.rank()), output, window,
                        [&](OutputPort view, const PartialShape& view_shape, const Window& moving) {
                          return SpatialMaxPool(n, view, moving);
                        });
}

namespace {

std::optional<Window> ReadFullWindow(NodeLowering& n) {
  return ReadWindow(n, {.size = n.Ints("size"), .extents = n.input_shape(0)});
}

// `box(input, size = [1, 1, 3, 3], normalize = true)`
void LowerBox(NodeLowering& n) {
  const auto window = ReadFullWindow(n);
  if (!window) return;
  n.SetOutput(Box(n, n.input(0), n.input_shape(0), n.output_shape(), *window, n.Bool("normalize")));
}

void LowerAvgPool(NodeLowering& n) {
  const auto window = ReadFullWindow(n);
  if (window) n.SetOutput(Box(n, n.input(0), n.input_shape(0), n.output_shape(), *window, true));
}

void LowerRmsPool(NodeLowering& n) {
  const auto window = ReadFullWindow(n);
  if (!window) return;
  const OutputPort squares = n.Binary("Multiply", n.input(0), n.input(0), "squares");
  n.SetOutput(n.Unary("Sqrt", Box(n, squares, n.input_shape(0), n.output_shape(), *window, true)));
}

void LowerMaxPool(NodeLowering& n) {
  const auto window = ReadFullWindow(n);
  if (!window) return;
  n.SetOutput(MaxPool(n, n.input(0), n.input_shape(0), n.output_shape(), *window, n.IsNonNegative(0)));
}

// The sum of what the windows of `debox` spread, over spatial dimensions: a
// depth-wise deconvolution with equal weights.
OutputPort SpatialDebox(NodeLowering& n, OutputPort x, const PartialShape& shape, const Window& window,
                        const std::vector<int64_t>& output_shape, double weight) {
  if (!shape[1].known()) {
    n.UnknownExtent("`input` of `debox`", 1);
    return x;
  }
  nnefc::Shape extents{shape[1].value(), 1};
  extents.append(window.size.begin(), window.size.end());
  if (!Volume(extents) || *Volume(extents) > (int64_t{1} << 28)) {
    n.Error(kWindowTooLarge, "a window of `debox` has more than 2^28 elements");
    return x;
  }
  const OutputPort weights = n.Constant(TensorValue::Filled(ElementType::kF32, extents, weight), "weights");
  const Filter filter{.port = weights, .shape = PartialShape(extents), .groups = 0, .result_channels = shape[1]};
  return Deconvolve(n, x, shape, filter, window, output_shape);
}

// `debox(input, size = [1, 1, 2, 2], stride = [1, 1, 2, 2])`
void LowerDebox(NodeLowering& n) {
  const std::vector<int64_t> output_shape = n.Ints("output_shape");
  const auto window = ReadWindow(n, {.size = n.Ints("size"),
                                     .extents = n.input_shape(0),
                                     .backward = true,
                                     .output_shape = output_shape});
  if (!window) return;
  const auto rank = static_cast<size_t>(n.input_rank(0));
  for (size_t i = 0; i < rank; ++i) {
    if (window->IsTrivial(i) || (i >= 2 && rank <= 5)) continue;
    n.Keep();
    return;
  }
  const double weight = n.Bool("normalize") ? 1.0 / static_cast<double>(window->Volume()) : 1.0;
  if (rank < 3) {
    n.SetOutput(weight == 1.0 ? n.input(0)
                              : n.Binary("Multiply", n.input(0), n.ConstFloat(weight, "weight")));
    return;
  }
  std::vector<int64_t> axes;
  for (size_t i = 2; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  const std::vector<int64_t> spatial =
      output_shape.empty() ? output_shape : std::vector<int64_t>(output_shape.begin() + 2, output_shape.end());
  n.SetOutput(SpatialDebox(n, n.input(0), n.input_shape(0), window->Select(axes), spatial, weight));
}

// Averages of the blocks that `factor` gives.
void LowerAreaDownsample(NodeLowering& n) {
  const Window window = BlockWindow(n.Ints("factor"), static_cast<size_t>(n.input_rank(0)));
  n.SetOutput(Box(n, n.input(0), n.input_shape(0), n.output_shape(), window, true));
}

}  // namespace

void RegisterPooling(LoweringTable& table) {
  table["box"] = LowerBox;
  table["debox"] = LowerDebox;
  table["max_pool"] = LowerMaxPool;
  table["avg_pool"] = LowerAvgPool;
  table["rms_pool"] = LowerRmsPool;
  table["area_downsample"] = LowerAreaDownsample;
}

}  // namespace nnefc::lower
