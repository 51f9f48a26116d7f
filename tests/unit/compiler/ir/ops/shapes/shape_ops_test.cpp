#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/ops/infer_support.h"

namespace nnefc::ir::ops {
namespace {

std::string Reshape(std::string_view input, std::string_view attributes) {
  return Infer({"reshape", {input}, attributes});
}

TEST(ReshapeTest, WholeShape) {
  EXPECT_EQ(Reshape("f32[2,3,4]", "shape = [6,4]"), "f32[6,4]");
  EXPECT_EQ(Reshape("f32[2,3,4]", "shape = [-1,4]"), "f32[6,4]");
  EXPECT_EQ(Reshape("f32[2,3,4]", "shape = [0,-1]"), "f32[2,12]");
  EXPECT_EQ(Reshape("f32[2,3,4]", "shape = [0,0,0]"), "f32[2,3,4]");
  EXPECT_EQ(Reshape("f32[2,3,4]", "shape = [0,0,2,-1]"), "f32[2,3,2,2]");
  EXPECT_EQ(Reshape("f32[1,1]", "shape = []"), "f32[]");
  EXPECT_EQ(Reshape("i64[]", "shape = [1,1]"), "i64[1,1]");
}

TEST(ReshapeTest, AxisRange) {
  EXPECT_EQ(Reshape("f32[2,3,4,5]", "shape = [12], axis_start = 1, axis_count = 2"), "f32[2,12,5]");
  EXPECT_EQ(Reshape("f32[2,3,4,5]", "shape = [-1], axis_start = 1"), "f32[2,60]");
  EXPECT_EQ(Reshape("f32[2,3,4,5]", "shape = [1,1], axis_start = 4, axis_count = 0"), "f32[2,3,4,5,1,1]");
  EXPECT_EQ(Reshape("f32[2,3,4,5]", "shape = [0,2,2], axis_start = 1, axis_count = 2"), "f32[2,3,2,2,5]");
}

TEST(ReshapeTest, PartialShapes) {
  EXPECT_EQ(Reshape("f32[?,3,4]", "shape = [0,12]"), "f32[?,12]");
  EXPECT_EQ(Reshape("f32[?,3,4]", "shape = [0,-1]"), "f32[?,12]");
  EXPECT_EQ(Reshape("f32[?,3,4]", "shape = [-1,12]"), "f32[?,12]");
  EXPECT_EQ(Reshape("f32[?,3,4]", "shape = [0,13]"), "reshape.volume");
  EXPECT_EQ(Reshape("f32[2..4,3,4]", "shape = [0,-1]"), "f32[2..4,12]");
  EXPECT_EQ(Reshape("f32[...]", "shape = [0,-1]"), "f32[...]");
}

TEST(ReshapeTest, Rules) {
  EXPECT_EQ(Reshape("f32[2,3]", "shape = [6], axis_start = 3"), "reshape.axis-range");
  EXPECT_EQ(Reshape("f32[2,3]", "shape = [6], axis_start = -1"), "reshape.axis-range");
  EXPECT_EQ(Reshape("f32[2,3]", "shape = [6], axis_count = -2"), "reshape.axis-range");
  EXPECT_EQ(Reshape("f32[2,3]", "shape = [6], axis_start = 1, axis_count = 2"), "reshape.axis-range");
  EXPECT_EQ(Reshape("f32[2,3]", "shape = [6], axis_count = 9223372036854775807, axis_start = 1"),
            "reshape.axis-range");
  EXPECT_EQ(Reshape("f32[2,3]", "shape = [-1,-1]"), "reshape.items");
  EXPECT_EQ(Reshape("f32[2,3]", "shape = [-2,3]"), "reshape.items");
  EXPECT_EQ(Reshape("f32[2,3]", "shape = [6,1,0]"), "reshape.inherit");
  EXPECT_EQ(Reshape("f32[2,3]", "shape = [7]"), "reshape.volume");
  EXPECT_EQ(Reshape("f32[2,3]", "shape = [4,-1]"), "reshape.volume");
  EXPECT_EQ(Reshape("f32[2,3]", "shape = [9223372036854775807,9223372036854775807]"), "shape.overflow");
  EXPECT_EQ(Message({"reshape", {"f32[2,3]"}, "shape = [7]"}),
            "`shape` of `reshape` is [7], which does not fit `input` of `reshape` of shape [2,3]");
}

TEST(SqueezeTest, ShapesAndRules) {
  EXPECT_EQ(Infer({"squeeze", {"f32[1,3,1,4]"}, "axes = [0,2]"}), "f32[3,4]");
  EXPECT_EQ(Infer({"squeeze", {"f32[?,3]"}, "axes = [0]"}), "f32[3]");
  EXPECT_EQ(Infer({"squeeze", {"f32[1]"}, "axes = []"}), "f32[1]");
  EXPECT_EQ(Infer({"squeeze", {"f32[2,3]"}, "axes = [0]"}), "squeeze.singular");
  EXPECT_EQ(Infer({"squeeze", {"f32[2..5,3]"}, "axes = [0]"}), "squeeze.singular");
  EXPECT_EQ(Infer({"squeeze", {"f32[1,3]"}, "axes = [2]"}), "axis.range");
  EXPECT_EQ(Infer({"squeeze", {"f32[1,3]"}, "axes = [-1]"}), "axis.range");
  EXPECT_EQ(Infer({"squeeze", {"f32[1,3]"}, "axes = [0,0]"}), "axis.repeated");
  // `axes` are those of the result.
  EXPECT_EQ(Infer({"unsqueeze", {"f32[3,4]"}, "axes = [0,2]"}), "f32[1,3,1,4]");
  EXPECT_EQ(Infer({"unsqueeze", {"f32[3,4]"}, "axes = [3,2]"}), "f32[3,4,1,1]");
  EXPECT_EQ(Infer({"unsqueeze", {"f32[]"}, "axes = [0]"}), "f32[1]");
  EXPECT_EQ(Infer({"unsqueeze", {"f32[3,4]"}, "axes = [4,0]"}), "axis.range");
}

TEST(TransposeTest, ShapesAndRules) {
  EXPECT_EQ(Infer({"transpose", {"f32[2,3,4,5]"}, "axes = [0,2,3,1]"}), "f32[2,4,5,3]");
  // The trailing axes are unchanged.
  EXPECT_EQ(Infer({"transpose", {"f32[2,3,4,?]"}, "axes = [1,0]"}), "f32[3,2,4,?]");
  EXPECT_EQ(Infer({"transpose", {"f32[2,3]"}, "axes = []"}), "f32[2,3]");
  EXPECT_EQ(Infer({"transpose", {"f32[2,3]"}, "axes = [0,0]"}), "transpose.axes");
  EXPECT_EQ(Infer({"transpose", {"f32[2,3,4]"}, "axes = [0,2]"}), "transpose.axes");
  EXPECT_EQ(Infer({"transpose", {"f32[2,3]"}, "axes = [1,0,2]"}), "transpose.axes");
}

TEST(CastTest, ShapesAndRules) {
  EXPECT_EQ(Infer({"cast", {"f32[2,?]"}, "dtype = \"integer\""}), "i64[2,?]");
  EXPECT_EQ(Infer({"cast", {"boolean[2]"}, "dtype = \"scalar\""}), "f32[2]");
  EXPECT_EQ(Infer({"cast", {"f32[2]"}, "dtype = \"string\""}), "node.data-type");
  EXPECT_EQ(Infer({"cast", {"f32[2]"}, "dtype = \"extent\""}), "node.data-type");
  EXPECT_EQ(Infer({"cast", {"f32[2]"}}), "node.missing-attribute");
}

}  // namespace
}  // namespace nnefc::ir::ops
