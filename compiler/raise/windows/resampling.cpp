// Raising of OpenVINO's Interpolate to NNEF operations.

#include <algorithm>

#include "compiler/ir/ops/windows/resized_axis.h"
#include "compiler/raise/node_raising.h"
#include "compiler/raise/table.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::raise {

using ir::ops::InterpolationModes;
using ir::ops::NearestPosition;
using ir::ops::OriginalCoordinate;
using ir::ops::ResizedAxis;

namespace {

constexpr int64_t kFirstSpatial = 2;

bool IsFirstVersion(const NodeRaising& n) {
  return n.node().set() == "opset1";
}

// Opset 4 has sizes and scales, later versions one of them.
std::vector<ResizedAxis> ReadAxes(NodeRaising& n, const nnefc::Shape& input) {
  const nnefc::Shape output = n.output_shape();
  const bool has_both = n.node().info().inputs.size() > 3;
  Integers axes(input.size());
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(i);
  const int32_t axes_input = has_both ? 3 : 2;
  if (IsFirstVersion(n)) {
    axes = n.node().Ints("axes");
  } else if (n.has_input(axes_input)) {
    axes = n.ConstIntegers(axes_input, "axes");
  }
  std::vector<ResizedAxis> resized;
  for (size_t i = 0; i < input.size(); ++i) resized.push_back({.input = input[i], .output = output[i]});
  const bool by_scales = n.node().String("shape_calculation_mode") == "scales";
  const TensorValue* scales = by_scales ? n.Value(has_both ? 2 : 1) : nullptr;
  if (by_scales && scales == nullptr) n.Decline("its `scales` depend on data");
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + static_cast<int64_t>(input.size()) : axes[i];
    ResizedAxis& each = resized[static_cast<size_t>(axis)];
    if (each.input == 0 || each.output == 0) n.Decline("its result has no elements");
    each.scale = by_scales ? scales->ElementAsDouble(static_cast<int64_t>(i))
                           : static_cast<double>(each.output) / static_cast<double>(each.input);
    // OpenVINO copies such an axis, although its definition scales the coordinates.
    if (!each.changes() && each.scale != 1)
      n.Decline("it scales axis {} by {}, and the extent {} remains", axis, each.scale, each.input);
  }
  return resized;
}

Integers NearestPositions(const InterpolationModes& modes, const ResizedAxis& axis) {
  Integers positions;
  for (int64_t x = 0; x < axis.output; ++x) {
    const float coordinate = OriginalCoordinate(modes.coordinates, x, axis);
    positions.push_back(
        std::clamp<int64_t>(NearestPosition(modes.nearest, coordinate, axis.scale), 0, axis.input - 1));
  }
  return positions;
}

// Returns f if each element is repeated f times.
std::optional<int64_t> UpsamplingFactor(const Integers& positions, int64_t extent) {
  const auto count = static_cast<int64_t>(positions.size());
  if (count % extent != 0) return std::nullopt;
  const int64_t factor = count / extent;
  for (int64_t i = 0; i < count; ++i) {
    if (positions[static_cast<size_t>(i)] != i / factor) return std::nullopt;
  }
  return factor;
}

// Returns the step of positions with equal differences; 1 for a single one.
std::optional<int64_t> StepOf(const Integers& positions) {
  if (positions.size() < 2) return 1;
  const int64_t step = positions[1] - positions[0];
  for (size_t i = 2; i < positions.size(); ++i) {
    if (positions[i] - positions[i - 1] != step) return std::nullopt;
  }
  return step > 0 ? std::optional(step) : std::nullopt;
}

// Returns f if `positions` are every f-th of `extent`.
std::optional<int64_t> DownsamplingFactor(const Integers& positions, int64_t extent) {
  const auto count = static_cast<int64_t>(positions.size());
  if (positions[0] != 0 || extent % count != 0) return std::nullopt;
  if (count == 1) return extent;
  const std::optional<int64_t> step = StepOf(positions);
  return step && *step * count == extent ? step : std::nullopt;
}

