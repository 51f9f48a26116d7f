// Activations that are written as several operations, and near misses.

#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform {
namespace {

// x * clamp(x + 3, 0, 6) / 6
struct HardSwish {
  std::string six = "f32[] = dense<f32[]: 6.0>";
  std::string first = "opset1.Multiply \"m\" (%0, %4)", last = "opset1.Divide \"d\" (%5, %2)";
  std::string more = "";
};

class ActivationsTest : public BuiltInTest {
 protected:
  bool IsHardSwish(const HardSwish& form) {
    const std::string made =
        Body("middle.HSwishFusion",
             "  %1 = opset1.Const \"three\" : f32[] = dense<f32[]: 3.0>\n  %2 = "
             "opset1.Const \"six\" : " +
                 form.six +
                 "\n  %3 = opset1.Add \"a\" (%0, %1) : f32[...]\n  %4 = opset1.Clamp "
                 "\"c\" (%3) {min = 0.0, max = 6.0} : f32[...]\n  %5 = " +
                 form.first + " : f32[...]\n  %9 = " + form.last + " : f32[...]\n" + form.more);
    EXPECT_EQ(made.find("HSwish") == std::string::npos, made.find("Clamp(c: a)") != std::string::npos);
    return made.find("HSwish") != std::string::npos;
  }
};

// The number six may have axes that the result has, too, but none more.
TEST_F(ActivationsTest, ShapesOfHardSwish) {
  for (const char* shape : {"[]", "[1]", "[1,1,1]"})
    EXPECT_TRUE(IsHardSwish({.six = fmt::format("f32{0} = dense<f32{0}: 6.0>", shape)})) << shape;
  EXPECT_FALSE(IsHardSwish({.six = "f32[1,1,1,1] = dense<f32[1,1,1,1]: 6.0>"}));
}

// Each value between the operations has one reader.
TEST_F(ActivationsTest, ReadersOfHardSwish) {
  for (const char* read : {"%3", "%4", "%5"}) {
    EXPECT_FALSE(IsHardSwish({.more = fmt::format("  opset1.Result \"z\" ({})\n", read)})) << read;
    EXPECT_FALSE(IsHardSwish(
        {.first = "opset1.Divide \"d\" (%4, %2)",
         .last = "opset1.Multiply \"m\" (%5, %0)",
         .more = fmt::format("  %6 = opset1.Abs \"b\" ({}) : f32[...]\n  opset1.Result \"z\" (%6)\n", read)}))
        << read;
  }
  EXPECT_TRUE(IsHardSwish({.more = "  opset1.Result \"z\" (%0)\n"}));
  EXPECT_TRUE(IsHardSwish({.more = "  opset1.Result \"z\" (%9)\n"}));
}

}  // namespace
}  // namespace nnefc::transform
