// Lowerings of windows on quantized tensors, and of interpolation, with tract's results.

#include "compiler/lower/tract_arithmetic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "compiler/ir/wording.h"
#include "compiler/lower/windows/pooling.h"
#include "compiler/lower/windows/window.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace nnefc::lower {

namespace {

OutputPort Convert(NodeLowering& n, OutputPort x, ElementType type, std::string_view suffix) {
  return n.Add("opset1", "Convert", x, Attributes({{"destination_type", type}}), suffix);
}

// Adds a constant of type f64: a scalar if there is one value, else one for each index of the first axis.
template <typename Value>
OutputPort PerAxis(NodeLowering& n, llvm::ArrayRef<Value> values, std::string_view suffix) {
  nnefc::Shape shape;
  if (values.size() != 1) shape = {static_cast<int64_t>(values.size())};
  return n.Constant(TensorValue::Make<double>(ElementType::kF64, shape,
                                              [&](std::span<double> items) {
                                                std::copy(values.begin(), values.end(), items.begin());
                                              }),
                    suffix);
}

}  // namespace

OutputPort ToDouble(NodeLowering& n, OutputPort x) {
  return n.target().output(x).type == ElementType::kF64 ? x : Convert(n, x, ElementType::kF64, "double");
}

OutputPort Scales(NodeLowering& n, const QuantizedType& type) {
  return PerAxis<float>(n, type.scales, "scale");
}

OutputPort ZeroPoints(NodeLowering& n, const QuantizedType& type) {
  return PerAxis<int32_t>(n, type.zero_points, "zero_point");
}

OutputPort Double(NodeLowering& n, double value, std::string_view suffix) {
  return n.Constant(TensorValue::Filled(ElementType::kF64, {}, value), suffix);
}

OutputPort RoundToFloat(NodeLowering& n, OutputPort x) {
  return ToDouble(n, Convert(n, x, ElementType::kF32, "rounded"));
}

OutputPort RoundHalfToEven(NodeLowering& n, OutputPort x) {
  return n.Add("opset5", "Round", x, Attributes({{"mode", "half_to_even"}}));
}

OutputPort ReplaceNan(NodeLowering& n, OutputPort x) {
  const OutputPort is_nan = n.Add("opset10", "IsNaN", x, {}, "is_nan");
  return n.Add("opset1", "Select", {is_nan, Double(n, 0.0, "zero"), x}, {}, "number");
}

OutputPort Steps(NodeLowering& n, OutputPort numbers, const QuantizedType& type) {
  const OutputPort share = n.Binary("Divide", ToDouble(n, numbers), Scales(n, type), "share");
  return RoundHalfToEven(n, share);
}

OutputPort ScaleSteps(NodeLowering& n, OutputPort steps, const QuantizedType& type) {
  return Convert(n, n.Binary("Multiply", steps, Scales(n, type), "scaled"), ElementType::kF32, "value");
}

