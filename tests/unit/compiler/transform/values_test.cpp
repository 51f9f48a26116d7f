// Constants at ports, and the inputs and readers of nodes.

#include "compiler/transform/values.h"

#include "compiler/transform/product.h"
#include "compiler/transform/scoped_names.h"
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

// The last node of a product may have several readers; others that have are factors.
TEST_F(ValuesOfPortsTest, ProductsWithSeveralReaders) {
  const auto ir = Parse(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.Parameter "y" {element_type = f32, shape = [2]} : f32[2]
  %2 = opset1.Multiply "m" (%0, %1) : f32[2]
  %3 = opset1.Multiply "n" (%2, %0) : f32[2]
  opset1.Result "a" (%2)
  opset1.Result "b" (%3)
  opset1.Result "c" (%3)
)");
  Graph graph(*ir);
  const auto factors = [&](const char* name) {
    std::string text;
    for (const Product::Factor& factor : ProductOf(graph.FindNode(name)->out_port(0)).factors)
      text += fmt::format("{}^{} ", factor.value.node().name(), factor.exponent);
    return text;
  };
  EXPECT_EQ(factors("m"), "x^1 y^1 ");
  EXPECT_EQ(factors("n"), "m^1 x^1 ");
}

// A node without a name is called by its operation, and the second one by a number, too.
TEST_F(ValuesOfPortsTest, NamesOfUnnamedNodes) {
  const auto ir = Parse(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.ReLU "" (%0) : f32[2]
  %2 = opset1.ReLU "" (%1) : f32[2]
  opset1.Result "y" (%2)
)");
  const ScopedNames names(*ir);
  std::vector<std::string> found;
  for (ir::NodeId id : names.operations()) found.push_back(names.Of(id));
  EXPECT_EQ(found, (std::vector<std::string>{"x", "ReLU", "ReLU_2"}));
}

}  // namespace
}  // namespace nnefc::transform
