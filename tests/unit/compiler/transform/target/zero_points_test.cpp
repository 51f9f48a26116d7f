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

  // Returns the limits of the quantization and the constants added, "-0.25 254.75 0 255 + 0.75"; "" if no
  // result's limit has changed.
  std::string After(llvm::ArrayRef<std::string> steps, const std::string& shape = "[1,2,3,3]",
                    bool finds_scales = true) {
    const auto graph = Parse(Numbered(TargetInput("x", "f32", shape) + Joined(steps)));
    if (graph == nullptr) return "no graph";
    const ir::PlanFunctions functions{.quantize_filter = [&](const ir::Node&, const TensorValue&) {
      return finds_scales ? ir::FilterQuantization{.scales = {1}, .max_magnitude = 3}
                          : ir::FilterQuantization();
    }};
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

// Padding is zero, which the shifted range would not represent.
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