namespace {

// The maximum window volume. Larger windows are summed in another order, with differences in the last bit.
constexpr int64_t kMaxElements = 1024;

// Returns a value for the number of tensor elements under the window at each position, as an operand.
OutputPort ForEachCount(NodeLowering& n, const Window& window, const nnefc::Shape& input,
                        const nnefc::Shape& output, double (*value)(int64_t), std::string_view suffix) {
  nnefc::Shape extents(output.size(), 1);
  std::vector<std::vector<int64_t>> counts(output.size(), {1});
  for (size_t i = 0; i < output.size(); ++i) {
    if (window.IsTrivial(i)) continue;
    extents[i] = output[i];
    counts[i] = Overlaps(window, i, input[i], output[i]);
  }
  return n.Constant(TensorValue::Make<double>(ElementType::kF64, extents,
                                              [&](std::span<double> items) {
                                                for (size_t place = 0; place < items.size(); ++place) {
                                                  auto rest = static_cast<int64_t>(place);
                                                  int64_t count = 1;
                                                  for (size_t i = output.size(); i-- > 0;) {
                                                    count *=
                                                        counts[i][static_cast<size_t>(rest % extents[i])];
                                                    rest /= extents[i];
                                                  }
                                                  items[place] = value(count);
                                                }
                                              }),
                    suffix);
}

// A window over a tensor of known extents.
struct KnownWindow {
  Window window;
  nnefc::Shape input, output;
};

std::optional<KnownWindow> ReadKnownWindow(NodeLowering& n) {
  const std::optional<nnefc::Shape> input = n.input_shape(0).extents(), output = n.output_shape().extents();
  if (!input || !output) return std::nullopt;
  std::optional<Window> window = ReadWindow(n, {.size = n.Ints("size"), .extents = n.input_shape(0)});
  if (!window) return std::nullopt;
  return KnownWindow{std::move(*window), *input, *output};
}

// True for `box` without `normalize`.
bool IsSum(const NodeLowering& n) {
  return n.node().op() == n.target().registry().Find(ir::kNnefSet, "box") && !n.Bool("normalize");
}

// True if a window is entirely in the padding.
bool HasEmptyPosition(const KnownWindow& known) {
  for (size_t i = 0; i < known.output.size(); ++i) {
    if (llvm::is_contained(Overlaps(known.window, i, known.input[i], known.output[i]), 0)) return true;
  }
  return false;
}

}  // namespace

std::optional<OutputPort> SumInOrder(NodeLowering& n) {
  const std::optional<KnownWindow> known = ReadKnownWindow(n);
  if (!known || known->window.Volume() > kMaxElements) return std::nullopt;
  const Window* window = &known->window;
  const nnefc::Shape* output = &known->output;
  const bool is_negative = std::min(*std::min_element(window->pad_begin.begin(), window->pad_begin.end()),
                                    *std::min_element(window->pad_end.begin(), window->pad_end.end())) < 0;
  const bool ignores_border = window->border == "ignore";
  if (is_negative || !(ignores_border || window->border == "constant")) return std::nullopt;
  const OutputPort padded =
      ToDouble(n, Pad(n, n.input(0), window->pad_begin, window->pad_end, "constant", 0.0));
  std::vector<int64_t> axes;
  for (size_t i = 0; i < output->size(); ++i) axes.push_back(static_cast<int64_t>(i));
  std::optional<OutputPort> sum;
  for (int64_t element = 0; element < window->Volume(); ++element) {
    std::vector<int64_t> begin(output->size()), end(output->size());
    int64_t rest = element;
    for (size_t i = output->size(); i-- > 0;) {
      begin[i] = rest % window->size[i] * window->dilation[i];
      rest /= window->size[i];
      end[i] = begin[i] + ((*output)[i] - 1) * window->stride[i] + 1;
    }
    const OutputPort part = n.Add("opset8", "Slice",
                                  {padded, n.ConstInts(begin, "start"), n.ConstInts(end, "stop"),
                                   n.ConstInts(window->stride, "step"), n.ConstInts(axes, "axes")});
    sum = sum ? RoundToFloat(n, n.Binary("Add", *sum, part, "sum")) : part;
  }
  if (IsSum(n)) return Convert(n, *sum, ElementType::kF32, "numbers");
  const OutputPort reciprocal =
      ignores_border
          ? ForEachCount(
                n, *window, known->input, *output,
                [](int64_t count) { return double{1.0F / static_cast<float>(count)}; }, "reciprocal")
          : Double(n, 1.0F / static_cast<float>(window->Volume()), "reciprocal");
  return Convert(n, n.Binary("Multiply", *sum, reciprocal, "average"), ElementType::kF32, "numbers");
}

OutputPort WithNanForNoElements(NodeLowering& n, OutputPort averages) {
  const std::optional<KnownWindow> known = ReadKnownWindow(n);
  if (!known || IsSum(n) || known->window.border != "ignore" || !HasEmptyPosition(*known)) return averages;
  const OutputPort added = ForEachCount(
      n, known->window, known->input, known->output,
      [](int64_t count) { return count == 0 ? std::numeric_limits<double>::quiet_NaN() : 0.0; },
      "no_elements");
  return n.Binary("Add", ToDouble(n, averages), added, "average");
}

