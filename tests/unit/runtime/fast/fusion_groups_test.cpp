// The chains of nodes that one kernel may run, as the search finds them in a graph.

#include "compiler/ir/ops/arithmetic/quantized_values.h"
#include "runtime/fast/factories.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::fast {
namespace {

const Shape kImages = {1, 16, 6, 6};

// Returns the operations of each chain in order: "Convolution Add ReLU". A bar precedes the operation with
// which a second chain may begin.
std::vector<std::string> ChainsOf(const TestGraph& g) {
  std::vector<std::string> chains;
  for (const kernels::FusionGroup& group : FindFusions(*g.graph)) {
    std::string& text = chains.emplace_back(g.graph->node(group.main).type());
    for (size_t i = 0; i < group.posts.size(); ++i)
      text += (group.second == i ? " | " : " ") + g.graph->node(group.posts[i]).type();
  }
  return chains;
}
using Chains = std::vector<std::string>;

ir::OutputPort Pixelwise(TestGraph& g, ir::OutputPort x, unsigned seed) {
  return g.Convolution(x, g.Weights({16, 16, 1, 1}, seed), 0);
}
ir::OutputPort QuantizedTo255(TestGraph& g, ir::OutputPort x, bool is_marked = true) {
  const auto end = [&](float value) { return g.Const(TensorValue::FromFloats({}, {value})); };
  const ir::OutputPort y = g.Op("FakeQuantize", {x, end(0), end(255), end(0), end(255)}, With("levels", 256));
  if (is_marked) ir::ops::MarkQuantizedResult(*g.graph, y.node);
  return y;
}

// A node belongs to one chain: the sum of two convolutions to that of the first one.
TEST(FusionGroupsTest, EachNodeIsInOneChain) {
  TestGraph g;
  const auto x = g.Parameter("x", kImages);
  const auto first = Pixelwise(g, x, 1), second = Pixelwise(g, x, 2);
  g.Result(g.Op("ReLU", {g.Op("Add", {first, second})}));
  EXPECT_EQ(ChainsOf(g), Chains{"Convolution Add ReLU"});
}

// A second reader ends a chain, and so do results and values that are no operand of theirs.
TEST(FusionGroupsTest, ValuesWithOneReader) {
  for (const bool is_read_twice : {false, true}) {
    TestGraph g;
    const auto y = g.Op("ReLU", {Pixelwise(g, g.Parameter("x", kImages), 1)});
    g.Result(g.Op("Sigmoid", {y}));
    if (is_read_twice) g.Result(g.Op("Abs", {y}));
    EXPECT_EQ(ChainsOf(g), Chains{is_read_twice ? "Convolution ReLU" : "Convolution ReLU Sigmoid"});
  }
}

// A number is a part of a kernel only if it is a Const, not another node whose value is known.
TEST(FusionGroupsTest, KnownValuesThatAreNoConstants) {
  for (const bool is_const : {true, false}) {
    TestGraph g;
    const TensorValue half = TensorValue::FromFloats({1, 1, 1, 1}, {0.5F});
    const auto number = is_const ? g.Const(half) : g.Parameter("number", half.shape());
    if (!is_const) g.graph->SetOutputValue(number, half);
    g.Result(g.Op("Multiply", {Pixelwise(g, g.Parameter("x", kImages), 1), number}));
    EXPECT_EQ(ChainsOf(g), is_const ? Chains{"Convolution Multiply"} : Chains{});
  }
}

// The kernel of two quantized tensors adds an operand of all elements to numbers, not to quantized values,
// and only in whole blocks of columns.
TEST(FusionGroupsTest, QuantizedTensorsAndAnOperand) {
  struct Sum {
    int64_t columns;
    Shape operand;
    bool is_quantized;
    const char* chain;
  };
  for (const Sum& sum : std::vector<Sum>{{32, {8, 32}, true, "MatMul Add"},
                                         {32, {8, 32}, false, "MatMul Add"},
                                         {32, {1, 32}, true, "MatMul Add FakeQuantize"},
                                         {20, {8, 20}, true, "Add FakeQuantize"},
                                         {20, {1, 20}, true, "MatMul Add FakeQuantize"}}) {
    SCOPED_TRACE(ToString(sum.operand) + " to " + std::to_string(sum.columns));
    TestGraph g;
    const auto y = g.Op("MatMul", {g.Parameter("a", {8, 24}), g.Parameter("b", {24, sum.columns})});
    ir::ops::MarkQuantizedOperands(*g.graph, y.node, {.left = {.scale = 1}, .right = {.scale = 1}});
    const auto added = g.Op("Add", {y, g.Parameter("c", sum.operand)});
    g.Result(sum.is_quantized ? QuantizedTo255(g, added) : g.Op("Transpose", {added, g.Ints({1, 0})}));
    EXPECT_EQ(ChainsOf(g), Chains{sum.chain});
  }
}

// Functions after a concatenation form a chain with it if all parts are quantized images.
TEST(FusionGroupsTest, ConcatenationsOfQuantizedImages) {
  for (const bool is_first_marked : {true, false}) {
    for (const bool is_second_marked : {true, false}) {
      for (const bool is_result_marked : {true, false}) {
        TestGraph g;
        const auto first = QuantizedTo255(g, g.Parameter("a", kImages), is_first_marked);
        const auto second = QuantizedTo255(g, g.Parameter("b", kImages), is_second_marked);
        const auto whole = g.Op("Concat", {first, second}, With("axis", int64_t{1}));
        g.Result(QuantizedTo255(g, g.Op("ReLU", {whole}), is_result_marked));
        const bool is_chain = is_first_marked && is_second_marked && is_result_marked;
        EXPECT_EQ(ChainsOf(g), is_chain ? Chains{"Concat | ReLU FakeQuantize"} : Chains{});
      }
    }
  }
}

// A scale by channel before a 1x1 convolution multiplies the filter instead, if that has fewer elements. The
// filter must be constant.
TEST(FusionGroupsTest, ScalesBeforeConvolutions) {
  for (const bool is_constant : {true, false}) {
    for (const int64_t outputs : {35, 36, 37}) {
      TestGraph g;
      const auto scaled = g.Op("Multiply", {g.Parameter("x", kImages), g.Parameter("scale", {1, 16, 1, 1})});
      const Shape filter = {outputs, 16, 1, 1};
      g.Result(g.Convolution(scaled, is_constant ? g.Weights(filter, 1) : g.Parameter("filter", filter), 0));
      const bool is_chain = is_constant && outputs < 36;
      EXPECT_EQ(ChainsOf(g), is_chain ? Chains{"Multiply | Convolution"} : Chains{}) << outputs;
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::fast
