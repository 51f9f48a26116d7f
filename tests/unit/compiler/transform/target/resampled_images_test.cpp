// target.ResampleImages: Interpolate between transposes, and near misses.

#include "tests/unit/compiler/transform/target/target_support.h"

namespace nnefc::transform::target {
namespace {

struct Resize {
  std::string input = "[1,16,2,3]", order = "0, 2, 3, 1", axes = "1, 2", back = "0, 3, 1, 2";
  std::string attributes = "mode = \"nearest\", shape_calculation_mode = \"sizes\"";
  bool is_opset4 = false;
  // The shape and items of the upper limits of a quantization after the Interpolate; none if empty.
  std::string limits, highest;
};

class ResampledTest : public TargetTest {
 protected:
  // Returns the nodes after a transpose, an Interpolate to extents of 4 and 6, and a transpose; `steps` read
  // the Interpolate `i`, too.
  std::string Resampled(const Resize& of, llvm::ArrayRef<std::string> steps = {}) {
    std::vector<std::string> text = {
        TargetInput("x", "f32", of.input),
        TargetConstant("to", "i64[4]", of.order),
        TargetStep("t", "opset1.Transpose", "%x, %to"),
        TargetConstant("sizes", "i64[2]", "4, 6"),
        TargetConstant("scales", "f32[2]", "2.0, 2.0"),
        TargetConstant("axes", "i64[2]", of.axes),
        of.is_opset4 ? TargetStep("i", "opset4.Interpolate", "%t, %sizes, %scales, %axes",
                                  of.attributes + ", coordinate_transformation_mode = \"half_pixel\"")
                     : TargetStep("i", "opset11.Interpolate", "%t, %sizes, %axes", of.attributes),
        TargetConstant("back", "i64[4]", of.back),
        of.limits.empty()
            ? ""
            : TargetConstant("low", "f32[]", "0.0") + TargetConstant("high", "f32" + of.limits, of.highest) +
                  TargetStep("q", "opset1.FakeQuantize", "%i, %low, %high, %low, %high", "levels = 256"),
        TargetStep("u", "opset1.Transpose", of.limits.empty() ? "%i, %back" : "%q, %back"),
        TargetResult("u")};
    text.insert(text.end(), steps.begin(), steps.end());
    return After("ResampleImages", text);
  }
  static bool Moves(const std::string& nodes) { return nodes.find("Transpose") == std::string::npos; }
};

TEST_F(ResampledTest, TransposesVanish) {
  EXPECT_EQ(Resampled({}), "Interpolate[1,16,4,6](Parameter Const Const)");
  EXPECT_EQ(InputOf("Interpolate", 2), (std::vector<double>{2, 3}));
  EXPECT_EQ(Resampled({.is_opset4 = true}), "Interpolate[1,16,4,6](Parameter Const Const Const)");
  EXPECT_EQ(InputOf("Interpolate", 3), (std::vector<double>{2, 3}));
  EXPECT_EQ(Resampled({.axes = "-3, -2"}), "Interpolate[1,16,4,6](Parameter Const Const)");
  EXPECT_EQ(InputOf("Interpolate", 2), (std::vector<double>{2, 3}));
}

// A quantization by the same limits for all elements, between the Interpolate and the second transpose.
TEST_F(ResampledTest, QuantizedResults) {
  const std::string moved =
      "Interpolate[1,16,4,6](Parameter Const Const) FakeQuantize[1,16,4,6](Interpolate Const Const Const "
      "Const)";
  EXPECT_EQ(Resampled({.limits = "[]", .highest = "2.0"}), moved);
  EXPECT_EQ(InputOf("Interpolate", 2), (std::vector<double>{2, 3}));
  EXPECT_EQ(Resampled({.limits = "[1,1,1,1]", .highest = "2.0"}), moved);
  // Limits by channel belong to an axis, and those of more axes change the rank.
  const std::string sixteen =
      "1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0";
  EXPECT_FALSE(Moves(Resampled({.limits = "[16]", .highest = sixteen})));
  EXPECT_FALSE(Moves(Resampled({.back = "0, 3, 2, 1", .limits = "[]", .highest = "2.0"})));
  // A second reader of either node.
  for (const char* read : {"%i", "%q"}) {
    EXPECT_FALSE(Moves(Resampled({.limits = "[]", .highest = "2.0"},
                                 {TargetStep("r", "opset1.ReLU", read), "  opset1.Result \"z\" (%r)\n"})))
        << read;
  }
}

TEST_F(ResampledTest, OthersRemain) {
  EXPECT_FALSE(Moves(Resampled({.input = "[1,15,2,3]"})));
  EXPECT_TRUE(Moves(Resampled({.input = "[1,17,2,3]"})));
  // Not the inverse transpose, and axes that would change their order.
  EXPECT_FALSE(Moves(Resampled({.back = "0, 3, 2, 1"})));
  EXPECT_FALSE(Moves(Resampled({.order = "0, 3, 2, 1", .axes = "1, 2", .back = "0, 3, 2, 1"})));
  // Pads at either end.
  for (const char* pads : {"pads_begin = [0, 1, 0, 0]", "pads_end = [0, 0, 1, 0]"})
    EXPECT_FALSE(Moves(Resampled(
        {.attributes = "mode = \"nearest\", shape_calculation_mode = \"sizes\", " + std::string(pads)})));
  EXPECT_TRUE(
      Moves(Resampled({.attributes = "mode = \"nearest\", shape_calculation_mode = \"sizes\", pads_begin = "
                                     "[0, 0, 0, 0], pads_end = [0, 0, 0, 0]"})));
  // Other operations in place of either transpose.
  const auto others = [&](bool is_first) {
    const std::string sizes =
        TargetConstant("sizes", "i64[2]", "4, 6") + TargetConstant("axes", "i64[2]", "1, 2") +
        TargetConstant("to", "i64[4]", "0, 2, 3, 1") + TargetConstant("back", "i64[4]", "0, 3, 1, 2");
    const std::string before =
        is_first ? TargetStep("t", "opset1.ReLU", "%x") : TargetStep("t", "opset1.Transpose", "%x, %to");
    const std::string after =
        is_first ? TargetStep("u", "opset1.Transpose", "%i, %back") : TargetStep("u", "opset1.ReLU", "%i");
    return After("ResampleImages",
                 {TargetInput("x", "f32", "[1,16,16,16]"), sizes, before,
                  TargetStep("i", "opset11.Interpolate", "%t, %sizes, %axes", Resize().attributes), after,
                  TargetResult("u")});
  };
  EXPECT_EQ(others(true),
            "ReLU[1,16,16,16](Parameter) Interpolate[1,4,6,16](ReLU Const Const) "
            "Transpose[1,16,4,6](Interpolate Const)");
  EXPECT_EQ(others(false),
            "Transpose[1,16,16,16](Parameter Const) Interpolate[1,4,6,16](Transpose Const Const) "
            "ReLU[1,4,6,16](Interpolate)");
  // An empty order reverses the axes.
  for (const bool is_first : {false, true}) {
    const std::string order = TargetConstant("order", "i64[4]", "3, 2, 1, 0"),
                      none = TargetConstant("none", "i64[0]", "");
    const std::string nodes = After(
        "ResampleImages",
        {TargetInput("x", "f32", "[2,3,16,1]"), TargetConstant("sizes", "i64[2]", "4, 6"),
         TargetConstant("axes", "i64[2]", "2, 3"), order, none,
         TargetStep("t", "opset1.Transpose", is_first ? "%x, %none" : "%x, %order"),
         TargetStep("i", "opset11.Interpolate", "%t, %sizes, %axes", Resize().attributes),
         TargetStep("u", "opset1.Transpose", is_first ? "%i, %order" : "%i, %none"), TargetResult("u")});
    EXPECT_FALSE(Moves(nodes)) << nodes;
  }
  // Negative axes count from the end.
  EXPECT_TRUE(Moves(Resampled({.back = "0, -1, 1, -2"})));
  EXPECT_TRUE(Moves(Resampled({.order = "0, -2, -1, 1"})));
  EXPECT_FALSE(Moves(Resampled({.back = "0, -1, -2, 1"})));
  // A second reader.
  EXPECT_FALSE(Moves(Resampled({}, {TargetStep("r", "opset1.ReLU", "%i"), "  opset1.Result \"z\" (%r)\n"})));
}

}  // namespace
}  // namespace nnefc::transform::target
