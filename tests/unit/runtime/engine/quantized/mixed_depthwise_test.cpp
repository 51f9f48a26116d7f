// Depthwise convolutions of quantized images with filters that are not quantized, against sums of integers:
// the weights are multiples of 2^-10 that 8 bits do not hold, so that all sums are exact in f32.

#include <cmath>
#include <limits>

#include "runtime/fast/simd/dispatch.h"
#include "tests/unit/runtime/engine/quantized/quantized_graph.h"

namespace nnefc::runtime::engine {
namespace {

constexpr double kUnit = 0x1p-10;

struct MixedDepthwise {
  Convolved window;
  Quantization by;
  std::vector<int64_t> codes, weights;

  MixedDepthwise(Convolved given, int64_t channels, int zero) : window(std::move(given)), by{.zero = zero} {
    window.image[1] = window.outputs = window.groups = channels;
    codes = DrawValues(window.image, zero, Spread::kAnywhere, 1);
    const std::vector<int64_t> drawn = DrawWeights(channels, window.taps(), 2);
    for (size_t i = 0; i < drawn.size(); ++i) weights.push_back(4 * drawn[i] + static_cast<int64_t>(i % 3));
    // The largest weight of each channel has the largest magnitude, and one of the others is odd.
    for (size_t i = 0; i + 1 < weights.size(); i += static_cast<size_t>(window.taps())) {
      weights[i] = 509;
      weights[i + 1] = -3;
    }
  }

