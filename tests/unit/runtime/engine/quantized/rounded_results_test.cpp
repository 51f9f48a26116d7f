// FakeQuantize with f32 results in the step of a convolution or matrix product before it: the formula in f64
// of the product by the reference backend. Elements that are nearly halfway between two levels may become
// either.

#include <optional>
#include <tuple>

#include "runtime/fast/processor.h"
#include "runtime/fast/simd/dispatch.h"
#include "tests/unit/runtime/engine/quantized/quantized_graph.h"

namespace nnefc::runtime::engine {
namespace {

// The limits of a FakeQuantize: of all elements, or by channel.
struct LevelRange {
  std::vector<float> low, high, first, last;
  int64_t levels = 256;

  float At(const std::vector<float>& numbers, int64_t channel) const {
    return numbers[numbers.size() == 1 ? 0 : static_cast<size_t>(channel)];
  }
  // The level of a number of a channel, and how near it is to the middle of two levels: 0 is halfway.
  std::pair<double, double> Round(double x, int64_t channel) const {
    const double from{At(low, channel)}, to{At(high, channel)}, steps = static_cast<double>(levels - 1);
    const double first_level{At(first, channel)}, last_level{At(last, channel)};
    const double position = (std::clamp(x, from, to) - from) / (to - from) * steps;
    const double level = std::nearbyint(position);
    return {level / steps * (last_level - first_level) + first_level, 0.5 - std::abs(position - level)};
  }
};

LevelRange OneRange(float low, float high, int64_t levels = 256) {
  return {{low}, {high}, {low}, {high}, levels};
}

LevelRange RangesByChannel(int64_t channels, bool have_zero) {
  LevelRange range;
  for (int64_t channel = 0; channel < channels; ++channel) {
    const float high = 0.5F + 0.25F * static_cast<float>(channel % 5);
    range.low.push_back(have_zero ? 0 : -0.3F * static_cast<float>(1 + channel % 3));
    range.high.push_back(high);
    range.first.push_back(have_zero ? 0 : -high);
    range.last.push_back(2 * high);
  }
  return range;
}

enum class ProductKind : uint8_t { kPointwise, kWindow, kDepthwise, kMatrix };

// A product with a filter of f32 numbers, rounded; then perhaps a sum, ReLU and rounded again; then another
// product.
struct RoundedGraph {
  ProductKind product = ProductKind::kPointwise;
  int64_t channels = 32;
  LevelRange range;
  bool has_bias = false, has_sum = false, has_relu = false;
  std::optional<LevelRange> again = std::nullopt;
  std::vector<int64_t> extents = {5, 7};
  bool has_reader = false;  // of the product, which makes the rounding a step of its own

