// target.ConvolveQuantizedScales: images, numbers and readers, and near misses.

#include "compiler/transform/pipeline/target_pipeline.h"
#include "tests/unit/compiler/transform/target/target_support.h"

namespace nnefc::transform::target {
namespace {

class ConvolveQuantizedScalesTest : public TargetTest {
 protected:
  static std::string NumbersFrom(int64_t first, int64_t count) {
    std::string items;
    for (int64_t i = 0; i < count; ++i) items += (i == 0 ? "" : ", ") + std::to_string(first + i);
    return items;
  }
  static std::string Quantized(const std::string& name, const std::string& from,
                               const std::string& levels = "256") {
    return TargetStep(name, "opset1.FakeQuantize", from + ", %low, %high, %low, %high", "levels = " + levels);
  }
  // The quantization of an image of that shape, the limits, and a number of each channel in that shape.
  static std::string Image(const std::string& shape = "[1,16,3,2]",
                           const std::string& of_channels = "[1,16,1,1]", int64_t channels = 16,
                           const std::string& levels = "256") {
    return TargetInput("x", "f32", shape) + TargetConstant("low", "f32[]", "-1") +
           TargetConstant("high", "f32[]", "254") +
           TargetConstant("scales", "f32" + of_channels, NumbersFrom(2, channels)) +
           TargetConstant("bias", "f32" + of_channels, NumbersFrom(-3, channels)) +
           Quantized("q", "%x", levels);
  }
  static std::string Scaled(const std::string& inputs = "%q, %scales") {
    return TargetStep("m", "opset1.Multiply", inputs);
  }
  bool IsConvolved(const std::string& text) {
    const std::string nodes = After("ConvolveQuantizedScales", {text});
    EXPECT_NE(nodes, "no graph");
    return nodes.find("GroupConvolution") != std::string::npos;
  }
  const std::string again_ = Quantized("r", "%m") + TargetResult("r");
};

TEST_F(ConvolveQuantizedScalesTest, AFilterOfOneTap) {
  EXPECT_EQ(After("ConvolveQuantizedScales", {Image() + Scaled() + again_}),
            "FakeQuantize[1,16,3,2](Parameter Const Const Const Const) "
            "GroupConvolution[1,16,3,2](FakeQuantize Const) "
            "FakeQuantize[1,16,3,2](GroupConvolution Const Const Const Const)");
  EXPECT_EQ(InputOf("GroupConvolution", 1),
            (std::vector<double>{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}));
}

// A window reads at least one element.
TEST_F(ConvolveQuantizedScalesTest, ImagesWithoutPixels) {
  for (const char* shape : {"[1,16,0,2]", "[1,16,3,0]"})
    EXPECT_FALSE(IsConvolved(Image(shape) + Scaled() + again_)) << shape;
  EXPECT_FALSE(IsConvolved(Image("[1,16,0]", "[1,16,1]") + Scaled() + again_));
  EXPECT_TRUE(IsConvolved(Image("[1,16,1]", "[1,16,1]") + Scaled() + again_));
}

TEST_F(ConvolveQuantizedScalesTest, SumsByChannel) {
  const auto sum = [](const std::string& inputs) { return TargetStep("a", "opset1.Add", inputs); };
  const std::string again = Quantized("r", "%a") + TargetResult("r");
  EXPECT_TRUE(IsConvolved(Image() + Scaled() + sum("%m, %bias") + again));
  EXPECT_FALSE(IsConvolved(Image() + Scaled() + sum("%m, %x") + again));
  EXPECT_FALSE(IsConvolved(Image() + Scaled() + sum("%m, %low") + again));
  EXPECT_FALSE(IsConvolved(Image() + Scaled() + sum("%m, %m") + again));
  EXPECT_FALSE(IsConvolved(Image() + Scaled() + sum("%m, %bias") + again + TargetResultOf("a")));
  EXPECT_FALSE(IsConvolved(Image() + Scaled() + sum("%m, %bias") + TargetResult("a")));
}

TEST_F(ConvolveQuantizedScalesTest, Readers) {
  EXPECT_FALSE(IsConvolved(Image() + Scaled() + TargetResult("m")));
  EXPECT_FALSE(IsConvolved(Image() + Scaled() + again_ + TargetResultOf("m")));
  EXPECT_FALSE(IsConvolved(Image() + Scaled() + TargetStep("t", "opset1.Tanh", "%m") + TargetResult("t")));
  EXPECT_FALSE(IsConvolved(Image() + Scaled() + Quantized("r", "%m", "255") + TargetResult("r")));
}

TEST_F(ConvolveQuantizedScalesTest, Operands) {
  EXPECT_FALSE(IsConvolved(Image() + Scaled("%x, %scales") + again_));
  EXPECT_FALSE(IsConvolved(Image() + Scaled("%q, %high") + again_));
  EXPECT_FALSE(IsConvolved(Image() + Scaled("%q, %x") + again_));
  EXPECT_FALSE(IsConvolved(Image("[1,16,3,2]", "[1,16,1,1]", 16, "255") + Scaled() + again_));
  EXPECT_FALSE(IsConvolved(Image("[1,16,3,1]", "[1,16,3,1]", 48) + Scaled() + again_));
  EXPECT_FALSE(IsConvolved(Image("[16,16,3,2]", "[16,1,1,1]") + Scaled() + again_));
  const std::string infinite =
      TargetConstant("huge", "f32[1,16,1,1]", "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, inf");
  EXPECT_FALSE(IsConvolved(Image() + infinite + Scaled("%q, %huge") + again_));
}

TEST_F(ConvolveQuantizedScalesTest, ShapesOfImages) {
  EXPECT_TRUE(IsConvolved(Image("[2,16,1]", "[1,16,1]") + Scaled() + again_));
  EXPECT_FALSE(IsConvolved(Image("[2,16]", "[1,16]") + Scaled() + again_));
  EXPECT_FALSE(IsConvolved(Image("[1,16,2,2,2]", "[1,16,1,1,1]") + Scaled() + again_));
  EXPECT_FALSE(IsConvolved(Image("[1,15,3,2]", "[1,15,1,1]", 15) + Scaled() + again_));
  EXPECT_TRUE(IsConvolved(Image("[1,17,3,2]", "[1,17,1,1]", 17) + Scaled() + again_));
}

}  // namespace
}  // namespace nnefc::transform::target