OutputPort GatherPositions(NodeRaising& n, OutputPort x, int64_t axis, const Integers& positions,
                           std::string_view suffix) {
  const OutputPort indices =
      n.Constant(TensorValue::FromInts({static_cast<int64_t>(positions.size())}, positions),
                 fmt::format("{}_positions_{}", suffix, axis));
  return n.Add("gather", {x, indices}, Attributes({{"axis", axis}, {"dtype", "scalar"}}), suffix);
}

OutputPort SelectPositions(NodeRaising& n, OutputPort x, int64_t axis, const Integers& positions) {
  const std::optional<int64_t> step = StepOf(positions);
  if (!step) return GatherPositions(n, x, axis, positions, "gather");
  Integers stride;
  if (*step != 1) stride.push_back(*step);
  return n.Add("slice", x,
               Attributes({{"axes", Integers{axis}},
                           {"begin", Integers{positions.front()}},
                           {"end", Integers{positions.back() + 1}},
                           {"stride", stride},
                           {"dtype", "scalar"}}));
}

// Returns a factor for each spatial axis by `factor_of`, or nothing if another axis changes or has none.
template <typename FactorOf>
std::optional<Integers> Factors(const std::vector<ResizedAxis>& axes, FactorOf factor_of) {
  if (axes.size() <= kFirstSpatial) return std::nullopt;
  Integers factors;
  for (size_t i = 0; i < axes.size(); ++i) {
    const std::optional<int64_t> factor = axes[i].changes() ? factor_of(axes[i]) : std::optional<int64_t>(1);
    if (!factor || (i < kFirstSpatial && axes[i].changes())) return std::nullopt;
    if (i >= kFirstSpatial) factors.push_back(*factor);
  }
  return factors;
}

void InterpolateNearest(NodeRaising& n, OutputPort x, const InterpolationModes& modes,
                        const std::vector<ResizedAxis>& axes) {
  const auto up = Factors(axes, [&](const ResizedAxis& axis) {
    return UpsamplingFactor(NearestPositions(modes, axis), axis.input);
  });
  if (up) return n.SetOutput(n.Add("nearest_upsample", x, Attributes({{"factor", *up}})));
  const auto down = Factors(axes, [&](const ResizedAxis& axis) {
    return DownsamplingFactor(NearestPositions(modes, axis), axis.input);
  });
  if (down && !IsForTract(n))
    return n.SetOutput(n.Add("nearest_downsample", x, Attributes({{"factor", *down}})));
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].changes())
      x = SelectPositions(n, x, static_cast<int64_t>(i), NearestPositions(modes, axes[i]));
  }
  n.SetOutput(x);
}

// Interpolates between the two nearest positions along one axis.
OutputPort InterpolateAxis(NodeRaising& n, OutputPort x, int64_t axis, const InterpolationModes& modes,
                           const ResizedAxis& resized) {
  Integers low, high;
  std::vector<double> low_weights, high_weights;
  for (int64_t i = 0; i < resized.output; ++i) {
    const double coordinate =
        std::clamp(static_cast<double>(OriginalCoordinate(modes.coordinates, i, resized)), 0.0,
                   static_cast<double>(resized.input - 1));
    const auto position = static_cast<int64_t>(coordinate);
    low.push_back(position);
    high.push_back(std::min(position + 1, resized.input - 1));
    high_weights.push_back(coordinate - static_cast<double>(position));
    low_weights.push_back(1 - high_weights.back());
  }
  Integers shape(static_cast<size_t>(axis), 1);
  shape.push_back(resized.output);
  const OutputPort below = GatherPositions(n, x, axis, low, "below");
  const OutputPort above = GatherPositions(n, x, axis, high, "above");
  const OutputPort below_share = n.Binary(
      "mul", below, n.Floats(low_weights, shape, fmt::format("below_weights_{}", axis)), "below_share");
  const OutputPort above_share = n.Binary(
      "mul", above, n.Floats(high_weights, shape, fmt::format("above_weights_{}", axis)), "above_share");
  return n.Binary("add", below_share, above_share, fmt::format("axis_{}", axis));
}

// Returns the axes of a tensor with its last axis as the second one.
std::vector<ResizedAxis> ChannelsFirst(std::vector<ResizedAxis> axes) {
  if (axes.size() > kFirstSpatial) std::rotate(axes.begin() + 1, axes.end() - 1, axes.end());
  return axes;
}

