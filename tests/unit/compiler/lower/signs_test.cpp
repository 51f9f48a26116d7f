// Tensors without negative elements, before whose maxima zeros of the padding change nothing.

#include "fmt/core.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/lower/lowering_support.h"

namespace nnefc::lower {
namespace {

// Zeros of the padding replace negative maxima only: relu(x) has none.
TEST(Lowering, MaxPoolPadsZerosOnlyWhereTheyMatter) {
  const auto operations = [](std::string_view before, std::string_view attributes) {
    NnefGraph g;
    auto x = g.External("input", "f32[1,4,8,8]");
    if (!before.empty()) x = g.Op(before, "before", {x});
    g.Result("y", g.Op("max_pool", "y", {x}, attributes));
    EXPECT_NE(g.Lower(), nullptr) << g.FirstMessage();
    return g.Operations();
  };
  EXPECT_EQ(operations("", "size = [1,1,3,3]"), "Pad MaxPool");
  EXPECT_EQ(operations("neg", "size = [1,1,3,3]"), "Negative Pad MaxPool");
  EXPECT_EQ(operations("relu", "size = [1,1,3,3]"), "ReLU MaxPool");
  EXPECT_EQ(operations("", "size = [1,1,3,3], border = \"ignore\""), "MaxPool");
  EXPECT_EQ(operations("", "size = [1,1,2,2], stride = [1,1,2,2]"), "MaxPool");
  // A window entirely in the padding has the maximum 0.
  EXPECT_EQ(operations("relu", "size = [1,1,3,3], padding = [[0,0],[0,0],[3,0],[0,0]]"), "ReLU Pad MaxPool");
}

// Whether results may be negative, by which of the operands may be: each alone, both and neither.
TEST(Lowering, SignsOfResults) {
  enum class Never : uint8_t { kAlways, kByBoth, kByOne, kNot };
  const auto pads = [](std::string_view op, bool first, bool second, bool is_binary) {
    NnefGraph g;
    const auto x = g.External("x", "f32[1,4,8,8]");
    const auto relu = g.Op("relu", "relu", {x});
    std::vector<ir::OutputPort> operands = {first ? relu : x};
    if (is_binary) operands.push_back(second ? relu : x);
    g.Result("y", g.Op("max_pool", "y", {g.Op(op, "made", operands)}, "size = [1,1,3,3]"));
    EXPECT_NE(g.Lower(), nullptr) << g.FirstMessage();
    return g.Operations().find("Pad") != std::string::npos;
  };
  for (const auto& [op, never] :
       {std::pair("add", Never::kByBoth), std::pair("mul", Never::kByBoth), std::pair("min", Never::kByBoth),
        std::pair("max", Never::kByOne), std::pair("sub", Never::kNot)}) {
    for (const bool first : {false, true}) {
      for (const bool second : {false, true}) {
        const bool is_never =
            (never == Never::kByBoth && first && second) || (never == Never::kByOne && (first || second));
        EXPECT_EQ(pads(op, first, second, true), !is_never) << op << first << second;
      }
    }
  }
  for (const char* op : {"exp", "abs", "sqr", "sqrt", "relu", "sigmoid", "softplus"}) {
    EXPECT_FALSE(pads(op, false, false, false)) << op;
    EXPECT_FALSE(pads(op, true, false, false)) << op;
  }
  EXPECT_TRUE(pads("copy", false, false, false));
  EXPECT_FALSE(pads("copy", true, false, false));
  for (const char* op : {"neg", "sin", "cos", "log", "elu"}) {
    EXPECT_TRUE(pads(op, false, false, false)) << op;
    if (std::string_view(op) != "elu") {
      EXPECT_TRUE(pads(op, true, false, false)) << op;
    }
  }
}

// A literal has the sign of its items.
TEST(Lowering, SignsOfLiterals) {
  for (const auto& [literal, pads] : {std::pair(2.0, false), std::pair(0.0, false), std::pair(-2.0, true)}) {
    NnefGraph g;
    const auto relu = g.Op("relu", "relu", {g.External("x", "f32[1,4,8,8]")});
    g.Result("y", g.Op("max_pool", "y", {g.Op("mul", "m", {relu, g.Literal(literal)})}, "size = [1,1,3,3]"));
    ASSERT_NE(g.Lower(), nullptr) << g.FirstMessage();
    EXPECT_EQ(g.Operations(), pads ? "ReLU Multiply Pad MaxPool" : "ReLU Multiply MaxPool") << literal;
  }
}

// A constant has the sign of its items if they are few: at most 64 are examined.
TEST(Lowering, SignsOfConstants) {
  const auto pads = [](size_t count, double last) {
    NnefGraph g;
    std::string items;
    for (size_t i = 1; i < count; ++i) items += "0.5, ";
    const auto constant =
        g.Op("constant", "c", {}, fmt::format("shape = [1,1,1,{}], value = [{}{}]", count, items, last));
    const auto relu = g.Op("relu", "relu", {g.External("x", fmt::format("f32[1,4,8,{}]", count))});
    g.Result("y", g.Op("max_pool", "y", {g.Op("mul", "m", {relu, constant})}, "size = [1,1,3,3]"));
    EXPECT_NE(g.Lower(), nullptr) << g.FirstMessage();
    return g.Operations().find("Pad") != std::string::npos;
  };
  for (const size_t count : {2, 63, 64}) {
    EXPECT_FALSE(pads(count, 0.5)) << count;
    EXPECT_TRUE(pads(count, -0.5)) << count;
  }
  EXPECT_TRUE(pads(65, 0.5));
}

// The maximum of no elements is -infinity, which is less than the zeros of the padding.
TEST(Lowering, MaximaOfPaddingAloneMayBeNegative) {
  const auto pads = [](std::string_view attributes) {
    NnefGraph g;
    const auto x = g.Op("relu", "relu", {g.External("input", "f32[1,4,8,8]")});
    const auto maxima = g.Op("max_pool", "maxima", {x}, "border = \"ignore\", " + std::string(attributes));
    g.Result("y", g.Op("max_pool", "y", {maxima}, "size = [1,1,3,3]"));
    EXPECT_NE(g.Lower(), nullptr) << g.FirstMessage();
    return g.Operations().ends_with("MaxPool Pad MaxPool");
  };
  EXPECT_FALSE(pads("size = [1,1,2,2]"));
  EXPECT_FALSE(pads("size = [1,1,3,1]"));
  for (const char* less : {"[[0,0],[0,0],[1,1],[0,0]]", "[[0,0],[0,0],[0,1],[1,0]]"})
    EXPECT_FALSE(pads("size = [1,1,2,2], padding = " + std::string(less))) << less;
  for (const char* all : {"[[0,0],[0,0],[2,0],[0,0]]", "[[0,0],[0,0],[0,2],[0,0]]",
                          "[[0,0],[0,0],[0,0],[2,0]]", "[[0,0],[0,0],[0,0],[0,2]]"})
    EXPECT_TRUE(pads("size = [1,1,2,2], padding = " + std::string(all))) << all;
  const std::string dilated = "size = [1,1,2,1], dilation = [1,1,2,1]";
  EXPECT_TRUE(pads(dilated));
  EXPECT_FALSE(pads(dilated + ", padding = [[0,0],[0,0],[0,0],[0,0]]"));
  EXPECT_TRUE(pads(dilated + ", padding = [[0,0],[0,0],[1,0],[0,0]]"));
  EXPECT_TRUE(pads(dilated + ", padding = [[0,0],[0,0],[0,1],[0,0]]"));
  EXPECT_FALSE(pads("size = [1,1,1,2], dilation = [1,1,2,1]"));
}

}  // namespace
}  // namespace nnefc::lower
