#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/ops/infer_support.h"

namespace nnefc::ir::ops {
namespace {

TEST(ReduceTest, Shapes) {
  for (std::string_view op : {"sum_reduce", "mean_reduce", "max_reduce", "min_reduce"}) {
    EXPECT_EQ(Infer({op, {"f32[2,3,?]"}, "axes = [0,2]"}), "f32[1,3,1]") << op;
  }
  EXPECT_EQ(Infer({"sum_reduce", {"f32[2,3]"}, "axes = [], normalize = true"}), "f32[2,3]");
  EXPECT_EQ(Infer({"argmax_reduce", {"f32[2,3]"}, "axes = [1]"}), "i64[2,1]");
  EXPECT_EQ(Infer({"argmin_reduce", {"f32[2,3]"}, "axes = [0,1]"}), "i64[1,1]");
  EXPECT_EQ(Infer({"all_reduce", {"boolean[2,3]"}, "axes = [1]"}), "boolean[2,1]");
  EXPECT_EQ(Infer({"any_reduce", {"boolean[2,3]"}, "axes = [1]"}), "boolean[2,1]");
  EXPECT_EQ(Infer({"moments", {"f32[2,3]"}, "axes = [1]", 2}), "f32[2,1]; f32[2,1]");
}

TEST(ReduceTest, Rules) {
  EXPECT_EQ(Infer({"sum_reduce", {"f32[2,3]"}, "axes = [2]"}), "axis.range");
  EXPECT_EQ(Infer({"sum_reduce", {"f32[2,3]"}, "axes = [-1]"}), "axis.range");
  EXPECT_EQ(Infer({"max_reduce", {"f32[2,3]"}, "axes = [1,1]"}), "axis.repeated");
  EXPECT_EQ(Infer({"all_reduce", {"f32[2,3]"}, "axes = [1]"}), "node.input-type");
  EXPECT_EQ(Infer({"moments", {"f32[2,3]"}, "axes = [1]", 1}), "node.arity");
  EXPECT_EQ(Message({"sum_reduce", {"f32[2,3]"}, "axes = [1,2]"}),
            "`axes[1]` of `sum_reduce` is 2; expected at least 0 and less than 2");
}

}  // namespace
}  // namespace nnefc::ir::ops
