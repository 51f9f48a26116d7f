// Estimated times of convolutions with bf16 multiplication, by the sizes of their groups and windows.

#include "runtime/fast/conv/image_times.h"

#include <algorithm>

#include "tests/unit/runtime/fast/reason_cases.h"

namespace nnefc::runtime::fast::conv {
namespace {

using engine::WindowSetting;

constexpr double kPixels = 2 * 18 * 18;
const WindowSetting kThrees{.input = {2, 16, 20, 20}, .window = {3, 3}};

// Returns the time of a convolution with a result of 2 images of 18x18 pixels.
double TimeOf(const Step& step, bool in_f32) {
  TestGraph g;
  const Shape &images = step.inputs[0].shape, &filter = step.inputs[1].shape;
  const ir::OutputPort port =
      g.Op(step.type, {g.Parameter("x", images), g.Parameter("filter", filter)}, step.attributes);
  return ImageTimesOfProcessor()->product(g.graph->node(port.node), images, filter,
                                          g.graph->output(port).shape.known_extents(), in_f32);
}

// Returns the time of the faster kernel without Winograd.
double FasterOf(const ConvolutionSizes& sizes) {
  return std::min(TimeInF32(sizes), TimeOfBf16Gemm(sizes));
}

TEST(ImageTimesTest, Groups) {
  if (ImageTimesOfProcessor() == nullptr) GTEST_SKIP() << "for bf16 without AMX";
  const auto of = [](int64_t groups, int64_t inputs, int64_t outputs) {
    return TimeOf(Grouped(kThrees, groups, inputs, outputs), true);
  };
  const auto expected = [](double inputs, double outputs) {
    return FasterOf({.pixels = kPixels, .taps = 9, .inputs = inputs, .outputs = outputs});
  };
  EXPECT_DOUBLE_EQ(of(4, 8, 16), expected(8, 64));
  EXPECT_DOUBLE_EQ(of(4, 16, 8), expected(16, 32));
  EXPECT_DOUBLE_EQ(of(16, 2, 1), expected(2, 16));
  EXPECT_DOUBLE_EQ(of(16, 1, 2), expected(1, 32));
  // Vectors of depthwise convolutions have 16 channels.
  const double depthwise = of(16, 1, 1);
  EXPECT_NE(depthwise, expected(1, 16));
  EXPECT_DOUBLE_EQ(depthwise, kPixels * 16 * (9.0 / 91 + 0.095));
  EXPECT_DOUBLE_EQ(of(1, 1, 1), depthwise);
  EXPECT_DOUBLE_EQ(of(17, 1, 1), 2 * depthwise);
  EXPECT_DOUBLE_EQ(TimeOf(Grouped(kThrees, 16, 1, 1), false), kPixels * 16 * (9.0 / 73 + 0.07));
}

TEST(ImageTimesTest, Winograd) {
  if (ImageTimesOfProcessor() == nullptr) GTEST_SKIP() << "for bf16 without AMX";
  const auto of = [](int64_t inputs, int64_t outputs, Shape strides = {}, Shape dilations = {}) {
    WindowSetting window = kThrees;
    window.input = {2, inputs, 20, 20};
    if (!strides.empty()) window.input = {2, inputs, 37, 37};
    if (!dilations.empty()) window.input = {2, inputs, 22, 22};
    window.strides = std::move(strides);
    window.dilations = std::move(dilations);
    return TimeOf(Conv(window, outputs), true);
  };
  const auto others = [](double inputs, double outputs) {
    return FasterOf({.pixels = kPixels, .taps = 9, .inputs = inputs, .outputs = outputs});
  };
  const auto winograd = [](double inputs, double outputs) {
    return kPixels * outputs * (9 * inputs * (1.0 / 400 + 0.033 / outputs + 0.033 / inputs) + 0.1);
  };
  EXPECT_NEAR(of(256, 256), winograd(256, 256), 1e-3);
  EXPECT_NEAR(of(128, 512), winograd(128, 512), 1e-3);
  EXPECT_LT(winograd(256, 256), others(256, 256));
  // At least a block of channels on both sides, and a plain window.
  EXPECT_LT(winograd(512, 16), others(512, 16));
  EXPECT_NEAR(of(512, 16), winograd(512, 16), 1e-3);
  EXPECT_LT(winograd(512, 15), others(512, 15));
  EXPECT_DOUBLE_EQ(of(512, 15), others(512, 15));
  EXPECT_DOUBLE_EQ(of(256, 256, {2, 2}), others(256, 256));
  for (const Shape& window : {Shape{5, 5}, Shape{3, 2}, Shape{2, 3}, Shape{1, 1}}) {
    const Step step = Conv({.input = {2, 256, 17 + window[0], 17 + window[1]}, .window = window}, 256);
    const auto taps = static_cast<double>(window[0] * window[1]);
    EXPECT_DOUBLE_EQ(
        TimeOf(step, true),
        FasterOf({.pixels = kPixels, .taps = taps, .inputs = 256, .outputs = 256, .is_pointwise = taps == 1}))
        << ToString(window);
  }
  EXPECT_DOUBLE_EQ(of(256, 256, {}, {2, 2}), others(256, 256));
}

}  // namespace
}  // namespace nnefc::runtime::fast::conv
