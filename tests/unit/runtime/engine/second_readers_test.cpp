// Intermediate values of fusions that have other readers or are results: both backends, for each value in
// turn. Values that a step takes over must still exist for these readers.

#include <functional>

#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine {
namespace {

using Values = std::vector<ir::OutputPort>;

// Adds a graph and returns its values that others may read, in order; the last one is the result.
struct Network {
  std::string name;
  std::function<Values(TestGraph&)> build;
  std::vector<Shape> inputs;
};

TestGraph Built(const Network& network, const std::function<void(TestGraph&, const Values&)>& more) {
  TestGraph g;
  const Values values = network.build(g);
  g.Result(values.back());
  more(g, values);
  return g;
}

void ExpectAgreement(const TestGraph& g, const Network& network) {
  std::vector<TensorValue> inputs;
  inputs.reserve(network.inputs.size());
  for (const Shape& shape : network.inputs)
    inputs.push_back(RandomTensor(shape, static_cast<unsigned>(inputs.size()) + 3, -2, 2));
  const std::vector<TensorValue> expected =
      RunGraph(g.graph, {.backend = kernels::Backend::kReference}, inputs);
  const auto executable = Compile(g.graph, {.backend = kernels::Backend::kFast, .threads = 2});
  ASSERT_NE(executable, nullptr);
  const auto session = Session::Create(executable);
  for (int run = 0; run < 2; ++run) {
    const auto actual = session->Run(inputs);
    ASSERT_TRUE(actual.ok()) << (actual.ok() ? "" : actual.error().message);
    ASSERT_EQ(actual->size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      SCOPED_TRACE("result " + std::to_string(i));
      ExpectClose((*actual)[i], expected[i], 2e-5);
    }
  }
}

ir::OutputPort Quantized(TestGraph& g, ir::OutputPort x, float low, float high) {
  const auto number = [&](float value) { return g.Const(TensorValue::FromFloats({1, 1, 1, 1}, {value})); };
  return g.Op("FakeQuantize", {x, number(low), number(high), number(low), number(high)},
              With("levels", int64_t{256}));
}
// Images quantized in steps of 2^-5, and non-negative ones.
ir::OutputPort Codes(TestGraph& g, ir::OutputPort x) {
  return Quantized(g, x, -4, 127.0F / 32);
}
ir::OutputPort PositiveCodes(TestGraph& g, ir::OutputPort x) {
  return Quantized(g, x, 0, 255.0F / 32);
}
// A filter quantized in steps of 2^-7, whose sums leave the range of u8/i8.
ir::OutputPort CodedFilter(TestGraph& g, const Shape& shape, unsigned seed) {
  TensorValue numbers = RandomTensor(shape, seed, -127, 127);
  std::vector<float> codes;
  for (float number : numbers.elements<float>()) codes.push_back(std::round(number) / 128);
  return g.Const(TensorValue::FromFloats(shape, codes));
}
ir::OutputPort Bias(TestGraph& g, int64_t channels, unsigned seed) {
  const TensorValue numbers = RandomTensor({1, channels, 1, 1}, seed, -20, 20);
  std::vector<float> codes;
  for (float number : numbers.elements<float>()) codes.push_back(std::round(number) / 64);
  return g.Const(TensorValue::FromFloats({1, channels, 1, 1}, codes));
}

// More elements than the minimum for lookup tables.
const Shape kImages = {1, 16, 9, 8};

std::vector<Network> Networks() {
  const auto axis = [] { return With("axis", int64_t{1}); };
  const auto gather = [](TestGraph& g, ir::OutputPort x, std::vector<int64_t> indices) {
    return g.Op("opset8", "Gather", {x, g.Ints(std::move(indices)), g.Const(TensorValue::FromInts({}, {1}))});
  };
  std::vector<Network> networks;
  networks.push_back({"residual unit",
                      [](TestGraph& g) {
                        const auto x = g.Parameter("x", kImages);
                        Values v = {g.Convolution(x, g.Weights({16, 16, 3, 3}, 1), 1)};
                        v.push_back(g.Op("Add", {v.back(), g.Weights({1, 16, 1, 1}, 2)}));
                        v.push_back(g.Op("ReLU", {v.back()}));
                        v.push_back(g.Convolution(v.back(), g.Weights({16, 16, 1, 1}, 3), 0));
                        v.push_back(g.Op("Multiply", {v.back(), g.Weights({1, 16, 1, 1}, 4)}));
                        v.push_back(g.Op("Add", {v.back(), v[1]}));
                        v.push_back(g.Op("ReLU", {v.back()}));
                        return v;
                      },
                      {kImages}});
  networks.push_back({"scaled channels",
                      [](TestGraph& g) {
                        const auto x = g.Parameter("x", kImages);
                        const auto s = g.Parameter("s", {1, 16, 1, 1});
                        Values v = {g.Op("Tanh", {x})};
                        v.push_back(g.Op("Sigmoid", {s}));
                        v.push_back(g.Op("Multiply", {v[0], v[1]}));
                        v.push_back(g.Convolution(v.back(), g.Weights({8, 16, 1, 1}, 2), 0));
                        v.push_back(g.Op("Add", {v.back(), g.Weights({1, 8, 1, 1}, 4)}));
                        v.push_back(g.Op("ReLU", {v.back()}));
                        return v;
                      },
                      {kImages, {1, 16, 1, 1}}});
  networks.push_back({"gathered channels",
                      [=](TestGraph& g) {
                        const auto x = g.Parameter("x", kImages);
                        Values v = {g.Convolution(x, g.Weights({16, 16, 1, 1}, 1), 0)};
                        v.push_back(g.Convolution(x, g.Weights({16, 16, 3, 3}, 2), 1));
                        v.push_back(g.Op("Concat", {v[0], v[1]}, axis()));
                        v.push_back(gather(g, v[2], {31, 0, 16, 1, 17, 2, 18, 3, 5, 5}));
                        v.push_back(g.Convolution(v.back(), g.Weights({8, 10, 3, 3}, 3), 1));
                        return v;
                      },
                      {kImages}});
  networks.push_back({"two gathers",
                      [=](TestGraph& g) {
                        const auto x = g.Parameter("x", kImages);
                        Values v = {g.Op("Tanh", {x}), g.Op("Abs", {x})};
                        v.push_back(g.Op("Concat", {v[0], v[1]}, axis()));
                        v.push_back(gather(g, v[2], {0, 16, 1, 17}));
                        v.push_back(gather(g, v[2], {2, 18, 3, 19}));
                        v.push_back(g.Op("Multiply", {v[3], v[4]}));
                        return v;
                      },
                      {kImages}});
  networks.push_back({"normalization",
                      [](TestGraph& g) {
                        const auto x = g.Parameter("x", kImages);
                        Values v = {g.Convolution(x, g.Weights({16, 16, 3, 3}, 1), 1)};
                        v.push_back(g.Op("opset5", "BatchNormInference",
                                         {v[0], g.Weights({16}, 2), g.Weights({16}, 3), g.Weights({16}, 4),
                                          g.Weights({16}, 5, 0.5, 1)},
                                         With("epsilon", 0.01)));
                        v.push_back(g.Op("ReLU", {v.back()}));
                        v.push_back(g.Op("Clamp", {v.back()}, [] {
                          ir::AttributeMap attributes = With("min", 0.0);
                          attributes.Set("max", 1.0);
                          return attributes;
                        }()));
                        return v;
                      },
                      {kImages}});
  networks.push_back(
      {"products",
       [](TestGraph& g) {
         const auto x = g.Parameter("x", {2, 6, 16});
         const auto product = [&](ir::OutputPort left, unsigned seed) {
           ir::AttributeMap attributes = With("transpose_a", false);
           attributes.Set("transpose_b", true);
           return g.Op("MatMul", {left, g.Weights({16, 16}, seed)}, attributes);
         };
         Values v = {product(x, 1)};
         v.push_back(g.Op("Add", {v.back(), g.Weights({16}, 2)}));
         v.push_back(g.Op("opset7", "Gelu", {v.back()}, With("approximation_mode", "ERF")));
         v.push_back(product(v.back(), 3));
         v.push_back(g.Op("Add", {v.back(), v[1]}));
         v.push_back(g.Op("Reshape", {v.back(), g.Ints({2, 6, 4, 4})}, With("special_zero", false)));
         v.push_back(g.Op("Transpose", {v.back(), g.Ints({0, 2, 1, 3})}));
         v.push_back(g.Op("opset8", "SoftMax", {v.back()}, With("axis", int64_t{-1})));
         return v;
       },
       {{2, 6, 16}}});
  networks.push_back(
      {"moved elements",
       [](TestGraph& g) {
         const auto x = g.Parameter("x", {4, 6, 8});
         Values v = {g.Op("Exp", {x})};
         v.push_back(g.Op("opset8", "Slice", {v[0], g.Ints({1}), g.Ints({3}), g.Ints({1}), g.Ints({0})}));
         v.push_back(g.Op("Reshape", {v.back(), g.Ints({2, 48})}, With("special_zero", false)));
         v.push_back(g.Op("Tanh", {v.back()}));
         v.push_back(g.Op("Transpose", {v.back(), g.Ints({1, 0})}));
         v.push_back(g.Op("Abs", {v.back()}));
         v.push_back(g.Op("Add", {v.back(), v[4]}));
         v.push_back(g.Op("Concat", {v.back(), v[5]}, With("axis", int64_t{0})));
         v.push_back(g.Op("Negative", {v.back()}));
         return v;
       },
       {{4, 6, 8}}});
  networks.push_back({"a sum of codes",
                      [](TestGraph& g) {
                        const auto x = g.Parameter("x", kImages);
                        Values v = {Codes(g, x)};
                        v.push_back(g.Convolution(v[0], CodedFilter(g, {16, 16, 3, 3}, 1), 1));
                        v.push_back(g.Op("Add", {v.back(), Bias(g, 16, 2)}));
                        v.push_back(g.Op("ReLU", {v.back()}));
                        v.push_back(PositiveCodes(g, v.back()));
                        v.push_back(g.Convolution(v.back(), CodedFilter(g, {16, 16, 1, 1}, 3), 0));
                        v.push_back(Codes(g, v.back()));
                        v.push_back(g.Op("Add", {v.back(), v[0]}));
                        v.push_back(g.Op("ReLU", {v.back()}));
                        v.push_back(PositiveCodes(g, v.back()));
                        v.push_back(g.Convolution(v.back(), CodedFilter(g, {8, 16, 1, 1}, 4), 0));
                        return v;
                      },
                      {kImages}});
  networks.push_back({"codes that are joined",
                      [=](TestGraph& g) {
                        const auto x = g.Parameter("x", kImages);
                        Values v = {Codes(g, x)};
                        v.push_back(PositiveCodes(
                            g, g.Op("ReLU", {g.Convolution(v[0], CodedFilter(g, {16, 16, 1, 1}, 1), 0)})));
                        v.push_back(Codes(g, g.Convolution(v[0], CodedFilter(g, {8, 16, 3, 3}, 2), 1)));
                        v.push_back(g.Op("Concat", {v[1], v[2]}, axis()));
                        v.push_back(Codes(g, v.back()));
                        v.push_back(Codes(g, v.back()));  // changes nothing
                        ir::AttributeMap window = With("kernel", ir::Attribute::Integers{3, 3});
                        window.Set("strides", ir::Attribute::Integers{1, 1});
                        window.Set("pads_begin", ir::Attribute::Integers{1, 1});
                        window.Set("pads_end", ir::Attribute::Integers{1, 1});
                        v.push_back(g.Op("MaxPool", {v.back()}, window));
                        v.push_back(g.Convolution(v.back(), CodedFilter(g, {8, 24, 1, 1}, 3), 0));
                        return v;
                      },
                      {kImages}});
  networks.push_back({"functions of codes",
                      [](TestGraph& g) {
                        const auto x = g.Parameter("x", kImages);
                        Values v = {g.Convolution(Codes(g, x), CodedFilter(g, {16, 16, 1, 1}, 1), 0)};
                        v.push_back(Codes(g, v.back()));
                        v.push_back(g.Op("Tanh", {v.back()}));
                        v.push_back(g.Op("Multiply", {v.back(), v[1]}));
                        v.push_back(PositiveCodes(g, v.back()));
                        v.push_back(g.Convolution(v.back(), CodedFilter(g, {8, 16, 1, 1}, 4), 0));
                        return v;
                      },
                      {kImages}});
  networks.push_back(
      {"codes after views",
       [](TestGraph& g) {
         const auto x = g.Parameter("x", {32, 64});
         Values v = {Codes(g, g.Op("Reshape", {x, g.Ints({1, 1, 32, 64})}, With("special_zero", false)))};
         v.push_back(g.Op("Reshape", {v.back(), g.Ints({1, 32, 64, 1})}, With("special_zero", false)));
         v.push_back(Codes(g, v.back()));
         v.push_back(g.Op("opset4", "Swish", {v.back()}));
         v.push_back(Codes(g, v.back()));
         v.push_back(g.Op("Reshape", {v.back(), g.Ints({32, 64})}, With("special_zero", false)));
         ir::AttributeMap transposed = With("transpose_a", false);
         transposed.Set("transpose_b", true);
         v.push_back(g.Op("MatMul", {v.back(), CodedFilter(g, {8, 64}, 4)}, transposed));
         return v;
       },
       {{32, 64}}});
  return networks;
}

class SecondReadersTest : public testing::TestWithParam<Network> {};

TEST_P(SecondReadersTest, EachValueIsAResultToo) {
  const size_t count = Built(GetParam(), [](TestGraph&, const Values&) {}).graph->node_bound();
  for (size_t i = 0; i < count; ++i) {
    bool is_there = true;
    const TestGraph g = Built(GetParam(), [&](TestGraph& graph, const Values& values) {
      is_there = i < values.size();
      if (is_there) graph.Result(values[i], "second");
    });
    if (!is_there) break;
    SCOPED_TRACE("value " + std::to_string(i));
    ExpectAgreement(g, GetParam());
  }
}

TEST_P(SecondReadersTest, EachValueIsReadElsewhere) {
  const size_t count = Built(GetParam(), [](TestGraph&, const Values&) {}).graph->node_bound();
  for (size_t i = 0; i < count; ++i) {
    bool is_there = true;
    const TestGraph g = Built(GetParam(), [&](TestGraph& graph, const Values& values) {
      is_there = i < values.size();
      // A reader that may overwrite it, and one that runs last.
      if (!is_there) return;
      graph.Result(graph.Op("ReLU", {values[i]}), "second");
      graph.Result(graph.Op("Add", {graph.Op("Negative", {values[i]}), values[i]}), "third");
    });
    if (!is_there) break;
    SCOPED_TRACE("value " + std::to_string(i));
    ExpectAgreement(g, GetParam());
  }
}

// A value that is several results, and parameters that are results.
TEST_P(SecondReadersTest, ResultsAreTheSameValue) {
  const TestGraph g = Built(GetParam(), [&](TestGraph& graph, const Values& values) {
    graph.Result(values.back(), "again");
    graph.Result(values[values.size() / 2], "middle");
    graph.Result(values[values.size() / 2], "middle again");
    graph.Result({graph.graph->parameters()[0], 0}, "parameter");
    graph.Result({graph.graph->parameters()[0], 0}, "parameter again");
  });
  ExpectAgreement(g, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Networks, SecondReadersTest, testing::ValuesIn(Networks()),
                         [](const testing::TestParamInfo<Network>& info) {
                           std::string name = info.param.name;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

}  // namespace
}  // namespace nnefc::runtime::engine
