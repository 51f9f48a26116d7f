// Lowerings of NNEF's pooling operations and box filters to OpenVINO operations.

#include "compiler/lower/windows/pooling.h"

#include <algorithm>
#include <limits>

#include "compiler/ir/interval.h"
#include "compiler/ir/wording.h"
#include "compiler/lower/table.h"
#include "compiler/lower/windows/convolution.h"

namespace nnefc::lower {

ir::AttributeMap PoolAttributes(const Window& window) {
  return Attributes({{"strides", window.stride},
                     {"pads_begin", window.pad_begin},
                     {"pads_end", window.pad_end},
                     {"kernel", window.size},
                     {"rounding_type", "floor"},
                     {"auto_pad", window.same_upper ? "same_upper" : "explicit"}});
}

bool MayMissTensor(const Window& window) {
  if (window.same_upper && window.IsDilated()) return true;
  for (size_t i = 0; i < window.rank(); ++i) {
    const int64_t overlap = window.dilation[i] == 1 ? window.size[i] : 1;
    if (window.pad_begin[i] >= overlap || window.pad_end[i] >= overlap) return true;
  }
  return false;
}

std::vector<int64_t> Overlaps(const Window& window, size_t axis, int64_t extent, int64_t places) {
  std::vector<int64_t> counts;
  for (int64_t place = 0; place < places; ++place) {
    const int64_t start = place * window.stride[axis] - window.pad_begin[axis];
    const int64_t d = window.dilation[axis];
    const int64_t first = start >= 0 ? 0 : static_cast<int64_t>(ir::CeilDiv(-start, d));
    const auto reached = static_cast<int64_t>(ir::FloorDiv(extent - 1 - start, d));
    const int64_t last = std::min(window.size[axis] - 1, reached);
    counts.push_back(std::max<int64_t>(last - first + 1, 0));
  }
  return counts;
}

namespace {

// Returns a depth-wise filter [C, 1, k..] of equal weights, or nothing after kUnknownExtent or
// kWindowTooLarge.
std::optional<Filter> EqualWeights(NodeLowering& n, const SpatialView& view, double weight) {
  constexpr int64_t kLargestFilter = int64_t{1} << 28;
  const ir::Dim channels = view.input[1];
  if (!channels.known()) {
    n.UnknownExtent("a tensor under a window of equal weights", 1);
    return std::nullopt;
  }
  nnefc::Shape extents{channels.value(), 1};
  extents.append(view.window.size.begin(), view.window.size.end());
  if (Volume(extents).value_or(INT64_MAX) > kLargestFilter) {
    n.Error(kWindowTooLarge, "a window of `{}` has more than {} weights", ir::OperationName(n.node()),
            kLargestFilter);
    return std::nullopt;
  }
  const OutputPort weights = n.Constant(TensorValue::Filled(ElementType::kF32, extents, weight), "weights");
  return Filter{.port = weights, .shape = PartialShape(extents), .groups = 0, .result_channels = channels};
}

// A window over the dimensions of `input` and `output` from `leading` on.
struct Slid {
  const Window& window;
  const PartialShape& input;
  const PartialShape& output;
  size_t leading;
};

// Divides sums by the number of elements under the window (border 'ignore'); the average of none is 0.
OutputPort DivideByOverlaps(NodeLowering& n, OutputPort sums, const Slid& view) {
  for (size_t i = 0; i < view.window.rank(); ++i) {
    if (view.window.IsTrivial(i)) continue;
    const auto axis = static_cast<int64_t>(i + view.leading);
    const ir::Dim extent = view.input[axis];
    const ir::Dim places = view.output[axis];
    if (!extent.known() || !places.known()) {
      n.UnknownExtent(
          "a tensor under a window with border 'ignore' that is dilated or may lie in the padding", axis);
      return sums;
    }
    if (places.value() > kMaxPlaces) {
      n.Error(kWindowTooLarge, "the window of `{}` has more than {} places along axis {}",
              ir::OperationName(n.node()), kMaxPlaces, axis);
      return sums;
    }
    const std::vector<int64_t> counts = Overlaps(view.window, i, extent.value(), places.value());
    nnefc::Shape extents(view.window.rank() + view.leading, 1);
    extents[i + view.leading] = places.value();
    std::vector<float> divisors;
    divisors.reserve(counts.size());
    for (int64_t count : counts) divisors.push_back(static_cast<float>(std::max<int64_t>(count, 1)));
    sums = n.Binary("Divide", sums, n.Constant(TensorValue::FromFloats(extents, divisors), "overlaps"),
                    "overlap");
  }
  return sums;
}

// Computes sums or averages under a window over spatial dimensions.
OutputPort SpatialBox(NodeLowering& n, const SpatialView& view, bool normalize) {
  const Window& window = view.window;
  const auto volume = static_cast<double>(window.Volume());
  const bool exclude = normalize && window.border == "ignore" && (window.same_upper || window.IsPadded());
  if (window.IsDilated() || (exclude && MayMissTensor(window))) {
    const auto filter = EqualWeights(n, view, normalize && !exclude ? 1.0 / volume : 1.0);
    if (!filter) return view.x;
    const OutputPort sums = Convolve(n, view.x, view.input, *filter, window);
    return exclude ? DivideByOverlaps(n, sums, {window, view.input, view.output, 2}) : sums;
  }
  ir::AttributeMap attributes = PoolAttributes(window);
  attributes.Set("exclude-pad", exclude);
  const OutputPort mean = n.Add("opset1", "AvgPool", view.x, attributes);
  if (normalize || volume == 1) return mean;
  return n.Binary("Multiply", mean, n.ConstFloat(volume, "volume"), "sum");
}

}  // namespace

OutputPort PadByLowest(NodeLowering& n, OutputPort x, Window& window) {
  if (window.border != "ignore" || window.same_upper || !MayMissTensor(window)) return x;
  return PadBeforehand(n, x, window, 0, -std::numeric_limits<double>::infinity());
}

OutputPort Box(NodeLowering& n, OutputPort x, const PartialShape& shape, const PartialShape& output,
               Window window, bool normalize) {
  const bool averages = normalize && window.border == "ignore" && !window.same_upper && !window.IsDilated();
  if (averages && MayMissTensor(window)) {
    Window sum = window;
    sum.border = "constant";
    return DivideByOverlaps(n, Box(n, x, shape, output, sum, false), {window, shape, output, 0});
  }
  x = CropBeforehand(n, x, window, 0);
  const bool zeros = window.border == "constant" || (window.border == "ignore" && !normalize);
  if (!zeros && window.border != "ignore") x = PadBeforehand(n, x, window, 0);
  if (zeros && MayMissTensor(window)) x = PadBeforehand(n, x, window, 0);
  const Sliding sliding{x, n.Shape(x, shape.rank()), output, window};
  return SlideSeparable(n, sliding, [&](const SpatialView& view) {
    return std::vector<OutputPort>{SpatialBox(n, view, normalize)};
  });
}

OutputPort LocalMean(NodeLowering& n, OutputPort x, const PartialShape& shape,
                     const std::vector<int64_t>& size) {
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

// OpenVINO never selects padding (border 'ignore'). With border 'constant' zeros participate, but they cannot
// win over a tensor without negative elements.
OutputPort MaxPool(NodeLowering& n, OutputPort x, const PartialShape& shape, const PartialShape& output,
                   Window window, bool non_negative) {
  x = PadByLowest(n, x, window);
  x = CropBeforehand(n, x, window, 0);
  const bool padding_loses =
      window.border == "ignore" || (window.border == "constant" && non_negative && !MayMissTensor(window));
  if (!padding_loses) x = PadBeforehand(n, x, window, 0);
  const Sliding sliding{x, n.Shape(x, shape.rank()), output, window};
  return SlideSeparable(n, sliding, [&](const SpatialView& view) {
    return std::vector<OutputPort>{SpatialMaxPool(n, view.x, view.window)};
  });
}

namespace {

std::optional<Window> ReadFullWindow(NodeLowering& n) {
  return ReadWindow(n, {.size = n.Ints("size"), .extents = n.input_shape(0), .may_defer = true});
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

// `debox(input, size = [1, 1, 2, 2], stride = [1, 1, 2, 2])`: a depth-wise deconvolution with equal weights.
void LowerDebox(NodeLowering& n) {
  const std::vector<int64_t> output_shape = n.Ints("output_shape");
  const auto window = ReadWindow(
      n,
      {.size = n.Ints("size"), .extents = n.input_shape(0), .backward = true, .output_shape = output_shape});
  if (!window) return;
  const Sliding sliding{n.input(0), n.input_shape(0), n.output_shape(), *window};
  n.SetOutput(SlideSeparable(n, sliding, [&](const SpatialView& view) {
    const double weight = n.Bool("normalize") ? 1.0 / static_cast<double>(view.window.Volume()) : 1.0;
    const auto filter = EqualWeights(n, view, weight);
    if (!filter) return std::vector<OutputPort>{view.x};
    std::vector<int64_t> extents;
    for (int64_t i = 2; !output_shape.empty() && i < view.output.rank(); ++i) {
      extents.push_back(view.output[i].value());  // known from `output_shape`
    }
    return std::vector<OutputPort>{Deconvolve(n, view.x, view.input, *filter, view.window, extents)};
  }));
}

// Lowers area_downsample: averages of blocks of `factor`.
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
