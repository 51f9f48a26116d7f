#include <string_view>

#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/ops/infer_support.h"

namespace nnefc::ir::ops {
namespace {

TEST(ElementwiseTest, Unary) {
  EXPECT_EQ(Infer({"neg", {"f32[2,?,4]"}}), "f32[2,?,4]");
  EXPECT_EQ(Infer({"not", {"boolean[3]"}}), "boolean[3]");
  EXPECT_EQ(Infer({"copy", {"i64[3]"}, "dtype = \"integer\""}), "i64[3]");
  EXPECT_EQ(Infer({"round", {"f32[...]"}}), "f32[...]");
  EXPECT_EQ(Infer({"neg", {"i64[2]"}}), "node.input-type");
  EXPECT_EQ(Infer({"not", {"f32[2]"}}), "node.input-type");
  EXPECT_EQ(Infer({"neg", {}}), "node.arity");
  EXPECT_EQ(Infer({"neg", {"f32[]", "f32[]"}}), "node.arity");
  EXPECT_EQ(Message({"neg", {"boolean[2]"}}), "`x` of `neg` is of type logical; expected scalar");
}

// R 4.2.1: functions of scalars preserve the shape, and accept no other type.
TEST(ElementwiseTest, FunctionsOfScalars) {
  for (const std::string_view op :
       {"abs",  "sign", "exp",   "log",  "sin",   "cos",   "tan",   "sinh", "cosh",
        "tanh", "asin", "acos",  "atan", "asinh", "acosh", "atanh", "rcp",  "sqr",
        "sqrt", "rsqr", "rsqrt", "log2", "floor", "ceil",  "round"}) {
    EXPECT_EQ(Infer({op, {"f32[2,?,4]"}}), "f32[2,?,4]") << op;
    EXPECT_EQ(Infer({op, {"f32[]"}}), "f32[]") << op;
    EXPECT_EQ(Infer({op, {"boolean[2]"}}), "node.input-type") << op;
    EXPECT_EQ(Infer({op, {"f32[2]", "f32[2]"}}), "node.arity") << op;
  }
}

// R 4.2.2: comparisons broadcast and have logical results.
TEST(ElementwiseTest, Comparisons) {
  for (const std::string_view op : {"lt", "gt", "le", "ge", "eq", "ne"}) {
    EXPECT_EQ(Infer({op, {"f32[2,1]", "f32[1,3]"}}), "boolean[2,3]") << op;
    EXPECT_EQ(Infer({op, {"f32[]", "f32[]"}}), "boolean[]") << op;
    EXPECT_EQ(Infer({op, {"f32[2]", "f32[3]"}}), "binary.broadcast") << op;
    EXPECT_EQ(Infer({op, {"f32[2]", "boolean[2]"}}), "node.input-type") << op;
  }
}

TEST(ElementwiseTest, AnUnknownInputIsNoSecondMistake) {
  EXPECT_EQ(Message({"sqr", {"f32[2]"}}), "");
}

// R 4.2.2: aligned on the left, singular extents repeat.
TEST(ElementwiseTest, Broadcast) {
  EXPECT_EQ(Infer({"add", {"f32[2,3,4]", "f32[2,3,4]"}}), "f32[2,3,4]");
  EXPECT_EQ(Infer({"add", {"f32[2,3,4]", "f32[]"}}), "f32[2,3,4]");
  EXPECT_EQ(Infer({"mul", {"f32[]", "f32[5]"}}), "f32[5]");
  EXPECT_EQ(Infer({"add", {"f32[2,3,4]", "f32[2]"}}), "f32[2,3,4]");
  EXPECT_EQ(Infer({"add", {"f32[1,3]", "f32[2,1,4]"}}), "f32[2,3,4]");
  EXPECT_EQ(Infer({"add", {"f32[2,3,4]", "f32[4]"}}), "binary.broadcast");
  EXPECT_EQ(Infer({"lt", {"f32[2]", "f32[2,3]"}}), "boolean[2,3]");
  EXPECT_EQ(Infer({"and", {"boolean[2]", "boolean[1,3]"}}), "boolean[2,3]");
  EXPECT_EQ(Infer({"and", {"boolean[2]", "f32[1,3]"}}), "node.input-type");
  EXPECT_EQ(
      Message({"sub", {"f32[2,3]", "f32[2,4]"}}),
      "`y` of `sub` has shape [2,4], which does not broadcast with [2,3]: the extents differ along axis 1");
}

TEST(ElementwiseTest, BroadcastOfPartialShapes) {
  EXPECT_EQ(Infer({"add", {"f32[?]", "f32[1]"}}), "f32[?]");
  EXPECT_EQ(Infer({"add", {"f32[?]", "f32[5]"}}), "f32[5]");
  EXPECT_EQ(Infer({"add", {"f32[2..8]", "f32[5]"}}), "f32[5]");
  EXPECT_EQ(Infer({"add", {"f32[2..8]", "f32[4..9]"}}), "f32[4..8]");
  EXPECT_EQ(Infer({"add", {"f32[1..8]", "f32[4..9]"}}), "f32[4..9]");
  EXPECT_EQ(Infer({"add", {"f32[2..4]", "f32[5]"}}), "binary.broadcast");
  EXPECT_EQ(Infer({"add", {"f32[...]", "f32[5]"}}), "f32[...]");
}

TEST(ElementwiseTest, SelectAndSimplifiers) {
  EXPECT_EQ(Infer({"select", {"boolean[1,3]", "f32[2]", "f32[]"}, "dtype = \"scalar\""}), "f32[2,3]");
  EXPECT_EQ(Infer({"select", {"boolean[2]", "i64[2]", "i64[2]"}, "dtype = \"integer\""}), "i64[2]");
  EXPECT_EQ(Infer({"select", {"boolean[2]", "i64[2]", "f32[2]"}}), "node.input-types-differ");
  EXPECT_EQ(Infer({"select", {"f32[2]", "f32[2]", "f32[2]"}}), "node.input-type");
  EXPECT_EQ(Infer({"select", {"boolean[2]", "f32[3]", "f32[]"}}), "binary.broadcast");
  EXPECT_EQ(Infer({"clamp", {"f32[2,3]", "f32[]", "f32[1,3]"}}), "f32[2,3]");
  EXPECT_EQ(Infer({"max", {"f32[2,1]", "f32[1,3]"}}), "f32[2,3]");
}

// Scalars are stored in several types; that of the values determines that of the result.
TEST(ElementwiseTest, StoredTypesOfScalars) {
  for (const auto& [type, other] :
       {std::pair("f16", "f32"), std::pair("f32", "f16"), std::pair("f64", "f32")}) {
    const std::string a = std::string(type) + "[2]", b = std::string(other) + "[2]";
    for (const std::string_view op : {"add", "sub", "mul", "div", "pow", "min", "max"})
      EXPECT_EQ(Infer({op, {a, b}}), a) << op;
    EXPECT_EQ(Infer({"clamp", {a, b, b}}), a);
    EXPECT_EQ(Infer({"select", {"boolean[2]", a, b}, "dtype = \"scalar\""}), a);
  }
}

}  // namespace
}  // namespace nnefc::ir::ops
