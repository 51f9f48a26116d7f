// Results of sums in 8 bits: their size, scratch memory and limits.

#include "runtime/fast/int8/int8_epilogue.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::fast::int8 {
namespace {

using Form = Int8Epilogue::Form;

constexpr int64_t kOutputs = 20, kPaddedOutputs = 32;

Form FormOfNumbers() {
  return {
      .outputs = kOutputs, .pixels = 6, .is_blocked = false, .scales = std::vector<float>(kOutputs, 0.5F)};
}
Form FormOfCodes() {
  Form form = FormOfNumbers();
  form.quantization.emplace(QuantizationRange{.low = 0, .high = 255, .codes = {.scale = 1, .zero = 0}},
                            kOutputs);
  return form;
}
Form FormOfFoldedCodes() {
  Form form = FormOfNumbers();
  form.folded = FoldedRequantization{.scales = form.scales, .bias = {}, .limits = {}, .sum = {}};
  return form;
}

// Returns the scratch memory of codes after a function and, unless it is null, an addition of an operand.
int64_t ScratchAfter(const char* set, const char* function, const Shape* added) {
  TestGraph g;
  const Shape images = {1, kOutputs, 2, 3};
  ir::OutputPort port = g.Op(set, function, {g.Parameter("x", images)});
  std::vector<kernels::PostOperation> posts = {{.node = &g.graph->node(port.node), .first_operand = 1}};
  const kernels::ValueInfo result{.type = ElementType::kF32, .shape = images};
  std::vector<kernels::ValueInfo> inputs = {result};
  if (added != nullptr) {
    port = g.Op("Add", {port, g.Parameter("added", *added)});
    posts.push_back({.node = &g.graph->node(port.node), .first_operand = 1});
    inputs.push_back({.type = ElementType::kF32, .shape = *added});
  }
  kernels::OrReason<gemm::Epilogue> steps =
      gemm::Epilogue::Make({.inputs = inputs, .outputs = result}, posts, 1);
  EXPECT_TRUE(steps) << steps.reason().ToString();
  return steps ? Int8Epilogue(FormOfCodes(), std::move(*steps)).scratch_floats() : -1;
}

TEST(Int8EpilogueTest, CodesHaveOneByte) {
  EXPECT_EQ(Int8Epilogue(FormOfNumbers(), {}).element_bytes(), 4);
  EXPECT_EQ(Int8Epilogue(FormOfCodes(), {}).element_bytes(), 1);
  EXPECT_EQ(Int8Epilogue(FormOfFoldedCodes(), {}).element_bytes(), 1);
}

// Factors and offsets of the codes after a function, and four arrays more for HSwish. An operand by channel
// is copied, and one of all elements excludes this way.
TEST(Int8EpilogueTest, ScratchMemoryOfFunctions) {
  const Shape by_channel = {1, kOutputs, 1, 1}, of_all = {1, kOutputs, 2, 3};
  EXPECT_EQ(ScratchAfter("opset1", "Tanh", nullptr), 2 * kPaddedOutputs);
  EXPECT_EQ(ScratchAfter("opset4", "HSwish", nullptr), 6 * kPaddedOutputs);
  EXPECT_EQ(ScratchAfter("opset1", "Tanh", &by_channel), 3 * kPaddedOutputs);
  EXPECT_EQ(ScratchAfter("opset4", "HSwish", &by_channel), 7 * kPaddedOutputs);
  EXPECT_EQ(ScratchAfter("opset1", "Tanh", &of_all), 0);
  EXPECT_EQ(ScratchAfter("opset4", "HSwish", &of_all), 0);
}

// Codes are between 0 and 255, and between the limits of functions.
TEST(Int8EpilogueTest, LimitsOfCodes) {
  const auto limits_of = [](std::optional<std::pair<float, float>> limits) {
    Form form = FormOfFoldedCodes();
    form.folded->limits = limits;
    const Int8Epilogue results(form, {});
    const simd::RequantizedResults made =
        results.MakerOf({.image = 0, .pixel = 0, .pixels = 1, .tile = 0}, nullptr);
    return std::pair(made.low, made.high);
  };
  using Limits = std::pair<float, float>;
  EXPECT_EQ(limits_of(std::nullopt), Limits(0, 255));
  EXPECT_EQ(limits_of(Limits(-3, 300)), Limits(0, 255));
  EXPECT_EQ(limits_of(Limits(3, 250)), Limits(3, 250));
}

// Codes between 0 and 255 need no limits unless the sum of a channel, scaled and with its bias, may exceed 32
// bits.
TEST(Int8EpilogueTest, SumsThatNeedLimits) {
  const auto is_limited = [](size_t channel, float scale, float bias) {
    Form form = FormOfFoldedCodes();
    form.folded->bias.assign(kOutputs, 0);
    form.folded->scales[channel] = scale;
    form.folded->bias[channel] = bias;
    return Int8Epilogue(form, {})
        .MakerOf({.image = 0, .pixel = 0, .pixels = 1, .tile = 0}, nullptr)
        .is_limited;
  };
  const float below_one = std::nextafter(1.0F, 0.0F);
  for (size_t channel = 0; channel < kOutputs; ++channel) {
    EXPECT_FALSE(is_limited(channel, below_one, 0)) << channel;
    EXPECT_FALSE(is_limited(channel, -below_one, 0)) << channel;
    EXPECT_TRUE(is_limited(channel, 1, 0)) << channel;
    EXPECT_TRUE(is_limited(channel, -1, 0)) << channel;
    EXPECT_FALSE(is_limited(channel, 0.5F, 0x1p30F)) << channel;
    EXPECT_TRUE(is_limited(channel, 0.5F, 0x1p31F)) << channel;
    EXPECT_TRUE(is_limited(channel, 0.5F, -0x1p31F)) << channel;
  }
}

}  // namespace
}  // namespace nnefc::runtime::fast::int8
