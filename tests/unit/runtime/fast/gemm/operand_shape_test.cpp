// Classification of operands by their shapes.

#include "runtime/fast/gemm/operand_shape.h"

#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::fast::gemm {
namespace {

TEST(OperandShapeTest, OperandsOfAdditions) {
  TestGraph g;
  const auto addition = [&](const char* broadcast) -> const ir::Node& {
    const ir::OutputPort x = g.Parameter("x", {2, 16, 4, 5});
    return g.graph->node(g.Op("Add", {x, x}, With("auto_broadcast", broadcast)).node);
  };
  const ir::Node& numpy = addition("numpy");
  const ir::Node& pdpd = addition("pdpd");
  const auto of = [](const ir::Node& node, const Shape& operand, const Shape& result = {2, 16, 4, 5}) {
    return ClassifyOperand(node, operand, result, 1);
  };
  for (const ir::Node* node : {&numpy, &pdpd}) {
    EXPECT_EQ(of(*node, {}), OperandShape::kScalar);
    EXPECT_EQ(of(*node, {1}), OperandShape::kScalar);
    EXPECT_EQ(of(*node, {1, 1, 1, 1}), OperandShape::kScalar);
    EXPECT_EQ(of(*node, {1, 16, 1, 1}), OperandShape::kPerChannel);
    EXPECT_EQ(of(*node, {2, 16, 4, 5}), OperandShape::kFull);
    EXPECT_EQ(of(*node, {2, 16, 1, 1}), OperandShape::kOther);
    EXPECT_EQ(of(*node, {1, 16, 4, 1}), OperandShape::kOther);
    // More axes than the result, even of one element.
    EXPECT_EQ(of(*node, {1, 1}, {1}), OperandShape::kOther);
    EXPECT_EQ(of(*node, {1, 1, 16}, {1, 16}), OperandShape::kOther);
  }
  // Missing axes are the first ones only if the last axes are aligned.
  EXPECT_EQ(of(numpy, {16, 1, 1}), OperandShape::kPerChannel);
  EXPECT_EQ(of(pdpd, {16, 1, 1}), OperandShape::kOther);
  EXPECT_EQ(of(pdpd, {16, 4, 5}), OperandShape::kOther);
  EXPECT_EQ(of(numpy, {16}, {2, 16}), OperandShape::kPerChannel);
  EXPECT_EQ(of(pdpd, {16}, {2, 16}), OperandShape::kOther);
}

// Slopes of one axis belong to the second axis of the result if they are as many, otherwise to the last one.
TEST(OperandShapeTest, SlopesOfOneAxis) {
  TestGraph g;
  const ir::OutputPort x = g.Parameter("x", {2, 8, 16});
  const ir::Node& node = g.graph->node(g.Op("PReLU", {x, g.Weights({8}, 1)}).node);
  const auto of = [&](const Shape& slopes, const Shape& result, int64_t channel_axis) {
    return ClassifyOperand(node, slopes, result, channel_axis);
  };
  EXPECT_EQ(of({8}, {2, 8, 16}, 1), OperandShape::kPerChannel);
  EXPECT_EQ(of({8}, {2, 8, 16}, 2), OperandShape::kOther);
  EXPECT_EQ(of({16}, {2, 8, 16}, 1), OperandShape::kOther);
  EXPECT_EQ(of({16}, {2, 8, 16}, 2), OperandShape::kPerChannel);
  EXPECT_EQ(of({8}, {2, 8, 8}, 1), OperandShape::kPerChannel);
  EXPECT_EQ(of({8}, {2, 8, 8}, 2), OperandShape::kOther);
  EXPECT_EQ(of({1}, {2, 8, 16}, 2), OperandShape::kScalar);
  EXPECT_EQ(of({16}, {8, 16}, 1), OperandShape::kPerChannel);
  EXPECT_EQ(of({8}, {8}, 0), OperandShape::kPerChannel);
  EXPECT_EQ(of({8, 1}, {2, 8, 16}, 1), OperandShape::kPerChannel);
  EXPECT_EQ(of({1, 16}, {2, 8, 16}, 2), OperandShape::kPerChannel);
}

}  // namespace
}  // namespace nnefc::runtime::fast::gemm