  ir::OutputPort Add(TestGraph& g) const {
    std::vector<float> filter;
    filter.reserve(weights.size());
    for (const int64_t weight : weights)
      filter.push_back(static_cast<float>(static_cast<double>(weight) * kUnit));
    return window.Add(g, FakeQuantized(g, g.Parameter("x", window.image), by),
                      TensorValue::FromFloats(window.Filter(), filter));
  }
  std::vector<double> Results() const {
    std::vector<double> results;
    for (const int64_t sum : window.Sums(Less(codes, by.zero), weights))
      results.push_back(static_cast<double>(sum) * by.scale * kUnit);
    return results;
  }
  TensorValue Input() const { return NumbersOf(window.image, codes, by); }
};

std::string KernelOfMixed(const MixedDepthwise& given) {
  constexpr int64_t kMinChannels = 16;
  return fast::simd::HasSimd() && given.window.groups >= kMinChannels ? "nnefc:mixed_depthwise" : "";
}

// Follows: an f32 result, or a quantized one that a convolution reads.
void CheckMixed(const MixedDepthwise& given) {
  SCOPED_TRACE(ToString(given.window.image) + " by " + ToString(given.window.Filter()) + ", zero " +
               std::to_string(given.by.zero));
  TestGraph sums;
  sums.Result(given.Add(sums));
  ExpectNumbers(sums, {given.Input()}, given.Results(), KernelOfMixed(given));

  const Quantization to{.scale = 0x1p-3F, .zero = 90};
  TestGraph g;
  std::vector<double> expected = given.Results();
  g.Result(FakeQuantized(g, AddRelu(g, AddBias(g, given.Add(g), given.window, expected), expected), to));
  ExpectCodes(g, {given.Input()}, to, expected, KernelOfMixed(given));
}

TEST(MixedDepthwiseTest, Channels) {
  for (const int64_t channels : {2, 8, 15, 16, 17, 24, 40}) {
    for (const int zero : {0, 131, 255})
      CheckMixed({{.image = {2, 0, 6, 7}, .size = {3, 3}, .begin = {1, 1}, .end = {1, 1}}, channels, zero});
  }
}

TEST(MixedDepthwiseTest, Windows) {
  const Convolved windows[] = {
      {.image = {1, 0, 9, 11}, .size = {3, 3}, .strides = {2, 2}, .begin = {0, 1}, .end = {1, 0}},
      {.image = {1, 0, 9, 31}, .size = {5, 5}, .strides = {1, 3}, .begin = {2, 2}, .end = {2, 2}},
      {.image = {1, 0, 9, 9}, .size = {3, 3}, .dilations = {2, 3}, .begin = {2, 3}, .end = {2, 3}},
      {.image = {1, 0, 3, 2}, .size = {5, 5}, .begin = {4, 4}, .end = {4, 4}},
      {.image = {1, 0, 2, 2}, .size = {2, 2}, .begin = {3, 0}, .end = {0, 3}},
      {.image = {1, 0, 8, 8}, .size = {1, 2}},
      {.image = {1, 0, 40, 300}, .size = {3, 3}, .begin = {1, 1}, .end = {1, 1}},
      {.image = {1, 0, 19, 1}, .size = {3, 1}, .begin = {1, 0}, .end = {1, 0}},
      {.image = {2, 0, 19}, .size = {4}, .strides = {2}, .dilations = {1}, .begin = {1}, .end = {2}}};
  for (const Convolved& window : windows) {
    for (const int64_t channels : {16, 20}) CheckMixed({window, channels, 100});
  }
}

// A sum with an operand of all elements, with f32 results and quantized ones.
TEST(MixedDepthwiseTest, Residuals) {
  for (const bool is_quantized : {false, true}) {
    const MixedDepthwise given({.image = {1, 0, 6, 5}, .size = {3, 3}, .begin = {1, 1}, .end = {1, 1}}, 20,
                               77);
    const Shape shape = given.window.Result();
    const std::vector<int64_t> others = DrawValues(shape, 90, Spread::kAnywhere, 3);
    std::vector<double> expected = given.Results();
    for (size_t i = 0; i < expected.size(); ++i) expected[i] += 0.25 * static_cast<double>(others[i]);
    const Quantization to{.scale = 0.5F, .zero = 40};
    TestGraph g;
    const ir::OutputPort y = g.Op("Add", {given.Add(g), g.Parameter("residual", shape)});
    const std::vector<TensorValue> inputs = {given.Input(), NumbersOf(shape, others, {.scale = 0.25F})};
    g.Result(is_quantized ? FakeQuantized(g, y, to) : y);
    if (is_quantized) {
      ExpectCodes(g, inputs, to, expected);
    } else {
      ExpectNumbers(g, inputs, expected);
    }
  }
}

// Quantized values from one convolution to the next, without a conversion between them.
TEST(MixedDepthwiseTest, BetweenQuantizedConvolutions) {
  const MixedDepthwise given({.image = {1, 0, 14, 15}, .size = {3, 3}, .begin = {1, 1}, .end = {1, 1}}, 32,
                             128);
  const Convolved reader{.image = given.window.image, .outputs = 16};
  const Quantization to{.scale = 0x1p-2F, .zero = 120};
  const std::vector<int64_t> weights = DrawWeights(16, 32, 5);
  std::vector<int64_t> quantized;
  for (const double x : given.Results())
    quantized.push_back(static_cast<int64_t>(std::nearbyint(to.Code(x))));
  TestGraph g;
  g.Result(reader.Add(g, FakeQuantized(g, given.Add(g), to), reader.FilterOf(weights)));
  std::vector<double> expected;
  const std::vector<int64_t> sums = reader.Sums(Less(quantized, to.zero), weights);
  for (size_t i = 0; i < sums.size(); ++i)
    expected.push_back(static_cast<double>(sums[i]) * to.scale * FilterScale(reader.OutputOf(i)));
  ExpectNumbers(
      g, {given.Input()}, expected,
      fast::simd::HasSimd() ? "GroupConvolution+FakeQuantize            nnefc:mixed_depthwise" : "");
}

// Taps of the border are not multiplied: infinities and NaN of the filter reach only results that see them.
TEST(MixedDepthwiseTest, NonFiniteFilters) {
  for (const float tap : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    for (const int64_t pad : {0, 1}) {
      MixedDepthwise given({.image = {1, 0, 5, 6}, .size = {3, 3}, .begin = {pad, pad}, .end = {pad, pad}},
                           16, 100);
      std::vector<float> filter;
      filter.reserve(given.weights.size());
      for (const int64_t weight : given.weights) filter.push_back(static_cast<float>(weight));
      filter[0] = tap;
      TestGraph g;
      g.Result(given.window.Add(g, FakeQuantized(g, g.Parameter("x", given.window.image), given.by),
                                TensorValue::FromFloats(given.window.Filter(), filter)));
      const auto expected = RunGraph(g.graph, {.backend = kernels::Backend::kReference}, {given.Input()});
      const auto made = RunGraph(g.graph, {.threads = 1}, {given.Input()});
      for (int64_t i = 0; i < expected[0].volume(); ++i) {
        const double x = expected[0].ElementAsDouble(i), y = made[0].ElementAsDouble(i);
        if (std::isnan(x)) {
          EXPECT_TRUE(std::isnan(y)) << i;
        } else if (std::isinf(x)) {
          EXPECT_EQ(x, y) << i;
        } else {
          EXPECT_NEAR(x, y, 1e-5 * (1 + std::abs(x))) << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