void InterpolateLinear(NodeRaising& n, OutputPort x, const InterpolationModes& modes,
                       const std::vector<ResizedAxis>& axes) {
  constexpr std::pair<std::string_view, std::string_view> kMethods[] = {{"half_pixel", "symmetric"},
                                                                        {"pytorch_half_pixel", "symmetric"},
                                                                        {"asymmetric", "asymmetric"},
                                                                        {"align_corners", "aligned"}};
  const auto* method =
      llvm::find_if(kMethods, [&](const auto& each) { return each.first == modes.coordinates; });
  const auto factors_of = [](const std::vector<ResizedAxis>& resized) {
    return Factors(resized, [](const ResizedAxis& axis) -> std::optional<int64_t> {
      // The formula of 'aligned' divides by the number of input steps.
      const bool is_integer = axis.input > 1 && axis.output % axis.input == 0 &&
                              axis.scale == static_cast<double>(axis.output / axis.input);
      return is_integer ? std::optional(axis.output / axis.input) : std::nullopt;
    });
  };
  const auto upsample = [&](OutputPort input, const Integers& factors) {
    return n.Add("multilinear_upsample", input,
                 Attributes({{"factor", factors}, {"method", method->second}, {"border", "replicate"}}));
  };
  if (method != std::end(kMethods)) {
    if (const auto factors = factors_of(axes)) return n.SetOutput(upsample(x, *factors));
  }
  if (n.state().options.target == Target::kNnefc) n.Decline("its standard form rounds in another order");
  if (method != std::end(kMethods)) {
    const auto factors = IsForTract(n) ? std::nullopt : factors_of(ChannelsFirst(axes));
    if (factors) {
      const auto rank = static_cast<int64_t>(axes.size());
      Integers to_first = {0, rank - 1}, to_last = {0};
      for (int64_t i = 1; i < rank - 1; ++i) to_first.push_back(i);
      for (int64_t i = 2; i < rank; ++i) to_last.push_back(i);
      to_last.push_back(1);
      return n.SetOutput(
          n.Transpose(upsample(n.Transpose(x, to_first, "channels_first"), *factors), to_last));
    }
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].changes()) x = InterpolateAxis(n, x, static_cast<int64_t>(i), modes, axes[i]);
  }
  n.SetOutput(x);
}

// Returns the input with the node's padding of zeros.
OutputPort PaddedInput(NodeRaising& n) {
  const auto rank = static_cast<size_t>(n.input_rank(0));
  Integers begin = n.node().Ints("pads_begin");
  Integers end = n.node().Ints("pads_end");
  begin.resize(rank, 0);
  end.resize(rank, 0);
  std::vector<std::pair<int64_t, int64_t>> padding;
  bool is_padded = false;
  for (size_t i = 0; i < rank; ++i) {
    padding.emplace_back(begin[i], end[i]);
    is_padded |= begin[i] != 0 || end[i] != 0;
  }
  if (!is_padded) return n.input(0);
  ir::AttributeMap attributes;
  attributes.Set("padding", ir::PairList(padding));
  return n.Add("pad", n.input(0), std::move(attributes));
}

void RaiseInterpolate(NodeRaising& n) {
  n.RequireScalars();
  const InterpolationModes modes = ir::ops::ReadInterpolationModes(n.node());
  const OutputPort x = PaddedInput(n);
  const std::vector<ResizedAxis> axes = ReadAxes(n, n.Shape(x));
  if (llvm::none_of(axes, [](const ResizedAxis& axis) { return axis.changes(); })) return n.SetOutput(x);
  if (modes.mode == "nearest") return InterpolateNearest(n, x, modes, axes);
  const bool shrinks = llvm::any_of(axes, [](const ResizedAxis& axis) { return axis.scale < 1; });
  if (modes.mode != "linear_onnx" && modes.mode != "linear") n.Decline("its mode is `{}`", modes.mode);
  if (modes.antialias && shrinks && modes.mode == "linear") n.Decline("it filters with `antialias`");
  InterpolateLinear(n, x, modes, axes);
}

}  // namespace

std::vector<RaiseEntry> ResamplingEntries() {
  return {{"Interpolate", RaiseInterpolate}};
}

}  // namespace nnefc::raise
