// target.QuantizeChannelsEqually: ranges by channel before depthwise convolutions, and near misses.

#include "compiler/transform/pipeline/target_pipeline.h"
#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform::target {
namespace {

class ChannelQuantizationTest : public TransformTest {
 protected:
  // The parts of the graph that differ between cases.
  struct Case {
    std::string low = "f32[1,2,1,1] = dense<f32[1,2,1,1]: -2.0, -4.0>";
    std::string high = "f32[1,2,1,1] = dense<f32[1,2,1,1]: 253.0, 506.0>";
    std::string result_low = "%low";
    std::string result_high = "%high";
    std::string levels = "256";
    std::string filter = "f32[2,1,1,1,1] = dense<f32[2,1,1,1,1]: 3.0, 5.0>";
    std::string last = "";  // another reader of the quantization
    bool finds_scales = true;
  };

  static std::string GraphOf(const Case& parts) {
    std::string text = R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [1,2,3,3]} : f32[1,2,3,3]
  %1 = opset1.Const "low" : LOW
  %2 = opset1.Const "high" : HIGH
  %3 = opset1.Const "zero" : f32[] = dense<f32[]: 0.0>
  %4 = opset1.FakeQuantize "q" (%0, %1, %2, RESULT, TOP) {levels = LEVELS} : f32[1,2,3,3]
  %5 = opset1.Const "w" : FILTER
  %6 = opset1.GroupConvolution "c" (%4, %5) {strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], dilations = [1, 1], auto_pad = "explicit"} : f32[1,2,3,3]
  opset1.Result "y" (%6)
)";
    const auto replace = [&](std::string_view word, const std::string& by) {
      text.replace(text.find(word), word.size(), by);
    };
    replace("LOW", parts.low);
    replace("HIGH", parts.high);
    replace("RESULT", parts.result_low == "%low" ? "%1" : "%3");
    replace("TOP", parts.result_high == "%high" ? "%2" : "%3");
    replace("LEVELS", parts.levels);
    replace("FILTER", parts.filter);
    return text + parts.last;
  }

  // Returns the numbers of the filter and of the quantization's limits afterwards; "" if nothing changed.
  std::string After(const Case& parts) { return AfterOf(GraphOf(parts), parts.finds_scales); }

  std::string AfterOf(const std::string& text, bool finds_scales = true) {
    const auto graph = Parse(text);
    if (graph == nullptr) return "no graph";
    const ir::PlanFunctions functions{.quantize_filter = [&](const ir::Node&, const TensorValue&) {
      return finds_scales ? ir::FilterQuantization{.scales = {1, 1}, .max_magnitude = 3}
                          : ir::FilterQuantization();
    }};
    EXPECT_EQ(Run(StandardTransformations(), *graph, Side::kTarget,
                  {.only = {"target.QuantizeChannelsEqually"}, .plan = functions}),
              "");
    std::string found;
    const auto add = [&](const ir::Node& node, int32_t input) {
      const TensorValue& value = *graph->node(node.input(input).node).output().value;
      for (int64_t i = 0; i < value.volume(); ++i) found += fmt::format("{} ", value.ElementAsDouble(i));
    };
    bool changed = false;
    for (ir::NodeId id : graph->nodes()) {
      const ir::Node& node = graph->node(id);
      if (node.type() == "Multiply") changed = true;
      if (node.type() == "Multiply") add(node, 1);
      if (node.type() == "Add") found += "+ ", add(node, 1);
      if (node.type() == "Subtract") found += "- ", add(node, 1);
      if (node.type() == "FakeQuantize") add(node, 1), add(node, 2), add(node, 3), add(node, 4);
      if (node.type() == "GroupConvolution") add(node, 1);
    }
    return changed ? found : "";
  }
};

TEST_F(ChannelQuantizationTest, ScalesMoveToTheFilter) {
  const std::string scaled = After({});
  for (const char* part : {"1 0.5 ", "-2 253 -2 253 ", "3 10 "})
    EXPECT_NE(scaled.find(part), std::string::npos) << scaled;
  EXPECT_NE(
      After({.low = "f32[] = dense<f32[]: 0.0>", .high = "f32[2,1,1] = dense<f32[2,1,1]: 255.0, 510.0>"}),
      "");
}

