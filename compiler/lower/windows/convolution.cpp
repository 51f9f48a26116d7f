// Lowerings of NNEF's convolutions and deconvolutions to OpenVINO operations.

#include <algorithm>

#include "compiler/ir/ops/opset/dims.h"
#include "compiler/ir/ops/windows/sliding_window_shape.h"
#include "compiler/ir/wording.h"
#include "compiler/lower/table.h"
#include "compiler/lower/windows/convolution.h"

namespace nnefc::lower {

namespace {

std::vector<int64_t> SpatialExtents(const PartialShape& filter) {
  std::vector<int64_t> extents;
  for (int64_t i = 2; i < filter.rank(); ++i) extents.push_back(filter[i].known() ? filter[i].value() : -1);
  return extents;
}

PartialShape SpatialShape(const PartialShape& shape) {
  return PartialShape(shape.dims().drop_front(2));
}

ir::AttributeMap ConvolutionAttributes(const Window& window) {
  return Attributes({{"strides", window.stride},
                     {"dilations", window.dilation},
                     {"pads_begin", window.pad_begin},
                     {"pads_end", window.pad_end},
                     {"auto_pad", window.same_upper ? "same_upper" : "explicit"}});
}

// Returns the number of groups; 0 means one group per channel.
std::optional<int64_t> Groups(NodeLowering& n, const Filter& filter, ir::Dim channels) {
  if (filter.groups != 0) return filter.groups;
  if (channels.known()) return channels.value();
  n.UnknownExtent("`input` of a depth-wise convolution", 1);
  return std::nullopt;
}

// Reshapes [c, C/G, k..] to [G, c/G, C/G, k..].
OutputPort GroupFilter(NodeLowering& n, const Filter& filter, int64_t groups) {
  std::vector<int64_t> extents{groups};
  for (int64_t i = 0; i < filter.shape.rank(); ++i) {
    if (!filter.shape[i].known()) {
      n.UnknownExtent("`filter` of a grouped convolution", i);
      return filter.port;
    }
    extents.push_back(filter.shape[i].value());
  }
  extents[1] /= groups;
  return n.WithShape(filter.port, extents, "filter");
}

}  // namespace

OutputPort AddBias(NodeLowering& n, OutputPort x, int32_t input) {
  if (input >= n.num_inputs()) return x;
  const OutputPort bias = n.input(input);
  const std::optional<double> value = n.ScalarValue(bias);
  if (value && *value == 0) return x;
  return n.Binary("Add", x, bias, "bias");
}

OutputPort AddChannelBias(NodeLowering& n, OutputPort x, int32_t input) {
  if (input >= n.num_inputs()) return x;
  const PartialShape shape = n.target().output(n.input(input)).shape;
  const int64_t rank = n.output_shape().rank();
  if (!shape.rank_known() || shape.rank() <= rank) return AddBias(n, x, input);
  std::vector<int64_t> extents(static_cast<size_t>(rank), 1);
  extents[1] = shape[1].known() ? shape[1].value() : -1;
  const OutputPort bias = shape[1].known() ? n.WithShape(n.input(input), extents, "channels")
                                           : n.Reshape(n.input(input), extents, "channels");
  return n.Binary("Add", x, bias, "bias");
}

namespace {

// The supported numbers of spatial dimensions of Convolution and related operations.
constexpr size_t kFewestSpatial = 1;
constexpr size_t kMaxSpatial = 3;

PartialShape WithLastExtent(const PartialShape& shape) {
  llvm::SmallVector<ir::Dim, 4> dims(shape.dims().begin(), shape.dims().end());
  dims.push_back(ir::Dim(1));
  return PartialShape(llvm::ArrayRef<ir::Dim>(dims));
}

// Calls `apply` on [batch, channels, 1] of an input of rank 2, with a matching filter and window, and
// squeezes the last extent of the result.
template <typename Apply>
OutputPort WithSpatialAxis(NodeLowering& n, OutputPort input, const PartialShape& shape, const Filter& filter,
                           Apply apply) {
  constexpr int64_t kRank = 3;
  Filter line = filter;
  line.port = n.Align(filter.port, kRank);
  line.shape = WithLastExtent(filter.shape);
  const OutputPort result =
      apply(n.Align(input, kRank), WithLastExtent(shape), line, BlockWindow({1}, kFewestSpatial));
  return n.Add("opset1", "Squeeze", {result, n.ConstInts({kRank - 1}, "spatial_axis")});
}

// Returns the common attributes of `conv` and `deconv` of the set nnef, for too many spatial dimensions.
ir::AttributeMap NnefAttributes(const Window& window, const Filter& filter, bool automatic) {
  std::vector<std::pair<int64_t, int64_t>> padding;
  for (size_t i = 0; !automatic && i < window.rank(); ++i) {
    padding.emplace_back(window.pad_begin[i], window.pad_end[i]);
  }
  ir::AttributeMap attributes = Attributes({{"border", window.border},
                                            {"stride", window.stride},
                                            {"dilation", window.dilation},
                                            {"groups", filter.groups}});
  attributes.Set("padding", ir::PairList(padding));
  return attributes;
}

// Adds an operation of the set nnef, with the wording of the lowered node.
OutputPort Keep(NodeLowering& n, std::string_view type, llvm::ArrayRef<OutputPort> inputs,
                ir::AttributeMap attributes) {
  const OutputPort port = n.Add(ir::kNnefSet, type, inputs, std::move(attributes));
  ir::SetWording(n.state().target, port.node,
                 {.operation = ir::OperationName(n.node()), .provisional = ir::IsProvisional(n.node())});
  return port;
}

}  // namespace

OutputPort Convolve(NodeLowering& n, OutputPort input, const PartialShape& shape, const Filter& filter,
                    Window window) {
  if (window.rank() < kFewestSpatial) {
    return WithSpatialAxis(n, input, shape, filter, [&](auto&&... args) { return Convolve(n, args...); });
  }
  if (window.rank() > kMaxSpatial) {
    return Keep(n, "conv", {input, filter.port}, NnefAttributes(window, filter, window.same_upper));
  }
  input = CropBeforehand(n, input, window, 2);
  // Convolution supports zero padding only.
  if (window.border != "constant" && window.border != "ignore") input = PadBeforehand(n, input, window, 2);
  const std::optional<int64_t> groups = Groups(n, filter, shape[1]);
  if (!groups) return input;
  if (*groups == 1) {
    return n.Add("opset1", "Convolution", {input, filter.port}, ConvolutionAttributes(window));
  }
  return n.Add("opset1", "GroupConvolution", {input, GroupFilter(n, filter, *groups)},
               ConvolutionAttributes(window));
}

std::optional<OutputPort> ConvolveAs(NodeLowering& n, OutputPort input, OutputPort filter_port) {
  const Filter filter{.port = filter_port, .shape = n.input_shape(1), .groups = n.Int("groups")};
  const auto window = ReadWindow(
      n,
      {.size = SpatialExtents(filter.shape), .extents = SpatialShape(n.input_shape(0)), .may_defer = true});
  if (!window) return std::nullopt;
  return Convolve(n, input, n.input_shape(0), filter, *window);
}

namespace {

// Returns the output padding: the node's extent minus the natural one, (x - 1) s + reach - p - q.
std::optional<std::vector<int64_t>> OutputPadding(NodeLowering& n, const Window& window,
                                                  const std::vector<int64_t>& output_shape,
                                                  const PartialShape& shape) {
  std::vector<int64_t> extra(window.rank(), 0);
  const bool automatic = n.node().attribute("padding").ListSize() == 0;
  for (size_t i = 0; i < window.rank(); ++i) {
    const int64_t pads = window.pad_begin[i] + window.pad_end[i];
    if (!output_shape.empty()) {
      const ir::Dim extent = shape[static_cast<int64_t>(i) + 2];
      if (!extent.known()) {
        n.UnknownExtent("`input` of an operation with `output_shape`", static_cast<int64_t>(i) + 2);
        return std::nullopt;
      }
      extra[i] = output_shape[i] - ((extent.value() - 1) * window.stride[i] + window.reach(i) - pads);
    } else if (automatic) {
      extra[i] = window.stride[i] - window.reach(i) + pads;  // X = x * s
    }
  }
  return extra;
}

// Extends the input of a backward operation for a border other than zeros. The input, the down-scaled tensor,
// is padded by the elements that are read beyond it; the window's padding then crops the surplus of the
// result.
OutputPort ExtendInput(NodeLowering& n, OutputPort input, const PartialShape& shape, Window& window,
                       const std::vector<int64_t>& extra) {
  using ir::Wide;
  constexpr int64_t kManyElements = int64_t{1} << 31;
  std::vector<int64_t> begin(2, 0);
  std::vector<int64_t> end(2, 0);
  for (size_t i = 0; i < window.rank(); ++i) {
    const int64_t s = window.stride[i];
    const ir::Dim extent = shape[static_cast<int64_t>(i) + 2];
    const int64_t x = extent.known() ? extent.value() : kManyElements;
    const Wide upscaled =
        Wide{x - 1} * s + window.reach(i) - window.pad_begin[i] - window.pad_end[i] + extra[i];
    const ir::ops::WindowAxis axis{.size = window.size[i], .stride = s, .dilation = window.dilation[i]};
    const auto reads = ir::ops::UpscalingReads(axis, window.pad_begin[i], upscaled);
    begin.push_back(reads ? static_cast<int64_t>(std::max<Wide>(-reads->first, 0)) : 0);
    end.push_back(reads ? static_cast<int64_t>(std::max<Wide>(reads->last - (x - 1), 0)) : 0);
    window.pad_begin[i] += begin.back() * s;
    window.pad_end[i] += end.back() * s;
  }
  return Pad(n, input, begin, end, PadMode(window.border), 0.0, "extend");
}

// Pads the result for negative pads, since OpenVINO does not support those. No window reaches these elements,
// so they are zero. Negative growth crops.
OutputPort GrowResult(NodeLowering& n, OutputPort result, const std::vector<int64_t>& grow_begin,
                      const std::vector<int64_t>& grow_end) {
  std::vector<int64_t> begin(2, 0);
  std::vector<int64_t> end(2, 0);
  begin.insert(begin.end(), grow_begin.begin(), grow_begin.end());
  end.insert(end.end(), grow_end.begin(), grow_end.end());
  return Pad(n, result, begin, end, "constant", 0.0, "grow");
}

// Adds `deconv` of the set nnef. Its extents follow from the padding unless that is automatic, or are
// explicit.
OutputPort KeepDeconvolution(NodeLowering& n, OutputPort input, const Filter& filter, const Window& window,
                             bool has_output_shape) {
  const bool automatic = n.node().attribute("padding").ListSize() == 0;
  ir::AttributeMap attributes = NnefAttributes(window, filter, automatic);
  attributes.Set("output_shape", has_output_shape ? n.Ints("output_shape") : std::vector<int64_t>());
  return Keep(n, "deconv", {input, filter.port}, std::move(attributes));
}

}  // namespace

OutputPort Deconvolve(NodeLowering& n, OutputPort input, const PartialShape& shape, const Filter& filter,
                      Window window, const std::vector<int64_t>& output_shape) {
  if (window.rank() < kFewestSpatial) {
    return WithSpatialAxis(n, input, shape, filter,
                           [&](auto&&... args) { return Deconvolve(n, args..., output_shape); });
  }
  if (window.rank() > kMaxSpatial) return KeepDeconvolution(n, input, filter, window, !output_shape.empty());
  std::optional<std::vector<int64_t>> extra = OutputPadding(n, window, output_shape, shape);
  if (!extra) return input;
  if (window.border != "constant" && window.border != "ignore") {
    input = ExtendInput(n, input, shape, window, *extra);
  }
  std::vector<int64_t> grow_begin(window.rank(), 0);
  std::vector<int64_t> grow_end(window.rank(), 0);
  for (size_t i = 0; i < window.rank(); ++i) {
    grow_begin[i] = std::max<int64_t>(-window.pad_begin[i], 0);
    window.pad_begin[i] += grow_begin[i];
    // Growth at the end reduces the crop there first.
    int64_t growth = (*extra)[i] - window.pad_end[i];
    window.pad_end[i] = std::max<int64_t>(-growth, 0);
    growth = std::max<int64_t>(growth, 0);
    (*extra)[i] = std::min(growth, window.stride[i] - 1);
    grow_end[i] = growth - (*extra)[i];
    const ir::Dim extent = n.Shape(input, shape.rank())[static_cast<int64_t>(i) + 2];
    if (!extent.known()) continue;
    // OpenVINO's result has an element at least. The growth is followed by the rest of the crop.
    const int64_t pads = window.pad_begin[i] + window.pad_end[i];
    const int64_t left = (extent.value() - 1) * window.stride[i] + window.reach(i) + (*extra)[i] - pads;
    const int64_t surplus = std::clamp<int64_t>(1 - left, 0, pads);
    const int64_t at_begin = std::min(surplus, window.pad_begin[i]);
    window.pad_begin[i] -= at_begin;
    grow_begin[i] -= at_begin;
    window.pad_end[i] -= surplus - at_begin;
    grow_end[i] -= surplus - at_begin;
  }
  const std::optional<int64_t> groups = Groups(n, filter, filter.result_channels);
  if (!groups) return input;
  ir::AttributeMap attributes = ConvolutionAttributes(window);
  attributes.Set("output_padding", *extra);
  const OutputPort result = *groups == 1
                                ? n.Add("opset1", "ConvolutionBackpropData", {input, filter.port}, attributes)
                                : n.Add("opset1", "GroupConvolutionBackpropData",
                                        {input, GroupFilter(n, filter, *groups)}, attributes);
  return GrowResult(n, result, grow_begin, grow_end);
}

namespace {

// `conv(input, filter, bias, border = 'constant', padding = [(1,1), (1,1)], groups = 1)`
void LowerConv(NodeLowering& n) {
  const std::optional<OutputPort> sums = ConvolveAs(n, n.input(0), n.input(1));
  if (sums) n.SetOutput(AddChannelBias(n, *sums, 2));
}

std::vector<int64_t> SpatialOutputShape(NodeLowering& n) {
  const std::vector<int64_t> shape = n.Ints("output_shape");
  return shape.empty() ? shape : std::vector<int64_t>(shape.begin() + 2, shape.end());
}

void LowerDeconv(NodeLowering& n) {
  const Filter filter{.port = n.input(1),
                      .shape = n.input_shape(1),
                      .groups = n.Int("groups"),
                      .result_channels = n.output_shape()[1]};
  const std::vector<int64_t> output_shape = SpatialOutputShape(n);
  const auto window = ReadWindow(n, {.size = SpatialExtents(filter.shape),
                                     .extents = SpatialShape(n.input_shape(0)),
                                     .backward = true,
                                     .output_shape = output_shape});
  if (!window) return;
  n.SetOutput(
      AddChannelBias(n, Deconvolve(n, n.input(0), n.input_shape(0), filter, *window, output_shape), 2));
}

// A depth-wise filter, then a point-wise one that mixes channels.
void LowerSeparableConv(NodeLowering& n) {
  const Filter plane{.port = n.input(1), .shape = n.input_shape(1), .groups = 0};
  const Filter point{.port = n.input(2), .shape = n.input_shape(2), .groups = n.Int("groups")};
  const auto window = ReadWindow(
      n, {.size = SpatialExtents(plane.shape), .extents = SpatialShape(n.input_shape(0)), .may_defer = true});
  if (!window) return;
  const OutputPort filtered = Convolve(n, n.input(0), n.input_shape(0), plane, *window);
  const PartialShape filtered_shape = n.Shape(filtered, n.input_rank(0));
  const auto pointwise =
      AutomaticWindow(n, {.size = SpatialExtents(point.shape), .extents = SpatialShape(filtered_shape)});
  if (!pointwise) return;
  n.SetOutput(AddChannelBias(n, Convolve(n, filtered, filtered_shape, point, *pointwise), 3));
}

void LowerSeparableDeconv(NodeLowering& n) {
  const Filter plane{
      .port = n.input(1), .shape = n.input_shape(1), .groups = 0, .result_channels = n.output_shape()[1]};
  const Filter point{.port = n.input(2),
                     .shape = n.input_shape(2),
                     .groups = n.Int("groups"),
                     .result_channels = n.input_shape(1)[0]};
  const auto pointwise = AutomaticWindow(
      n, {.size = SpatialExtents(point.shape), .extents = SpatialShape(n.input_shape(0)), .backward = true});
  const std::vector<int64_t> output_shape = SpatialOutputShape(n);
  const auto window = ReadWindow(n, {.size = SpatialExtents(plane.shape),
                                     .extents = SpatialShape(n.input_shape(0)),
                                     .backward = true,
                                     .output_shape = output_shape});
  if (!pointwise || !window) return;
  const OutputPort mixed = Deconvolve(n, n.input(0), n.input_shape(0), point, *pointwise, {});
  const OutputPort filtered =
      Deconvolve(n, mixed, n.Shape(mixed, n.input_rank(0)), plane, *window, output_shape);
  n.SetOutput(AddChannelBias(n, filtered, 3));
}

}  // namespace

void RegisterConvolution(LoweringTable& table) {
  table["conv"] = LowerConv;
  table["deconv"] = LowerDeconv;
  table["separable_conv"] = LowerSeparableConv;
  table["separable_deconv"] = LowerSeparableDeconv;
}

}  // namespace nnefc::lower
