// target.QuantizeAfterMaxPool: readers, windows and limits, at both sides of each condition.

#include "compiler/transform/pipeline/target_pipeline.h"
#include "tests/unit/compiler/transform/target/target_support.h"

namespace nnefc::transform::target {
namespace {

struct PoolSetting {
  std::string operation = "opset1.MaxPool", strides = "2, 2", kernel = "2, 2", begin = "0, 0", end = "0, 0",
              more = "";
};

struct LimitSetting {
  std::string low = "-1", high = "254", first = "-2", last = "508", type = "f32[]";
};

class QuantizeAfterMaxPoolTest : public TargetTest {
 protected:
  static std::string Quantized(const LimitSetting& limits, const std::string& from = "%x") {
    return TargetConstant("low", limits.type, limits.low) + TargetConstant("high", "f32[]", limits.high) +
           TargetConstant("first", "f32[1]", limits.first) + TargetConstant("last", "f32[]", limits.last) +
           TargetStep("q", "opset1.FakeQuantize", from + ", %low, %high, %first, %last", "levels = 256");
  }
  static std::string Pooled(const PoolSetting& of) {
    return TargetStep(
               "p", of.operation, "%q",
               fmt::format("strides = [{}], kernel = [{}], pads_begin = [{}], pads_end = [{}]{}{}",
                           of.strides, of.kernel, of.begin, of.end, of.more.empty() ? "" : ", ", of.more)) +
           TargetResultOf("p");
  }
  static std::string Reader(const std::string& of) {
    return TargetStep("r", "opset1.ReLU", of) + TargetResultOf("r");
  }
  bool IsMoved(const PoolSetting& pool, const LimitSetting& limits = {}, const std::string& reader = "%x",
               const std::string& extents = "[1,2,8,8]") {
    const std::string text = After("QuantizeAfterMaxPool", {TargetInput("x", "f32", extents),
                                                            Quantized(limits), Pooled(pool), Reader(reader)});
    EXPECT_NE(text, "no graph");
    return text.find("(MaxPool Const Const Const Const)") != std::string::npos;
  }
};

TEST_F(QuantizeAfterMaxPoolTest, IsMoved) {
  EXPECT_EQ(After("QuantizeAfterMaxPool",
                  {TargetInput("x", "f32", "[1,2,8,8]"), Quantized({}), Pooled({}), Reader("%x")}),
            "MaxPool[1,2,4,4](Parameter) FakeQuantize[1,2,4,4](MaxPool Const Const Const Const) "
            "ReLU[1,2,8,8](Parameter)");
  EXPECT_EQ(InputOf("FakeQuantize", 1), (std::vector<double>{-1}));
  EXPECT_EQ(InputOf("FakeQuantize", 2), (std::vector<double>{254}));
  EXPECT_EQ(InputOf("FakeQuantize", 3), (std::vector<double>{-2}));
  EXPECT_EQ(InputOf("FakeQuantize", 4), (std::vector<double>{508}));
}

TEST_F(QuantizeAfterMaxPoolTest, OtherReaders) {
  // The quantization is part of the step before if nothing else reads its data.
  EXPECT_EQ(After("QuantizeAfterMaxPool", {TargetInput("x", "f32", "[1,2,8,8]"), Quantized({}), Pooled({})}),
            "FakeQuantize[1,2,8,8](Parameter Const Const Const Const) MaxPool[1,2,4,4](FakeQuantize)");
  EXPECT_FALSE(IsMoved({}, {}, "%q"));
  // Data that is quantized already.
  EXPECT_EQ(After("QuantizeAfterMaxPool",
                  {TargetInput("x", "f32", "[1,2,8,8]"), TargetConstant("a", "f32[]", "0"),
                   TargetConstant("b", "f32[]", "25.5"),
                   TargetStep("before", "opset1.FakeQuantize", "%x, %a, %b, %a, %b", "levels = 256"),
                   Quantized({}, "%before"), Pooled({}), Reader("%before")}),
            "FakeQuantize[1,2,8,8](Parameter Const Const Const Const) "
            "FakeQuantize[1,2,8,8](FakeQuantize Const Const Const Const) MaxPool[1,2,4,4](FakeQuantize) "
            "ReLU[1,2,8,8](FakeQuantize)");
  // Other windows.
  EXPECT_FALSE(IsMoved({.operation = "opset1.AvgPool", .more = "exclude-pad = true"}));
}

TEST_F(QuantizeAfterMaxPoolTest, NumbersOfResults) {
  EXPECT_TRUE(IsMoved({.strides = "1, 2", .kernel = "1, 2"}));
  EXPECT_FALSE(IsMoved({.strides = "1, 1", .kernel = "1, 1"}));
  // 5 of 9 pixels, and 4 of 8.
  EXPECT_FALSE(IsMoved({.strides = "1, 2", .kernel = "1, 1"}, {}, "%x", "[1,2,1,9]"));
  EXPECT_TRUE(IsMoved({.strides = "1, 2", .kernel = "1, 1"}, {}, "%x", "[1,2,1,8]"));
}

// The maximum over nothing is -inf, which is not a quantized number.
TEST_F(QuantizeAfterMaxPoolTest, WindowsInThePadding) {
  EXPECT_TRUE(IsMoved({.kernel = "3, 2", .begin = "2, 1", .end = "2, 1"}));
  for (const PoolSetting& pool : {PoolSetting{.kernel = "3, 3", .begin = "3, 0"},
                                  {.kernel = "3, 3", .begin = "0, 3"},
                                  {.kernel = "3, 3", .end = "3, 0"},
                                  {.kernel = "3, 3", .end = "0, 3"},
                                  {.kernel = "3, 3", .more = "rounding_type = \"ceil\""}})
    EXPECT_FALSE(IsMoved(pool)) << pool.begin << " " << pool.end;
  for (const char* automatic : {"same_upper", "same_lower", "valid"})
    EXPECT_TRUE(IsMoved({.kernel = "3, 3", .more = fmt::format("auto_pad = \"{}\"", automatic)}))
        << automatic;
}

TEST_F(QuantizeAfterMaxPoolTest, Dilations) {
  const auto with_indices = [&](const char* dilations, const char* reader) {
    const std::string attributes = fmt::format(
        "strides = [2, 2], kernel = [2, 2], pads_begin = [0, 0], pads_end = [0, 0], dilations = [{}], "
        "index_element_type = i64, axis = 0",
        dilations);
    return After("QuantizeAfterMaxPool",
                 {TargetInput("x", "f32", "[1,2,8,8]"), Quantized({}),
                  fmt::format("  %p:2 = opset8.MaxPool \"p\" (%q) {{{}}} : f32[...], i64[...]\n", attributes),
                  TargetResultOf("p"), reader, Reader("%x")})
               .find("(MaxPool Const Const Const Const)") != std::string::npos;
  };
  EXPECT_TRUE(with_indices("1, 1", ""));
  EXPECT_FALSE(with_indices("2, 1", ""));
  EXPECT_FALSE(with_indices("1, 2", ""));
  // The positions of equal numbers differ.
  EXPECT_FALSE(with_indices("1, 1", "  opset1.Result \"places_result\" (%p.1)\n"));
}

TEST_F(QuantizeAfterMaxPoolTest, LimitsOfChannels) {
  EXPECT_TRUE(IsMoved({}, {.low = "-1, -2", .type = "f32[1,2,1,1]"}));
  EXPECT_TRUE(IsMoved({}, {.low = "-1, -2", .type = "f32[2,1,1]"}));
  EXPECT_FALSE(IsMoved({}, {.low = "-1, -2, -3, -4, -5, -6, -7, -8", .type = "f32[8]"}));
  EXPECT_FALSE(IsMoved({}, {.low = "-1, -2, -3, -4, -5, -6, -7, -8", .type = "f32[8,1]"}));
  // One channel has no range.
  EXPECT_FALSE(IsMoved({}, {.low = "-1, 254", .type = "f32[1,2,1,1]"}));
  EXPECT_TRUE(IsMoved({}, {.low = "-1, 253", .type = "f32[1,2,1,1]"}));
}

TEST_F(QuantizeAfterMaxPoolTest, DescendingLimits) {
  EXPECT_TRUE(IsMoved({}, {.first = "508"}));
  EXPECT_FALSE(IsMoved({}, {.first = "509"}));
  EXPECT_FALSE(IsMoved({}, {.low = "254"}));
  EXPECT_FALSE(IsMoved({}, {.low = "255"}));
}

}  // namespace
}  // namespace nnefc::transform::target
