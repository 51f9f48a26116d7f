// Activations that are written as several operations, and near misses.

#include <regex>

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

// A formula that ends early has a Result where the next operation would be.
TEST_F(ActivationsTest, BeginningsOfHardSwish) {
  const std::string clamp =
      "  %1 = opset1.Const \"c\" : f32[] = dense<f32[]: 3.0>\n  %2 = opset1.Add \"a\" (%0, %1) : f32[...]\n"
      "  %9 = opset1.Clamp \"l\" (%2) {min = 0.0, max = 6.0} : f32[...]\n";
  EXPECT_EQ(Body("middle.HSwishFusion", clamp),
            "Parameter(x) Const(c) Add(a: x, c) Clamp(l: a) Result(y: l)");
  EXPECT_EQ(Body("middle.HSwishFusion", std::regex_replace(clamp, std::regex("%9"), "%3") +
                                            "  %9 = opset1.Multiply \"m\" (%0, %3) : f32[...]\n"),
            "Parameter(x) Const(c) Add(a: x, c) Clamp(l: a) Multiply(m: x, l) Result(y: m)");
}

// The operations of a formula take integers and scalars, but not what it is fused into.
TEST_F(ActivationsTest, FormulasOfIntegersAndScalars) {
  const std::string norm = R"(  %k = opset1.Const "k" : AXES
  %n = opset4.ReduceL2 "n" (%x, %k) {keep_dims = true} : f32[...]
)";
  const std::string quotient = R"(  %y = opset1.Divide "y" (%x, %b) : f32[...]
)";
  const std::string moments = R"(  %k = opset1.Const "k" : AXES
  %m = opset1.ReduceMean "m" (%x, %k) {keep_dims = true} : f32[...]
  %d = opset1.Subtract "d" (%x, %m) : f32[...]
  %q = opset1.Multiply "q" (%d, %d) : f32[...]
  %v = opset1.ReduceMean "v" (%q, %k) {keep_dims = true} : f32[...]
  %e = opset1.Const "e" : f32[] = dense<f32[]: 2.0>
  %w = opset1.Add "w" (%v, %e) : f32[...]
  %s = opset1.Sqrt "s" (%w) : f32[...]
  %y = opset1.Divide "y" (%d, %s) : f32[...]
)";
  const std::string hard_swish = R"(  %c = opset1.Const "c" : f32[] = dense<f32[]: 3.0>
  %h = opset1.Const "h" : f32[] = dense<f32[]: 6.0>
  %a = opset1.Add "a" (%x, %c) : f32[...]
  %l = opset1.Clamp "l" (%a) {min = 0.0, max = 6.0} : f32[...]
  %m = opset1.Multiply "m" (%x, %l) : f32[...]
  %y = opset1.Divide "y" (%m, %h) : f32[...]
)";
  struct Formula {
    std::string transformation, steps, fused;
    bool takes_scalars;
  };
  const std::vector<Formula> formulas = {
      {"HSwishFusion", hard_swish, "HSwish", true},
      {"MVNFusion", moments, "MVN", false},
      {"DivisionByLargerNorm",
       norm +
           "  %e = opset1.Const \"e\" : f32[] = dense<f32[]: 2.0>\n"
           "  %b = opset1.Maximum \"b\" (%n, %e) : f32[...]\n" +
           quotient,
       "NormalizeL2", false},
      {"DivisionByClampedNorm",
       norm + "  %b = opset1.Clamp \"b\" (%n) {min = 2.0, max = 3.4028234663852886e38} : f32[...]\n" +
           quotient,
       "NormalizeL2", false}};
  for (const auto& [transformation, steps, fused, takes_scalars] : formulas) {
    const auto is_fused = [&](const std::string& type, const std::string& shape) {
      std::string text = fmt::format(
          "  %x = opset1.Parameter \"x\" {{element_type = f32, shape = {}}} : f32{}\n{}"
          "  opset1.Result \"r\" (%y)\n",
          shape, shape, steps);
      const char* axes = shape == "[]" ? "i64[0] = dense<i64[0]: >" : "i64[1] = dense<i64[1]: 0>";
      text = std::regex_replace(text, std::regex("AXES"), axes);
      if (type == "i32") text = std::regex_replace(text, std::regex("\\.0>"), ">");
      text = std::regex_replace(text, std::regex("f32"), type);
      return After("middle." + transformation, Numbered(text)).find(fused) != std::string::npos;
    };
    SCOPED_TRACE(transformation);
    for (const char* type : {"f32", "f16"}) EXPECT_TRUE(is_fused(type, "[2,3]")) << type;
    EXPECT_FALSE(is_fused("i32", "[2,3]"));
    EXPECT_EQ(is_fused("f32", "[]"), takes_scalars);
  }
}

}  // namespace
}  // namespace nnefc::transform
