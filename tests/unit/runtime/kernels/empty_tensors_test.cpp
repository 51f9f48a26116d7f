// Operations on tensors without elements: along the first axis, and along the axis that they compute on.

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::kernels {
namespace {

using Pairs = std::vector<std::pair<std::string_view, ir::Attribute>>;
using Ints = ir::Attribute::Integers;

struct EmptyCase {
  std::string_view set, name;
  std::vector<Shape> shapes;               // of parameters
  std::vector<std::vector<int64_t>> ints;  // constants after them
  Pairs attributes;
  Shape result;
  int outputs = 1;
};

TEST(EmptyTensorsTest, ResultsOfAllBackends) {
  const Pairs window = {
      {"strides", Ints{1}}, {"dilations", Ints{1}}, {"pads_begin", Ints{1}}, {"pads_end", Ints{1}}};
  Pairs pool = window;
  pool.emplace_back("kernel", Ints{3});
  Pairs average = {{"strides", Ints{1}},
                   {"pads_begin", Ints{1}},
                   {"pads_end", Ints{1}},
                   {"kernel", Ints{3}},
                   {"exclude-pad", true}};
  const Pairs mvn = {{"normalize_variance", true}, {"eps", 1e-6}, {"eps_mode", "inside_sqrt"}};
  const Pairs lrn = {{"alpha", 1e-4}, {"beta", 0.75}, {"bias", 1.0}, {"size", 5}};
  const Pairs l2 = {{"eps", 1e-6}, {"eps_mode", "add"}};
  const std::vector<EmptyCase> cases = {
      {"opset8", "SoftMax", {{0, 3}}, {}, {{"axis", 1}}, {0, 3}},
      {"opset8", "SoftMax", {{3, 0}}, {}, {{"axis", 1}}, {3, 0}},
      {"opset5", "LogSoftmax", {{0, 3}}, {}, {{"axis", 1}}, {0, 3}},
      {"opset5", "LogSoftmax", {{3, 0}}, {}, {{"axis", -1}}, {3, 0}},
      {"opset6", "MVN", {{0, 2, 3}}, {{2}}, mvn, {0, 2, 3}},
      {"opset6", "MVN", {{2, 2, 0}}, {{2}}, mvn, {2, 2, 0}},
      {"opset1", "LRN", {{0, 2, 3}}, {{1}}, lrn, {0, 2, 3}},
      {"opset1", "LRN", {{2, 0, 3}}, {{1}}, lrn, {2, 0, 3}},
      {"opset1", "NormalizeL2", {{0, 3}}, {{1}}, l2, {0, 3}},
      {"opset1", "NormalizeL2", {{3, 0}}, {{1}}, l2, {3, 0}},
      {"opset1", "MatMul", {{0, 3}, {3, 2}}, {}, {}, {0, 2}},
      {"opset1", "MatMul", {{2, 3}, {3, 0}}, {}, {}, {2, 0}},
      {"opset1", "MatMul", {{0, 2, 3}, {0, 3, 2}}, {}, {}, {0, 2, 2}},
      {"opset1", "Convolution", {{0, 2, 5}, {4, 2, 3}}, {}, window, {0, 4, 5}},
      {"opset1", "Convolution", {{1, 2, 5}, {0, 2, 3}}, {}, window, {1, 0, 5}},
      {"opset1", "ConvolutionBackpropData", {{0, 2, 5}, {2, 4, 3}}, {}, window, {0, 4, 5}},
      {"opset8", "MaxPool", {{0, 2, 5}}, {}, pool, {0, 2, 5}, 2},
      {"opset8", "MaxPool", {{2, 0, 5}}, {}, pool, {2, 0, 5}, 2},
      {"opset1", "AvgPool", {{0, 2, 5}}, {}, average, {0, 2, 5}},
      {"opset1", "AvgPool", {{2, 0, 5}}, {}, average, {2, 0, 5}},
      {"opset1", "ReduceSum", {{0, 3}}, {{1}}, {{"keep_dims", false}}, {0}},
      {"opset1", "ReduceMax", {{0, 3}}, {{1}}, {{"keep_dims", true}}, {0, 1}},
      {"opset3", "CumSum", {{0, 3}}, {}, {}, {0, 3}},
      {"opset1", "Transpose", {{0, 3, 2}}, {{2, 0, 1}}, {}, {2, 0, 3}},
      {"opset1", "Concat", {{0, 3}, {0, 3}}, {}, {{"axis", 0}}, {0, 3}},
      {"opset1", "Concat", {{2, 0}, {2, 0}}, {}, {{"axis", 1}}, {2, 0}},
      {"opset1", "Tile", {{0, 3}}, {{2, 2}}, {}, {0, 6}},
      {"opset1", "Tile", {{2, 3}}, {{0, 2}}, {}, {0, 6}},
      {"opset7", "Roll", {{0, 3}}, {{1}, {1}}, {}, {0, 3}},
      {"opset7", "Roll", {{3, 0}}, {{1}, {1}}, {}, {3, 0}},
      {"opset1", "SpaceToDepth", {{0, 2, 4}}, {}, {{"mode", "blocks_first"}, {"block_size", 2}}, {0, 4, 2}},
      {"opset1", "DepthToSpace", {{0, 4, 2}}, {}, {{"mode", "blocks_first"}, {"block_size", 2}}, {0, 2, 4}},
      {"opset1", "ShuffleChannels", {{0, 4}}, {}, {{"axis", 1}, {"group", 2}}, {0, 4}},
      {"opset1", "ShuffleChannels", {{3, 0}}, {}, {{"axis", 1}, {"group", 2}}, {3, 0}},
      {"opset1", "PReLU", {{0, 3}, {3}}, {}, {}, {0, 3}},
      {"opset1", "PReLU", {{3, 0}, {1}}, {}, {}, {3, 0}},
      {"opset14", "Inverse", {{0, 3, 3}}, {}, {{"adjoint", true}}, {0, 3, 3}},
      {"opset1", "ReverseSequence", {{0, 3}}, {}, {}, {0, 3}}};
  for (const Backend backend : kBackends) {
    for (const EmptyCase& each : cases) {
      std::string text = std::string(each.name);
      for (const Shape& shape : each.shapes) text += " " + ToString(shape);
      SCOPED_TRACE(text);
      TestGraph g;
      std::vector<ir::OutputPort> inputs;
      std::vector<TensorValue> values;
      for (const Shape& shape : each.shapes) {
        inputs.push_back(g.Parameter("x", shape));
        values.push_back(RandomTensor(shape, 1));
      }
      if (each.name == "CumSum") inputs.push_back(g.Const(TensorValue::FromInts({}, {1})));
      if (each.name == "ReverseSequence") inputs.push_back(g.Const(TensorValue::FromInts({0}, {})));
      for (const std::vector<int64_t>& numbers : each.ints) inputs.push_back(g.Ints(numbers));
      ir::AttributeMap attributes;
      for (const auto& [key, value] : each.attributes) attributes.Set(key, value);
      g.Result(g.Op(each.set, each.name, inputs, attributes, each.outputs));
      const auto made = RunGraph(g.graph, {.backend = backend, .threads = 2}, values);
      ASSERT_EQ(made.size(), 1u);
      EXPECT_EQ(ToString(made[0].shape()), ToString(each.result));
    }
  }
}

// A sum of no numbers is 0, their product 1.
TEST(EmptyTensorsTest, SumsOfNothing) {
  for (const Backend backend : kBackends) {
    TestGraph g;
    g.Result(g.Op("MatMul", {g.Parameter("a", {2, 0}), g.Parameter("b", {0, 3})}));
    g.Result(g.Op("ReduceSum", {g.Parameter("c", {2, 0}), g.Ints({1})}, With("keep_dims", false)));
    g.Result(g.Op("ReduceProd", {g.Parameter("d", {2, 0}), g.Ints({1})}, With("keep_dims", false)));
    const auto made = RunGraph(
        g.graph, {.backend = backend},
        {RandomTensor({2, 0}, 1), RandomTensor({0, 3}, 1), RandomTensor({2, 0}, 1), RandomTensor({2, 0}, 1)});
    ASSERT_EQ(made.size(), 3u);
    EXPECT_EQ(made[0], TensorValue::FromFloats({2, 3}, {0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(made[1], TensorValue::FromFloats({2}, {0, 0}));
    EXPECT_EQ(made[2], TensorValue::FromFloats({2}, {1, 1}));
  }
}

}  // namespace
}  // namespace nnefc::runtime::kernels
