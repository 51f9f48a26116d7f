// NaN, infinities, zeros of both signs and denormals: both backends compute the results of the formulas.
// `min`, `max` and everything based on them are selections (4.2.2). A maximum over a window or an axis begins
// at negative infinity and ignores NaN.

#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "fmt/format.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine {

using kernels::Backend;

namespace {

constexpr float kLowest = std::numeric_limits<float>::lowest();

const std::vector<float>& SpecialValues() {
  static const std::vector<float> values = {kNan,     kInfinity, -kInfinity, 0.0f,   -0.0f,  1e-40f, -1e-40f,
                                            1.2e-38f, 3.4e38f,   -3.4e38f,   1.0f,   -1.0f,  0.5f,   -0.5f,
                                            6.0f,     7.0f,      20.0f,      -20.0f, 100.0f, -100.0f};
  return values;
}

// The channels of whole blocks, each with the same values.
constexpr int64_t kChannels = 32;
TensorValue Tensor(const std::vector<float>& values) {
  const auto count = static_cast<int64_t>(values.size());
  return TensorValue::Make<float>(ElementType::kF32, {1, kChannels, 1, count}, [&](std::span<float> out) {
    for (size_t i = 0; i < out.size(); ++i) out[i] = values[i % values.size()];
  });
}

// Returns x in the layout of a convolution; the sign of zeros is lost.
ir::OutputPort InBlocks(TestGraph& g, ir::OutputPort x) {
  ir::AttributeMap window;
  window.Set("strides", ir::Attribute::Integers{1, 1});
  window.Set("dilations", ir::Attribute::Integers{1, 1});
  window.Set("pads_begin", ir::Attribute::Integers{0, 0});
  window.Set("pads_end", ir::Attribute::Integers{0, 0});
  const TensorValue ones =
      TensorValue::Make<float>(ElementType::kF32, {kChannels, 1, 1, 1, 1},
                               [](std::span<float> out) { std::fill(out.begin(), out.end(), 1.0f); });
  return g.Op("GroupConvolution", {x, g.Const(ones)}, window);
}

bool SameBits(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::memcmp(&a, &b, sizeof(a)) == 0;
}

// The origin of the input of an operation: row-major, from a convolution in the same step, or from a
// convolution in another step.
enum class Place { kRowMajor, kFused, kInBlocks };

using Make = std::function<ir::OutputPort(TestGraph&, ir::OutputPort)>;

void ExpectElements(const Make& make, const std::function<float(float)>& formula) {
  const std::vector<float>& values = SpecialValues();
  for (const Place place : {Place::kRowMajor, Place::kFused, Place::kInBlocks}) {
    TestGraph g;
    ir::OutputPort x = g.Parameter("x", {1, kChannels, 1, static_cast<int64_t>(values.size())});
    if (place != Place::kRowMajor) x = InBlocks(g, x);
    g.Result(make(g, x));
    if (place == Place::kInBlocks) g.Result(x, "kept");
    for (const Backend backend : {Backend::kReference, Backend::kFast}) {
      const auto out = RunGraph(g.graph, {.backend = backend, .threads = 1}, {Tensor(values)});
      ASSERT_FALSE(out.empty());
      for (size_t i = 0; i < static_cast<size_t>(out[0].volume()); ++i) {
        const float given = values[i % values.size()];
        const float actual = static_cast<float>(out[0].ElementAsDouble(static_cast<int64_t>(i)));
        // Dot products lose the sign of zeros.
        float expected = formula(given);
        if (place != Place::kRowMajor && expected == 0) expected = actual == 0 ? actual : expected;
        ASSERT_TRUE(SameBits(actual, expected))
            << "of " << given << ": " << actual << ", expected " << expected << "\n"
            << Compile(g.graph, {.backend = backend, .threads = 1})->DescribePlan();
      }
    }
  }
}

float Select(bool condition, float x, float y) {
  return condition ? x : y;
}

TEST(SpecialValuesTest, SelectionsByComparison) {
  ExpectElements([](TestGraph& g, ir::OutputPort x) { return g.Op("ReLU", {x}); },
                 [](float x) { return Select(x > 0.0f, x, 0.0f); });
  for (const float number : {2.0f, 0.0f, -0.0f, -1.0f, kNan, kInfinity, -kInfinity}) {
    const auto constant = [&](TestGraph& g) { return g.Const(TensorValue::FromFloats({}, {number})); };
    ExpectElements(
        [&](TestGraph& g, ir::OutputPort x) {
          return g.Op("Maximum", {x, constant(g)});
        },
        [&](float x) { return Select(x > number, x, number); });
    ExpectElements(
        [&](TestGraph& g, ir::OutputPort x) {
          return g.Op("Maximum", {constant(g), x});
        },
        [&](float x) { return Select(number > x, number, x); });
    ExpectElements(
        [&](TestGraph& g, ir::OutputPort x) {
          return g.Op("Minimum", {x, constant(g)});
        },
        [&](float x) { return Select(x < number, x, number); });
    ExpectElements(
        [&](TestGraph& g, ir::OutputPort x) {
          return g.Op("Minimum", {constant(g), x});
        },
        [&](float x) { return Select(number < x, number, x); });
  }
}

// Of two images: each value with each other one.
TEST(SpecialValuesTest, SelectionsFromTwoImages) {
  std::vector<float> first, second;
  for (const float a : SpecialValues()) {
    for (const float b : SpecialValues()) {
      first.push_back(a);
      second.push_back(b);
    }
  }
  const Shape shape = {1, kChannels, 1, static_cast<int64_t>(first.size())};
  for (const bool is_minimum : {false, true}) {
    TestGraph g;
    const auto x = g.Parameter("x", shape), y = g.Parameter("y", shape);
    g.Result(g.Op(is_minimum ? "Minimum" : "Maximum", {x, y}));
    for (const Backend backend : {Backend::kReference, Backend::kFast}) {
      const auto out = RunGraph(g.graph, {.backend = backend, .threads = 1}, {Tensor(first), Tensor(second)});
      for (size_t i = 0; i < static_cast<size_t>(out[0].volume()); ++i) {
        const float a = first[i % first.size()], b = second[i % second.size()];
        const auto actual = static_cast<float>(out[0].ElementAsDouble(static_cast<int64_t>(i)));
        ASSERT_TRUE(SameBits(actual, Select(is_minimum ? a < b : a > b, a, b)))
            << a << ", " << b << ": " << actual;
      }
    }
  }
}

TEST(SpecialValuesTest, Limits) {
  for (const auto& [low, high] : {std::pair(0.0f, 6.0f), std::pair(-1.0f, 1.0f), std::pair(0.5f, 0.5f),
                                  std::pair(-kInfinity, 6.0f), std::pair(-1.0f, kInfinity)}) {
    ir::AttributeMap limits;
    limits.Set("min", static_cast<double>(low));
    limits.Set("max", static_cast<double>(high));
    ExpectElements([&](TestGraph& g, ir::OutputPort x) { return g.Op("Clamp", {x}, limits); },
                   [&](float x) {
                     const float limited = Select(x < high, x, high);
                     return Select(limited > low, limited, low);
                   });
  }
}

TEST(SpecialValuesTest, SlopesAndSums) {
  for (const float slope : {0.25f, 0.0f, -0.5f, 1.0f, 2.0f, kInfinity}) {
    const auto constant = [&](TestGraph& g) { return g.Const(TensorValue::FromFloats({1}, {slope})); };
    ExpectElements(
        [&](TestGraph& g, ir::OutputPort x) {
          return g.Op("PReLU", {x, constant(g)});
        },
        [&](float x) { return Select(x < 0.0f, slope * x, x); });
    ExpectElements(
        [&](TestGraph& g, ir::OutputPort x) {
          return g.Op("Multiply", {x, constant(g)});
        },
        [&](float x) { return slope * x; });
    ExpectElements(
        [&](TestGraph& g, ir::OutputPort x) {
          return g.Op("Add", {x, constant(g)});
        },
        [&](float x) { return slope + x; });
    ExpectElements(
        [&](TestGraph& g, ir::OutputPort x) {
          return g.Op("Subtract", {constant(g), x});
        },
        [&](float x) { return slope - x; });
    ExpectElements(
        [&](TestGraph& g, ir::OutputPort x) {
          return g.Op("Divide", {x, constant(g)});
        },
        [&](float x) { return x / slope; });
  }
  ExpectElements([](TestGraph& g, ir::OutputPort x) { return g.Op("Abs", {x}); },
                 [](float x) { return std::abs(x); });
  ExpectElements([](TestGraph& g, ir::OutputPort x) { return g.Op("Sqrt", {x}); },
                 [](float x) { return std::sqrt(x); });
}

// Inexact functions: NaN and infinities are exact, other values are near.
TEST(SpecialValuesTest, FunctionsOfExponentials) {
  struct Function {
    const char* set;
    const char* type;
    double (*formula)(double);
  };
  const Function functions[] = {
      {"opset1", "Exp", [](double x) { return std::exp(x); }},
      {"opset1", "Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"opset1", "Tanh", [](double x) { return std::tanh(x); }},
      {"opset1", "Erf", [](double x) { return std::erf(x); }},
      {"opset1", "Elu", [](double x) { return x < 0 ? std::expm1(x) : x; }},
      {"opset4", "Swish", [](double x) { return x / (1 + std::exp(-x)); }},
      {"opset4", "SoftPlus", [](double x) { return x > 50 ? x : std::log1p(std::exp(x)); }},
      {"opset4", "HSwish", [](double x) { return x * (x + 3 > 0 ? (x + 3 < 6 ? x + 3 : 6) : 0) / 6; }},
  };
  const std::vector<float>& values = SpecialValues();
  for (const Function& function : functions) {
    for (const bool blocked : {false, true}) {
      TestGraph g;
      ir::OutputPort x = g.Parameter("x", {1, kChannels, 1, static_cast<int64_t>(values.size())});
      if (blocked) x = InBlocks(g, x);
      ir::AttributeMap attributes;
      if (std::string_view(function.type) == "Elu") attributes.Set("alpha", 1.0);
      g.Result(g.Op(function.set, function.type, {x}, attributes));
      const TensorValue given = Tensor(values);
      const TensorValue expected =
          TensorValue::Make<float>(ElementType::kF32, given.shape(), [&](std::span<float> out) {
            for (size_t i = 0; i < out.size(); ++i)
              out[i] = static_cast<float>(function.formula(static_cast<double>(values[i % values.size()])));
          });
      for (const Backend backend : {Backend::kReference, Backend::kFast}) {
        SCOPED_TRACE(std::string(function.type) + (blocked ? " in blocks" : ""));
        const auto out = RunGraph(g.graph, {.backend = backend, .threads = 1}, {given});
        ASSERT_FALSE(out.empty());
        ExpectNear(out[0], expected, 2e-6);
      }
    }
  }
}

// Along every axis: a row with NaN or positive infinity is NaN, and so is a row of negative infinities alone;
// others are ignored.
TEST(SpecialValuesTest, SoftmaxOfRows) {
  constexpr size_t kMany = 1000;
  for (const char* type : {"SoftMax", "LogSoftmax"}) {
    for (const auto& [last, times] :
         {std::pair(false, size_t{1}), {true, 1}, {false, kMany}, {true, kMany}}) {
      const bool logarithm = std::string_view(type) == "LogSoftmax";
      std::vector<std::vector<float>> rows = {{1, 2, 3},
                                              {1, kNan, 3},
                                              {1, kInfinity, 2},
                                              {1, -kInfinity, 2},
                                              {-kInfinity, -kInfinity, -kInfinity},
                                              {3e38f, -3e38f, 0}};
      const size_t kinds = rows.size();
      while (rows.size() < times * kinds) rows.push_back(rows[rows.size() - kinds]);
      const auto count = static_cast<int64_t>(rows.size());
      const Shape shape = last ? Shape{count, 3} : Shape{1, 3, count};
      std::vector<float> given(rows.size() * 3), expected(given.size());
      for (size_t row = 0; row < rows.size(); ++row) {
        double largest = -HUGE_VAL, sum = 0;
        for (float x : rows[row]) largest = x > largest ? static_cast<double>(x) : largest;
        for (float x : rows[row]) sum += std::exp(static_cast<double>(x) - largest);
        for (size_t i = 0; i < 3; ++i) {
          const size_t at = last ? row * 3 + i : i * rows.size() + row;
          const double x = static_cast<double>(rows[row][i]) - largest;
          given[at] = rows[row][i];
          expected[at] = static_cast<float>(logarithm ? x - std::log(sum) : std::exp(x) / sum);
        }
      }
      TestGraph g;
      ir::AttributeMap axis;
      axis.Set("axis", int64_t{1});
      g.Result(g.Op(logarithm ? "opset5" : "opset8", type, {g.Parameter("x", shape)}, axis));
      for (const Backend backend : {Backend::kReference, Backend::kFast}) {
        SCOPED_TRACE(std::string(type) + " of " + ToString(shape));
        const auto out =
            RunGraph(g.graph, {.backend = backend, .threads = 1}, {TensorValue::FromFloats(shape, given)});
        ASSERT_FALSE(out.empty());
        ExpectNear(out[0], TensorValue::FromFloats(shape, expected), 2e-6);
      }
    }
  }
}

// NaN after a normalization, whose parameters may also be infinite or negative.
TEST(SpecialValuesTest, ReluOfNormalisations) {
  const std::vector<float>& values = SpecialValues();
  for (const bool blocked : {false, true}) {
    for (const float variance : {0.25f, -3.0f, kInfinity, kNan}) {
      TestGraph g;
      ir::OutputPort x = g.Parameter("x", {1, kChannels, 1, static_cast<int64_t>(values.size())});
      if (blocked) {
        x = InBlocks(g, x);
        g.Result(x, "kept");
      }
      const auto vector = [&](float value) {
        return g.Const(TensorValue::Make<float>(ElementType::kF32, {kChannels}, [&](std::span<float> out) {
          std::fill(out.begin(), out.end(), value);
        }));
      };
      ir::AttributeMap epsilon;
      epsilon.Set("epsilon", 0.0);
      const float mean = variance == 0.25f ? 0.5f : kInfinity;
      const ir::OutputPort y = g.Op("opset5", "BatchNormInference",
                                    {x, vector(3), vector(1), vector(mean), vector(variance)}, epsilon);
      g.Result(g.Op("ReLU", {y}), "relu");
      const double scale = 3 / std::sqrt(static_cast<double>(variance));
      const TensorValue expected =
          TensorValue::Make<float>(ElementType::kF32, Tensor(values).shape(), [&](std::span<float> out) {
            for (size_t i = 0; i < out.size(); ++i) {
              const double x = static_cast<double>(values[i % values.size()]);
              const auto y = static_cast<float>(x * scale + (1 - static_cast<double>(mean) * scale));
              out[i] = y > 0 ? y : 0;
            }
          });
      for (const Backend backend : {Backend::kReference, Backend::kFast}) {
        SCOPED_TRACE(std::string(blocked ? "blocked" : "plain") + ", variance " + std::to_string(variance));
        const auto out = RunGraph(g.graph, {.backend = backend, .threads = 1}, {Tensor(values)});
        ASSERT_FALSE(out.empty());
        ExpectNear(out.back(), expected, 2e-6);
      }
    }
  }
}

// (x - mean) / sqrt(variance + epsilon) * gamma + beta with one parameter that is no finite number, or a
// variance without a root. The product of the mean and an infinite scale would be infinite or NaN.
TEST(SpecialValuesTest, ParametersOfNormalisations) {
  constexpr double kEpsilon = 0.5;
  const std::vector<float> values = {-2.0f, -1.0f, 0.25f, 0.5f, 1.0f, 3.0f, kInfinity, -kInfinity, kNan};
  std::vector<std::array<float, 4>> cases;  // gamma, beta, mean, variance
  for (size_t parameter = 0; parameter < 4; ++parameter) {
    for (const float value : {kInfinity, -kInfinity, kNan, 0.0f, -0.25f, -0.5f, -0.75f}) {
      cases.push_back({3.0f, 1.0f, 0.5f, 0.5f});
      cases.back()[parameter] = value;
    }
  }
  for (const std::array<float, 4>& numbers : cases) {
    for (const Place place : {Place::kRowMajor, Place::kFused, Place::kInBlocks}) {
      TestGraph g;
      ir::OutputPort x = g.Parameter("x", {1, kChannels, 1, static_cast<int64_t>(values.size())});
      if (place != Place::kRowMajor) x = InBlocks(g, x);
      std::vector<ir::OutputPort> inputs = {x};
      for (const float number : numbers)
        inputs.push_back(
            g.Const(TensorValue::FromFloats({kChannels}, std::vector<float>(kChannels, number))));
      g.Result(g.Op("opset5", "BatchNormInference", inputs, With("epsilon", kEpsilon)));
      if (place == Place::kInBlocks) g.Result(x, "kept");
      const auto [gamma, beta, mean, variance] = numbers;
      const TensorValue expected =
          TensorValue::Make<float>(ElementType::kF32, Tensor(values).shape(), [&](std::span<float> out) {
            for (size_t i = 0; i < out.size(); ++i) {
              const double centered = double{values[i % values.size()]} - double{mean};
              out[i] = static_cast<float>(centered / std::sqrt(double{variance} + kEpsilon) * double{gamma} +
                                          double{beta});
            }
          });
      // The implementations that a run may name, each of which may refuse these parameters.
      for (const char* way : {"", "reference", "blocked", "rows", "onednn"}) {
        SCOPED_TRACE(fmt::format("gamma {}, beta {}, mean {}, variance {}, place {}, {}", gamma, beta, mean,
                                 variance, static_cast<int>(place), way));
        const bool is_reference = std::string_view(way) == "reference";
        const auto out = RunGraph(g.graph,
                                  {.backend = is_reference ? Backend::kReference : Backend::kFast,
                                   .threads = 1,
                                   .way = is_reference ? "" : way},
                                  {Tensor(values)});
        ASSERT_FALSE(out.empty());
        ExpectNear(out[0], expected, 2e-6);
      }
    }
  }
}

// ---- maxima over windows and axes ----
// Zeros except for the listed elements.

TensorValue Image(const Shape& shape, float fill, const std::vector<std::pair<size_t, float>>& places) {
  return TensorValue::Make<float>(ElementType::kF32, shape, [&](std::span<float> out) {
    std::fill(out.begin(), out.end(), fill);
    const size_t plane = static_cast<size_t>(shape[2] * shape[3]);
    for (size_t first = 0; first < out.size(); first += plane) {
      for (const auto& [at, value] : places) out[first + at] = value;
    }
  });
}

void ExpectAll(const TestGraph& g, const TensorValue& input, const std::vector<float>& plane,
               const std::string& way = "") {
  for (const Backend backend : {Backend::kReference, Backend::kFast}) {
    for (const int threads : {1, 2}) {
      const auto out = RunGraph(g.graph, {.backend = backend, .threads = threads, .way = way}, {input});
      ASSERT_FALSE(out.empty());
      ASSERT_EQ(static_cast<size_t>(out[0].volume()) % plane.size(), 0u);
      for (int64_t i = 0; i < out[0].volume(); ++i) {
        const float expected = plane[static_cast<size_t>(i) % plane.size()];
        const float actual = static_cast<float>(out[0].ElementAsDouble(i));
        ASSERT_TRUE(SameBits(actual, expected)) << "element " << i << ": " << actual << ", expected "
                                                << expected << ", backend " << static_cast<int>(backend);
      }
    }
  }
}

// x / (bias + alpha / size * sum)^beta, over any number of axes; a negative base yields NaN.
TEST(SpecialValuesTest, LrnOfAnyRank) {
  for (const double alpha : {1.5, -1.5}) {
    for (const Shape& shape : {Shape{2, 3}, Shape{2, 3, 4}, Shape{2, 3, 4, 4}, Shape{2, 3, 4, 2, 2},
                               Shape{2, 3, 2, 2, 2, 2}, Shape{1, 3, 2, 2, 2, 1, 2}}) {
      SCOPED_TRACE(ToString(shape));
      TestGraph g;
      ir::AttributeMap attributes;
      attributes.Set("alpha", alpha);
      attributes.Set("beta", 0.3);
      attributes.Set("bias", 1.0);
      attributes.Set("size", int64_t{5});
      g.Result(g.Op("LRN", {g.Parameter("x", shape), g.Ints({1})}, attributes));
      const std::vector<float> x(static_cast<size_t>(*Volume(shape)), 2.0F);
      const double base = 1 + alpha / 5 * 12;  // windows of five include all three channels
      for (const Backend backend : kBackends) {
        const auto made = RunGraph(g.graph, {.backend = backend}, {TensorValue::FromFloats(shape, x)});
        for (int64_t i = 0; i < made[0].volume(); ++i) {
          if (base < 0) {
            EXPECT_TRUE(std::isnan(made[0].ElementAsDouble(i))) << i;
          } else {
            EXPECT_NEAR(made[0].ElementAsDouble(i), 2 / std::pow(base, 0.3), 1e-6) << i;
          }
        }
      }
    }
  }
}

// Sums of positive numbers: none is NaN, whatever the padding of the last block of channels between the two.
TEST(SpecialValuesTest, InfinitiesBetweenTransposedConvolutions) {
  for (const int64_t channels : {1, 3, 21}) {
    SCOPED_TRACE(channels);
    TestGraph g;
    ir::AttributeMap window;
    window.Set("strides", ir::Attribute::Integers{1, 1});
    window.Set("dilations", ir::Attribute::Integers{1, 1});
    window.Set("pads_begin", ir::Attribute::Integers{0, 0});
    window.Set("pads_end", ir::Attribute::Integers{0, 0});
    window.Set("output_padding", ir::Attribute::Integers{0, 0});
    const auto ones = [&] {
      const Shape shape = {channels, channels, 4, 4};  // not by Winograd, which subtracts
      return g.Const(TensorValue::FromFloats(
          shape, std::vector<float>(static_cast<size_t>(channels * channels * 16), 1.0F)));
    };
    const auto x = g.Parameter("x", {2, channels, 4, 4});
    const auto once = g.Op("ConvolutionBackpropData", {x, ones()}, window);
    g.Result(g.Op("ConvolutionBackpropData", {once, ones()}, window));
    std::vector<float> numbers(static_cast<size_t>(2 * channels * 16), 1.0F);
    numbers[0] = kInfinity;
    const TensorValue input = TensorValue::FromFloats({2, channels, 4, 4}, numbers);
    const auto expected = RunGraph(g.graph, {.backend = Backend::kReference}, {input});
    const auto made = RunGraph(g.graph, {.backend = Backend::kFast}, {input});
    int64_t infinite = 0;
    for (int64_t i = 0; i < made[0].volume(); ++i) {
      const double found = made[0].ElementAsDouble(i);
      infinite += std::isinf(found) ? 1 : 0;
      ASSERT_EQ(found, expected[0].ElementAsDouble(i)) << i;
    }
    EXPECT_EQ(infinite, channels * 49);
  }
}

// OpenVINO infers a shape for them: no group, so no output.
TEST(SpecialValuesTest, ConvolutionsOfNoGroups) {
  for (const char* type : {"GroupConvolution", "GroupConvolutionBackpropData"}) {
    TestGraph g;
    ir::AttributeMap window;
    for (const char* name : {"strides", "dilations"}) window.Set(name, ir::Attribute::Integers{1});
    for (const char* name : {"pads_begin", "pads_end"}) window.Set(name, ir::Attribute::Integers{0});
    if (type != std::string("GroupConvolution")) window.Set("output_padding", ir::Attribute::Integers{0});
    g.Result(g.Op(type, {g.Parameter("x", {17, 0, 4}), g.Parameter("filter", {0, 10, 1, 1})}, window));
    for (const Backend backend : kBackends) {
      const auto made =
          RunGraph(g.graph, {.backend = backend},
                   {TensorValue::FromFloats({17, 0, 4}, {}), TensorValue::FromFloats({0, 10, 1, 1}, {})});
      EXPECT_EQ(made[0].shape(), (Shape{17, 0, 4}));
    }
  }
}

TEST(SpecialValuesTest, LargestUnderAWindow) {
  for (const int64_t channels : {3, 16, 32, 40}) {
    for (const bool blocked : {false, true}) {
      if (blocked && channels != kChannels) continue;
      TestGraph g;
      ir::OutputPort x = g.Parameter("x", {2, channels, 2, 8});
      if (blocked) x = InBlocks(g, x);
      ir::AttributeMap pool;
      pool.Set("kernel", ir::Attribute::Integers{2, 2});
      pool.Set("strides", ir::Attribute::Integers{2, 2});
      pool.Set("pads_begin", ir::Attribute::Integers{0, 0});
      pool.Set("pads_end", ir::Attribute::Integers{0, 0});
      g.Result(g.Op("MaxPool", {x}, pool));
      const TensorValue input = Image({2, channels, 2, 8}, -1,
                                      {{0, kNan},
                                       {1, kNan},
                                       {8, kNan},
                                       {9, kNan},  // NaN alone
                                       {2, kNan},
                                       {11, -3},  // NaN and numbers
                                       {4, -kInfinity},
                                       {5, -kInfinity},
                                       {12, kNan},
                                       {13, -kInfinity},
                                       {6, kLowest},
                                       {7, kLowest},
                                       {14, -kInfinity},
                                       {15, kLowest}});
      for (const char* way : {"", "onednn"}) ExpectAll(g, input, {-kInfinity, -1, -kInfinity, kLowest}, way);
    }
  }
}

// The border is excluded; in windows of border alone, the largest is negative infinity. (Averages of such
// windows are rejected: AvgPool has none.)
TEST(SpecialValuesTest, WindowsInTheBorder) {
  for (const int64_t channels : {3, 16, 32}) {
    TestGraph g;
    ir::AttributeMap pool;
    pool.Set("kernel", ir::Attribute::Integers{1, 2});
    pool.Set("strides", ir::Attribute::Integers{1, 1});
    pool.Set("pads_begin", ir::Attribute::Integers{0, 2});
    pool.Set("pads_end", ir::Attribute::Integers{1, 2});
    g.Result(g.Op("MaxPool", {g.Parameter("x", {1, channels, 1, 2})}, pool));
    std::vector<float> expected = {-kInfinity, -4, -2, -2, -kInfinity};
    expected.resize(10, -kInfinity);
    ExpectAll(g, Image({1, channels, 1, 2}, 0, {{0, -4}, {1, -2}}), expected);
  }
}

// Rows of every length around those of vectors, NaN and zeros at every index.
TEST(SpecialValuesTest, ExtremesOfAxes) {
  for (const int64_t length : {1, 2, 15, 16, 17, 31, 33, 64}) {
    for (const char* type : {"ReduceMax", "ReduceMin"}) {
      for (const int64_t axis : {1, 2}) {
        const Shape shape = axis == 2 ? Shape{length + 2, 1, length} : Shape{length + 2, length, 3};
        const int64_t inner = axis == 2 ? 1 : 3;
        const bool largest = std::string_view(type) == "ReduceMax";
        TestGraph g;
        g.Result(g.Op(type, {g.Parameter("x", shape), g.Ints({axis})}));
        std::vector<float> expected;
        const TensorValue input =
            TensorValue::Make<float>(ElementType::kF32, shape, [&](std::span<float> out) {
              for (int64_t row = 0; row < length + 2; ++row) {
                for (int64_t column = 0; column < inner; ++column) {
                  float best = largest ? -kInfinity : kInfinity;
                  for (int64_t i = 0; i < length; ++i) {
                    // -0.0 first, 0.0 later, NaN at the index of the row's number; the last row but one is
                    // all NaN, the last one all numbers.
                    float x = i % 2 == 0 ? -0.0f : 0.0f;
                    if (i == row || row == length) x = kNan;
                    if (row == length + 1) x = static_cast<float>(i % 7) - 3;
                    out[static_cast<size_t>((row * length + i) * inner + column)] = x;
                    best = (largest ? x > best : x < best) ? x : best;
                  }
                  expected.push_back(best);
                }
              }
            });
        for (const Backend backend : {Backend::kReference, Backend::kFast}) {
          const auto out = RunGraph(g.graph, {.backend = backend, .threads = 1}, {input});
          ASSERT_FALSE(out.empty());
          for (size_t i = 0; i < expected.size(); ++i) {
            ASSERT_TRUE(
                SameBits(static_cast<float>(out[0].ElementAsDouble(static_cast<int64_t>(i))), expected[i]))
                << type << " along " << axis << " of " << length << ", element " << i << ", backend "
                << static_cast<int>(backend);
          }
        }
      }
    }
  }
}

// Indices: of the first largest number, of the first element if there is none.
TEST(SpecialValuesTest, PlacesOfExtremes) {
  TestGraph g;
  ir::AttributeMap attributes;
  attributes.Set("axis", int64_t{1});
  attributes.Set("mode", "max");
  attributes.Set("sort", "value");
  attributes.Set("index_element_type", ElementType::kI64);
  const ir::OutputPort y = g.Op(
      "opset3", "TopK", {g.Parameter("x", {4, 3}), g.Const(TensorValue::FromInts({}, {1}))}, attributes, 2);
  g.Result({y.node, 1});
  const TensorValue input = TensorValue::FromFloats(
      {4, 3}, {kNan, 1, 2, kNan, kNan, kNan, -kInfinity, kNan, -kInfinity, 5, kNan, 5});
  for (const Backend backend : {Backend::kReference, Backend::kFast}) {
    const auto out = RunGraph(g.graph, {.backend = backend, .threads = 1}, {input});
    ASSERT_FALSE(out.empty());
    const std::vector<int64_t> expected = {2, 0, 0, 0};
    for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(out[0].ElementAsInt(i), expected[static_cast<size_t>(i)]) << i;
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
