// What is evaluated while a model is compiled has the numbers of a run.

#include "runtime/engine/evaluate.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime {
namespace {

// What a node computes from parameters, and from constants by the evaluator.
void ExpectSame(std::string_view operation, const std::vector<TensorValue>& inputs,
                const ir::AttributeMap& attributes = {}) {
  TestGraph g;
  std::vector<ir::OutputPort> ports;
  for (const TensorValue& input : inputs) ports.push_back(g.Parameter("x", input.shape(), input.type()));
  const ir::OutputPort made = g.Op(operation, ports, attributes);
  g.Result(made);
  const std::vector<TensorValue> ran = RunGraph(g.graph, {.backend = Backend::kReference}, inputs);
  const ir::Node& node = g.graph->node(made.node);
  const auto evaluated = ReferenceEvaluator()(node, node.outputs(), inputs);
  ASSERT_TRUE(evaluated.has_value()) << operation;
  ASSERT_EQ(ran.size(), 1u);
  const TensorValue& one = evaluated->front();
  ASSERT_EQ(one.type(), ran[0].type());
  ASSERT_EQ(one.shape(), ran[0].shape());
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(one.bytes()), one.byte_size()),
            std::string(reinterpret_cast<const char*>(ran[0].bytes()), ran[0].byte_size()))
      << operation << " of " << Name(inputs[0].type());
}

TEST(EvaluatorTest, EveryElementType) {
  for (ElementType type : {ElementType::kF64, ElementType::kF32, ElementType::kF16, ElementType::kBF16,
                           ElementType::kI64, ElementType::kI32, ElementType::kI16, ElementType::kI8,
                           ElementType::kU64, ElementType::kU32, ElementType::kU16, ElementType::kU8}) {
    const TensorValue a = TensorValue::FromInts({4}, {3, 7, 100, 1}).ConvertedTo(type);
    const TensorValue b = TensorValue::FromInts({4}, {2, 7, 3, 100}).ConvertedTo(type);
    for (const char* operation : {"Add", "Multiply", "Divide", "Maximum", "Less"})
      ExpectSame(operation, {a, b}, With("auto_broadcast", "numpy"));
    ExpectSame("Convert", {a}, With("destination_type", ElementType::kF32));
  }
  const TensorValue logicals = TensorValue::FromBools({2}, {1, 0});
  ExpectSame("LogicalNot", {logicals});
  ExpectSame("Convert", {logicals}, With("destination_type", ElementType::kU8));
}

TEST(EvaluatorTest, InfinitiesAndNaN) {
  const TensorValue x = TensorValue::FromFloats({6}, {kNan, kInfinity, -kInfinity, 0.0F, -0.0F, -1.0F});
  for (const char* operation : {"Sqrt", "Log", "Exp", "Negative", "Sigmoid", "ReLU", "Tanh"})
    ExpectSame(operation, {x});
  const TensorValue y = TensorValue::FromFloats({6}, {1, kInfinity, kInfinity, 0.0F, kInfinity, kNan});
  for (const char* operation : {"Add", "Multiply", "Divide", "Maximum", "Power"})
    ExpectSame(operation, {x, y}, With("auto_broadcast", "numpy"));
}

TEST(EvaluatorTest, WhatFailsIsLeft) {
  TestGraph g;
  const auto x = g.Parameter("x", {3});
  const auto indices = g.Parameter("i", {1}, ElementType::kI64);
  const auto axis = g.Const(TensorValue::FromInts({}, {0}));
  const ir::Node& gather =
      g.graph->node(g.Op("opset8", "Gather", {x, indices, axis}, With("batch_dims", 0)).node);
  const auto at = [&](int64_t index) {
    const std::vector<TensorValue> inputs = {TensorValue::FromFloats({3}, {1, 2, 3}),
                                             TensorValue::FromInts({1}, {index}),
                                             TensorValue::FromInts({}, {0})};
    return ReferenceEvaluator()(gather, gather.outputs(), inputs);
  };
  ASSERT_TRUE(at(2).has_value());
  EXPECT_EQ(at(2)->front(), TensorValue::FromFloats({1}, {3}));
  EXPECT_FALSE(at(7).has_value());  // beyond the axis
}

}  // namespace
}  // namespace nnefc::runtime
