// Constants at ports, and the inputs and readers of nodes.

#include "compiler/transform/values.h"

#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform {
namespace {

class ValuesOfPortsTest : public TransformTest {};

TEST_F(ValuesOfPortsTest, NumbersThatAllElementsEqual) {
  const auto number = [&](const TensorValue& value) {
    ir::Graph ir(&ir::StandardOps());
    Graph graph(ir);
    return KnownNumber(graph.CreateConst(value).out_port(0));
  };
  EXPECT_EQ(number(TensorValue::FromFloats({}, {2})), 2);
  EXPECT_EQ(number(TensorValue::FromFloats({3}, {2, 2, 2})), 2);
  EXPECT_EQ(number(TensorValue::FromFloats({3}, {2, 2, 1})), std::nullopt);
  EXPECT_EQ(number(TensorValue::FromFloats({2}, {1, 2})), std::nullopt);
  EXPECT_EQ(number(TensorValue::FromFloats({0}, {})), std::nullopt);
  const std::optional<double> nan = number(TensorValue::FromFloats({1}, {std::nanf("")}));
  ASSERT_TRUE(nan.has_value());
  EXPECT_TRUE(std::isnan(*nan));
}

TEST_F(ValuesOfPortsTest, OtherInputsOfBinaryNodes) {
  const auto ir = Parse(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.Abs "a" (%0) : f32[2]
  %2 = opset1.Add "first" (%1, %0) : f32[2]
  %3 = opset1.Add "second" (%0, %1) : f32[2]
  %4 = opset1.Add "both" (%1, %1) : f32[2]
  %5 = opset1.Add "neither" (%0, %0) : f32[2]
  %6 = opset1.Concat "three" (%1, %0, %0) {axis = 0} : f32[6]
  %7 = opset1.Sin "one" (%1) : f32[2]
)");
  ASSERT_NE(ir, nullptr);
  Graph graph(*ir);
  const Node a = *graph.FindNode("a");
  const Port x = graph.FindNode("x")->out_port(0);
  for (const char* name : {"first", "second"}) EXPECT_EQ(OtherInput(*graph.FindNode(name), a), x) << name;
  for (const char* name : {"both", "neither", "three", "one"})
    EXPECT_EQ(OtherInput(*graph.FindNode(name), a), std::nullopt) << name;
}

}  // namespace
}  // namespace nnefc::transform
