// What the tests of quantized graphs share: quantizations by powers of two, whose numbers f32 represents
// exactly, and the formulas of convolutions and matrix products as loops over integers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine {

// The number of a code from 0 to 255 is `scale * (code - zero)`.
struct Quantization {
  float scale = 0x1p-5F;
  int zero = 0;

  double Number(int64_t code) const { return double{scale} * static_cast<double>(code - zero); }
  // Not rounded, between the codes at both ends.
  double Code(double number) const { return std::clamp(number / scale + zero, 0.0, 255.0); }
};

inline ir::OutputPort Scalar(TestGraph& g, float value) {
  return g.Const(TensorValue::FromFloats({}, {value}));
}

inline ir::OutputPort FakeQuantized(TestGraph& g, ir::OutputPort x, const Quantization& by) {
  const ir::OutputPort low = Scalar(g, static_cast<float>(by.Number(0)));
  const ir::OutputPort high = Scalar(g, static_cast<float>(by.Number(255)));
  return g.Op("FakeQuantize", {x, low, high, low, high}, With("levels", int64_t{256}));
}

// Adds a convolution by an identity matrix, which runs in 8 bits between two quantizations.
inline ir::OutputPort TakeImage(TestGraph& g, ir::OutputPort x, int64_t channels) {
  std::vector<float> identity(static_cast<size_t>(channels * channels), 0.0F);
  for (int64_t i = 0; i < channels; ++i) identity[static_cast<size_t>(i * (channels + 1))] = 1;
  return g.Convolution(x, g.Const(TensorValue::FromFloats({channels, channels, 1, 1}, identity)), 0);
}

inline size_t SizeOf(const Shape& shape) {
  return static_cast<size_t>(*Volume(shape));
}

// Where the codes of an image are.
enum class Spread : uint8_t {
  kNearZero,  // within 30 of the zero
  kFewFar,    // the same, but for one in 50
  kAnywhere,
  kEnds,  // 0 and 255
};
inline constexpr Spread kSpreads[] = {Spread::kNearZero, Spread::kFewFar, Spread::kAnywhere, Spread::kEnds};

inline std::vector<int64_t> DrawValues(const Shape& shape, int zero, Spread spread, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<int64_t> codes(SizeOf(shape));
  for (int64_t& code : codes) {
    const auto drawn = static_cast<int64_t>(random() % 256);
    const bool is_far = spread == Spread::kAnywhere || (spread == Spread::kFewFar && random() % 50 == 0);
    code = is_far ? drawn : std::clamp<int64_t>(zero + drawn % 61 - 30, 0, 255);
    if (spread == Spread::kEnds) code = drawn % 2 == 0 ? 0 : 255;
  }
  return codes;
}

// Weights from -127 to 127, the largest ones of both signs in pairs; the first of each row is 127, so that
// the scale of the row is that of its numbers.
inline std::vector<int64_t> DrawWeights(int64_t rows, int64_t columns, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<int64_t> weights(static_cast<size_t>(rows * columns));
  for (size_t i = 0; i < weights.size(); ++i) {
    const auto drawn = static_cast<int64_t>(random() % 300);
    weights[i] = drawn < 255 ? drawn - 127 : drawn % 2 == 0 ? 127 : -127;
    if (i % static_cast<size_t>(columns) == 0) weights[i] = 127;
  }
  return weights;
}

inline TensorValue NumbersOf(const Shape& shape, const std::vector<int64_t>& codes, const Quantization& by) {
  std::vector<float> numbers;
  numbers.reserve(codes.size());
  for (const int64_t code : codes) numbers.push_back(static_cast<float>(by.Number(code)));
  return TensorValue::FromFloats(shape, numbers);
}

// Scales of filters: powers of two that differ by output.
inline float FilterScale(int64_t output) {
  return std::ldexp(1.0F, static_cast<int>(output % 3) - 10);
}

// A convolution of images or, with one spatial axis, rows.
struct Convolved {
  Shape image;  // [images, channels, extents ...]
  int64_t outputs = 16;
  std::vector<int64_t> size = {1, 1};
  std::vector<int64_t> strides = {1, 1};
  std::vector<int64_t> dilations = {1, 1};
  std::vector<int64_t> begin = {0, 0};
  std::vector<int64_t> end = {0, 0};
  int64_t groups = 1;

