// Interpolate. Every mode is a weighted sum over few positions of
// each axis, and the weights of an element are products of those of its
// coordinates.

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/kernels/attributes.h"
#include "runtime/kernels/families.h"
#include "runtime/kernels/taps.h"
#include "runtime/kernels/unary.h"
#include "runtime/tensor/wide.h"

namespace nnefc::runtime {

namespace {

// What positions of an input axis each position of the output axis sums up.
struct ResizedAxis {
  int64_t input, output;
  double scale;  // output per input
};

// The input coordinate that output position x stands for. Single precision as
// in OpenVINO: `floor` of a coordinate depends on it.
float OriginalCoordinate(const std::string& mode, int64_t x, const ResizedAxis& axis) {
  const float position = static_cast<float>(x);
  const float scale = static_cast<float>(axis.scale);
  if (mode == "asymmetric") return position / scale;
  if (mode == "tf_half_pixel_for_nn") return (position + 0.5f) / scale;
  if (mode == "align_corners") {
    if (axis.output == 1) return 0;
    return position * static_cast<float>(axis.input - 1) / static_cast<float>(axis.output - 1);
  }
  if (mode == "pytorch_half_pixel" && axis.output == 1) return 0;
  return (position + 0.5f) / scale - 0.5f;
}

int64_t Nearest(const std::string& mode, float coordinate, double scale) {
  if (mode == "floor") return static_cast<int64_t>(std::floor(coordinate));
  if (mode == "ceil") return static_cast<int64_t>(std::ceil(coordinate));
  if (mode == "round_prefer_ceil") return static_cast<int64_t>(std::floor(coordinate + 0.5f));
  if (mode == "simple")
    return static_cast<int64_t>(scale < 1 ? std::ceil(coordinate) : std::trunc(coordinate));
  return static_cast<int64_t>(std::ceil(coordinate - 0.5f));  // round_prefer_floor
}

// The nearest two positions, each weighted by the distance to the other.
Taps LinearTaps(float coordinate, int64_t extent) {
  const double x = std::clamp(static_cast<double>(coordinate), 0.0, static_cast<double>(extent - 1));
  const int64_t low = static_cast<int64_t>(x);
  const int64_t high = std::min(low + 1, extent - 1);
  return {{low, 1 - (x - static_cast<double>(low))}, {high, x - static_cast<double>(low)}};
}

// A triangle around the coordinate, widened when shrinking with antialias;
// positions outside the input have no share.
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

// Keys' cubic convolution with coefficient `a`; the border repeats.
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

// Pillow's filters: as wide as the input pixels that an output pixel covers.
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

struct Interpolation {
  std::string mode, coordinate_mode, nearest_mode;
  bool antialias;
  double cube_coefficient;
};

Taps MakeTaps(const Interpolation& how, const ResizedAxis& axis, int64_t x) {
  if (how.mode.ends_with("_pillow")) return PillowTaps(axis, x, how.mode == "bicubic_pillow");
  const float coordinate = OriginalCoordinate(how.coordinate_mode, x, axis);
  if (how.mode == "linear") return TriangleTaps(coordinate, axis, how.antialias);
  if (how.mode == "linear_onnx") return LinearTaps(coordinate, axis.input);
  if (how.mode == "cubic") return CubicTaps(coordinate, axis.input, how.cube_coefficient);
  return {{std::clamp<int64_t>(Nearest(how.nearest_mode, coordinate, axis.scale), 0, axis.input - 1), 1.0}};
}

// Which axes are resized by how much. Interpolate-1 has axes as an attribute,
// Interpolate-11 sizes and scales in one input.
FaultOr<std::vector<ResizedAxis>> ReadAxes(const ReferenceRun& run, llvm::ArrayRef<int64_t> padded) {
  const size_t rank = padded.size();
  const std::string& set = run.node.set();
  const size_t axes_input = set == "opset4" ? 3 : 2;
  llvm::SmallVector<int64_t, 8> axes;
  if (set == "opset1") {
    for (int64_t axis : run.node.Ints("axes")) axes.push_back(axis);
  } else if (run.num_inputs() > axes_input) {
    axes = ElementsAsInts(run.input(axes_input));
  } else {
    for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  }
  const bool by_scales = run.node.String("shape_calculation_mode") == "scales";
  llvm::SmallVector<double, 8> scales;
  if (by_scales) scales = ElementsAsDoubles(run.input(set == "opset4" ? 2 : 1));
  if (by_scales && scales.size() < axes.size())
    return KernelFault("{} scales for {} axes", scales.size(), axes.size());

  std::vector<ResizedAxis> resized;
  for (size_t i = 0; i < rank; ++i) resized.push_back({padded[i], run.output().shape()[i], 1.0});
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizedAxis& axis = resized[static_cast<size_t>(NormalAxis(axes[i], static_cast<int64_t>(rank)))];
    axis.scale = by_scales ? scales[i] : static_cast<double>(axis.output) / static_cast<double>(axis.input);
  }
  return resized;
}

// out[o, x, i] = sum over the taps of x of weight * in[o, position, i], for one
// axis of a tensor seen as [outer, axis, inner]. Sums are made in f64.
struct ResizedLines {
  int64_t outer, input, inner;
  const std::vector<Taps>& taps;  // by position of the output
};
template <typename In, typename Out>
void ResizeAxis(const In* in, Out* out, const ResizedLines& of) {
  const auto value = [](In x) { return static_cast<double>(static_cast<ComputeType<In>>(x)); };
  const auto output = static_cast<int64_t>(of.taps.size());
  if (of.inner == 1) {
    ParallelFor(of.outer, 2 * output, [&](int64_t line) {
      for (int64_t x = 0; x < output; ++x) {
        double sum = 0;
        for (const Tap& tap : of.taps[static_cast<size_t>(x)])
          sum += tap.weight * value(in[line * of.input + tap.position]);
        out[line * output + x] = ConvertElement<Out>(sum);
      }
    });
    return;
  }
  ParallelFor(of.outer * output, of.inner, [&](int64_t row) {
    const Taps& taps = of.taps[static_cast<size_t>(row % output)];
    if (taps.size() == 2) {  // as most have: without sums in memory
      const In* lines = in + row / output * of.input * of.inner;
      const In *low = lines + taps[0].position * of.inner, *high = lines + taps[1].position * of.inner;
      Out* to = out + row * of.inner;
      Wide([&] {
        for (int64_t i = 0; i < of.inner; ++i)
          to[i] = ConvertElement<Out>(taps[0].weight * value(low[i]) + taps[1].weight * value(high[i]));
      });
      return;
    }
    constexpr int64_t kPart = 256;
    std::array<double, kPart> sums;
    for (int64_t first = 0; first < of.inner; first += kPart) {
      const int64_t count = std::min(kPart, of.inner - first);
      sums.fill(0);
      for (const Tap& tap : taps) {
        const In* part = in + (row / output * of.input + tap.position) * of.inner + first;
        Wide([&] {
          for (int64_t i = 0; i < count; ++i) sums[static_cast<size_t>(i)] += tap.weight * value(part[i]);
        });
      }
      Out* to = out + row * of.inner + first;
      Wide([&] {
        for (int64_t i = 0; i < count; ++i) to[i] = ConvertElement<Out>(sums[static_cast<size_t>(i)]);
      });
    }
  });
}

// One axis after the other: the weights of an element are products of those of
// its coordinates. What lies between two axes is f64.
template <typename T>
void InterpolateAs(const ReferenceRun& run, const TensorView& input,
                   const std::vector<std::vector<Taps>>& taps, llvm::ArrayRef<size_t> resized) {
  T* output = run.output().mutable_data<T>();
  Shape shape(input.shape());
  std::vector<double> from, to;
  for (size_t i = 0; i < resized.size(); ++i) {
    const size_t axis = resized[i];
    int64_t outer = 1, inner = 1;
    for (size_t k = 0; k < axis; ++k) outer *= shape[k];
    for (size_t k = axis + 1; k < shape.size(); ++k) inner *= shape[k];
    const ResizedLines lines{outer, shape[axis], inner, taps[axis]};
    shape[axis] = static_cast<int64_t>(taps[axis].size());
    const bool last = i + 1 == resized.size();
    if (!last) to.resize(static_cast<size_t>(outer * shape[axis] * inner));
    if (i == 0) {
      last ? ResizeAxis(input.data<T>(), output, lines) : ResizeAxis(input.data<T>(), to.data(), lines);
    } else {
      last ? ResizeAxis(from.data(), output, lines) : ResizeAxis(from.data(), to.data(), lines);
    }
    from.swap(to);
  }
}

// The input with zeros around it, if the node asks for them.
TensorView PaddedInput(const ReferenceRun& run, std::vector<std::byte>& storage) {
  const TensorView& input = run.input(0);
  const size_t rank = static_cast<size_t>(input.rank());
  const std::vector<int64_t> before = run.node.Ints("pads_begin");
  const std::vector<int64_t> after = run.node.Ints("pads_end");
  Shape shape(input.shape());
  int64_t offset = 0;
  for (size_t i = 0; i < rank; ++i) {
    shape[i] += (i < before.size() ? before[i] : 0) + (i < after.size() ? after[i] : 0);
  }
  if (shape == input.shape()) return input;
  const Strides strides = DenseStrides(shape);
  for (size_t i = 0; i < rank && i < before.size(); ++i) offset += before[i] * strides[i];
  const TensorView padded(input.type(), shape, nullptr);
  storage.assign(padded.byte_size(), std::byte{0});
  const int64_t width = static_cast<int64_t>(input.element_bytes());
  CopyElements(input,
               MutableTensorView(input.type(), input.shape(), strides, storage.data() + offset * width));
  return TensorView(input.type(), shape, storage.data());
}

// Interpolate-1 in terms of the later versions, as OpenVINO converts it.
Interpolation ReadOldInterpolation(const ir::Node& node) {
  std::string mode = node.String("mode");
  if (mode == "linear") mode = "linear_onnx";
  const bool align = node.Bool("align_corners");
  return {mode, align ? "align_corners" : "asymmetric", "simple", node.Bool("antialias"), -0.75};
}

Interpolation ReadInterpolation(const ir::Node& node) {
  if (node.set() == "opset1") return ReadOldInterpolation(node);
  return {node.String("mode"), node.String("coordinate_transformation_mode"), node.String("nearest_mode"),
          node.Bool("antialias"), node.Double("cube_coeff")};
}

FaultOr<Success> Interpolate(const ReferenceRun& run) {
  const Interpolation how = ReadInterpolation(run.node);
  if (how.mode == "area") return KernelFault("the mode `area` cannot be run");
  std::vector<std::byte> storage;
  const TensorView input = PaddedInput(run, storage);
  FaultOr<std::vector<ResizedAxis>> axes = ReadAxes(run, input.shape());
  if (!axes) return axes.error();
  if (run.output().volume() == 0) return Success();
  if (input.volume() == 0) return KernelFault("an empty tensor cannot be resized");
  std::vector<std::vector<Taps>> taps;
  llvm::SmallVector<size_t, 4> resized;
  for (const ResizedAxis& axis : *axes) {
    std::vector<Taps>& table = taps.emplace_back();
    if (axis.input == axis.output && axis.scale == 1.0) continue;
    resized.push_back(taps.size() - 1);
    for (int64_t x = 0; x < axis.output; ++x) table.push_back(MakeTaps(how, axis, x));
  }
  // Those that shrink first, so that nothing between is larger than both ends; of axes that
  // grow alike the last one first, while it has fewer lines: it alone is not walked in vectors.
  const auto growth = [&](size_t axis) {
    return static_cast<double>((*axes)[axis].output) / static_cast<double>((*axes)[axis].input);
  };
  std::sort(resized.begin(), resized.end(), [&](size_t a, size_t b) {
    if (growth(a) != growth(b)) return growth(a) < growth(b);
    return growth(a) > 1 ? a > b : a < b;
  });
  if (resized.empty()) {
    CopyElements(input, run.output());
    return Success();
  }
  const bool known = VisitNumericType(
      input.type(), [&]<typename T>(TypeTag<T>) { InterpolateAs<T>(run, input, taps, resized); });
  if (!known) return UnsupportedType(run);
  return Success();
}

}  // namespace

void RegisterInterpolate(KernelRegistry& registry) {
  registry.AddReference({"opset1", "opset4", "opset11"}, "Interpolate", Interpolate);
}

}  // namespace nnefc::runtime
