// Transposed convolutions of quantized images against sums of integers: filters smaller than their strides,
// equal and larger, padding at each end, results without taps, and what may follow up to the next
// quantization.

#include "runtime/fast/processor.h"
#include "tests/unit/runtime/engine/quantized/quantized_graph.h"

namespace nnefc::runtime::engine {
namespace {

// A transposed convolution of images or, with one spatial axis, rows.
struct Transposed {
  Shape image;  // [images, channels, extents ...]
  int64_t outputs = 16;
  std::vector<int64_t> size = {2, 2};
  std::vector<int64_t> strides = {2, 2};
  std::vector<int64_t> begin = {0, 0};
  std::vector<int64_t> end = {0, 0};
  std::vector<int64_t> output_padding = {0, 0};
  std::vector<int64_t> dilations = {1, 1};
  bool has_one_scale = false;  // for all outputs

  size_t axes() const { return size.size(); }
  int64_t Extent(size_t axis) const {
    return (image[2 + axis] - 1) * strides[axis] + (size[axis] - 1) * dilations[axis] + 1 - begin[axis] -
           end[axis] + output_padding[axis];
  }
  Shape Result() const {
    Shape shape = {image[0], outputs};
    for (size_t axis = 0; axis < axes(); ++axis) shape.push_back(Extent(axis));
    return shape;
  }
  Shape Filter() const {
    Shape shape = {image[1], outputs};
    shape.insert(shape.end(), size.begin(), size.end());
    return shape;
  }
  float Scale(int64_t output) const { return FilterScale(has_one_scale ? 0 : output); }
  int64_t OutputOf(size_t element) const {
    int64_t pixels = 1;
    for (size_t axis = 0; axis < axes(); ++axis) pixels *= Extent(axis);
    return static_cast<int64_t>(element) / pixels % outputs;
  }
  // Whether each result along each axis is a sum of at least one product.
  bool AllHaveTaps() const {
    for (size_t axis = 0; axis < axes(); ++axis) {
      for (int64_t place = 0; place < Extent(axis); ++place) {
        bool has_tap = false;
        for (int64_t tap = 0; tap < size[axis]; ++tap) {
          const int64_t from = place + begin[axis] - tap * dilations[axis];
          has_tap |= from >= 0 && from % strides[axis] == 0 && from / strides[axis] < image[2 + axis];
        }
        if (!has_tap) return false;
      }
    }
    return true;
  }

  // By the definition: each element of the image is multiplied by the filter, and added to the result.
  std::vector<int64_t> Sums(const std::vector<int64_t>& numbers, const std::vector<int64_t>& weights) const {
    const int64_t rows = axes() == 2 ? image[2] : 1, columns = image.back();
    const int64_t out_rows = axes() == 2 ? Extent(0) : 1, out_columns = Extent(axes() - 1);
    const int64_t row_taps = axes() == 2 ? size[0] : 1, column_taps = size.back();
    std::vector<int64_t> sums(SizeOf(Result()));
    for (int64_t b = 0; b < image[0]; ++b) {
      for (int64_t c = 0; c < image[1]; ++c) {
        for (int64_t y = 0; y < rows; ++y) {
          for (int64_t x = 0; x < columns; ++x) {
            const int64_t number =
                numbers[static_cast<size_t>(((b * image[1] + c) * rows + y) * columns + x)];
            for (int64_t f = 0; f < outputs; ++f) {
              for (int64_t j = 0; j < row_taps; ++j) {
                for (int64_t i = 0; i < column_taps; ++i) {
                  const int64_t row = axes() == 2 ? y * strides[0] + j * dilations[0] - begin[0] : 0;
                  const int64_t column = x * strides.back() + i * dilations.back() - begin.back();
                  if (row < 0 || row >= out_rows || column < 0 || column >= out_columns) continue;
                  const int64_t weight = ((c * outputs + f) * row_taps + j) * column_taps + i;
                  sums[static_cast<size_t>(((b * outputs + f) * out_rows + row) * out_columns + column)] +=
                      number * weights[static_cast<size_t>(weight)];
                }
              }
            }
          }
        }
      }
    }
    return sums;
  }

