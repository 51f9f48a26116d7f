#include "runtime/fast/int8/convolution/filter_quantization.h"

#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <string>

#include "runtime/fast/processor.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::fast::int8 {
namespace {

// By the definition: of the codes 127 (128 where the largest number is negative alone) down to 1, the first
// that the largest number has where all are whole.
std::optional<float> ScaleByDefinition(const std::vector<float>& numbers) {
  double largest = 0;
  bool is_positive = false;
  for (float number : numbers) largest = std::max(largest, std::abs(double{number}));
  for (float number : numbers) is_positive |= double{number} == largest;
  if (largest == 0) return 1.0f;
  for (int code = is_positive ? 127 : 128; code > 0; --code) {
    bool all = true;
    for (float number : numbers) {
      const double quotient = double{number} / (largest / code);
      all &= std::abs(quotient - std::nearbyint(quotient)) <= 1e-4;
    }
    if (all) return static_cast<float>(largest / code);
  }
  return std::nullopt;
}

class Channels {
 public:
  explicit Channels(uint32_t seed) : random_(seed) {}

  int Uniform(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  // Multiples of a scale by codes up to `most`, all of them multiples of `step`.
  std::vector<float> Multiples(size_t count, float scale, int most, int step) {
    std::vector<float> numbers;
    for (size_t i = 0; i < count; ++i)
      numbers.push_back(scale * static_cast<float>(Uniform(-most / step, most / step) * step));
    return numbers;
  }

 private:
  std::mt19937 random_;
};

TEST(FilterQuantizationTest, AreThoseOfTheDefinition) {
  Channels channels(1);
  int num_without = 0;
  for (int round = 0; round < 300; ++round) {
    ScaleFinder finder;
    // Of one scale, as of a tensor, or of one each.
    const float common = std::ldexp(static_cast<float>(channels.Uniform(1, 1000)), -14);
    for (int channel = 0; channel < 6; ++channel) {
      const bool own = channels.Uniform(0, 2) == 0;
      const float scale = own ? static_cast<float>(channels.Uniform(1, 1000)) / 7777 : common;
      std::vector<float> numbers = channels.Multiples(static_cast<size_t>(channels.Uniform(1, 600)), scale,
                                                      channels.Uniform(1, 128), channels.Uniform(1, 3));
      if (channels.Uniform(0, 3) == 0) numbers.back() = -128 * scale;
      if (channels.Uniform(0, 9) == 0) numbers.back() += scale * 0.01f;
      const std::optional<float> expected = ScaleByDefinition(numbers), found = finder.Find(numbers);
      num_without += expected ? 0 : 1;
      ASSERT_EQ(found.has_value(), expected.has_value()) << "round " << round << ", channel " << channel;
      // A product with the inverse may have another last bit than the quotient.
      if (found) {
        ASSERT_FLOAT_EQ(*found, *expected) << "round " << round << ", channel " << channel;
      }
    }
  }
  EXPECT_GT(num_without, 30);
}

TEST(FilterQuantizationTest, ThereIsNoneOfWhatHasNoCodes) {
  const float infinity = std::numeric_limits<float>::infinity();
  const auto find = [](const std::vector<float>& numbers) { return ScaleFinder().Find(numbers); };
  EXPECT_EQ(find({0, 0}), 1.0f);
  EXPECT_EQ(find({0, -0.0f, -2.56f}), 0.02f);  // -128 alone
  EXPECT_EQ(find({-2.54f, 2.54f}), 0.02f);
  EXPECT_EQ(find({1, std::nanf("")}), std::nullopt);
  EXPECT_EQ(find({-infinity, 1}), std::nullopt);
  EXPECT_EQ(find({1.0f, 0.7071f, 0.3333f}), std::nullopt);
  EXPECT_EQ(find({1e-35f, 2e-35f}), std::nullopt);  // too small to divide by
  // The sum of so many products fits 32 bits, of one more it may not.
  EXPECT_TRUE(find(std::vector<float>(65793, 1.0f)).has_value());
  EXPECT_FALSE(find(std::vector<float>(65794, 1.0f)).has_value());
}

// Numbers are multiples if they are at most 1e-4 of a scale away from one.
TEST(FilterQuantizationTest, DistancesFromMultiples) {
  for (const float distance : {8e-5F, 9e-5F, 9.9e-5F})
    EXPECT_EQ(ScaleFinder().Find(std::vector<float>{127, 1 + distance}), 1.0F) << distance;
  // Numbers after the span are not read.
  const std::vector<float> numbers = {127, 1 + 9e-5F, 0.5F};
  EXPECT_EQ(ScaleFinder().Find(std::span(numbers).first(2)), 1.0F);
  for (const float distance : {1.01e-4F, 1.1e-4F, 1.2e-4F})
    EXPECT_NE(ScaleFinder().Find(std::vector<float>{127, 1 + distance}), 1.0F) << distance;
}

// The scale of a channel does not depend on the channels before it, even if these are far larger or smaller.
TEST(FilterQuantizationTest, ChannelsOfOtherMagnitudes) {
  for (const float first : {1.0f, 1e-3f, 1e3f}) {
    for (const float second : {1e-9f, 1e-6f, 0.004f, 1.0f, 1e6f}) {
      ScaleFinder finder;
      for (const float scale : {first, second, first}) {
        const std::vector<float> numbers = {3 * scale, -127 * scale, 0, 64 * scale};
        const std::optional<float> found = finder.Find(numbers);
        ASSERT_TRUE(found.has_value()) << first << ", " << second;
        EXPECT_FLOAT_EQ(*found, *ScaleByDefinition(numbers)) << first << ", " << second;
      }
      // All numbers are closer to 0 than to half a step of the scale before.
      const std::vector<float> tiny = {3e-7f * first, -127e-7f * first, 0, 64e-7f * first};
      const std::optional<float> found = finder.Find(tiny);
      ASSERT_TRUE(found.has_value()) << first;
      EXPECT_FLOAT_EQ(*found, *ScaleByDefinition(tiny)) << first;
    }
  }
}

TEST(FilterQuantizationTest, AreOfOutputChannels) {
  // Larger than what is looked at at a time.
  constexpr int64_t kOutputs = 300, kInputs = 70, kTaps = 9;
  Channels channels(2);
  std::vector<float> numbers;
  std::vector<float> expected;
  for (int64_t output = 0; output < kOutputs; ++output) {
    const std::vector<float> some =
        channels.Multiples(kInputs * kTaps, static_cast<float>(channels.Uniform(1, 99)) / 333, 127, 1);
    expected.push_back(*ScaleByDefinition(some));
    numbers.insert(numbers.end(), some.begin(), some.end());
  }
  const TensorValue filter = TensorValue::FromFloats({kOutputs, kInputs, kTaps}, numbers);
  EXPECT_EQ(QuantizeFilter(filter, false).scales, expected);
  double most = 0;
  for (size_t output = 0; output < kOutputs; ++output) {
    double sum = 0;
    for (size_t i = 0; i < kInputs * kTaps; ++i)
      sum += std::abs(static_cast<double>(numbers[output * kInputs * kTaps + i]) /
                      static_cast<double>(expected[output]));
    most = std::max(most, sum);
  }
  EXPECT_GE(QuantizeFilter(filter, false).max_magnitude, most * (1 - 1e-6));
  EXPECT_LE(QuantizeFilter(filter, false).max_magnitude, most * 1.001);
  EXPECT_EQ(QuantizeFilter(filter.Reshaped({3, kOutputs / 3, kInputs, kTaps}), true).scales, expected);
  EXPECT_EQ(QuantizeMatrix(filter.Reshaped({kOutputs, kInputs * kTaps}), true).scales, expected);
  const TensorValue transposed =
      TensorValue::Make<float>(ElementType::kF32, {kInputs * kTaps, kOutputs}, [&](std::span<float> out) {
        for (size_t i = 0; i < out.size(); ++i)
          out[i] = numbers[i % kOutputs * (kInputs * kTaps) + i / kOutputs];
      });
  EXPECT_EQ(QuantizeMatrix(transposed, false).scales, expected);
  // A filter of inputs, outputs and taps, and a matrix as one with a single tap.
  const TensorValue swapped =
      TensorValue::Make<float>(ElementType::kF32, {kInputs, kOutputs, kTaps}, [&](std::span<float> out) {
        for (size_t i = 0; i < out.size(); ++i) {
          const size_t tap = i % kTaps, output = i / kTaps % kOutputs, input = i / kTaps / kOutputs;
          out[i] = numbers[(output * kInputs + input) * kTaps + tap];
        }
      });
  for (const TensorValue& columns : {swapped, transposed}) {
    EXPECT_EQ(QuantizeColumns(columns).scales, expected);
    EXPECT_GE(QuantizeColumns(columns).max_magnitude, most * (1 - 1e-6));
    EXPECT_LE(QuantizeColumns(columns).max_magnitude, most * 1.001);
  }
  EXPECT_TRUE(QuantizeColumns(filter).scales.empty());
  EXPECT_TRUE(QuantizeMatrix(swapped, false).scales.empty());
  numbers[12345] += 0.001f;
  EXPECT_TRUE(
      QuantizeFilter(TensorValue::FromFloats({kOutputs, kInputs, kTaps}, numbers), false).scales.empty());
}

// Each output has a scale, also those of a group. Those of large filters are cached with the magnitude, under
// different names.
TEST(FilterQuantizationTest, ScalesOfOutputs) {
  class Noting final : public kernels::ConstantNumbers {
   public:
    std::vector<float> Get(const TensorValue&, std::string_view what, size_t count, Find find) override {
      name = what;
      const std::vector<float> numbers = find();
      EXPECT_EQ(numbers.size(), count) << what;
      return numbers;
    }
    std::string name;
  };
  ir::AttributeMap window;
  for (const char* name : {"strides", "dilations"}) window.Set(name, ir::Attribute::Integers{1, 1});
  for (const char* name : {"pads_begin", "pads_end"}) window.Set(name, ir::Attribute::Integers{0, 0});
  std::set<std::string> names;
  for (const int64_t inputs : {4, 1024}) {
    for (const bool is_grouped : {false, true}) {
      const Shape shape = is_grouped ? Shape{2, 3, inputs, 1, 1} : Shape{6, inputs, 1, 1};
      std::vector<float> numbers;
      for (int64_t i = 0; i < 6 * inputs; ++i) {
        const float scale = std::ldexp(1.0F, static_cast<int>(i / inputs) - 4);
        numbers.push_back(scale * static_cast<float>(i % inputs == 0 ? 127 : i % 7 - 3));
      }
      const TensorValue filter = TensorValue::FromFloats(shape, numbers);
      TestGraph g;
      const auto x = g.Parameter("x", {1, is_grouped ? 2 * inputs : inputs, 3, 3});
      const auto y = g.Op(is_grouped ? "GroupConvolution" : "Convolution", {x, g.Const(filter)}, window);
      Noting noting;
      const ir::FilterQuantization found = QuantizeFilterOf(g.graph->node(y.node), filter, noting);
      ASSERT_EQ(found.scales.size(), 6U) << is_grouped << inputs;
      for (size_t i = 0; i < 6; ++i)
        EXPECT_EQ(found.scales[i], std::ldexp(1.0F, static_cast<int>(i) - 4)) << i;
      if (!noting.name.empty()) names.insert(noting.name);
    }
  }
  EXPECT_EQ(names.size(), 2U);
}

// Each result of a transposed convolution has a tap, and the filter is not dilated.
TEST(FilterQuantizationTest, TransposedConvolutions) {
  struct Case {
    int64_t size, stride, dilation = 1, begin = 0, end = 0, more = 0;
    const char* auto_pad = "explicit";
  };
  class Uncached final : public kernels::ConstantNumbers {
   public:
    std::vector<float> Get(const TensorValue&, std::string_view, size_t, Find find) override {
      return find();
    }
  };
  const auto is_quantized = [](const Case& tested) {
    Uncached numbers;
    ir::AttributeMap attributes;
    const auto set = [&](const char* name, int64_t ordinary, int64_t number) {
      attributes.Set(name, ir::Attribute::Integers{ordinary, number});
    };
    set("strides", 1, tested.stride);
    set("dilations", 1, tested.dilation);
    set("pads_begin", 0, tested.begin);
    set("pads_end", 0, tested.end);
    set("output_padding", 0, tested.more);
    attributes.Set("auto_pad", tested.auto_pad);
    const TensorValue filter = TensorValue::FromFloats(
        {1, 2, 1, tested.size}, std::vector<float>(static_cast<size_t>(2 * tested.size), 1));
    TestGraph g;
    const ir::OutputPort y =
        g.Op("ConvolutionBackpropData", {g.Parameter("x", {1, 1, 8, 8}), g.Const(filter)}, attributes);
    const ir::Node& node = g.graph->node(y.node);
    const bool has_scales = !QuantizeFilterOf(node, filter, numbers).scales.empty();
    EXPECT_EQ(TransposedInt8Applies(node, filter.shape()).empty(), has_scales);
    return has_scales;
  };
  for (const Case& tested :
       {Case{2, 2}, Case{3, 3}, Case{1, 1}, Case{5, 2}, Case{.size = 4, .stride = 2, .begin = 3},
        Case{.size = 4, .stride = 2, .end = 1, .more = 1}, Case{.size = 4, .stride = 2, .end = 2, .more = 1},
        Case{.size = 4, .stride = 2, .begin = 1, .end = 1, .auto_pad = "valid"}})
    EXPECT_EQ(is_quantized(tested), HasVnni()) << tested.size << " by " << tested.stride;
  for (const Case& tested :
       {Case{1, 2}, Case{2, 3}, Case{.size = 3, .stride = 1, .dilation = 2},
        Case{.size = 4, .stride = 2, .more = 1}, Case{.size = 4, .stride = 3, .end = 1, .more = 2},
        Case{.size = 4, .stride = 2, .begin = -1}, Case{.size = 4, .stride = 2, .end = -1},
        Case{.size = 4, .stride = 2, .end = 1, .more = 1, .auto_pad = "valid"}})
    EXPECT_FALSE(is_quantized(tested)) << tested.size << " by " << tested.stride;
}

// No more than a part of a filter that is to be computed is there.
TEST(FilterQuantizationTest, TakePartsOfWhatIsComputed) {
  constexpr size_t kRows = 1024, kEach = 1024;
  size_t most = 0, sum = 0;
  bool is_whole = false;
  const auto all = [&](std::byte*) { is_whole = true; };
  const auto part = [&](std::span<std::byte> out, size_t begin) {
    most = std::max(most, out.size());
    sum += out.size();
    auto* numbers = reinterpret_cast<float*>(out.data());
    for (size_t i = 0; i < out.size() / sizeof(float); ++i)
      numbers[i] = static_cast<float>((begin / sizeof(float) + i) % 128) * 0.5f;
  };
  const size_t size = kRows * kEach * sizeof(float);
  const TensorValue filter(ElementType::kF32, {kRows, kEach},
                           Buffer::Computed(size, all, std::nullopt, part));
  EXPECT_EQ(QuantizeFilter(filter, false).scales, std::vector<float>(kRows, 0.5f));
  EXPECT_FALSE(is_whole);
  EXPECT_EQ(sum, size);
  EXPECT_LE(most, size / 8);
  EXPECT_TRUE(filter.buffer()->IsToCompute());
}

}  // namespace
}  // namespace nnefc::runtime::fast::int8
