// Results of sums in 8 bits: their size, scratch memory and limits.

#include "runtime/fast/int8/int8_epilogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/unit/runtime/fast/simd/guarded_array.h"
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

// Sums of any number of pixels become codes after functions, one of which or several, in memory of exact
// size.
TEST(Int8EpilogueTest, CodesOfPixels) {
  for (const bool has_second : {false, true}) {
    for (const int64_t pixels : {int64_t{1}, int64_t{5}, kMaxStoredPixels - 1, kMaxStoredPixels,
                                 kMaxStoredPixels + 1, 2 * kMaxStoredPixels + 3}) {
      const Shape images = {1, kOutputs, 1, pixels};
      TestGraph g;
      std::vector<kernels::PostOperation> posts;
      ir::OutputPort port = g.Op("Sigmoid", {g.Parameter("x", images)});
      posts.push_back({.node = &g.graph->node(port.node), .first_operand = 2});
      if (has_second) {
        port = g.Op("Tanh", {port});
        posts.push_back({.node = &g.graph->node(port.node), .first_operand = 2});
      }
      const kernels::ValueInfo result{.type = ElementType::kF32, .shape = images};
      const std::vector<kernels::ValueInfo> inputs = {result, result};
      kernels::OrReason<gemm::Epilogue> steps =
          gemm::Epilogue::Make({.inputs = inputs, .outputs = result}, posts, 1);
      ASSERT_TRUE(steps) << steps.reason().ToString();
      Form form = FormOfNumbers();
      form.pixels = pixels;
      form.quantization.emplace(
          QuantizationRange{.low = 0, .high = 255.0F / 256, .codes = {.scale = 1.0F / 256, .zero = 0}},
          kOutputs);
      const Int8Epilogue results(form, std::move(*steps));
      ASSERT_EQ(results.is_activated(), !has_second);
      simd::GuardedArray<uint8_t> out(pixels * kOutputs, simd::GuardedEdge::kEnd);
      std::vector<float> scratch(static_cast<size_t>(results.scratch_floats()));
      const tensor::TensorView unread(ElementType::kF32, images, nullptr);
      const tensor::MutableTensorView output(ElementType::kF32, images,
                                             reinterpret_cast<std::byte*>(out.data()));
      const tensor::TensorView* views[] = {&unread, &unread};
      const tensor::MutableTensorView* outputs[] = {&output};
      const Int8Epilogue::Call call = results.CallOf({.inputs = views, .outputs = outputs}, scratch.data());
      const auto sum_of = [](int64_t pixel, int64_t output) {
        return static_cast<int32_t>(pixel * 5 + output * 3) % 13 - 6;
      };
      for (const int64_t tile : {0, 1}) {
        simd::GuardedArray<int32_t> sums(pixels * simd::kBlockColumns, simd::GuardedEdge::kEnd);
        for (int64_t i = 0; i < sums.size(); ++i)
          sums[i] = sum_of(i / simd::kBlockColumns, tile * simd::kBlockColumns + i % simd::kBlockColumns);
        results.Store(sums.data(), {.image = 0, .pixel = 0, .pixels = pixels, .tile = tile}, call);
      }
      for (int64_t i = 0; i < out.size(); ++i) {
        double number = 1 / (1 + std::exp(-0.5 * sum_of(i / kOutputs, i % kOutputs)));
        if (has_second) number = std::tanh(number);
        ASSERT_NEAR(out[i], std::min(256 * number, 255.0), 0.501) << i << " of " << pixels << " pixels";
      }
    }
  }
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