  bool is_matrix() const { return product == ProductKind::kMatrix; }
  Shape DataShape() const {
    if (is_matrix()) return {64, channels};
    Shape shape = {1, channels};
    shape.insert(shape.end(), extents.begin(), extents.end());
    return shape;
  }
  ir::OutputPort AddProduct(TestGraph& g, ir::OutputPort x) const {
    switch (product) {
      case ProductKind::kPointwise:
        return g.Convolution(x, g.Weights({channels, channels, 1, 1}, 1), 0);
      case ProductKind::kWindow:
        return g.Convolution(x, g.Weights({channels, channels, 3, 3}, 2), 1);
      case ProductKind::kDepthwise: {
        ir::AttributeMap attributes;
        attributes.Set("strides", ir::Attribute::Integers{1, 1});
        attributes.Set("dilations", ir::Attribute::Integers{1, 1});
        attributes.Set("pads_begin", ir::Attribute::Integers{1, 1});
        attributes.Set("pads_end", ir::Attribute::Integers{1, 1});
        return g.Op("GroupConvolution", {x, g.Weights({channels, 1, 1, 3, 3}, 3)}, attributes);
      }
      case ProductKind::kMatrix:
        break;
    }
    return g.Op("MatMul", {x, g.Weights({channels, channels}, 4)});
  }
  ir::OutputPort AddBias(TestGraph& g, ir::OutputPort x) const {
    return g.Op("Add", {x, g.Weights(is_matrix() ? Shape{channels} : Shape{1, channels, 1, 1}, 5)});
  }
  ir::OutputPort AddRange(TestGraph& g, ir::OutputPort x, const LevelRange& of) const {
    const auto limit = [&](const std::vector<float>& numbers) {
      const auto count = static_cast<int64_t>(numbers.size());
      const Shape shape = is_matrix() ? Shape{1, count} : Shape{1, count, 1, 1};
      return g.Const(TensorValue::FromFloats(count == 1 ? Shape{} : shape, numbers));
    };
    return g.Op("FakeQuantize", {x, limit(of.low), limit(of.high), limit(of.first), limit(of.last)},
                With("levels", of.levels));
  }
  // All padding of the result is read by a product of 0 with its channels: it may not be NaN.
  ir::OutputPort AddLast(TestGraph& g, ir::OutputPort x) const {
    return is_matrix() ? g.Op("MatMul", {x, g.Weights({channels, 16}, 6)})
                       : g.Convolution(x, g.Weights({16, channels, 1, 1}, 6), 0);
  }
};

void ExpectRounded(const RoundedGraph& given) {
  SCOPED_TRACE("product " + std::to_string(static_cast<int>(given.product)) + " of " +
               std::to_string(given.channels) + " channels");
  const Shape shape = given.DataShape();
  const TensorValue x = RandomTensor(shape, 7), other = RandomTensor(shape, 8);
  TestGraph exact;
  ir::OutputPort product = given.AddProduct(exact, exact.Parameter("x", shape));
  if (given.has_bias) product = given.AddBias(exact, product);
  exact.Result(product);
  const std::vector<TensorValue> numbers =
      RunGraph(exact.graph, {.backend = kernels::Backend::kReference}, {x});

  TestGraph g;
  product = given.AddProduct(g, g.Parameter("x", shape));
  const ir::OutputPort added = g.Parameter("added", shape);
  if (given.has_bias) product = given.AddBias(g, product);
  const ir::OutputPort read = product;
  ir::OutputPort rounded = given.AddRange(g, product, given.range);
  if (given.has_sum) rounded = g.Op("Add", {rounded, added});
  if (given.has_relu) rounded = g.Op("ReLU", {rounded});
  if (given.again) rounded = given.AddRange(g, rounded, *given.again);
  g.Result(rounded, "rounded");
  TestGraph last;
  last.Result(given.AddLast(last, last.Parameter("x", shape)));
  g.Result(given.AddLast(g, g.Op("Multiply", {rounded, Scalar(g, 1)})), "last");
  if (given.has_reader) g.Result(read, "product");
  const std::vector<TensorValue> results = RunGraph(g.graph, {.threads = 2}, {x, other});
  ASSERT_EQ(results.size(), given.has_reader ? 3u : 2u);

  int64_t compared = 0;
  const int64_t pixels = given.is_matrix() ? 1 : *Volume(given.extents);
  for (int64_t i = 0; i < results[0].volume(); ++i) {
    const int64_t channel = i / pixels % given.channels;
    constexpr double kMiddle = 2e-3;
    auto [expected, distance] = given.range.Round(numbers[0].ElementAsDouble(i), channel);
    if (distance < kMiddle) continue;
    if (given.has_sum) expected += other.ElementAsDouble(i);
    if (given.has_relu) expected = std::max(expected, 0.0);
    if (given.again) std::tie(expected, distance) = given.again->Round(expected, channel);
    if (distance < kMiddle) continue;
    ++compared;
    ASSERT_NEAR(results[0].ElementAsDouble(i), expected, 1e-5) << "element " << i;
  }
  EXPECT_GT(compared, results[0].volume() * 9 / 10);
  ExpectClose(results[1], RunGraph(last.graph, {.backend = kernels::Backend::kReference}, {results[0]})[0],
              1e-5);
}

const std::vector<ProductKind> kProductKinds = {ProductKind::kPointwise, ProductKind::kWindow,
                                                ProductKind::kDepthwise, ProductKind::kMatrix};

TEST(RoundedResultsTest, OneRange) {
  for (const ProductKind product : kProductKinds) {
    for (const int64_t channels : {7, 8, 9, 12, 16, 17, 24, 32, 40}) {
      for (const LevelRange& range : {OneRange(0, 2), OneRange(-1, 1, 255), OneRange(-1.5F, 0.25F, 16),
                                      OneRange(0.25F, 1, 5), LevelRange{{-1}, {2}, {0}, {1}, 2}})
        ExpectRounded(
            {.product = product, .channels = channels, .range = range, .has_bias = channels % 2 == 0});
    }
  }
}

TEST(RoundedResultsTest, RangesOfChannels) {
  for (const ProductKind product : kProductKinds) {
    for (const int64_t channels : {16, 24, 33}) {
      for (const bool have_zero : {false, true})
        ExpectRounded(
            {.product = product, .channels = channels, .range = RangesByChannel(channels, have_zero)});
    }
  }
}

// Blocks of channels with padding, in a step of its own.
TEST(RoundedResultsTest, SecondReadersOfTheProduct) {
  for (const ProductKind product : kProductKinds) {
    for (const int64_t channels : {8, 12, 16, 20}) {
      ExpectRounded(
          {.product = product, .channels = channels, .range = OneRange(0.25F, 2), .has_reader = true});
      ExpectRounded({.product = product,
                     .channels = channels,
                     .range = RangesByChannel(channels, false),
                     .has_reader = true});
    }
  }
}

TEST(RoundedResultsTest, TwiceWithASumBetween) {
  for (const ProductKind product : kProductKinds) {
    for (const int variant : {0, 1, 2, 3}) {
      ExpectRounded({.product = product,
                     .channels = 24,
                     .range = OneRange(-1, 1),
                     .has_sum = (variant & 1) != 0,
                     .has_relu = (variant & 2) != 0,
                     .again = OneRange(variant == 3 ? -0.5F : 0, 1.5F, 64)});
      ExpectRounded({.product = product,
                     .channels = 24,
                     .range = RangesByChannel(24, false),
                     .has_sum = (variant & 1) != 0,
                     .has_relu = (variant & 2) != 0,
                     .again = RangesByChannel(24, true)});
    }
  }
}

// More lines than a task rounds at once.
TEST(RoundedResultsTest, LargeImages) {
  for (const std::vector<int64_t>& extents : {std::vector<int64_t>{70, 37}, {3, 300}, {1, 1}}) {
    ExpectRounded(
        {.product = ProductKind::kDepthwise, .channels = 20, .range = OneRange(-1, 1), .extents = extents});
    ExpectRounded(
        {.product = ProductKind::kPointwise, .channels = 20, .range = OneRange(0, 1), .extents = extents});
  }
}

// A sum by channel and a lower limit between two roundings, below, at, between and above the limits of the
// second one.
TEST(RoundedResultsTest, SumsByChannelAndLowerLimits) {
  const Shape shape = {1, 24, 3, 5};
  const TensorValue x = RandomTensor(shape, 7);
  for (const bool has_sum : {false, true}) {
    for (const float least : {-2.0F, -1.0F, 0.0F, 0.3F, 1.5F, 2.0F}) {
      TestGraph g;
      ir::OutputPort value = g.Convolution(g.Parameter("x", shape), g.Weights({24, 24, 1, 1}, 1), 0);
      const auto round = [&](ir::OutputPort data, float low, float high) {
        const ir::OutputPort from = Scalar(g, low), to = Scalar(g, high);
        return g.Op("FakeQuantize", {data, from, to, from, to}, With("levels", int64_t{17}));
      };
      value = round(value, -2, 2);
      if (has_sum) value = g.Op("Add", {value, g.Weights({1, 24, 1, 1}, 5)});
      value = g.Op("Maximum", {value, Scalar(g, least)});
      g.Result(round(value, -1, 1.5F));
      const std::vector<TensorValue> fast = RunGraph(g.graph, {}, {x});
      const std::vector<TensorValue> reference =
          RunGraph(g.graph, {.backend = kernels::Backend::kReference}, {x});
      int64_t other = 0;
      for (int64_t i = 0; i < fast[0].volume(); ++i)
        other += std::abs(fast[0].ElementAsDouble(i) - reference[0].ElementAsDouble(i)) > 1e-5;
      EXPECT_LE(other, fast[0].volume() / 100) << least;  // numbers halfway between two levels
    }
  }
}

// Kernels in bf16 do not round: what follows is a step of its own again.
TEST(RoundedResultsTest, ChainsAfterARoundingInBf16) {
  if (!fast::HasBf16() || !fast::simd::HasSimd()) GTEST_SKIP() << "without bf16";
  TestGraph g;
  const Shape shape = {1, 32, 6, 6};
  const ir::OutputPort low = Scalar(g, 0), high = Scalar(g, 1);
  ir::OutputPort value = g.Convolution(g.Parameter("x", shape), g.Weights({32, 32, 3, 3}, 1), 1);
  value = g.Op("FakeQuantize", {value, low, high, low, high}, With("levels", int64_t{16}));
  value = g.Op("ReLU", {g.Op("Add", {value, g.Parameter("y", shape)})});
  g.Result(value);
  const auto bf16 = Compile(g.graph, {.precision = kernels::Precision::kBf16, .threads = 1});
  const auto f32 = Compile(g.graph, {.threads = 1});
  ASSERT_TRUE(bf16 != nullptr && f32 != nullptr);
  EXPECT_NE(bf16->DescribePlan().find(" Add+ReLU "), std::string::npos) << bf16->DescribePlan();
  EXPECT_NE(f32->DescribePlan().find("Convolution+FakeQuantize+Add+ReLU"), std::string::npos)
      << f32->DescribePlan();
}

std::string PlanOfRounded(const RoundedGraph& given) {
  TestGraph g;
  g.Result(given.AddRange(g, given.AddProduct(g, g.Parameter("x", given.DataShape())), given.range));
  const auto executable = Compile(g.graph, {.threads = 1});
  return executable == nullptr ? "" : executable->DescribePlan();
}

TEST(RoundedResultsTest, StepsOfPlans) {
  if (!fast::simd::HasSimd()) GTEST_SKIP() << "without vector kernels";
  const auto is_fused = [](const RoundedGraph& given) {
    return PlanOfRounded(given).find("+FakeQuantize") != std::string::npos;
  };
  for (const ProductKind product : kProductKinds) {
    EXPECT_TRUE(is_fused({.product = product, .range = OneRange(0, 1)}))
        << PlanOfRounded({.product = product, .range = OneRange(0, 1)});
    EXPECT_TRUE(is_fused({.product = product, .range = RangesByChannel(32, false)}));
    // Equal limits are a step, whose formula divides by 0.
    EXPECT_FALSE(is_fused({.product = product, .range = {{0}, {0}, {0}, {1}}}));
  }
  // oneDNN computes images of fewer channels than half a block.
  EXPECT_FALSE(is_fused({.product = ProductKind::kWindow, .channels = 7, .range = OneRange(0, 1)}));
  EXPECT_TRUE(is_fused({.product = ProductKind::kWindow, .channels = 8, .range = OneRange(0, 1)}));
}

// Steps by powers of two: f32 represents the middles of levels, which go to the even level as by the formula.
TEST(RoundedResultsTest, TiesOfPowersOfTwo) {
  constexpr std::pair<int, int> kEnds[] = {{0, 255}, {-128, 127}, {-127, 127}, {-127, 128},
                                           {-8, 7},  {-7, 8},     {-1, 0}};
  for (const auto& [first, last] : kEnds) {
    TestGraph g;
    const ir::OutputPort x = g.Parameter("x", {1, 16, 4, 16});
    std::vector<float> unit(256);
    for (size_t i = 0; i < 16; ++i) unit[17 * i] = 1;
    const ir::OutputPort product =
        g.Convolution(x, g.Const(TensorValue::FromFloats({16, 16, 1, 1}, unit)), 0);
    const ir::OutputPort low = Scalar(g, std::ldexp(static_cast<float>(first), -6)),
                         high = Scalar(g, std::ldexp(static_cast<float>(last), -6));
    g.Result(
        g.Op("FakeQuantize", {product, low, high, low, high}, With("levels", int64_t{last - first + 1})));
    std::vector<float> numbers(1024);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::ldexp(static_cast<float>(i) - 512, -7);
    const TensorValue result = RunGraph(g.graph, {}, {TensorValue::FromFloats({1, 16, 4, 16}, numbers)})[0];
    for (int64_t i = 0; i < result.volume(); ++i) {
      const double number = static_cast<double>(numbers[static_cast<size_t>(i)]) * 64;
      const double position = std::clamp<double>(number, first, last) - first;
      ASSERT_EQ(result.ElementAsDouble(i) * 64, std::nearbyint(position) + first)
          << first << ", element " << i;
    }
  }
}

// A product that is a limit of other data is not rounded itself.
TEST(RoundedResultsTest, ProductsThatAreLimits) {
  const Shape shape = {1, 16, 1, 1};
  for (const size_t limit : {1, 2, 3, 4}) {
    SCOPED_TRACE(limit);
    TestGraph g;
    const ir::OutputPort product =
        g.Op("Add", {g.Convolution(g.Parameter("x", shape), g.Weights({16, 16, 1, 1}, 1, -0.1F, 0.1F), 0),
                     Scalar(g, limit % 2 == 0 ? 1.5F : -1.5F)});
    std::vector<ir::OutputPort> operands = {g.Weights(shape, 2, -1, 1), g.Weights(shape, 3, -2, -1),
                                            g.Weights(shape, 4, 1, 2), g.Weights(shape, 5, -2, -1),
                                            g.Weights(shape, 6, 1, 2)};
    operands[limit] = product;
    g.Result(g.Op("FakeQuantize", operands, With("levels", int64_t{16})));
    const std::vector<TensorValue> inputs = {RandomTensor(shape, 7)};
    const auto expected = RunGraph(g.graph, {.backend = kernels::Backend::kReference}, inputs);
    ExpectNear(RunGraph(g.graph, {.threads = 2}, inputs)[0], expected[0], 1e-5);
  }
}

// NaN stays NaN, except before a ReLU, which makes it 0.
TEST(RoundedResultsTest, NanAndInfinities) {
  for (const bool has_relu : {false, true}) {
    TestGraph g;
    const ir::OutputPort x = g.Parameter("x", {1, 16, 2, 2});
    std::vector<float> unit(256);
    for (size_t i = 0; i < 16; ++i) unit[17 * i] = 1;
    ir::OutputPort product = g.Convolution(x, g.Const(TensorValue::FromFloats({16, 16, 1, 1}, unit)), 0);
    product = g.Op("Tanh", {product});
    if (has_relu) product = g.Op("ReLU", {product});
    const ir::OutputPort low = Scalar(g, -1), high = Scalar(g, 1);
    g.Result(g.Op("FakeQuantize", {product, low, high, low, high}, With("levels", int64_t{3})));
    std::vector<float> numbers(64, 0.9F);
    numbers[5] = kNan;
    const TensorValue image = TensorValue::FromFloats({1, 16, 2, 2}, numbers);
    const std::vector<TensorValue> fast = RunGraph(g.graph, {}, {image});
    const std::vector<TensorValue> reference =
        RunGraph(g.graph, {.backend = kernels::Backend::kReference}, {image});
    ExpectNear(fast[0], reference[0], 1e-6);
    EXPECT_EQ(std::isnan(fast[0].ElementAsDouble(5)), !has_relu);
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