TEST_F(ChannelQuantizationTest, DifferentZeroPointsAreAddedAndSubtracted) {
  const std::string scaled = After({.low = "f32[1,2,1,1] = dense<f32[1,2,1,1]: -2.0, -2.0>",
                                    .high = "f32[1,2,1,1] = dense<f32[1,2,1,1]: 253.0, 508.0>"});
  for (const char* part : {"1 0.5 ", "+ 2 1 ", "- 2 1 ", "0 255 0 255 ", "3 10 "})
    EXPECT_NE(scaled.find(part), std::string::npos) << scaled;
}

TEST_F(ChannelQuantizationTest, OtherQuantizationsStay) {
  // Limits that do not differ, or that differ along another axis.
  EXPECT_EQ(After({.low = "f32[] = dense<f32[]: 0.0>", .high = "f32[] = dense<f32[]: 255.0>"}), "");
  EXPECT_EQ(After({.low = "f32[] = dense<f32[]: 0.0>",
                   .high = "f32[1,1,3,1] = dense<f32[1,1,3,1]: 255.0, 510.0, 255.0>"}),
            "");
  // Other limits of the result, or not 256 levels.
  EXPECT_EQ(After({.result_low = "%zero"}), "");
  EXPECT_EQ(After({.result_high = "%zero"}), "");
  EXPECT_EQ(After({.levels = "255"}), "");
}

TEST_F(ChannelQuantizationTest, OtherReadersStay) {
  // A group with two outputs, a filter of few channels without 8-bit scales, and a second reader.
  EXPECT_EQ(After({.filter = "f32[1,2,2,1,1] = dense<f32[1,2,2,1,1]: 1.0, 2.0, 3.0, 4.0>"}), "");
  EXPECT_EQ(After({.finds_scales = false}), "");
  EXPECT_EQ(After({.last = "  %7 = opset1.ReLU \"r\" (%4) : f32[1,2,3,3]\n  opset1.Result \"z\" (%7)\n"}),
            "");
}

// A quantized image of three channels in parts of one and two, each read by a depthwise convolution.
std::string SplitGraph(std::string_view lows, std::string_view highs, std::string_view last = "") {
  return fmt::format(R"(  %0 = opset1.Parameter "x" {{element_type = f32, shape = [1,3,3,3]}} : f32[1,3,3,3]
  %1 = opset1.Const "low" : f32[1,3,1,1] = dense<f32[1,3,1,1]: {}>
  %2 = opset1.Const "high" : f32[1,3,1,1] = dense<f32[1,3,1,1]: {}>
  %11 = opset1.MaxPool "p" (%0) {{kernel = [1, 1], strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], rounding_type = "floor", auto_pad = "explicit"}} : f32[1,3,3,3]
  %3 = opset1.FakeQuantize "q" (%11, %1, %2, %1, %2) {{levels = 256}} : f32[1,3,3,3]
  %4 = opset1.Const "axis" : i32[] = dense<i32[]: 1>
  %5 = opset1.Const "lengths" : i32[2] = dense<i32[2]: 1, 2>
  %6:2 = opset1.VariadicSplit "s" (%3, %4, %5) : f32[1,1,3,3], f32[1,2,3,3]
  %7 = opset1.Const "w" : f32[1,1,1,1,1] = dense<f32[1,1,1,1,1]: 3.0>
  %8 = opset1.Const "v" : f32[2,1,1,1,1] = dense<f32[2,1,1,1,1]: 5.0, 7.0>
  %9 = opset1.GroupConvolution "c" (%6, %7) {{strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], dilations = [1, 1], auto_pad = "explicit"}} : f32[1,1,3,3]
  %10 = opset1.GroupConvolution "d" (%6.1, %8) {{strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], dilations = [1, 1], auto_pad = "explicit"}} : f32[1,2,3,3]
  opset1.Result "y" (%9)
  opset1.Result "z" (%10)
{})",
                     lows, highs, last);
}

TEST_F(ChannelQuantizationTest, EachPartOfASplitHasItsScales) {
  const std::string scaled = AfterOf(SplitGraph("-2.0, -4.0, -8.0", "253.0, 506.0, 1012.0"));
  for (const char* part : {"1 0.5 0.25 ", "-2 253 -2 253 "})
    EXPECT_NE(scaled.find(part), std::string::npos) << scaled;
  EXPECT_NE(scaled.find("3 10 28 "), std::string::npos) << scaled;
}