  size_t axes() const { return size.size(); }
  int64_t channels() const { return image[1] / groups; }  // of a group
  int64_t taps() const {
    int64_t count = 1;
    for (const int64_t extent : size) count *= extent;
    return count;
  }
  int64_t Extent(size_t axis) const {
    const int64_t reach = (size[axis] - 1) * dilations[axis] + 1;
    return (image[2 + axis] + begin[axis] + end[axis] - reach) / strides[axis] + 1;
  }
  Shape Result() const {
    Shape shape = {image[0], outputs};
    for (size_t axis = 0; axis < axes(); ++axis) shape.push_back(Extent(axis));
    return shape;
  }
  Shape Filter() const {
    Shape shape = {outputs, channels()};
    if (groups > 1) shape = {groups, outputs / groups, channels()};
    shape.insert(shape.end(), size.begin(), size.end());
    return shape;
  }

  // By the specification's formula, of numbers that are 0 in the border.
  std::vector<int64_t> Sums(const std::vector<int64_t>& numbers, const std::vector<int64_t>& weights) const {
    const int64_t rows = axes() == 2 ? image[2] : 1, columns = image.back();
    const int64_t out_rows = axes() == 2 ? Extent(0) : 1, out_columns = Extent(axes() - 1);
    const int64_t row_taps = axes() == 2 ? size[0] : 1, column_taps = size.back();
    std::vector<int64_t> sums;
    for (int64_t b = 0; b < image[0]; ++b) {
      for (int64_t f = 0; f < outputs; ++f) {
        const int64_t group = f / (outputs / groups);
        for (int64_t y = 0; y < out_rows; ++y) {
          for (int64_t x = 0; x < out_columns; ++x) {
            int64_t sum = 0;
            for (int64_t c = 0; c < channels(); ++c) {
              for (int64_t j = 0; j < row_taps; ++j) {
                for (int64_t i = 0; i < column_taps; ++i) {
                  const int64_t row = axes() == 2 ? y * strides[0] + j * dilations[0] - begin[0] : 0;
                  const int64_t column = x * strides.back() + i * dilations.back() - begin.back();
                  if (row < 0 || row >= rows || column < 0 || column >= columns) continue;
                  const int64_t channel = group * channels() + c;
                  const int64_t at = ((b * image[1] + channel) * rows + row) * columns + column;
                  const int64_t weight = ((f * channels() + c) * row_taps + j) * column_taps + i;
                  sum += numbers[static_cast<size_t>(at)] * weights[static_cast<size_t>(weight)];
                }
              }
            }
            sums.push_back(sum);
          }
        }
      }
    }
    return sums;
  }

  ir::AttributeMap Attributes() const {
    ir::AttributeMap attributes;
    attributes.Set("strides", ir::Attribute::Integers(strides.begin(), strides.end()));
    attributes.Set("dilations", ir::Attribute::Integers(dilations.begin(), dilations.end()));
    attributes.Set("pads_begin", ir::Attribute::Integers(begin.begin(), begin.end()));
    attributes.Set("pads_end", ir::Attribute::Integers(end.begin(), end.end()));
    return attributes;
  }
  ir::OutputPort Add(TestGraph& g, ir::OutputPort x, const TensorValue& filter) const {
    return g.Op(groups > 1 ? "GroupConvolution" : "Convolution", {x, g.Const(filter)}, Attributes());
  }
  // Weights times the scale of their output.
  TensorValue FilterOf(const std::vector<int64_t>& weights) const {
    std::vector<float> numbers;
    const int64_t each = channels() * taps();
    for (size_t i = 0; i < weights.size(); ++i)
      numbers.push_back(static_cast<float>(weights[i]) * FilterScale(static_cast<int64_t>(i) / each));
    return TensorValue::FromFloats(Filter(), numbers);
  }
  int64_t OutputOf(size_t element) const {
    int64_t pixels = 1;
    for (size_t axis = 0; axis < axes(); ++axis) pixels *= Extent(axis);
    return static_cast<int64_t>(element) / pixels % outputs;
  }
};