  ir::OutputPort Add(TestGraph& g, ir::OutputPort x, const TensorValue& filter) const {
    ir::AttributeMap attributes;
    const auto set = [&](const char* name, const std::vector<int64_t>& numbers) {
      attributes.Set(name, ir::Attribute::Integers(numbers.begin(), numbers.end()));
    };
    set("strides", strides);
    set("dilations", dilations);
    set("pads_begin", begin);
    set("pads_end", end);
    set("output_padding", output_padding);
    return g.Op("ConvolutionBackpropData", {x, g.Const(filter)}, attributes);
  }
  // Weights times the scale of their output.
  TensorValue FilterOf(const std::vector<int64_t>& weights) const {
    std::vector<float> numbers;
    const int64_t taps = static_cast<int64_t>(weights.size()) / image[1] / outputs;
    for (size_t i = 0; i < weights.size(); ++i)
      numbers.push_back(static_cast<float>(weights[i]) * Scale(static_cast<int64_t>(i) / taps % outputs));
    return TensorValue::FromFloats(Filter(), numbers);
  }
};

// Weights of which the first one of each output is 127, so that its scale is that of its numbers.
std::vector<int64_t> DrawTransposedWeights(const Transposed& window, unsigned seed) {
  const auto count = static_cast<int64_t>(SizeOf(window.Filter()));
  std::vector<int64_t> weights = DrawWeights(window.image[1], count / window.image[1], seed);
  const auto taps = count / window.image[1] / window.outputs;
  for (int64_t i = 0; i < window.outputs; ++i) weights[static_cast<size_t>(i * taps)] = 127;
  return weights;
}

std::string Traced(const Transposed& window, int zero) {
  const auto text = [](const std::vector<int64_t>& numbers) {
    return ToString(Shape(numbers.begin(), numbers.end()));
  };
  return ToString(window.image) + " by " + ToString(window.Filter()) + ", strides " + text(window.strides) +
         ", padding " + text(window.begin) + text(window.end) + text(window.output_padding) + ", zero " +
         std::to_string(zero);
}

// The name of 8-bit kernels, which need VNNI.
std::string Kernel8() {
  return fast::HasVnni() ? "deconv" : "";
}

// Sums in f32. `kernel` is a part of the plan.
void CheckSums(const Transposed& window, int zero, Spread spread, const std::string& kernel) {
  SCOPED_TRACE(Traced(window, zero));
  const Quantization by{.zero = zero};
  const std::vector<int64_t> codes = DrawValues(window.image, zero, spread, 1);
  const std::vector<int64_t> weights = DrawTransposedWeights(window, 2);
  TestGraph g;
  g.Result(window.Add(g, FakeQuantized(g, g.Parameter("x", window.image), by), window.FilterOf(weights)));
  std::vector<double> expected;
  for (const int64_t sum : window.Sums(Less(codes, zero), weights))
    expected.push_back(static_cast<double>(sum) * by.scale * window.Scale(window.OutputOf(expected.size())));
  ExpectNumbers(g, {NumbersOf(window.image, codes, by)}, expected, kernel);
}

constexpr int kZeros[] = {0, 1, 128, 255};

TEST(QuantizedTransposedTest, Channels) {
  for (const int64_t channels : {1, 2, 3, 4, 15, 16, 17, 33, 64, 68}) {
    for (const int64_t outputs : {1, 3, 15, 16, 17, 33}) {
      const Transposed window{
          .image = {1, channels, 4, 3}, .outputs = outputs, .size = {3, 2}, .begin = {1, 0}, .end = {0, 1}};
      CheckSums(window, 131, kSpreads[static_cast<size_t>(channels + outputs) % 4], "");
    }
  }
}

// All extents of filters around the stride, with padding at one end, at both, or of the result.
TEST(QuantizedTransposedTest, Windows) {
  const auto padded = [](Transposed window) {
    std::vector<Transposed> all = {window};
    if (window.size[0] > 1) {
      window.begin = {window.size[0] - 1, 0};
      all.push_back(window);
      window.begin = {0, 0};
      window.end = {1, 0};
      all.push_back(window);
      window.begin = {1, 1};
      window.end = {1, window.size[1] - 1};
      if (window.size[1] > 1) all.push_back(window);
    }
    return all;
  };
  for (const int64_t stride : {1, 2, 3}) {
    for (const int64_t size : {1, 2, 3, 4, 5}) {
      for (const Transposed& window : padded({.image = {2, 20, 3, 4},
                                      .outputs = 18,
                                      .size = {size, std::max<int64_t>(1, size - 1)},
                                      .strides = {stride, 1}})) {
        for (const int zero : kZeros)
          CheckSums(window, zero, kSpreads[static_cast<size_t>(zero) % 4],
                    window.AllHaveTaps() && size > 1 ? Kernel8() : "");
      }
    }
  }
}

// Results after the last window have taps only as far as padding at the end drops them.
TEST(QuantizedTransposedTest, OutputPadding) {
  for (const int64_t end : {0, 1, 2}) {
    for (const int64_t padding : {1, 2}) {
      const Transposed window{.image = {1, 16, 3, 5},
                              .outputs = 16,
                              .size = {4, 3},
                              .strides = {3, 3},
                              .begin = {1, 0},
                              .end = {end, 0},
                              .output_padding = {padding, 0}};
      EXPECT_EQ(window.AllHaveTaps(), padding <= end);
      for (const int zero : kZeros)
        CheckSums(window, zero, Spread::kAnywhere, padding <= end ? Kernel8() : "");
    }
  }
}

TEST(QuantizedTransposedTest, OtherFilters) {
  const Transposed windows[] = {
      // Dilated.
      {.image = {1, 16, 3, 4}, .outputs = 17, .size = {3, 2}, .strides = {1, 2}, .dilations = {2, 1}},
      // Rows.
      {.image = {2, 17, 9},
       .outputs = 20,
       .size = {4},
       .strides = {2},
       .begin = {1},
       .end = {2},
       .output_padding = {1},
       .dilations = {1}},
      {.image = {1, 32, 5, 6}, .outputs = 32, .has_one_scale = true}};
  for (const Transposed& window : windows) {
    for (const int zero : kZeros) CheckSums(window, zero, Spread::kAnywhere, "");
  }
}

// The largest sums: all values at one end, all weights of one sign.
TEST(QuantizedTransposedTest, LargestSums) {
  for (const int64_t weight : {127, -127}) {
    for (const int zero : {0, 255}) {
      const Transposed window{
          .image = {1, 256, 4, 4}, .outputs = 16, .size = {4, 4}, .begin = {1, 1}, .end = {1, 1}};
      const Quantization by{.scale = 1, .zero = zero};
      const std::vector<int64_t> codes(SizeOf(window.image), 255 - zero);
      const std::vector<int64_t> weights(SizeOf(window.Filter()), weight);
      TestGraph g;
      g.Result(window.Add(g, FakeQuantized(g, g.Parameter("x", window.image), by), window.FilterOf(weights)));
      const std::vector<int64_t> sums = window.Sums(Less(codes, zero), weights);
      const auto made = RunGraph(g.graph, {.threads = 1}, {NumbersOf(window.image, codes, by)});
      for (size_t i = 0; i < sums.size(); ++i) {
        const double expected = static_cast<double>(sums[i]) * window.Scale(window.OutputOf(i));
        ASSERT_NEAR(made[0].ElementAsDouble(static_cast<int64_t>(i)), expected, 1e-5 * std::abs(expected));
      }
    }
  }
}

// What follows a transposed convolution up to the quantization of its result.
enum class After : uint8_t { kNothing, kBias, kRelu, kBiasRelu, kClamp, kSigmoid, kResidual, kQuantizedSum };

std::string FusedAfter(After after) {
  switch (after) {
    case After::kNothing:
    case After::kQuantizedSum:
      return "ConvolutionBackpropData+FakeQuantize ";
    case After::kBias:
      return "ConvolutionBackpropData+Add+FakeQuantize ";
    case After::kRelu:
      return "ConvolutionBackpropData+ReLU+FakeQuantize ";
    case After::kBiasRelu:
      return "ConvolutionBackpropData+Add+ReLU+FakeQuantize ";
    case After::kClamp:
    case After::kSigmoid:
    case After::kResidual:
      break;
  }
  return "";
}

void CheckCodes(const Transposed& window, const Quantization& from, const Quantization& to, After after) {
  SCOPED_TRACE(Traced(window, from.zero) + " to " + std::to_string(to.zero) + ", after " +
               std::to_string(static_cast<int>(after)));
  const std::vector<int64_t> codes = DrawValues(window.image, from.zero, Spread::kAnywhere, 3);
  const std::vector<int64_t> weights = DrawTransposedWeights(window, 4);
  const Shape result = window.Result();
  TestGraph g;
  ir::OutputPort y =
      window.Add(g, FakeQuantized(g, g.Parameter("x", window.image), from), window.FilterOf(weights));
  std::vector<TensorValue> inputs = {NumbersOf(window.image, codes, from)};
  std::vector<double> expected;
  for (const int64_t sum : window.Sums(Less(codes, from.zero), weights))
    expected.push_back(static_cast<double>(sum) * from.scale *
                       window.Scale(window.OutputOf(expected.size())));
  if (after == After::kBias || after == After::kBiasRelu || after == After::kSigmoid)
    y = AddBias(g, y, window, expected);
  if (after == After::kRelu || after == After::kBiasRelu) y = AddRelu(g, y, expected);
  if (after == After::kClamp) y = AddClamp(g, y, expected);
  if (after == After::kSigmoid) {
    y = g.Op("Sigmoid", {y});
    for (double& number : expected) number = 1 / (1 + std::exp(-number));
  }
  if (after == After::kResidual) {
    const std::vector<int64_t> others = DrawValues(result, 90, Spread::kAnywhere, 5);
    y = g.Op("Add", {y, g.Parameter("residual", result)});
    inputs.push_back(NumbersOf(result, others, {.scale = 0.25F}));
    for (size_t i = 0; i < expected.size(); ++i) expected[i] += 0.25 * static_cast<double>(others[i]);
  }
  y = FakeQuantized(g, y, to);
  double slack = 1e-3;
  if (after == After::kQuantizedSum) {
    const std::vector<int64_t> others = DrawValues(result, 60, Spread::kAnywhere, 6);
    const Quantization of_others{.scale = to.scale * 2, .zero = 60};
    y = g.Op("Add", {y, FakeQuantized(g, g.Parameter("r", result), of_others)});
    inputs.push_back(NumbersOf(result, others, of_others));
    for (size_t i = 0; i < expected.size(); ++i)
      expected[i] = to.Number(0) + to.scale * to.Code(expected[i]) + of_others.Number(others[i]);
    slack += 0.5;  // of the value before the sum
    y = FakeQuantized(g, y, to);
  }
  g.Result(y);
  ExpectCodes(g, inputs, to, expected, fast::HasVnni() ? FusedAfter(after) : "", slack);
}

TEST(QuantizedTransposedTest, QuantizedResults) {
  const Transposed windows[] = {
      {.image = {1, 24, 5, 6}, .outputs = 24},
      {.image = {1, 16, 4, 5}, .outputs = 20},
      {.image = {1, 16, 4, 5}, .outputs = 28},
      {.image = {1, 16, 4, 5}, .outputs = 33, .size = {4, 4}, .begin = {1, 1}, .end = {1, 1}},
      {.image = {2, 33, 3, 4},
       .outputs = 16,
       .size = {3, 3},
       .begin = {1, 0},
       .end = {0, 1},
       .has_one_scale = true},
      {.image = {1, 24, 5, 7}, .outputs = 1},
      {.image = {1, 20, 7},
       .outputs = 17,
       .size = {4},
       .strides = {2},
       .begin = {1},
       .end = {1},
       .output_padding = {0},
       .dilations = {1}}};
  for (const Transposed& window : windows) {
    for (const After after : {After::kNothing, After::kBias, After::kRelu, After::kBiasRelu, After::kClamp,
                              After::kSigmoid, After::kResidual, After::kQuantizedSum}) {
      const float last = after == After::kSigmoid ? 1.0F / 256 : 0.25F;
      CheckCodes(window, {.zero = 0}, {.scale = last, .zero = 90}, after);
      CheckCodes(window, {.zero = 131}, {.scale = last / 2, .zero = 0}, after);
      CheckCodes(window, {.zero = 255}, {.scale = last / 4, .zero = 255}, after);
    }
  }
}

// A decoder: transposed convolutions that read one another's quantized results, before a convolution.
TEST(QuantizedTransposedTest, Decoder) {
  const Quantization from{.zero = 120}, to{.scale = 0.25F, .zero = 0};
  const Transposed first{
      .image = {1, 32, 3, 4}, .outputs = 16, .size = {4, 4}, .begin = {1, 1}, .end = {1, 1}};
  const Transposed second{.image = first.Result(), .outputs = 24};
  const Convolved last{
      .image = second.Result(), .outputs = 8, .size = {3, 3}, .begin = {1, 1}, .end = {1, 1}};
  const std::vector<int64_t> codes = DrawValues(first.image, 120, Spread::kAnywhere, 7);
  const std::vector<int64_t> weights[] = {DrawTransposedWeights(first, 8), DrawTransposedWeights(second, 9),
                                          DrawWeights(8, 24 * 9, 10)};
  TestGraph g;
  const auto decoded = [&](const Transposed& window, ir::OutputPort x, const std::vector<int64_t>& filter) {
    return FakeQuantized(g, g.Op("ReLU", {window.Add(g, x, window.FilterOf(filter))}), to);
  };
  const ir::OutputPort one =
      decoded(first, FakeQuantized(g, g.Parameter("x", first.image), from), weights[0]);
  const ir::OutputPort two = decoded(second, one, weights[1]);
  g.Result(one, "one");
  g.Result(two, "two");
  g.Result(last.Add(g, two, last.FilterOf(weights[2])), "three");
  const auto made = RunGraph(g.graph, {.threads = 2}, {NumbersOf(first.image, codes, from)});
  ASSERT_EQ(made.size(), 3U);
  std::vector<int64_t> values = Less(codes, from.zero);
  double scale = from.scale;
  const Transposed* const steps[] = {&first, &second};
  for (size_t step = 0; step < 2; ++step) {
    const Transposed& window = *steps[step];
    const std::vector<int64_t> sums = window.Sums(values, weights[step]);
    values.clear();
    for (size_t i = 0; i < sums.size(); ++i) {
      const double number = static_cast<double>(sums[i]) * scale * window.Scale(window.OutputOf(i));
      const double code = made[step].ElementAsDouble(static_cast<int64_t>(i)) / to.scale;
      ASSERT_NEAR(code, to.Code(std::max(number, 0.0)), 0.501) << "step " << step << " element " << i;
      values.push_back(static_cast<int64_t>(std::rint(code)));
    }
    scale = to.scale;
  }
  const std::vector<int64_t> sums = last.Sums(values, weights[2]);
  for (size_t i = 0; i < sums.size(); ++i) {
    const double number = static_cast<double>(sums[i]) * scale * FilterScale(last.OutputOf(i));
    ASSERT_EQ(made[2].ElementAsDouble(static_cast<int64_t>(i)), number) << i;
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