bool MayHaveNoElements(NodeLowering& n) {
  const std::optional<KnownWindow> known = ReadKnownWindow(n);
  return !known || HasEmptyPosition(*known);
}

namespace {

enum class Coordinates : uint8_t {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric
};
enum class Interpolator : uint8_t { kNearestFloor, kNearestUp, kLinear, kCubic };

struct Resampling {
  Coordinates coordinates;
  Interpolator interpolator;
  std::vector<float> scales;     // one per axis
  std::vector<int64_t> extents;  // output extents
};

// Returns the input coordinate of an output element.
float PlaceOf(int64_t index, float scale, int64_t before, int64_t after, Coordinates coordinates) {
  const auto x = static_cast<float>(index), width = static_cast<float>(before);
  switch (coordinates) {
    case Coordinates::kPytorchHalfPixel:
      if (after <= 1) return -0.5F;
      [[fallthrough]];
    case Coordinates::kHalfPixel:
      return (x + 0.5F) / scale - 0.5F;
    case Coordinates::kHalfPixelSymmetric: {
      const float adjustment = static_cast<float>(after) / (scale * width);
      return width / 2.0F * (1.0F - adjustment) + (x + 0.5F) / scale - 0.5F;
    }
    case Coordinates::kAlignCorners: {
      const float reach = scale * width;
      return reach == 1.0F ? 0.0F : x * (width - 1.0F) / (reach - 1.0F);
    }
    case Coordinates::kAsymmetric:
      return x / scale;
  }
  return 0;
}

float CubicWeight(float distance) {
  constexpr float kSharpness = -0.75F;
  const float s = std::abs(distance);
  if (s <= 1.0F) return (kSharpness + 2.0F) * s * s * s - (kSharpness + 3.0F) * s * s + 1.0F;
  if (s <= 2.0F)
    return kSharpness * s * s * s - 5.0F * kSharpness * s * s + 8.0F * kSharpness * s - 4.0F * kSharpness;
  return 0.0F;
}

// Returns the weight of the element at `cell + tap` for the coordinate `cell + rest`.
float WeightOf(float tap, float rest, Interpolator interpolator) {
  switch (interpolator) {
    case Interpolator::kLinear:
      return std::clamp(1.0F - std::abs(tap - rest), 0.0F, 1.0F);
    case Interpolator::kCubic:
      return CubicWeight(tap - rest);
    case Interpolator::kNearestFloor:
    case Interpolator::kNearestUp: {
      const bool is_right = rest == 1.0F || (interpolator == Interpolator::kNearestUp && rest >= 0.5F);
      return (tap == 1.0F) == is_right ? 1.0F : 0.0F;
    }
  }
  return 0;
}

OutputPort ResampleAxis(NodeLowering& n, OutputPort x, int64_t axis, int64_t before,
                        const Resampling& resampling) {
  const auto i = static_cast<size_t>(axis);
  const int64_t after = resampling.extents[i];
  const int64_t taps = resampling.interpolator == Interpolator::kCubic ? 4 : 2;
  nnefc::Shape extents(resampling.extents.size(), 1);
  extents[i] = after;
  std::optional<OutputPort> sum;
  for (int64_t tap = 1 - taps / 2; tap <= taps / 2; ++tap) {
    std::vector<int64_t> indices;
    std::vector<double> weights;
    for (int64_t index = 0; index < after; ++index) {
      const float place = PlaceOf(index, resampling.scales[i], before, after, resampling.coordinates);
      const float cell = std::ceil(place) - 1.0F;
      weights.push_back(WeightOf(static_cast<float>(tap), place - cell, resampling.interpolator));
      indices.push_back(std::clamp<int64_t>(static_cast<int64_t>(cell) + tap, 0, before - 1));
    }
    const OutputPort part =
        n.Add("opset8", "Gather", {x, n.ConstInts(indices, "indices"), n.ConstInt(axis, "axis")},
              Attributes({{"batch_dims", 0}}));
    TensorValue factors = TensorValue::Make<double>(ElementType::kF64, extents, [&](std::span<double> items) {
      std::copy(weights.begin(), weights.end(), items.begin());
    });
    const OutputPort weighted =
        RoundToFloat(n, n.Binary("Multiply", part, n.Constant(std::move(factors), "weights"), "weighted"));
    sum = sum ? RoundToFloat(n, n.Binary("Add", *sum, weighted, "sum")) : weighted;
  }
  return *sum;
}

std::optional<Resampling> ReadUpsampling(NodeLowering& n) {
  const std::string method = n.String("method");
  const std::optional<nnefc::Shape> output = n.output_shape().extents();
  if (n.String("border") != "replicate" || !output) return std::nullopt;
  Resampling resampling{.coordinates = method == "aligned"      ? Coordinates::kAlignCorners
                                       : method == "asymmetric" ? Coordinates::kAsymmetric
                                                                : Coordinates::kHalfPixel,
                        .interpolator = Interpolator::kLinear,
                        .scales = {1, 1},
                        .extents = {output->begin(), output->end()}};
  for (int64_t factor : n.Ints("factor")) resampling.scales.push_back(static_cast<float>(factor));
  return resampling;
}

std::optional<Resampling> ReadInterpolation(NodeLowering& n) {
  const std::optional<nnefc::Shape> input = n.input_shape(0).extents();
  const std::string interpolator = n.String("interpolator"), coordinates = n.String("coord_transformer");
  if (!input) return std::nullopt;
  Resampling resampling{.coordinates = llvm::StringSwitch<Coordinates>(coordinates)
                                           .Case("half_pixel_symmetric", Coordinates::kHalfPixelSymmetric)
                                           .Case("pytorch_half_pixel", Coordinates::kPytorchHalfPixel)
                                           .Case("align_corners", Coordinates::kAlignCorners)
                                           .Case("asymmetric", Coordinates::kAsymmetric)
                                           .Default(Coordinates::kHalfPixel),
                        .interpolator = interpolator == "linear"              ? Interpolator::kLinear
                                        : interpolator == "cubic"             ? Interpolator::kCubic
                                        : n.String("nearest_mode") == "floor" ? Interpolator::kNearestFloor
                                                                              : Interpolator::kNearestUp,
                        .scales = {},
                        .extents = n.Ints("sizes")};
  const std::vector<double> scales = n.node().attribute("scales").AsDoubles();
  for (size_t i = 0; i < input->size(); ++i) {
    resampling.scales.push_back(scales.size() == input->size() ? static_cast<float>(scales[i])
                                                               : static_cast<float>(resampling.extents[i]) /
                                                                     static_cast<float>((*input)[i]));
  }
  return resampling;
}

}  // namespace

std::optional<OutputPort> InterpolateInOrder(NodeLowering& n) {
  const bool is_upsampling =
      n.node().op() == n.target().registry().Find(ir::kNnefSet, "multilinear_upsample");
  const std::optional<Resampling> resampling = is_upsampling ? ReadUpsampling(n) : ReadInterpolation(n);
  const std::optional<nnefc::Shape> input = n.input_shape(0).extents();
  if (!resampling || !input) return std::nullopt;
  OutputPort x = ToDouble(n, n.input(0));
  for (size_t i = 0; i < input->size(); ++i) {
    if ((*input)[i] == resampling->extents[i] && resampling->scales[i] == 1) continue;
    if (resampling->extents[i] > kMaxPlaces) {
      n.Error(kWindowTooLarge, "the result of `{}` has more than {} elements along axis {}",
              ir::OperationName(n.node()), kMaxPlaces, i);
      return n.input(0);
    }
    x = ResampleAxis(n, x, static_cast<int64_t>(i), (*input)[i], *resampling);
  }
  return Convert(n, x, ElementType::kF32, "numbers");
}

}  // namespace nnefc::lower
