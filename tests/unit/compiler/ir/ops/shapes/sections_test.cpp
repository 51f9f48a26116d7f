#include "compiler/ir/ops/shapes/slice_shape.h"

#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/ops/infer_support.h"

namespace nnefc::ir::ops {
namespace {

TEST(SplitTest, ShapesAndRules) {
  EXPECT_EQ(Infer({"split", {"f32[2,12]"}, "axis = 1, ratios = [1,2,3]", 3}), "f32[2,2]; f32[2,4]; f32[2,6]");
  EXPECT_EQ(Infer({"split", {"f32[2,?]"}, "axis = 1, ratios = [1,1]", 2}), "f32[2,?]; f32[2,?]");
  // Of 5 to 8 elements, 8 are a multiple of 4; of 5 to 7 none are.
  EXPECT_EQ(Infer({"split", {"f32[2,5..8]"}, "axis = 1, ratios = [1,3]", 2}), "f32[2,2]; f32[2,6]");
  EXPECT_EQ(Infer({"split", {"f32[2,5..]"}, "axis = 1, ratios = [1,3]", 2}), "f32[2,2..]; f32[2,6..]");
  EXPECT_EQ(Message({"split", {"f32[2,5..7]"}, "axis = 1, ratios = [1,3]", 2}),
            "the sum 4 of `ratios` of `split` does not divide the extent 5..7 of axis 1");
  EXPECT_EQ(Infer({"split", {"f32[2,12]"}, "axis = 1, ratios = [1,2]", 3}), "node.arity");
  EXPECT_EQ(Infer({"split", {"f32[2,12]"}, "axis = 1, ratios = [2,3]", 2}), "split.ratios");
  EXPECT_EQ(Infer({"split", {"f32[2,12]"}, "axis = 1, ratios = [0,1]", 2}), "split.ratios");
  EXPECT_EQ(Infer({"split", {"f32[2,12]"}, "axis = 1, ratios = []", 0}), "split.ratios");
  EXPECT_EQ(
      Infer({"split", {"f32[2,12]"}, "axis = 1, ratios = [9223372036854775807,9223372036854775807]", 2}),
      "split.ratios");
  EXPECT_EQ(Infer({"split", {"f32[2,12]"}, "axis = 2, ratios = [1,2]", 2}), "axis.range");
}

TEST(ConcatTest, ShapesAndRules) {
  EXPECT_EQ(Infer({"concat", {"f32[2,3]", "f32[2,4]", "f32[2,5]"}, "axis = 1"}), "f32[2,12]");
  EXPECT_EQ(Infer({"concat", {"i64[2,3]"}, "axis = 0"}), "i64[2,3]");
  EXPECT_EQ(Infer({"concat", {"f32[?,3]", "f32[2,1..4]"}, "axis = 1"}), "f32[2,4..7]");
  EXPECT_EQ(Infer({"concat", {"f32[2,3]", "f32[3,3]"}, "axis = 1"}), "concat.extents");
  EXPECT_EQ(Infer({"concat", {"f32[2,3]", "f32[2]"}, "axis = 1"}), "concat.rank");
  EXPECT_EQ(Infer({"concat", {"f32[2,3]", "i64[2,3]"}, "axis = 1"}), "node.input-types-differ");
  EXPECT_EQ(Infer({"concat", {}, "axis = 1"}), "concat.empty");
  EXPECT_EQ(Infer({"concat", {"f32[2,3]"}, "axis = 2"}), "axis.range");
  EXPECT_EQ(Infer({"concat", {"f32[9223372036854775806]", "f32[9]"}, "axis = 0"}), "shape.overflow");
}

TEST(StackTest, ShapesAndRules) {
  EXPECT_EQ(Infer({"stack", {"f32[2,3]", "f32[2,3]"}, "axis = 1"}), "f32[2,2,3]");
  EXPECT_EQ(Infer({"stack", {"f32[2,3]", "f32[2,?]", "f32[?,3]"}, "axis = 2"}), "f32[2,3,3]");
  EXPECT_EQ(Infer({"stack", {"f32[]"}, "axis = 0"}), "f32[1]");
  EXPECT_EQ(Infer({"stack", {"f32[2,3]", "f32[2,4]"}, "axis = 0"}), "stack.shapes");
  EXPECT_EQ(Infer({"stack", {"f32[2,3]"}, "axis = 3"}), "axis.range");
  EXPECT_EQ(Infer({"stack", {}, "axis = 0"}), "concat.empty");
  EXPECT_EQ(Infer({"unstack", {"f32[2,3]"}, "axis = 0", 2}), "f32[3]; f32[3]");
  EXPECT_EQ(Infer({"unstack", {"f32[?,3]"}, "axis = 0", 2}), "f32[3]; f32[3]");
  EXPECT_EQ(Infer({"unstack", {"f32[2,3]"}, "axis = 1", 2}), "unstack.count");
  EXPECT_EQ(Infer({"unstack", {"f32[2,3]"}, "axis = 2", 2}), "axis.range");
}

std::string Slice(std::string_view attributes) {
  return Infer({"slice", {"f32[4,10]"}, attributes});
}

TEST(SliceTest, Shapes) {
  EXPECT_EQ(Slice("axes = [1], begin = [2], end = [7]"), "f32[4,5]");
  EXPECT_EQ(Slice("axes = [1], begin = [2], end = [0]"), "f32[4,8]");  // 0: to the end
  EXPECT_EQ(Slice("axes = [1], begin = [2], end = [0], stride = [1]"), "f32[4,8]");
  EXPECT_EQ(Slice("axes = [1], begin = [-3], end = [-1]"), "f32[4,2]");
  EXPECT_EQ(Slice("axes = [1], begin = [2], end = [99]"), "f32[4,8]");
  EXPECT_EQ(Slice("axes = [1], begin = [0], end = [5], stride = [2]"), "f32[4,3]");  // ceil(5 / 2)
  EXPECT_EQ(Slice("axes = [1], begin = [-1], end = [0], stride = [-1]"), "f32[4,9]");
  EXPECT_EQ(Slice("axes = [1], begin = [-1], end = [-11], stride = [-1]"), "f32[4,10]");
  EXPECT_EQ(Slice("axes = [1], begin = [9], end = [-99], stride = [-4]"), "f32[4,3]");
  EXPECT_EQ(Slice("axes = [1,0], begin = [1,0], end = [3,0], stride = [1,1]"), "f32[4,2]");
  EXPECT_EQ(Slice("axes = [1], begin = [3], end = [3]"), "f32[4,0]");
  EXPECT_EQ(Slice("axes = [1], begin = [0], end = [9223372036854775807], stride = [9223372036854775807]"),
            "f32[4,1]");
  EXPECT_EQ(Slice("axes = [1], begin = [9], end = [-9223372036854775808], stride = [-9223372036854775808]"),
            "f32[4,1]");
}

TEST(SliceTest, PartialShapes) {
  EXPECT_EQ(Infer({"slice", {"f32[?]"}, "axes = [0], begin = [2], end = [7]"}), "f32[..5]");
  EXPECT_EQ(Infer({"slice", {"f32[?]"}, "axes = [0], begin = [1], end = [0]"}), "f32[?]");
  EXPECT_EQ(Infer({"slice", {"f32[?]"}, "axes = [0], begin = [0], end = [0]"}), "f32[?]");
  EXPECT_EQ(Infer({"slice", {"f32[?]"}, "axes = [0], begin = [0], end = [0], stride = [2]"}), "f32[0]");
  EXPECT_EQ(Infer({"slice", {"f32[3..9]"}, "axes = [0], begin = [0], end = [0], stride = [1]"}), "f32[..9]");
  EXPECT_EQ(Infer({"slice", {"f32[?]"}, "axes = [0], begin = [-7], end = [-2]"}), "f32[..5]");
  EXPECT_EQ(Infer({"slice", {"f32[?]"}, "axes = [0], begin = [7], end = [2], stride = [-2]"}), "f32[..3]");
  EXPECT_EQ(Infer({"slice", {"f32[3..9]"}, "axes = [0], begin = [1], end = [-1], stride = [2]"}), "f32[..5]");
}

TEST(SliceTest, Rules) {
  EXPECT_EQ(Slice("axes = [1], begin = [2,3], end = [7]"), "slice.lengths");
  EXPECT_EQ(Slice("axes = [1], begin = [2], end = []"), "slice.lengths");
  EXPECT_EQ(Slice("axes = [1], begin = [2], end = [7], stride = [1,1]"), "slice.lengths");
  EXPECT_EQ(Slice("axes = [1], begin = [2], end = [7], stride = [0]"), "slice.stride");
  EXPECT_EQ(Slice("axes = [2], begin = [2], end = [7]"), "axis.range");
  EXPECT_EQ(Slice("axes = [1,1], begin = [2,2], end = [7,7]"), "axis.repeated");
  EXPECT_EQ(Slice("axes = [1], begin = [7], end = [2]"), "slice.range");
  EXPECT_EQ(Slice("axes = [1], begin = [2], end = [7], stride = [-1]"), "slice.range");
  EXPECT_EQ(Slice("axes = [1], begin = [2], end = [0], stride = [2]"), "slice.range");  // 0 means 0 here
  EXPECT_EQ(Slice("axes = [1], begin = [-11], end = [2]"), "slice.range");
  EXPECT_EQ(Slice("axes = [1], begin = [10], end = [2], stride = [-1]"), "slice.range");
}

// Only a stride forwards or backwards leads from the begin to the end.
TEST(SliceTest, DirectionsOfRanges) {
  const auto has_range = [](int64_t begin, int64_t end, int64_t stride) {
    return ResolvedRange(10, {begin, end, stride, false}).has_value();
  };
  for (const int64_t stride : {1, 2}) {
    EXPECT_TRUE(has_range(2, 7, stride) && has_range(7, 2, -stride));
    EXPECT_FALSE(has_range(7, 2, stride) || has_range(2, 7, -stride));
  }
  EXPECT_FALSE(has_range(2, 7, 0) || has_range(7, 2, 0) || has_range(2, 2, 0));
}

TEST(PadTest, ShapesAndRules) {
  EXPECT_EQ(Infer({"pad", {"f32[2,3]"}, "padding = [[0,0],[1,2]]"}), "f32[2,6]");
  EXPECT_EQ(Infer({"pad", {"f32[2,3]"}, "padding = [[0,-1],[1,2]]"}), "f32[1,6]");
  EXPECT_EQ(Infer({"pad", {"f32[2..5,?]"}, "padding = [[1,1],[-3,2]]"}), "f32[4..7,?]");
  EXPECT_EQ(Infer({"pad", {"f32[2,3]"}, "padding = [[0,0],[2,2]], border = \"reflect\""}), "f32[2,7]");
  EXPECT_EQ(Infer({"pad", {"f32[2,3]"}, "padding = [[0,0],[3,2]], border = \"reflect\""}),
            "pad.border-reach");
  EXPECT_EQ(Infer({"pad", {"f32[2,3]"}, "padding = [[0,0],[3,4]], border = \"reflect-even\""}),
            "pad.border-reach");
  EXPECT_EQ(Infer({"pad", {"f32[2,3]"}, "padding = [[0,0],[3,3]], border = \"reflect-even\""}), "f32[2,9]");
  EXPECT_EQ(Infer({"pad", {"f32[2,3]"}, "padding = [[0,0]]"}), "pad.length");
  EXPECT_EQ(Infer({"pad", {"f32[2,3]"}, "padding = []"}), "pad.length");
  EXPECT_EQ(Infer({"pad", {"f32[2,3]"}, "padding = [[0,0],[-1,-2]]"}), "pad.extent");
  EXPECT_EQ(Infer({"pad", {"f32[2,3]"}, "padding = [[0,0],[0,0]], border = \"ignore\""}), "pad.border");
  EXPECT_EQ(Infer({"pad", {"f32[2]"}, "padding = [[9223372036854775807,9223372036854775807]]"}),
            "shape.overflow");
  EXPECT_EQ(Infer({"pad", {"i64[2,3]"}, "padding = [[0,0],[0,0]]"}), "node.input-type");
}

TEST(TileTest, ShapesAndRules) {
  EXPECT_EQ(Infer({"tile", {"f32[2,3]"}, "repeats = [2,3]"}), "f32[4,9]");
  EXPECT_EQ(Infer({"tile", {"f32[?,1..2]"}, "repeats = [2,3]"}), "f32[?,3..6]");
  EXPECT_EQ(Infer({"tile", {"f32[2,3]"}, "repeats = [2]"}), "tile.repeats");
  EXPECT_EQ(Infer({"tile", {"f32[2,3]"}, "repeats = [2,0]"}), "tile.repeats");
  EXPECT_EQ(Infer({"tile", {"f32[2,3]"}, "repeats = [9223372036854775807,1]"}), "shape.overflow");
  EXPECT_EQ(Infer({"tile", {"f32[1,1]"}, "repeats = [9223372036854775806,9223372036854775806]"}),
            "shape.overflow");
}

TEST(GatherTest, ShapesAndRules) {
  EXPECT_EQ(Infer({"gather", {"f32[2,3,4]", "i64[5,6]"}, "axis = 1"}), "f32[2,5,6,4]");
  EXPECT_EQ(Infer({"gather", {"f32[2,3,4]", "i64[]"}}), "f32[3,4]");
  EXPECT_EQ(Infer({"gather", {"boolean[2,3]", "i64[?]"}, "axis = 1"}), "boolean[2,?]");
  EXPECT_EQ(Infer({"gather", {"f32[2,3]", "i64[5]"}, "axis = 2"}), "axis.range");
  EXPECT_EQ(Infer({"gather", {"f32[2,3]", "f32[5]"}}), "node.input-type");
}

// An index must exist for the largest extent that the axis may have.
TEST(GatherTest, IndicesOfOpenAxes) {
  for (const auto& [index, label] : {std::pair(1, ""), std::pair(3, ""), std::pair(4, "gather.index")}) {
    Graph graph(&StandardOps(), "g");
    const OutputPort inputs[] = {{AddParameter(graph, "x", ElementType::kF32, {Dim(2, 4), Dim(3)}), 0},
                                 {AddConst(graph, TensorValue::FromInts({1}, {index}), "i"), 0}};
    const OpInfo& row = StandardOps().Info(StandardOps().Find(kNnefSet, "gather"));
    const NodeId node =
        AddNode(graph, kNnefSet, "gather",
                {.name = "y", .inputs = inputs, .attributes = CompletedAttributes(row, "axis = 0")});
    Emitter emitter;
    EXPECT_EQ(ir::InferNode(graph, node, emitter), std::string_view(label).empty()) << index;
    EXPECT_EQ(emitter.diagnostics().empty() ? "" : emitter.diagnostics()[0].rule->label, label) << index;
  }
}

// An index that does not exist is reported, and not the size of the result as well.
TEST(GatherTest, ReportsTheIndexAlone) {
  for (const int64_t index : {-1, 0, 1}) {
    Graph graph(&StandardOps(), "g");
    const OutputPort inputs[] = {{AddParameter(graph, "x", ElementType::kF32, {1, int64_t{1} << 61}), 0},
                                 {AddConst(graph, TensorValue::FromInts({4}, {0, 0, 0, index}), "i"), 0}};
    const OpInfo& row = StandardOps().Info(StandardOps().Find(kNnefSet, "gather"));
    const NodeId node =
        AddNode(graph, kNnefSet, "gather",
                {.name = "y", .inputs = inputs, .attributes = CompletedAttributes(row, "axis = 0")});
    Emitter emitter;
    EXPECT_FALSE(ir::InferNode(graph, node, emitter));
    ASSERT_EQ(emitter.diagnostics().size(), 1u) << index;
    EXPECT_EQ(emitter.diagnostics()[0].rule->label, index == 0 ? "shape.overflow" : "gather.index") << index;
  }
}

}  // namespace
}  // namespace nnefc::ir::ops
