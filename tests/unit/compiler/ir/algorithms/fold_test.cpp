#include "compiler/ir/algorithms/fold.h"

#include "compiler/ir/algorithms/infer.h"
#include "gtest/gtest.h"

namespace nnefc::ir {
namespace {

class FoldTest : public ::testing::Test {
 protected:
  FoldTest() { registry_.Add({.set = "test", .name = "loop"}); }

  bool IsFoldableNode(std::string_view set, std::string_view type, int32_t num_outputs = 1,
                      bool has_body = false) {
    const NodeId node = AddNode(graph_, set, type, {.name = "n", .num_outputs = num_outputs});
    if (has_body) graph_.AddBody(node, {.role = "b", .graph = std::make_unique<Graph>(&registry_, "b")});
    return IsFoldable(graph_.node(node));
  }

  OpRegistry registry_{&StandardOps()};
  Graph graph_{&registry_, "g"};
};

TEST_F(FoldTest, OutputsDependOnInputsAlone) {
  EXPECT_TRUE(IsFoldableNode("opset1", "ReLU"));
  EXPECT_TRUE(IsFoldableNode("opset1", "Split", 3));
  EXPECT_TRUE(IsFoldableNode("test", "loop"));
  EXPECT_FALSE(IsFoldableNode("test", "loop", 1, true));
  EXPECT_FALSE(IsFoldableNode("test", "loop", 0));
  EXPECT_FALSE(IsFoldableNode("opset1", "Const"));
  EXPECT_FALSE(IsFoldableNode("opset1", "Parameter"));
  EXPECT_FALSE(IsFoldableNode("nnef", "external"));
  EXPECT_FALSE(IsFoldableNode("nnef", "variable"));
  EXPECT_FALSE(IsFoldableNode("opset1", "Result", 0));
  EXPECT_FALSE(IsFoldableNode("nnef", "update"));
  EXPECT_FALSE(IsFoldableNode("opset8", "RandomUniform"));
  for (const char* set : {"opset3", "opset6"}) {
    EXPECT_FALSE(IsFoldableNode(set, "ReadValue")) << set;
    EXPECT_FALSE(IsFoldableNode(set, "Assign")) << set;
  }
}

// A result of 10 elements in 16 bits, of inputs of 3 and 2 elements in 32 bits: 20 bytes of 20.
TEST_F(FoldTest, ResultsAreBounded) {
  const OutputPort inputs[] = {{AddConst(graph_, TensorValue::FromFloats({3}, {1, 2, 3}), "a"), 0},
                               {AddConst(graph_, TensorValue::FromFloats({2}, {4, 5}), "b"), 0}};
  const NodeId id = AddNode(graph_, "test", "loop", {.name = "n", .inputs = inputs, .num_outputs = 2});
  const auto is_known = [&](FoldBound bound, int64_t first = 7, int64_t second = 3) {
    graph_.SetOutputType({id, 0}, ElementType::kF16, PartialShape{first});
    graph_.SetOutputType({id, 1}, ElementType::kF16, PartialShape{second});
    return KnownInputs(graph_, graph_.node(id), bound).has_value();
  };
  EXPECT_TRUE(is_known({}));
  EXPECT_FALSE(is_known({}, 8));
  EXPECT_FALSE(is_known({}, 7, 4));
  EXPECT_FALSE(is_known({.bytes = 19, .times_inputs = 0}));
  EXPECT_TRUE(is_known({.bytes = 20, .times_inputs = 0}));
  EXPECT_TRUE(is_known({.times_inputs = 2}, 17));
  EXPECT_FALSE(is_known({.times_inputs = 2}, 18));
  EXPECT_TRUE(is_known({.bytes = 42, .times_inputs = 2}, 18));
  EXPECT_TRUE(is_known({.times_inputs = 2, .counts_elements = true}));
  EXPECT_FALSE(is_known({.times_inputs = 2, .counts_elements = true}, 8));
  EXPECT_TRUE(is_known({.bytes = 22, .times_inputs = 2, .counts_elements = true}, 8));
  const auto values = KnownInputs(graph_, graph_.node(id), {.bytes = 1000});
  ASSERT_TRUE(values.has_value());
  EXPECT_EQ(values->size(), 2u);
  EXPECT_EQ((*values)[1].ElementAsDouble(1), 5);

  graph_.SetOutputType({id, 1}, ElementType::kF16, PartialShape::OfRank(1));
  EXPECT_FALSE(KnownInputs(graph_, graph_.node(id), {.bytes = 1000}).has_value());
  graph_.SetOutputType({id, 1}, ElementType::kDynamic, PartialShape{1});
  EXPECT_EQ(KnownInputs(graph_, graph_.node(id), {.bytes = 1000}).has_value(),
            ByteSize(ElementType::kDynamic, 1).has_value());
  graph_.SetOutputType({id, 1}, ElementType::kF32, PartialShape{INT64_MAX - 1});
  EXPECT_FALSE(KnownInputs(graph_, graph_.node(id), {.bytes = 1000}).has_value());
  graph_.SetOutputType({id, 1}, ElementType::kF16, PartialShape{1});
  graph_.SetOutputValue(inputs[1], std::nullopt);
  EXPECT_FALSE(KnownInputs(graph_, graph_.node(id), {.bytes = 1000}).has_value());
}

TEST(ArgumentTest, Text) {
  EXPECT_EQ(ToString(Argument{"values", "concat"}), "`values` of `concat`");
  EXPECT_EQ(ToString(Argument{"values", "concat", 0}), "`values[0]` of `concat`");
  EXPECT_EQ(ToString(Argument{"values", "concat", 12}), "`values[12]` of `concat`");
  EXPECT_EQ(ToString(Argument{"values", "concat"}.At(3)), "`values` of `concat`");
}

}  // namespace
}  // namespace nnefc::ir
