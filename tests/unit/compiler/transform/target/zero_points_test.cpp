// target.RoundZeroPoints: shifted ranges, what is added to the results of their consumers, and near misses.

#include "compiler/transform/pipeline/target_pipeline.h"
#include "tests/unit/compiler/transform/target/target_support.h"

namespace nnefc::transform::target {
namespace {

class ZeroPointsTest : public TransformTest {
 protected:
  static std::string Explicit(const std::string& pads = "[0, 0], pads_end = [0, 0]",
                              const std::string& auto_pad = "explicit") {
    return "strides = [1, 1], dilations = [1, 1], pads_begin = " + pads + ", auto_pad = \"" + auto_pad + "\"";
  }
  static std::string Quantized(const std::string& levels = "256") {
    return TargetStep("q", "opset1.FakeQuantize", "%x, %low, %high, %first, %last", "levels = " + levels);
  }
  static std::string Limits(const std::string& low, const std::string& high, const std::string& first,
                            const std::string& last) {
    return TargetConstant("low", "f32[]", low) + TargetConstant("high", "f32[]", high) +
           TargetConstant("first", "f32[]", first) + TargetConstant("last", "f32[]", last);
  }
  static std::string Limits(const std::string& low, const std::string& high) {
    return Limits(low, high, low, high);
  }

  // Returns times of 1 in 8 bits, and of another number in f32.
  template <int kF32>
  static ir::StepTimes Times(std::optional<double> add_image) {
    return {.product = [](const ir::Node&, llvm::ArrayRef<int64_t>, llvm::ArrayRef<int64_t>,
                          llvm::ArrayRef<int64_t>, bool is_quantized) { return is_quantized ? 1.0 : kF32; },
            .add_image = add_image};
  }
  std::optional<ir::StepTimes> times_;  // of the plan

