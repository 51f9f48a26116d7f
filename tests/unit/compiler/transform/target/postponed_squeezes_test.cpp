// target.PostponeSqueezes: operations after the squeeze of a convolution's result, and near misses.

#include "tests/unit/compiler/transform/target/target_support.h"

namespace nnefc::transform::target {
namespace {

class SqueezesTest : public TargetTest {
 protected:
  // Returns the graph of a convolution by a window of 1 with a result `c` of two channels, squeezed to `s`
  // along `axis`, and `steps` after it.
  std::string Squeezed(llvm::ArrayRef<std::string> steps, const std::string& last,
                       const std::string& axis = "2", const std::string& image = "[1,4,1,5]") {
    std::vector<std::string> text = {
        TargetInput("x", "f32", image), TargetInput("w", "f32", "[2,4,1,1]"),
        TargetStep("c", "opset1.Convolution", "%x, %w",
                   "strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]"),
        TargetConstant("axis", axis.find(',') == std::string::npos ? "i64[1]" : "i64[2]", axis),
        TargetStep("s", "opset1.Squeeze", "%c, %axis")};
    text.insert(text.end(), steps.begin(), steps.end());
    text.push_back(TargetResult(last));
    return After("PostponeSqueezes", text);
  }
};

const char* const kConvolution = "Convolution[1,2,1,5](Parameter Parameter) ";

TEST_F(SqueezesTest, ElementwiseOperationsMoveBefore) {
  EXPECT_EQ(Squeezed({TargetStep("r", "opset1.ReLU", "%s")}, "r"),
            std::string(kConvolution) + "ReLU[1,2,1,5](Convolution) Squeeze[1,2,5](ReLU Const)");
  // The first axis.
  EXPECT_EQ(Squeezed({TargetStep("r", "opset1.ReLU", "%s")}, "r", "0"),
            std::string(kConvolution) + "ReLU[1,2,1,5](Convolution) Squeeze[2,1,5](ReLU Const)");
  EXPECT_EQ(Squeezed({TargetConstant("b", "f32[1,2,1]", "0.5, 1.5"), TargetStep("a", "opset1.Add", "%s, %b"),
                      TargetStep("r", "opset1.ReLU", "%a")},
                     "r"),
            std::string(kConvolution) +
                "Add[1,2,1,5](Convolution Const) ReLU[1,2,1,5](Add) Squeeze[1,2,5](ReLU Const)");
}

// Which axes are dropped is unknown where an extent is.
TEST_F(SqueezesTest, UnknownExtentsRemain) {
  EXPECT_EQ(After("PostponeSqueezes",
                  {TargetInput("x", "f32", "[1,4,1,?]"), TargetInput("w", "f32", "[2,4,1,1]"),
                   TargetStep("c", "opset1.Convolution", "%x, %w",
                              "strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]"),
                   TargetConstant("axis", "i64[1]", "2"), TargetStep("s", "opset1.Squeeze", "%c, %axis"),
                   TargetStep("r", "opset1.ReLU", "%s"), TargetResult("r")}),
            "Convolution[1,2,1,1..](Parameter Parameter) Squeeze[1,2,1..](Convolution Const) "
            "ReLU[1,2,1..](Squeeze)");
}

TEST_F(SqueezesTest, ConstantsOfAnyRank) {
  for (const auto& [type, items] : {std::pair("f32[]", "2.0"),
                                    {"f32[5]", "1.0, 2.0, 3.0, 4.0, 5.0"},
                                    {"f32[2,1]", "1.0, 2.0"},
                                    {"f32[1,2,1]", "1.0, 2.0"}}) {
    for (const char* inputs : {"%s, %b", "%b, %s"}) {
      const bool is_first = inputs[1] == 's';
      EXPECT_EQ(Squeezed({TargetConstant("b", type, items), TargetStep("a", "opset1.Subtract", inputs)}, "a"),
                std::string(kConvolution) + "Subtract[1,2,1,5](" +
                    (is_first ? "Convolution Const" : "Const Convolution") +
                    ") Squeeze[1,2,5](Subtract Const)")
          << type;
    }
  }
}

// The dropped axis stays before the one that follows it, or at the end.
TEST_F(SqueezesTest, TransposesMoveBefore) {
  const auto transposed = [&](const char* order, const char* axis = "2", const char* image = "[1,4,1,5]") {
    return Squeezed({TargetConstant("order", "i64[3]", order),
                     TargetStep("t", "opset1.Transpose", "%s, %order"), TargetStep("r", "opset1.ReLU", "%t")},
                    "r", axis, image);
  };
  EXPECT_EQ(transposed("0, 2, 1"),
            std::string(kConvolution) +
                "Transpose[1,1,5,2](Convolution Const) Reshape[1,5,2](Transpose Const) "
                "ReLU[1,5,2](Reshape)");
  EXPECT_EQ(InputOf("Transpose", 1), (std::vector<double>{0, 2, 3, 1}));
  transposed("2, 0, 1");
  EXPECT_EQ(InputOf("Transpose", 1), (std::vector<double>{2, 3, 0, 1}));
  transposed("1, 2, 0", "0");
  EXPECT_EQ(InputOf("Transpose", 1), (std::vector<double>{2, 3, 0, 1}));
  EXPECT_EQ(InputOf("Reshape", 1), (std::vector<double>{1, 5, 2}));
  EXPECT_EQ(transposed("0, 2, 1", "3", "[1,4,5,1]"),
            "Convolution[1,2,5,1](Parameter Parameter) Transpose[1,5,2,1](Convolution Const) "
            "Reshape[1,5,2](Transpose Const) ReLU[1,5,2](Reshape)");
  EXPECT_EQ(InputOf("Transpose", 1), (std::vector<double>{0, 2, 1, 3}));
  // Both axes of a point are dropped.
  Squeezed({TargetConstant("order", "i64[2]", "1, 0"), TargetStep("t", "opset1.Transpose", "%s, %order")},
           "t", "2, 3", "[3,4,1,1]");
  EXPECT_EQ(InputOf("Transpose", 1), (std::vector<double>{1, 0, 2, 3}));
  EXPECT_EQ(InputOf("Reshape", 1), (std::vector<double>{2, 3}));
  // Negative axes count from the end.
  Squeezed({TargetConstant("order", "i64[2]", "-1, -2"), TargetStep("t", "opset1.Transpose", "%s, %order")},
           "t", "2, 3", "[3,4,1,1]");
  EXPECT_EQ(InputOf("Transpose", 1), (std::vector<double>{1, 0, 2, 3}));
}

TEST_F(SqueezesTest, OthersRemain) {
  const std::string squeezed = std::string(kConvolution) + "Squeeze[1,2,5](Convolution Const) ";
  // An operand that is not constant, one that extends the result, and another broadcasting.
  EXPECT_EQ(Squeezed({TargetInput("b", "f32", "[1,2,1]"), TargetStep("a", "opset1.Add", "%s, %b")}, "a"),
            squeezed + "Add[1,2,5](Squeeze Parameter)");
  EXPECT_EQ(
      Squeezed({TargetConstant("b", "f32[2,1,1]", "1.0, 2.0"), TargetStep("a", "opset1.Add", "%s, %b")}, "a"),
      squeezed + "Add[2,2,5](Squeeze Const)");
  EXPECT_EQ(
      Squeezed({TargetConstant("b", "f32[1,1,1,1]", "1.0"), TargetStep("a", "opset1.Add", "%s, %b")}, "a"),
      squeezed + "Add[1,1,2,5](Squeeze Const)");
  EXPECT_EQ(Squeezed({TargetConstant("b", "f32[1,2,1]", "1.0, 2.0"),
                      TargetStep("a", "opset1.Add", "%s, %b", "auto_broadcast = \"pdpd\"")},
                     "a"),
            squeezed + "Add[1,2,5](Squeeze Const)");
  // Two readers, of the squeezed tensor and of the image.
  EXPECT_EQ(Squeezed({TargetStep("r", "opset1.ReLU", "%s"), TargetStep("a", "opset1.Add", "%s, %r")}, "a"),
            squeezed + "ReLU[1,2,5](Squeeze) Add[1,2,5](Squeeze ReLU)");
  EXPECT_EQ(Squeezed({TargetStep("r", "opset1.ReLU", "%s"), TargetStep("a", "opset1.Add", "%c, %r")}, "a"),
            squeezed + "ReLU[1,2,5](Squeeze) Add[1,2,2,5](Convolution ReLU)");
  // Operations that are not element-wise.
  EXPECT_EQ(Squeezed({TargetStep("m", "opset1.SoftMax", "%s", "axis = 1")}, "m"),
            squeezed + "SoftMax[1,2,5](Squeeze)");
  EXPECT_EQ(Squeezed({TargetStep("l", "opset1.ShapeOf", "%s")}, "l"), squeezed + "ShapeOf[3](Squeeze)");
}

// Reshapes that do more than dropping axes, and squeezes of other tensors.
TEST_F(SqueezesTest, OtherViewsRemain) {
  const auto reshaped = [&](const char* count, const char* extents) {
    return After("PostponeSqueezes",
                 {TargetInput("x", "f32", "[1,4,1,6]"), TargetInput("w", "f32", "[2,4,1,1]"),
                  TargetStep("c", "opset1.Convolution", "%x, %w",
                             "strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]"),
                  TargetConstant("extents", fmt::format("i64[{}]", count), extents),
                  TargetStep("v", "opset1.Reshape", "%c, %extents", "special_zero = false"),
                  TargetStep("r", "opset1.ReLU", "%v"), TargetResult("r")});
  };
  const auto moves = [](const std::string& text) { return text.find("ReLU[1,2,1,6]") != std::string::npos; };
  EXPECT_TRUE(moves(reshaped("3", "1, 2, 6")));
  EXPECT_TRUE(moves(reshaped("2", "2, 6")));
  EXPECT_FALSE(moves(reshaped("2", "1, 12")));
  EXPECT_FALSE(moves(reshaped("2", "4, 3")));
  EXPECT_FALSE(moves(reshaped("3", "2, 2, 3")));
  EXPECT_FALSE(moves(reshaped("5", "1, 2, 1, 6, 1")));
  EXPECT_EQ(
      After("PostponeSqueezes", {TargetInput("x", "f32", "[1,4,1,5]"), TargetConstant("axis", "i64[1]", "2"),
                                 TargetStep("s", "opset1.Squeeze", "%x, %axis"),
                                 TargetStep("r", "opset1.ReLU", "%s"), TargetResult("r")}),
      "Squeeze[1,4,5](Parameter Const) ReLU[1,4,5](Squeeze)");
}

}  // namespace
}  // namespace nnefc::transform::target
