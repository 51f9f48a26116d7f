// The chains of nodes that one kernel may run, as the search finds them in a graph.

#include <algorithm>

#include "compiler/ir/ops/arithmetic/quantized_values.h"
#include "fmt/core.h"
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

// A convolution claims a sum before the sum itself does, whichever node is older.
TEST(FusionGroupsTest, SumsOfConvolutions) {
  for (const bool is_convolved : {true, false}) {
    TestGraph g;
    const auto x = g.Parameter("x", kImages), y = g.Parameter("y", kImages);
    const auto sum = g.Op("Add", {y, x});
    g.Result(g.Op("ReLU", {sum}));
    if (is_convolved) g.graph->SetInput(sum.node, 1, Pixelwise(g, x, 1));
    EXPECT_EQ(ChainsOf(g), Chains{is_convolved ? "Convolution Add ReLU" : "Add ReLU"});
  }
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

// An operation whose result has more axes than the one before it, or larger ones, is not part of its kernel.
TEST(FusionGroupsTest, ResultsOfAnotherShape) {
  struct Number {
    const char* operation;
    Shape shape;
    bool is_part;
  };
  for (const Number& number : std::vector<Number>{{"Multiply", {1, 1, 1, 1}, true},
                                                  {"Multiply", {1, 1, 1, 1, 1}, false},
                                                  {"Add", {1, 1, 1, 1}, true},
                                                  {"Add", {1, 1, 1, 1, 1}, false},
                                                  {"Maximum", {1, 1, 1, 1}, true},
                                                  {"Maximum", {1, 1, 1, 1, 1}, false},
                                                  {"Add", {1, 16, 1, 1}, true},
                                                  {"Add", {2, 16, 1, 1}, false}}) {
    TestGraph g;
    g.Result(g.Op(number.operation,
                  {Pixelwise(g, g.Parameter("x", kImages), 1), g.Weights(number.shape, 2, 0.5F, 1)}));
    EXPECT_EQ(ChainsOf(g), number.is_part ? Chains{std::string("Convolution ") + number.operation} : Chains{})
        << number.operation << ToString(number.shape);
  }
}

// A lookup of quantized values includes the quantization of its results, unless they have another reader.
TEST(FusionGroupsTest, LookupTables) {
  for (const bool is_marked : {true, false}) {
    for (const bool is_read_twice : {false, true}) {
      TestGraph g;
      const Shape shape = {4, 32};
      const auto codes = g.Op("Convert", {QuantizedTo255(g, g.Parameter("x", shape))},
                              With("destination_type", ElementType::kI32));
      const auto axis = g.Const(TensorValue::FromInts({}, {0}));
      const auto y =
          g.Op("opset8", "Gather", {g.Weights({256}, 1), codes, axis}, With("batch_dims", int64_t{0}));
      g.Result(QuantizedTo255(g, y, is_marked));
      if (is_read_twice) g.Result(y, "numbers");
      EXPECT_EQ(ChainsOf(g),
                Chains{is_marked && !is_read_twice ? "Convert Gather FakeQuantize" : "Convert Gather"});
    }
  }
}

// The results of a lookup may be another operand than the data of the quantization.
TEST(FusionGroupsTest, LookupsOfLimits) {
  TestGraph g;
  const auto codes = g.Op("Convert", {QuantizedTo255(g, g.Parameter("x", {4, 32}))},
                          With("destination_type", ElementType::kI32));
  const auto low =
      g.Op("opset8", "Gather", {g.Weights({256}, 1), codes, g.Const(TensorValue::FromInts({}, {0}))},
           With("batch_dims", int64_t{0}));
  const auto high = g.Const(TensorValue::FromFloats({}, {255})), zero = g.Const(TensorValue::Scalar(0));
  const auto y =
      g.Op("FakeQuantize", {g.Parameter("y", {4, 32}), low, high, zero, high}, With("levels", 256));
  ir::ops::MarkQuantizedResult(*g.graph, y.node);
  g.Result(y);
  EXPECT_EQ(ChainsOf(g), Chains{"Convert Gather"});
}

// Slopes after a sum of quantized images are one number, or one of each channel.
TEST(FusionGroupsTest, SlopesAfterSumsOfQuantizedImages) {
  for (const Shape& slopes : {Shape{1}, {16}, {1, 16, 1, 1}, {6}, {1, 1, 6, 1}, {1, 1, 6, 6}, kImages}) {
    TestGraph g;
    const auto sum = g.Op(
        "Add", {QuantizedTo255(g, g.Parameter("a", kImages)), QuantizedTo255(g, g.Parameter("b", kImages))});
    g.Result(QuantizedTo255(g, g.Op("PReLU", {sum, g.Weights(slopes, 1)})));
    const int64_t count = *Volume(slopes);
    EXPECT_EQ(ChainsOf(g), count == 1 || count == 16 ? Chains{"Add PReLU FakeQuantize"} : Chains{})
        << ToString(slopes);
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

// A concatenation of channels and the Gather of some of them, for images of one to three axes.
TEST(FusionGroupsTest, GatheredChannels) {
  struct Gathered {
    size_t rank;
    int64_t joined, gathered;  // axes
    Shape indices = {2};
    bool is_read_twice = false;
    bool is_chain = true;
    int64_t batch_dims = 0;
  };
  for (const Gathered& of : std::vector<Gathered>{
           {3, 1, 1},
           {4, 1, 1},
           {5, 1, 1},
           {4, -3, 1},
           {4, 1, -3},
           {.rank = 4, .joined = 1, .gathered = 1, .batch_dims = -1},
           {.rank = 4, .joined = 1, .gathered = 1, .indices = {4}, .is_chain = false, .batch_dims = 1},
           {.rank = 2, .joined = 1, .gathered = 1, .is_chain = false},
           {.rank = 6, .joined = 1, .gathered = 1, .is_chain = false},
           {.rank = 4, .joined = 2, .gathered = 1, .is_chain = false},
           {.rank = 4, .joined = 0, .gathered = 1, .is_chain = false},
           {.rank = 4, .joined = 1, .gathered = 2, .is_chain = false},
           {.rank = 4, .joined = 1, .gathered = 0, .is_chain = false},
           {.rank = 4, .joined = 1, .gathered = 1, .indices = {}, .is_chain = false},
           {.rank = 4, .joined = 1, .gathered = 1, .indices = {1, 2}, .is_chain = false},
           {.rank = 4, .joined = 1, .gathered = 1, .is_read_twice = true, .is_chain = false}}) {
    SCOPED_TRACE(fmt::format("rank {}, axes {} and {}, indices {}", of.rank, of.joined, of.gathered,
                             ToString(of.indices)));
    TestGraph g;
    const Shape images(of.rank, 4);
    const auto whole =
        g.Op("Concat", {g.Parameter("a", images), g.Parameter("b", images)}, With("axis", of.joined));
    const auto indices = g.Const(
        TensorValue::FromInts(of.indices, std::vector<int64_t>(static_cast<size_t>(*Volume(of.indices)), 1)));
    const auto axis = g.Const(TensorValue::FromInts({}, {of.gathered}));
    g.Result(g.Op("opset8", "Gather", {whole, indices, axis}, With("batch_dims", of.batch_dims)));
    if (of.is_read_twice) g.Result(g.Op("Abs", {whole}));
    EXPECT_EQ(ChainsOf(g), of.is_chain ? Chains{"Concat Gather"} : Chains{});
  }
}

// A kernel has at most eight operations after its own.
TEST(FusionGroupsTest, OperationsOfAChain) {
  for (const int count : {1, 8, 9, 10}) {
    TestGraph g;
    ir::OutputPort y = Pixelwise(g, g.Parameter("x", kImages), 1);
    for (int i = 0; i < count; ++i) y = g.Op("Add", {y, g.Weights({1, 16, 1, 1}, 2)});
    g.Result(y);
    std::string chain = "Convolution";
    for (int i = 0; i < std::min(count, 8); ++i) chain += " Add";
    // Sums with numbers by channel alone begin no chain.
    EXPECT_EQ(ChainsOf(g), Chains{chain}) << count;
  }
}

// Only one ReLU may follow a batch normalisation.
TEST(FusionGroupsTest, BatchNormalizations) {
  for (const auto& [functions, chain] :
       {std::pair(std::vector<const char*>{"ReLU"}, "BatchNormInference ReLU"),
        {std::vector<const char*>{"ReLU", "ReLU"}, "BatchNormInference ReLU"},
        {std::vector<const char*>{"Sigmoid"}, ""}}) {
    TestGraph g;
    std::vector<ir::OutputPort> inputs = {g.Parameter("x", kImages)};
    for (unsigned i = 0; i < 4; ++i) inputs.push_back(g.Weights({16}, i, 0.5F, 2));
    ir::OutputPort y = g.Op("opset5", "BatchNormInference", inputs, With("epsilon", 1e-3));
    for (const char* function : functions) y = g.Op(function, {y});
    g.Result(y);
    EXPECT_EQ(ChainsOf(g), *chain == 0 ? Chains{} : Chains{chain});
  }
}

// The rows of a matmul are those of one matrix, or the right operand is constant.
TEST(FusionGroupsTest, RowsOfMatmuls) {
  struct Rows {
    Shape left, right;
    bool is_constant, is_chain;
  };
  for (const Rows& of : std::vector<Rows>{{{8, 24}, {24, 16}, false, true},
                                          {{8, 24}, {24, 16}, true, true},
                                          {{2, 8, 24}, {24, 16}, true, true},
                                          {{2, 8, 24}, {24, 16}, false, false},
                                          {{2, 8, 24}, {2, 24, 16}, true, false}}) {
    TestGraph g;
    const auto right = of.is_constant ? g.Weights(of.right, 1) : g.Parameter("b", of.right);
    g.Result(g.Op("Sigmoid", {g.Op("MatMul", {g.Parameter("a", of.left), right})}));
    EXPECT_EQ(ChainsOf(g), of.is_chain ? Chains{"MatMul Sigmoid"} : Chains{}) << ToString(of.left);
  }
}

// A convolution may add its quantized result to another tensor, and quantize the sum, with or without a ReLU.
TEST(FusionGroupsTest, QuantizedSums) {
  enum class Sum : uint8_t { kPlain, kRelu, kOfItself, kOfNumbers, kUnquantized, kReadTwice };
  const char* const alone = "Convolution FakeQuantize";
  for (const auto& [sum, chain] : {std::pair(Sum::kPlain, "Convolution FakeQuantize | Add FakeQuantize"),
                                   {Sum::kRelu, "Convolution FakeQuantize | Add ReLU FakeQuantize"},
                                   {Sum::kOfItself, alone},
                                   {Sum::kOfNumbers, alone},
                                   {Sum::kUnquantized, alone},
                                   {Sum::kReadTwice, alone}}) {
    SCOPED_TRACE(static_cast<int>(sum));
    TestGraph g;
    const auto x = g.Parameter("x", kImages);
    const auto quantized = QuantizedTo255(g, Pixelwise(g, x, 1));
    const auto other = sum == Sum::kOfItself ? quantized : QuantizedTo255(g, x, sum != Sum::kOfNumbers);
    ir::OutputPort y = g.Op("Add", {quantized, other});
    if (sum == Sum::kRelu) y = g.Op("ReLU", {y});
    g.Result(QuantizedTo255(g, y, sum != Sum::kUnquantized));
    if (sum == Sum::kReadTwice) g.Result(g.Op("Abs", {quantized}));
    EXPECT_EQ(ChainsOf(g).front(), chain);
  }
}

// A convolution of quantized values rounds its f32 results if its kernel with the least time can; that of a
// transposed one cannot.
TEST(FusionGroupsTest, RoundedResultsOfTransposedConvolutions) {
  for (const bool is_quantized : {true, false}) {
    TestGraph g;
    ir::AttributeMap attributes;
    for (const char* name : {"strides", "dilations"}) attributes.Set(name, ir::Attribute::Integers{1, 1});
    for (const char* name : {"pads_begin", "pads_end", "output_padding"})
      attributes.Set(name, ir::Attribute::Integers{0, 0});
    const auto y =
        g.Op("ConvolutionBackpropData",
             {QuantizedTo255(g, g.Parameter("x", kImages)), g.Weights({16, 16, 1, 1}, 1)}, attributes);
    if (is_quantized) {
      ir::ops::MarkQuantizedFilter(*g.graph, y.node,
                                   {.scales = std::vector<float>(16, 1), .max_magnitude = 100});
    }
    g.Result(QuantizedTo255(g, y, false));
    EXPECT_EQ(ChainsOf(g), is_quantized ? Chains{} : Chains{"ConvolutionBackpropData FakeQuantize"});
  }
}

// Zero points are subtracted by the depthwise convolution of quantized values after them.
TEST(FusionGroupsTest, ZeroPoints) {
  for (const bool is_quantized : {true, false}) {
    for (const bool has_quantized_filter : {true, false}) {
      for (const int64_t points : {16, 1}) {
        TestGraph g;
        const auto x = QuantizedTo255(g, g.Parameter("x", kImages), is_quantized);
        const auto shifted = g.Op("Subtract", {x, g.Weights({1, points, 1, 1}, 1)});
        ir::AttributeMap attributes;
        for (const char* name : {"strides", "dilations"}) attributes.Set(name, ir::Attribute::Integers{1, 1});
        for (const char* name : {"pads_begin", "pads_end"})
          attributes.Set(name, ir::Attribute::Integers{0, 0});
        const auto y = g.Op("GroupConvolution", {shifted, g.Weights({16, 1, 1, 3, 3}, 2)}, attributes);
        if (has_quantized_filter) {
          ir::ops::MarkQuantizedFilter(*g.graph, y.node,
                                       {.scales = std::vector<float>(16, 1), .max_magnitude = 100});
        }
        g.Result(y);
        const bool is_chain = is_quantized && has_quantized_filter && points == 16;
        EXPECT_EQ(ChainsOf(g), is_chain ? Chains{"Subtract | GroupConvolution"} : Chains{})
            << is_quantized << has_quantized_filter << points;
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::fast