  // Returns the limits of the quantization and the constants added, "-0.25 254.75 0 255 + 0.75"; "" if no
  // result's limit has changed.
  std::string After(llvm::ArrayRef<std::string> steps, const std::string& shape = "[1,2,3,3]",
                    bool finds_scales = true) {
    const auto graph = Parse(Numbered(TargetInput("x", "f32", shape) + Joined(steps)));
    if (graph == nullptr) return "no graph";
    const ir::PlanFunctions functions{.quantize_filter =
                                          [&](const ir::Node&, const TensorValue&) {
                                            return finds_scales ? ir::FilterQuantization{.scales = {1},
                                                                                         .max_magnitude = 3}
                                                                : ir::FilterQuantization();
                                          },
                                      .times = times_ ? &*times_ : nullptr};
    const std::string before = ir::PrintGraph(*graph);
    EXPECT_EQ(Run(StandardTransformations(), *graph, Side::kTarget,
                  {.only = {"target.RoundZeroPoints"}, .plan = functions}),
              "");
    if (ir::PrintGraph(*graph) == before) return "";
    std::string found;
    for (ir::NodeId id : graph->nodes()) {
      const ir::Node& node = graph->node(id);
      const bool is_add = node.type() == "Add";
      if (!is_add && node.type() != "FakeQuantize") continue;
      if (is_add) found += " +";
      for (int32_t i = 1; i < node.num_inputs(); ++i) {
        const TensorValue& value = *graph->node(node.input(i).node).output().value;
        for (int64_t at = 0; at < value.volume(); ++at)
          found += fmt::format("{}{}", found.empty() ? "" : " ", value.ElementAsDouble(at));
      }
    }
    return found;
  }
  std::string AfterConvolution(const std::string& limits, const std::string& attributes = Explicit(),
                               const std::string& filter = "f32[1,2,1,1]", const std::string& levels = "256",
                               bool finds_scales = true) {
    const std::string items = filter == "f32[1,2,1,1]" ? "1, 2" : "1, 2, 3, 4";
    return After({limits, Quantized(levels), TargetConstant("w", filter, items),
                  TargetStep("c", "opset1.Convolution", "%q, %w", attributes), TargetResult("c")},
                 "[1,2,3,3]", finds_scales);
  }
};

TEST_F(ZeroPointsTest, RangesAreShiftedToTheNearestWholeZeroPoint) {
  EXPECT_EQ(AfterConvolution(Limits("-0.25", "254.75")), "-0.25 254.75 0 255 + -0.75");
  EXPECT_EQ(AfterConvolution(Limits("-0.75", "254.25")), "-0.75 254.25 -1 254 + 0.75");
  // Zero below and above the range, and other limits of the result than of the data.
  EXPECT_EQ(AfterConvolution(Limits("4", "259")), "4 259 0 255 + 12");
  EXPECT_EQ(AfterConvolution(Limits("-265", "-10")), "-265 -10 -255 0 + -30");
  EXPECT_EQ(AfterConvolution(Limits("0", "1", "-0.25", "254.75")), "0 1 0 255 + -0.75");
}

TEST_F(ZeroPointsTest, OtherQuantizationsStay) {
  EXPECT_EQ(AfterConvolution(Limits("-1", "254")), "");
  EXPECT_EQ(AfterConvolution(Limits("-0.25", "254.75"), Explicit(), "f32[1,2,1,1]", "255"), "");
  EXPECT_EQ(AfterConvolution(Limits("-0.25", "254.75"), Explicit(), "f32[1,2,1,1]", "256", false), "");
  // Falling results, and a range far from zero.
  EXPECT_EQ(AfterConvolution(Limits("-0.25", "254.75", "254.75", "-0.25")), "");
  EXPECT_NE(AfterConvolution(Limits("4080", "4335")), "");
  EXPECT_EQ(AfterConvolution(Limits("4081", "4336")), "");
}

// Padding is zero, which the shifted range would not represent. The times of steps are unknown.
TEST_F(ZeroPointsTest, PaddedConvolutionsStay) {
  const std::string limits = Limits("-0.25", "254.75");
  EXPECT_EQ(AfterConvolution(limits, Explicit("[1, 0], pads_end = [0, 0]")), "");
  EXPECT_EQ(AfterConvolution(limits, Explicit("[0, 0], pads_end = [0, 1]")), "");
  EXPECT_NE(AfterConvolution(limits, Explicit("[1, 0], pads_end = [0, 0]", "valid")), "");
  EXPECT_NE(AfterConvolution(limits, Explicit("[0, 0], pads_end = [0, 0]", "same_upper")), "");
  EXPECT_EQ(AfterConvolution(limits, Explicit("[0, 0], pads_end = [0, 0]", "same_upper"), "f32[1,2,2,1]"),
            "");
  EXPECT_EQ(AfterConvolution(limits, Explicit(), "f32[1,2,2,1]"), "-0.25 254.75 0 255 + -2.5");
}

// The numbers that each element of the result of a padded convolution gets, by its formula: the shift of the
// range times the sum of the taps on data.
TEST_F(ZeroPointsTest, PaddedConvolutionsAddTheTapsThatSeeData) {
  times_ = Times<100>(0.5);
  const int64_t rows = 4, columns = 3;
  // The filter is 1, 2, .. 12 in [2, 2, 3, 1] and [2, 2, 1, 3].
  for (const bool is_column : {true, false}) {
    for (const int64_t before : {0, 1, 2}) {
      for (const int64_t after : {0, 1}) {
        for (const int64_t stride : {1, 2}) {
          const int64_t extent = is_column ? rows : columns;
          std::string expected = "-0.25 254.75 0 255 +";
          for (int64_t output = 0; output < 2; ++output) {
            for (int64_t y = 0; y < (is_column ? (rows + before + after - 3) / stride + 1 : rows); ++y) {
              for (int64_t x = 0; x < (is_column ? columns : (columns + before + after - 3) / stride + 1);
                   ++x) {
                double sum = output == 0 ? 10 : 20;  // the bias
                for (int64_t channel = 0; channel < 2; ++channel) {
                  for (int64_t tap = 0; tap < 3; ++tap) {
                    const int64_t from = (is_column ? y : x) * stride - before + tap;
                    if (from >= 0 && from < extent)
                      sum -= 0.25 * static_cast<double>((output * 2 + channel) * 3 + tap + 1);
                  }
                }
                expected += fmt::format(" {}", sum);
              }
            }
          }
          if (before + after == 0) expected = "-0.25 254.75 0 255 + 4.75 5.75";
          const std::string pads = is_column ? "[{}, 0]" : "[0, {}]";
          const std::string attributes = fmt::format(
              "strides = {}, dilations = [1, 1], pads_begin = {}, pads_end = {}, auto_pad = \"explicit\"",
              fmt::format(fmt::runtime(is_column ? "[{}, 1]" : "[1, {}]"), stride),
              fmt::format(fmt::runtime(pads), before), fmt::format(fmt::runtime(pads), after));
          EXPECT_EQ(After({Limits("-0.25", "254.75"), Quantized(),
                           TargetConstant("w", is_column ? "f32[2,2,3,1]" : "f32[2,2,1,3]",
                                          "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12"),
                           TargetStep("c", "opset1.Convolution", "%q, %w", attributes),
                           TargetConstant("b", "f32[1,2,1,1]", "10, 20"),
                           TargetStep("s", "opset1.Add", "%c, %b"), TargetResult("s")},
                          "[1,2,4,3]"),
                    expected)
              << is_column << before << after << stride;
        }
      }
    }
  }
}

// Windows of dilated taps, and without a bias: taps 1 + 3 = 4 and 2 + 4 = 6, two pixels apart.
TEST_F(ZeroPointsTest, DilatedWindowsInTheBorder) {
  times_ = Times<100>(0.5);
  EXPECT_EQ(AfterConvolution(Limits("-0.25", "254.75"),
                             "strides = [1, 1], dilations = [2, 1], pads_begin = [1, 0], pads_end = [0, 0], "
                             "auto_pad = \"explicit\"",
                             "f32[1,2,2,1]"),
            "-0.25 254.75 0 255 + -1.5 -1.5 -1.5 -2.5 -2.5 -2.5");
}

// The image has 9 elements for a filter of one output and a border of one row: 8-bit steps take 1 + 9 * 0.5.
TEST_F(ZeroPointsTest, ImagesAreAddedWhereThatTakesLessTime) {
  const std::string limits = Limits("-0.25", "254.75"), border = Explicit("[1, 0], pads_end = [0, 0]");
  const auto after = [&](const ir::StepTimes& times) {
    times_ = times;
    return AfterConvolution(limits, border, "f32[1,2,2,1]");
  };
  EXPECT_NE(after(Times<6>(0.5)), "");
  EXPECT_EQ(after(Times<5>(0.5)), "");
  EXPECT_EQ(after(Times<1000>(std::nullopt)), "");
  EXPECT_NE(after(Times<10>(0.9)), "");
  EXPECT_EQ(after(Times<10>(1)), "");  // equal times
}

TEST_F(ZeroPointsTest, OtherPaddedConsumersStay) {
  times_ = Times<1 << 30>(0.5);
  const std::string limits = Limits("-0.25", "254.75"), border = "[1, 0], pads_end = [0, 0]";
  EXPECT_EQ(AfterConvolution(limits, Explicit("[0, 0], pads_end = [0, 0]", "same_upper"), "f32[1,2,2,1]"),
            "");
  EXPECT_EQ(AfterConvolution(limits, Explicit(border), "f32[1,2,2,1]", "256", false), "");
  const auto of = [&](const std::string& shape, const std::string& operation, const std::string& filter) {
    const std::string nodes =
        After({limits, Quantized(), TargetConstant("w", filter, "1, 2, 3, 4"),
               TargetStep("c", operation, "%q, %w", Explicit(border)), TargetResult("c")},
              shape);
    return !nodes.empty();
  };
  EXPECT_TRUE(of("[1,2,3,3]", "opset1.Convolution", "f32[1,2,2,1]"));
  EXPECT_FALSE(of("[2,2,3,3]", "opset1.Convolution", "f32[1,2,2,1]"));  // of a batch
  EXPECT_FALSE(of("[1,2,3,3]", "opset1.GroupConvolution", "f32[2,1,1,2,1]"));
  // Up to 2^20 elements.
  EXPECT_TRUE(of("[1,2,1024,1024]", "opset1.Convolution", "f32[1,2,2,1]"));
  EXPECT_FALSE(of("[1,2,1025,1024]", "opset1.Convolution", "f32[1,2,2,1]"));
}

TEST_F(ZeroPointsTest, BiasesAndGroups) {
  const std::string limits = Limits("-0.25", "254.75");
  const auto grouped = [&](const std::string& bias) {
    return After({limits, Quantized(), TargetConstant("w", "f32[2,2,1,1,1]", "1, 2, 3, 4"),
                  TargetStep("c", "opset1.GroupConvolution", "%q, %w", Explicit()), bias,
                  TargetStep("s", "opset1.Add", "%c, %b"), TargetResult("s")});
  };
  EXPECT_EQ(grouped(TargetConstant("b", "f32[1,4,1,1]", "10, 20, 30, 40")),
            "-0.25 254.75 0 255 + 9.75 19.5 29.25 39");
  // Another form of a bias gets its own sum.
  EXPECT_EQ(grouped(TargetConstant("b", "f32[]", "10")), "-0.25 254.75 0 255 + 10 + -0.25 -0.5 -0.75 -1");
}

TEST_F(ZeroPointsTest, Matmuls) {
  const auto product = [&](const std::string& attributes, const std::string& filter = "f32[2,3]") {
    return After({Limits("-0.5625", "254.4375"), Quantized(), TargetConstant("w", filter, "1, 2, 3, 4, 5, 6"),
                  TargetStep("m", "opset1.MatMul", "%q, %w", attributes), TargetResult("m")},
                 filter == "f32[2,3]" && attributes.find("transpose_b = true") == std::string::npos
                     ? "[4,2]"
                     : "[4,3]");
  };
  EXPECT_EQ(product("transpose_a = false, transpose_b = false"),
            "-0.5625 254.4375 -1 254 + 2.1875 3.0625 3.9375");
  EXPECT_EQ(product("transpose_a = false, transpose_b = true"), "-0.5625 254.4375 -1 254 + 2.625 6.5625");
}

TEST_F(ZeroPointsTest, AllConsumersAcceptTheShift) {
  const auto with = [&](const std::string& other) {
    return After({Limits("-0.25", "254.75"), Quantized(), TargetConstant("w", "f32[1,2,1,1]", "1, 2"),
                  TargetStep("c", "opset1.Convolution", "%q, %w", Explicit()), other,
                  "  opset1.Result \"z\" (%o)\n", TargetResult("c")});
  };
  EXPECT_EQ(with(TargetStep("o", "opset1.ReLU", "%q")), "");
  EXPECT_EQ(with(TargetStep("o", "opset1.Convolution", "%q, %w", Explicit("[1, 1], pads_end = [1, 1]"))), "");
  EXPECT_EQ(with(TargetStep("o", "opset1.Convolution", "%q, %w", Explicit())),
            "-0.25 254.75 0 255 + -0.75 + -0.75");
}

}  // namespace
}  // namespace nnefc::transform::target