// Add an operation after a convolution to the graph, and compute its results from those before: a bias by
// output, ReLU, and a Clamp.
template <typename Window>
ir::OutputPort AddBias(TestGraph& g, ir::OutputPort y, const Window& window, std::vector<double>& expected) {
  Shape shape(window.image.size(), 1);
  shape[1] = window.outputs;
  std::vector<float> bias;
  for (int64_t i = 0; i < window.outputs; ++i) bias.push_back(static_cast<float>(i - 9) / 2);
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i] += double{bias[static_cast<size_t>(window.OutputOf(i))]};
  return g.Op("Add", {y, g.Const(TensorValue::FromFloats(shape, bias))});
}
inline ir::OutputPort AddRelu(TestGraph& g, ir::OutputPort y, std::vector<double>& expected) {
  for (double& number : expected) number = std::max(number, 0.0);
  return g.Op("ReLU", {y});
}
inline ir::OutputPort AddClamp(TestGraph& g, ir::OutputPort y, std::vector<double>& expected) {
  for (double& number : expected) number = std::clamp(number, -3.0, 6.0);
  ir::AttributeMap limits;
  limits.Set("min", -3.0);
  limits.Set("max", 6.0);
  return g.Op("Clamp", {y}, limits);
}

inline std::vector<int64_t> Less(std::vector<int64_t> codes, int64_t zero) {
  for (int64_t& code : codes) code -= zero;
  return codes;
}

// On one thread and on two by turns: sessions of more threads than cores take long where tests run side by
// side.
inline int NextThreads() {
  static int count = 0;
  return ++count % 2 + 1;
}

// Of both backends, with an absolute tolerance.
inline void ExpectNumbers(const TestGraph& g, const std::vector<TensorValue>& inputs,
                          const std::vector<double>& expected, const std::string& kernel = "",
                          double tolerance = 0) {
  for (const kernels::Backend backend : kBackends) {
    const int threads = backend == kernels::Backend::kReference ? 1 : NextThreads();
    const auto executable = Compile(g.graph, {.backend = backend, .threads = threads});
    ASSERT_NE(executable, nullptr);
    const std::string plan = executable->DescribePlan();
    if (backend != kernels::Backend::kReference) {
      EXPECT_NE(plan.find(kernel), std::string::npos) << plan;
    }
    const kernels::FaultOr<std::vector<TensorValue>> outputs = Session::Create(executable)->Run(inputs);
    ASSERT_TRUE(outputs.ok()) << (outputs.ok() ? "" : outputs.error().message);
    const TensorValue& made = outputs->front();
    ASSERT_EQ(static_cast<size_t>(made.volume()), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      const double found = made.ElementAsDouble(static_cast<int64_t>(i));
      ASSERT_TRUE(found == expected[i] || std::abs(found - expected[i]) <= tolerance)
          << found << ", expected " << expected[i] << ": element " << i << " on " << threads << " threads\n"
          << plan;
    }
  }
}

// The same of numbers that are quantized at the end: each is one of the codes, at most half a code from the
// expected number, which is not rounded, and `slack` of a code more, since sums of f32 are rounded.
inline void ExpectCodes(const TestGraph& g, const std::vector<TensorValue>& inputs, const Quantization& by,
                        const std::vector<double>& expected, const std::string& kernel = "",
                        double slack = 1e-3) {
  for (const kernels::Backend backend : kBackends) {
    const int threads = backend == kernels::Backend::kReference ? 1 : NextThreads();
    const auto executable = Compile(g.graph, {.backend = backend, .threads = threads});
    ASSERT_NE(executable, nullptr);
    const std::string plan = executable->DescribePlan();
    if (backend != kernels::Backend::kReference) {
      EXPECT_NE(plan.find(kernel), std::string::npos) << plan;
    }
    const kernels::FaultOr<std::vector<TensorValue>> outputs = Session::Create(executable)->Run(inputs);
    ASSERT_TRUE(outputs.ok()) << (outputs.ok() ? "" : outputs.error().message);
    const TensorValue& made = outputs->front();
    ASSERT_EQ(static_cast<size_t>(made.volume()), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      const double code = made.ElementAsDouble(static_cast<int64_t>(i)) / by.scale + by.zero;
      ASSERT_NEAR(code, std::rint(code), 1e-3) << "element " << i << "\n" << plan;
      ASSERT_NEAR(code, by.Code(expected[i]), 0.5 + slack)
          << "element " << i << " on " << threads << " threads\n"
          << plan;
    }
  }
}

}  // namespace nnefc::runtime::engine
