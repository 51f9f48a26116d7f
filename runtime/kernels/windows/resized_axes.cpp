// Interpolation weights of resized axes.

#include "runtime/kernels/windows/resized_axes.h"

#include <algorithm>
#include <cmath>

#include "compiler/ir/ops/windows/resized_axis.h"
#include "runtime/kernels/attributes.h"

namespace nnefc::runtime::kernels {

using ir::ops::InterpolationModes;
using ir::ops::NearestPosition;
using ir::ops::OriginalCoordinate;
using ir::ops::ResizedAxis;

namespace {

// Linear interpolation between the two nearest positions.
Taps LinearTaps(float coordinate, int64_t extent) {
  const double x = std::clamp(static_cast<double>(coordinate), 0.0, static_cast<double>(extent - 1));
  const int64_t low = static_cast<int64_t>(x);
  const int64_t high = std::min(low + 1, extent - 1);
  return {{low, 1 - (x - static_cast<double>(low))}, {high, x - static_cast<double>(low)}};
}

// A triangle filter around the coordinate, widened for downscaling with antialias. Positions outside the
// input are ignored.
Taps TriangleTaps(float coordinate, const ResizedAxis& axis, bool antialias) {
  const double slope = antialias && axis.scale < 1 ? axis.scale : 1;
  const int64_t reach = axis.scale > 1 ? 2 : static_cast<int64_t>(std::ceil(2 / slope));
  const int64_t centre = static_cast<int64_t>(std::round(coordinate));
  Taps taps;
  double sum = 0;
  const int64_t first = std::max<int64_t>(0, centre - reach);
  const int64_t last = std::min(axis.input - 1, centre + reach);
  for (int64_t position = first; position <= last; ++position) {
    const double weight = std::max(
        0.0, 1 - std::abs(slope * (static_cast<double>(coordinate) - static_cast<double>(position))));
    if (weight == 0) continue;
    taps.push_back({position, weight});
    sum += weight;
  }
  for (Tap& tap : taps) tap.weight /= sum;
  return taps;
}

// Keys' cubic convolution with coefficient `a` and a replicated border.
Taps CubicTaps(float coordinate, int64_t extent, double a) {
  const int64_t base = static_cast<int64_t>(std::floor(coordinate));
  const double t = static_cast<double>(coordinate) - static_cast<double>(base);
  const auto clamped = [&](int64_t position) { return std::clamp<int64_t>(position, 0, extent - 1); };
  const double u = 1 - t;
  return {{clamped(base - 1), a * t * u * u},
          {clamped(base), ((a + 2) * t - (a + 3)) * t * t + 1},
          {clamped(base + 1), ((a + 2) * u - (a + 3)) * u * u + 1},
          {clamped(base + 2), a * u * t * t}};
}

// Pillow's filters, as wide as the input pixels covered by an output pixel.
Taps PillowTaps(const ResizedAxis& axis, int64_t x, bool bicubic) {
  const double step = 1 / axis.scale;
  const double width = std::max(step, 1.0);
  const double centre = (static_cast<double>(x) + 0.5) * step;
  const double reach = (bicubic ? 2.0 : 1.0) * width;
  const auto first = std::max<int64_t>(0, static_cast<int64_t>(centre - reach + 0.5));
  const auto end = std::min(axis.input, static_cast<int64_t>(centre + reach + 0.5));
  constexpr double a = -0.5;
  const auto filter = [&](double t) {
    t = std::abs(t);
    if (!bicubic) return std::max(0.0, 1 - t);
    if (t < 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
    return t < 2 ? (((t - 5) * t + 8) * t - 4) * a : 0.0;
  };
  Taps taps;
  double sum = 0;
  for (int64_t position = first; position < end; ++position) {
    const double weight = filter((static_cast<double>(position) - centre + 0.5) / width);
    taps.push_back({position, weight});
    sum += weight;
  }
  for (Tap& tap : taps) tap.weight /= sum;
  return taps;
}

Taps MakeTaps(const InterpolationModes& modes, const ResizedAxis& axis, int64_t x) {
  if (modes.mode.ends_with("_pillow")) return PillowTaps(axis, x, modes.mode == "bicubic_pillow");
  const float coordinate = OriginalCoordinate(modes.coordinates, x, axis);
  if (modes.mode == "linear") return TriangleTaps(coordinate, axis, modes.antialias);
  if (modes.mode == "linear_onnx") return LinearTaps(coordinate, axis.input);
  if (modes.mode == "cubic") return CubicTaps(coordinate, axis.input, modes.cube_coefficient);
  return {
      {std::clamp<int64_t>(NearestPosition(modes.nearest, coordinate, axis.scale), 0, axis.input - 1), 1.0}};
}

// Reads the axes and their scales. Interpolate-1 has an axes attribute; Interpolate-11 has sizes or scales in
// one input.
FaultOr<std::vector<ResizedAxis>> ReadAxes(const Resizing& of) {
  const size_t rank = of.input.size();
  const std::string& set = of.node.set();
  const size_t axes_input = set == "opset4" ? 3 : 2;
  llvm::SmallVector<int64_t, 8> axes;
  if (set == "opset1") {
    for (int64_t axis : of.node.Ints("axes")) axes.push_back(axis);
  } else if (static_cast<size_t>(of.node.num_inputs()) > axes_input) {
    for (double axis : of.numbers(axes_input)) axes.push_back(static_cast<int64_t>(axis));
  } else {
    for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  }
  const bool by_scales = of.node.String("shape_calculation_mode") == "scales";
  llvm::SmallVector<double, 8> scales;
  if (by_scales) scales = of.numbers(set == "opset4" ? 2 : 1);
  if (by_scales && scales.size() < axes.size())
    return KernelFault("{} scales for {} axes", scales.size(), axes.size());

  std::vector<ResizedAxis> resized;
  for (size_t i = 0; i < rank; ++i) resized.push_back({of.input[i], of.output[i], 1.0});
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizedAxis& axis = resized[static_cast<size_t>(NormalAxis(axes[i], static_cast<int64_t>(rank)))];
    axis.scale = by_scales ? scales[i] : static_cast<double>(axis.output) / static_cast<double>(axis.input);
  }
  return resized;
}

}  // namespace

llvm::SmallVector<double, 8> NumbersOf(const TensorValue& constant) {
  llvm::SmallVector<double, 8> numbers;
  for (int64_t i = 0; i < constant.volume(); ++i) numbers.push_back(constant.ElementAsDouble(i));
  return numbers;
}

FaultOr<std::vector<std::vector<Taps>>> TapsOfInterpolation(const Resizing& of) {
  const InterpolationModes modes = ir::ops::ReadInterpolationModes(of.node);
  if (modes.mode == "area") return KernelFault("the mode `area` cannot be run");
  FaultOr<std::vector<ResizedAxis>> axes = ReadAxes(of);
  if (!axes) return axes.error();
  std::vector<std::vector<Taps>> taps;
  for (const ResizedAxis& axis : *axes) {
    std::vector<Taps>& table = taps.emplace_back();
    if (axis.input == 0 || (axis.input == axis.output && axis.scale == 1.0)) continue;
    for (int64_t x = 0; x < axis.output; ++x) table.push_back(MakeTaps(modes, axis, x));
  }
  return taps;
}

}  // namespace nnefc::runtime::kernels