TEST_F(ChannelQuantizationTest, EachPartOfASplitHasItsZeroPoints) {
  const std::string scaled = AfterOf(SplitGraph("-2.0, -2.0, 0.0", "253.0, 508.0, 1020.0"));
  for (const char* part : {"1 0.5 0.25 ", "+ 2 1 0 ", "0 255 0 255 ", "- 2 ", "- 1 0 ", "3 ", "10 28 "})
    EXPECT_NE(scaled.find(part), std::string::npos) << scaled;
}

TEST_F(ChannelQuantizationTest, AnotherReaderOfAPartOrOfTheImageStays) {
  constexpr std::string_view kLows = "-2.0, -4.0, -8.0", kHighs = "253.0, 506.0, 1012.0";
  EXPECT_NE(AfterOf(SplitGraph(kLows, kHighs)), "");
  for (const char* last : {"  %12 = opset1.ReLU \"r\" (%6) : f32[1,1,3,3]\n  opset1.Result \"o\" (%12)\n",
                           "  %12 = opset1.ReLU \"r\" (%6.1) : f32[1,2,3,3]\n  opset1.Result \"o\" (%12)\n",
                           "  %12 = opset1.ReLU \"r\" (%3) : f32[1,3,3,3]\n  opset1.Result \"o\" (%12)\n"})
    EXPECT_EQ(AfterOf(SplitGraph(kLows, kHighs, last)), "") << last;
}

// Filters without 8-bit scales that a step multiplies with quantized images: of at least 16 channels with the
// same zero point, and of one or two spatial axes.
TEST_F(ChannelQuantizationTest, FiltersOfMixedSteps) {
  const auto moves = [&](int64_t channels, int axes, bool has_one_zero) {
    std::string lows, highs, weights;
    for (int64_t i = 0; i < channels; ++i) {
      const int64_t scale = i % 2 + 1, zero = has_one_zero ? 2 : 2 + i % 2;
      lows += fmt::format("{}{}", i == 0 ? "" : ", ", -zero * scale);
      highs += fmt::format("{}{}", i == 0 ? "" : ", ", (255 - zero) * scale);
      weights += i == 0 ? "3" : ", 3";
    }
    std::string ones, images = fmt::format("1,{}", channels), zeros = "0", strides = "1";
    for (int axis = 0; axis < axes; ++axis) {
      ones += ",1";
      images += ",3";
      if (axis > 0) zeros += ", 0", strides += ", 1";
    }
    const auto limit = [&](const std::string& items) {
      return fmt::format("f32[1,{}{}] = dense<f32[1,{}{}]: {}>", channels, ones, channels, ones, items);
    };
    const std::string filter = fmt::format("f32[{},1,1{}]", channels, ones);
    const auto graph =
        Parse(fmt::format(R"(  %0 = opset1.Parameter "x" {{element_type = f32, shape = [{0}]}} : f32[{0}]
  %1 = opset1.Const "low" : {1}
  %2 = opset1.Const "high" : {2}
  %3 = opset1.FakeQuantize "q" (%0, %1, %2, %1, %2) {{levels = 256}} : f32[{0}]
  %4 = opset1.Const "w" : {3} = dense<{3}: {4}>
  %5 = opset1.GroupConvolution "c" (%3, %4) {{strides = [{6}], pads_begin = [{5}], pads_end = [{5}], dilations = [{6}], auto_pad = "explicit"}} : f32[{0}]
  opset1.Result "y" (%5)
)",
                          images, limit(lows), limit(highs), filter, weights, zeros, strides));
    if (graph == nullptr) return false;
    const ir::PlanFunctions functions{
        .quantize_filter = [](const ir::Node&, const TensorValue&) { return ir::FilterQuantization(); }};
    EXPECT_EQ(Run(StandardTransformations(), *graph, Side::kTarget,
                  {.only = {"target.QuantizeChannelsEqually"}, .plan = functions}),
              "");
    bool changed = false;
    for (ir::NodeId id : graph->nodes()) changed = changed || graph->node(id).type() == "Multiply";
    return changed;
  };
  EXPECT_FALSE(moves(15, 2, true));
  EXPECT_TRUE(moves(16, 2, true));
  EXPECT_TRUE(moves(17, 2, true));
  EXPECT_TRUE(moves(16, 1, true));
  EXPECT_FALSE(moves(16, 3, true));
  EXPECT_FALSE(moves(16, 2, false));
}

}  // namespace
}  // namespace nnefc::transform::target
