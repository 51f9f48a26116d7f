// Properties that the table of cases does not show: names, shared buffers, attributes.

#include "fmt/core.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/lower/lowering_support.h"

namespace nnefc::lower {
namespace {

using ::testing::Test;
using Ints = std::vector<int64_t>;

TEST(Lowering, ConvolutionKeepsWeightsInPlace) {
  NnefGraph g;
  const auto x = g.External("input", "f32[1,4,8,8]");
  const auto y = g.Op("conv", "conv1", {x, g.Variable("filter", {6, 2, 3, 3}), g.Variable("bias", {1, 6})},
                      "groups = 2, stride = [2,2], padding = [[1,0],[1,1]]");
  g.Result("output", y);
  ASSERT_NE(g.Lower(), nullptr) << g.FirstMessage();
  EXPECT_EQ(g.Operations(), "GroupConvolution Add");
  const ir::Node& conv = g.Find("GroupConvolution");
  EXPECT_EQ(g.Ints(conv, "strides"), Ints({2, 2}));
  EXPECT_EQ(g.Ints(conv, "pads_begin"), Ints({1, 1}));
  EXPECT_EQ(g.Ints(conv, "pads_end"), Ints({0, 1}));
  EXPECT_EQ(conv.name(), "conv1/groupconvolution");
  const TensorValue& filter = *g.Input(conv, 1).output().value;
  EXPECT_EQ(filter.shape(), Shape({2, 3, 2, 3, 3}));
  EXPECT_EQ(filter.bytes(), g.data("filter").bytes());
  const ir::Node& sum = g.ResultOf("output");
  EXPECT_EQ(sum.name(), "conv1");
  EXPECT_EQ(sum.output().names, std::vector<std::string>({"conv1"}));
  const TensorValue& bias = *g.Input(sum, 1).output().value;
  EXPECT_EQ(bias.shape(), Shape({1, 6, 1, 1}));
  EXPECT_EQ(bias.bytes(), g.data("bias").bytes());
  EXPECT_EQ(g.lowered().node(g.lowered().parameters()[0]).name(), "input");
}

// `padding = []` is computed so that the output is ceil(X / s), with the odd element at the end (R 4.3).
TEST(Lowering, AutomaticPaddingIsMadeExplicit) {
  NnefGraph g;
  const auto x = g.External("input", "f32[1,3,224,223]");
  g.Result("y", g.Op("conv", "y", {x, g.Variable("filter", {8, 3, 7, 4}), g.Literal(0)}, "stride = [2,1]"));
  ASSERT_NE(g.Lower(), nullptr);
  const ir::Node& conv = g.Find("Convolution");
  EXPECT_EQ(conv.name(), "y");
  EXPECT_EQ(g.Ints(conv, "pads_begin"), Ints({2, 1}));
  EXPECT_EQ(g.Ints(conv, "pads_end"), Ints({3, 2}));
  EXPECT_EQ(conv.attribute("auto_pad").AsString(), "explicit");
}

TEST(Lowering, AutomaticPaddingOfSeparableConvolutions) {
  NnefGraph g;
  const auto x = g.External("input", "f32[1,3,224,223]");
  const auto plane = g.Variable("plane", {3, 1, 7, 4}), point = g.Variable("point", {8, 3, 1, 1});
  g.Result("y", g.Op("separable_conv", "y", {x, plane, point, g.Literal(0)}, "stride = [2,1]"));
  ASSERT_NE(g.Lower(), nullptr);
  EXPECT_EQ(g.Ints(g.Find("GroupConvolution"), "pads_begin"), Ints({2, 1}));
  EXPECT_EQ(g.Ints(g.Find("GroupConvolution"), "pads_end"), Ints({3, 2}));
}

// Random numbers are the same in each run: no seed is 0, for which OpenVINO draws others each time.
TEST(Lowering, RandomNumbersHaveSeeds) {
  for (const auto& [seed, expected] :
       {std::pair("0.0", 1), std::pair("1.0", 2), std::pair("-5.0", 6), std::pair("2.75", 3)}) {
    NnefGraph g;
    g.Result("u", g.Op("tract_onnx_uniform", "u", {}, fmt::format("shape = [2,3], seed = {}", seed)));
    g.Result("m", g.Op("tract_onnx_multinomial", "m", {g.External("x", "f32[2,3]")},
                       fmt::format("sample_size = 4, seed = {}", seed)));
    ASSERT_NE(g.Lower(), nullptr) << g.FirstMessage();
    EXPECT_EQ(g.Input(g.Find("RandomUniform"), 1).output().value->ElementAsDouble(0), 0);
    EXPECT_EQ(g.Input(g.Find("RandomUniform"), 2).output().value->ElementAsDouble(0), 1);
    for (const char* name : {"RandomUniform", "Multinomial"}) {
      EXPECT_EQ(g.Find(name).Int("global_seed"), 1) << name;
      EXPECT_EQ(g.Find(name).Int("op_seed"), expected) << name << " " << seed;
    }
  }
}

// A window of one element slides along the last axis.
TEST(Lowering, WindowsOfOneElementSlideAlongOneAxis) {
  for (const auto& [type, size] : {std::pair("f32[7]", "1"), std::pair("f32[6,7]", "1,1")}) {
    NnefGraph g;
    const auto x = g.External("x", type);
    g.Result("y", g.Op("argmax_pool", "y", {x}, fmt::format("size = [{}], border = \"ignore\"", size)));
    ASSERT_NE(g.Lower(), nullptr) << g.FirstMessage();
    EXPECT_EQ(g.Ints(g.Find("MaxPool"), "kernel"), Ints({1})) << type;
  }
}

TEST(Lowering, VariablesWithoutDataKeepTheStructure) {
  NnefGraph g;
  const auto x = g.External("input", "f32[1,4,8,8]");
  g.Result("y", g.Op("conv", "y", {x, g.Variable("filter", {6, 2, 3, 3}), g.Variable("bias", {1, 6})},
                     "groups = 2"));
  ASSERT_NE(g.Lower(/*data=*/false), nullptr);
  EXPECT_EQ(g.Operations(), "GroupConvolution Add");
  EXPECT_FALSE(g.Input(g.Find("GroupConvolution"), 1).output().value.has_value());
}

// An extent of 0 is not copied from the same axis of the input.
TEST(Lowering, ReshapesOfNoElements) {
  for (const auto& [attributes, extents] :
       {std::pair("shape = [6], axis_start = 0, axis_count = 2", Ints{6, 0}),
        std::pair("shape = [1,6], axis_start = 0, axis_count = 2", Ints{1, 6, 0}),
        std::pair("shape = [3,2], axis_start = 0, axis_count = 2", Ints{3, 2, 0}),
        std::pair("shape = [0,0], axis_start = 1, axis_count = 2", Ints{2, 3, 0}),
        std::pair("shape = [2,3,0]", Ints{2, 3, 0})}) {
    NnefGraph g;
    const auto empty =
        g.Op("slice", "s", {g.External("x", "f32[2,3,4]")}, "axes = [2], begin = [1], end = [1]");
    const auto y = g.Op("reshape", "y", {empty}, std::string(attributes) + ", dtype = \"scalar\"");
    g.Result("y", y);
    ASSERT_NE(g.Lower(), nullptr) << attributes << ": " << g.FirstMessage();
    EXPECT_EQ(g.ResultOf("y").output().shape, ir::PartialShape(extents)) << attributes;
  }
}

TEST(Lowering, BroadcastsFromTheFirstAxis) {
  NnefGraph g;
  const auto x = g.External("x", "f32[2,3,4]");
  const auto sum = g.Op("add", "sum", {x, g.Variable("v", {2, 3})});
  g.Result("y", g.Op("mul", "y", {g.External("u", "f32[2]"), sum}));
  ASSERT_NE(g.Lower(), nullptr);
  EXPECT_EQ(g.Operations(), "Add Unsqueeze Multiply");
  EXPECT_EQ(g.Input(g.Find("Add"), 1).output().value->shape(), Shape({2, 3, 1}));
  EXPECT_EQ(g.IntInput(g.Find("Unsqueeze"), 1), Ints({1, 2}));
}

TEST(Lowering, BatchNormalizationParametersLoseTheirFirstAxis) {
  NnefGraph g;
  const auto x = g.External("x", "f32[?,3,8,8]");
  g.Result("y", g.Op("batch_normalization", "y",
                     {x, g.Variable("mean", {1, 3}), g.Variable("variance", {1, 3}),
                      g.Variable("offset", {1, 3}), g.Literal(1.0)},
                     "epsilon = 0.001"));
  ASSERT_NE(g.Lower(), nullptr);
  const ir::Node& norm = g.Find("BatchNormInference");
  EXPECT_EQ(norm.attribute("epsilon").AsDouble(), 0.001);
  // gamma, beta, mean, variance
  EXPECT_EQ(g.Input(norm, 1).output().value->shape(), Shape({3}));
  EXPECT_EQ(g.Input(norm, 2).output().value->bytes(), g.data("offset").bytes());
  EXPECT_EQ(g.Input(norm, 3).output().value->bytes(), g.data("mean").bytes());
  EXPECT_EQ(g.Input(norm, 4).output().value->bytes(), g.data("variance").bytes());
}

// Each of 2^64 paths to the old value passes the same nodes, which are visited once.
TEST(Lowering, UpdatesByManyPaths) {
  NnefGraph g;
  const auto state = g.Variable("v", {2}, "state");
  auto sum = state;
  for (int i = 0; i < 64; ++i) sum = g.Op("add", "sum" + std::to_string(i), {sum, sum});
  g.Result("new", g.Op("update", "new", {state, sum}));
  ASSERT_NE(g.Lower(), nullptr) << g.FirstMessage();
  EXPECT_EQ(g.lowered().sinks().size(), 1u);
}

// `x' = update(x, y); y' = update(y, x)`: both read the old values.
TEST(Lowering, UpdatesSwapVariables) {
  NnefGraph g;
  const auto x = g.Variable("x", {2}, "state/x");
  const auto y = g.Variable("y", {2}, "state/y");
  g.Result("new_x", g.Op("update", "new_x", {x, y}));
  g.Result("new_y", g.Op("update", "new_y", {y, x}));
  ASSERT_NE(g.Lower(), nullptr) << g.FirstMessage();
  EXPECT_EQ(g.lowered().sinks().size(), 2u);
  for (ir::NodeId sink : g.lowered().sinks()) {
    const ir::Node& assign = g.lowered().node(sink);
    const ir::Node& value = g.Input(assign, 0);
    EXPECT_EQ(value.type(), "ReadValue");
    EXPECT_NE(assign.attribute("variable_id"), value.attribute("variable_id"));
  }
  EXPECT_EQ(g.ResultOf("new_x").attribute("variable_id").AsString(), "state/y");
  EXPECT_EQ(g.ResultOf("new_x").output().names, std::vector<std::string>({"y", "new_x"}));
}

// Variables with the same label, in any case, share one state.
TEST(Lowering, VariablesOfOneLabelShareTheirState) {
  NnefGraph g;
  const auto a = g.Variable("a", {2}, "State");
  const auto b = g.Variable("b", {2}, "state");
  g.Result("r", g.Op("update", "r", {a, g.Op("neg", "n", {b})}));
  ASSERT_NE(g.Lower(), nullptr);
  EXPECT_EQ(g.Operations(), "ReadValue Negative Assign");
  EXPECT_EQ(g.Find("ReadValue").attribute("variable_id"), g.Find("Assign").attribute("variable_id"));
}

TEST(Lowering, CopyIsAnAliasUnlessItIsAResult) {
  NnefGraph g;
  const auto x = g.External("x", "f32[2]");
  const auto alias = g.Op("copy", "alias", {x});
  g.Result("y", g.Op("neg", "y", {alias}));
  g.Result("z", g.Op("copy", "z", {x}));
  ASSERT_NE(g.Lower(), nullptr);
  EXPECT_EQ(g.Operations(), "Negative Convert");
  EXPECT_EQ(g.ResultOf("z").name(), "z");
  EXPECT_EQ(g.Input(g.Find("Negative"), 0).output().names, std::vector<std::string>({"x", "alias"}));
}

// A result without operations is copied if it would be another name of a parameter or of another result; the
// copy has the name.
TEST(Lowering, ResultsAreTensorsOfTheirOwn) {
  NnefGraph g;
  const auto x = g.External("x", "f32[2,3]");
  const auto r = g.Op("relu", "r", {x});
  g.Result("a", g.Op("transpose", "a", {x}, "axes = [0,1]"));
  g.Result("b", g.Op("sum_reduce", "b", {r}, "axes = []"));
  g.Result("c", g.Op("box", "c", {r}, "size = [1,1]"));
  ASSERT_NE(g.Lower(), nullptr) << g.FirstMessage();
  EXPECT_EQ(g.Operations(), "ReLU Convert Convert");
  using Names = std::vector<std::string>;
  EXPECT_EQ(g.lowered().node(g.lowered().parameters()[0]).output().names, Names({"x"}));
  EXPECT_EQ(g.ResultOf("a").output().names, Names({"a"}));
  EXPECT_EQ(g.ResultOf("b").output().names, Names({"r", "b"}));
  EXPECT_EQ(g.ResultOf("c").output().names, Names({"c"}));
  EXPECT_EQ(g.Input(g.ResultOf("c"), 0).type(), "ReLU");
}

// `u = update(v, x)` without a reader of v: the value of v is read nevertheless.
TEST(Lowering, UpdatedVariablesAreRead) {
  NnefGraph g;
  const auto x = g.External("x", "f32[2]");
  const auto v = g.Variable("v", {2}, "v");
  g.Op("neg", "unread", {v});
  g.Result("u", g.Op("update", "u", {v, g.Op("relu", "r", {x})}));
  ASSERT_NE(g.Lower(), nullptr) << g.FirstMessage();
  EXPECT_EQ(g.Operations(), "ReadValue ReLU Less Select Assign");
  const ir::Node& choice = g.Input(g.Find("Assign"), 0);
  EXPECT_EQ(g.Input(choice, 0).type(), "Less");
  EXPECT_EQ(g.Input(choice, 1).type(), "ReadValue");
  EXPECT_EQ(g.Input(choice, 2).type(), "ReLU");
  EXPECT_EQ(g.ResultOf("u").type(), "ReLU");
}

// A value that is stored from an input of the model is computed, although v is read.
TEST(Lowering, InputsAreStoredByAnOperation) {
  NnefGraph g;
  const auto x = g.External("x", "f32[2]");
  const auto v = g.Variable("v", {2}, "v");
  g.Result("y", g.Op("add", "y", {v, x}));
  g.Op("update", "u", {v, x});
  ASSERT_NE(g.Lower(), nullptr) << g.FirstMessage();
  EXPECT_EQ(g.Input(g.Find("Assign"), 0).type(), "Select");
}

TEST(Lowering, ConstantsAreFilledOrBroadcast) {
  NnefGraph g;
  g.Result("a", g.Op("constant", "a", {}, "shape = [2,3], value = [0.5]"));
  g.Result("b", g.Op("constant", "b", {}, "shape = [2], value = [1.5, 2.5]"));
  g.Result("c", g.Op("constant", "c", {}, "shape = [2048,2048], value = [7.0]"));
  g.Result("d", g.Op("constant", "d", {}, "shape = [2], value = [9007199254740993], dtype = \"integer\""));
  ASSERT_NE(g.Lower(), nullptr);
  EXPECT_EQ(*g.ResultOf("a").output().value, TensorValue::Filled(ElementType::kF32, {2, 3}, 0.5));
  EXPECT_EQ(*g.ResultOf("b").output().value, TensorValue::FromFloats({2}, {1.5f, 2.5f}));
  EXPECT_EQ(g.ResultOf("c").type(), "Broadcast");
  EXPECT_EQ(*g.ResultOf("d").output().value,
            TensorValue::FromInts({2}, {9007199254740993, 9007199254740993}));
}

TEST(Lowering, TheSumOfNothingIsZero) {
  NnefGraph g;
  g.Result("y", g.Op("add_n", "y", {}));
  ASSERT_NE(g.Lower(), nullptr) << g.FirstMessage();
  EXPECT_EQ(g.ResultOf("y").output().value->ElementAsDouble(0), 0.0);
}

// Where cropping leaves nothing, the tensor is padded before the operation.
TEST(Lowering, PaddingOfACroppedTensor) {
  NnefGraph g;
  g.Result("y",
           g.Op("conv", "y", {g.External("x", "f32[2,4,1,8]"), g.Variable("f", {8, 4, 1, 3}), g.Literal(0)},
                "padding = [[-1,2],[0,0]]"));
  ASSERT_NE(g.Lower(), nullptr) << g.FirstMessage();
  EXPECT_EQ(g.Operations(), "Pad Convolution");
  EXPECT_EQ(g.Ints(g.ResultOf("y"), "pads_begin"), Ints({0, 0}));
  EXPECT_EQ(g.Ints(g.ResultOf("y"), "pads_end"), Ints({0, 0}));
}

// A long list of values.
TEST(Lowering, ConstantsOfManyValues) {
  std::string values;
  for (int i = 0; i < 5000; ++i) values += fmt::format("{}{}.0", i == 0 ? "" : ", ", i);
  NnefGraph g;
  g.Result("y", g.Op("constant", "y", {}, fmt::format("shape = [50,100], value = [{}]", values)));
  ASSERT_NE(g.Lower(), nullptr) << g.FirstMessage();
  const TensorValue& value = *g.ResultOf("y").output().value;
  for (int64_t i = 0; i < 5000; ++i) ASSERT_EQ(value.ElementAsDouble(i), static_cast<double>(i));
}

// Of at most 16 bits and between constants, if nnefc runs the graph; linear_quantize then is the operation
// that defines it.
TEST(Lowering, QuantizationBetweenConstantsIsOneOperation) {
  for (const std::string_view op :
       {"linear_quantize", "min_max_linear_quantize", "zero_point_linear_quantize"}) {
    for (int setting = 0; setting < 32; ++setting) {
      const bool runs = (setting & 1) != 0, first = (setting & 2) != 0, second = (setting & 4) != 0;
      const int bits = setting < 8 ? 2 : setting < 16 ? 8 : setting < 24 ? 16 : 17;
      SCOPED_TRACE(fmt::format("{}, {} bits, {} {} {}", op, bits, runs, first, second));
      NnefGraph g;
      if (runs) g.KeepExactOperations();
      const bool is_point = op == "zero_point_linear_quantize";
      const auto x = g.External("x", "f32[2,3]");
      const auto limit = [&](const std::string& name, bool is_constant, bool is_integer) {
        if (!is_constant) return g.External(name, is_integer ? "i64[]" : "f32[]");
        return is_integer ? g.Op("constant", name, {}, "shape = [], value = [2], dtype = \"integer\"")
                          : g.Literal(2);
      };
      const auto low = limit("low", first, is_point), high = limit("high", second, false);
      std::string attributes = fmt::format("bits = {}", bits);
      if (op != "linear_quantize") attributes += ", signed = true, symmetric = true";
      g.Result("y", g.Op(op, "y", {x, low, high}, attributes));
      ASSERT_NE(g.Lower(), nullptr) << g.FirstMessage();
      const bool is_whole = runs && first && second && bits <= 16;
      const std::string whole =
          fmt::format("nnef.{}", op == "linear_quantize" ? "min_max_linear_quantize" : op);
      if (is_whole) {
        EXPECT_EQ(g.Operations(), whole);
        const ir::Node& node = g.ResultOf("y");
        EXPECT_EQ(node.attribute("bits").AsInt(), bits);
        EXPECT_EQ(node.attribute("symmetric").AsBool(), op != "linear_quantize");
      } else {
        EXPECT_EQ(g.Operations().find("quantize"), std::string::npos);
      }
    }
  }
}

TEST(Lowering, LargestAndSmallestItems) {
  for (const bool largest : {true, false}) {
    NnefGraph g;
    const auto x = g.External("x", "f32[2,5]");
    const ir::NodeId top =
        g.Node("tract_core_topk", "top", {x}, fmt::format("k = 3, axis = 1, largest = {}", largest), 2);
    g.Result("values", {top, 0});
    g.Result("indices", {top, 1});
    ASSERT_NE(g.Lower(), nullptr) << g.FirstMessage();
    const ir::Node& node = g.Find("TopK");
    EXPECT_EQ(node.attribute("mode").AsString(), largest ? "max" : "min");
    EXPECT_EQ(node.attribute("sort").AsString(), "value");
    EXPECT_EQ(node.attribute("axis").AsInt(), 1);
    EXPECT_EQ(g.IntInput(node, 1), Ints({3}));
    EXPECT_EQ(g.lowered().node(g.lowered().results()[0]).input(0).index, 0);
    EXPECT_EQ(g.lowered().node(g.lowered().results()[1]).input(0).index, 1);
  }
}

// No tensor has string elements: the Const has no value, like that of a variable without data.
TEST(Lowering, ConstantsOfStringsHaveNoValue) {
  NnefGraph g;
  g.Result("a", g.Op("constant", "a", {}, "shape = [1], value = [\"s\"], dtype = \"string\""));
  g.Result("b", g.Op("constant", "b", {}, "shape = [2,2], value = [\"s\"], dtype = \"string\""));
  g.Result("c", g.Op("constant", "c", {}, "shape = [2], value = [\"s\", \"t\"], dtype = \"string\""));
  ASSERT_NE(g.Lower(), nullptr) << g.FirstMessage();
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_EQ(g.ResultOf(name).type(), "Const") << name;
    EXPECT_EQ(g.ResultOf(name).output().type, ElementType::kString) << name;
    EXPECT_FALSE(g.ResultOf(name).output().value.has_value()) << name;
  }
}

TEST(Lowering, ReshapeLeavesTheBatchOpen) {
  NnefGraph g;
  const auto x = g.External("x", "f32[?,4,5,6]");
  g.Result("y", g.Op("reshape", "y", {x}, "shape = [0,-1]"));
  g.Result("z", g.Op("reshape", "z", {x}, "shape = [2,2], axis_start = 1, axis_count = 1"));
  ASSERT_NE(g.Lower(), nullptr) << g.FirstMessage();
  EXPECT_EQ(g.IntInput(g.ResultOf("y"), 1), Ints({0, -1}));
  EXPECT_EQ(g.IntInput(g.ResultOf("z"), 1), Ints({0, 2, 2, 5, 6}));
  EXPECT_EQ(ir::ToString(g.ResultOf("z").output().shape), "[?,2,2,5,6]");
}

TEST(Lowering, DynamicExtentsPassWhereNoneIsNeeded) {
  NnefGraph g;
  const auto x = g.External("x", "f32[?,3,?,?]");
  const auto conv = g.Op("conv", "c", {x, g.Variable("f", {8, 3, 3, 3}), g.Literal(0)});
  const auto pool =
      g.Op("max_pool", "p", {g.Op("relu", "r", {conv})}, "size = [1,1,3,3], border = \"ignore\"");
  g.Result("y", g.Op("softmax", "y", {g.Op("mean_reduce", "m", {pool}, "axes = [2,3]")}));
  ASSERT_NE(g.Lower(), nullptr) << g.FirstMessage();
  EXPECT_EQ(g.Operations(), "Convolution ReLU MaxPool ReduceMean SoftMax");
}

TEST(Lowering, AutomaticPaddingOfDynamicExtentsIsLeftToTheOperation) {
  NnefGraph g;
  const auto x = g.External("x", "f32[1,3,?,8]");
  g.Result("y", g.Op("conv", "y", {x, g.Variable("f", {8, 3, 3, 3}), g.Literal(0)}, "stride = [2,2]"));
  ASSERT_NE(g.Lower(), nullptr) << g.FirstMessage();
  EXPECT_EQ(g.ResultOf("y").attribute("auto_pad").AsString(), "same_upper");
  for (const char* pads : {"pads_begin", "pads_end"}) EXPECT_EQ(g.Ints(g.ResultOf("y"), pads), Ints({0, 0}));
  EXPECT_EQ(ir::ToString(g.ResultOf("y").output().shape), "[1,8,?,4]");
}

TEST(LoweringMistakes, SayWhichExtentIsNeeded) {
  NnefGraph g;
  const auto x = g.External("x", "f32[1,3,?,8]");
  g.Result("y", g.Op("conv", "y", {x, g.Variable("f", {8, 3, 3, 3}), g.Literal(0)},
                     "stride = [2,2], border = \"replicate\""));
  EXPECT_EQ(g.Lower(), nullptr);
  EXPECT_EQ(g.Rules(), std::vector<std::string>({"lower.unknown-extent"}));
  EXPECT_EQ(g.FirstMessage(),
            "lowering `conv` needs the extent of the tensor under an automatically padded window along axis "
            "2, which "
            "is unknown");
}

TEST(LoweringMistakes, MissingDataFailTheStage) {
  NnefGraph g;
  const auto x = g.Variable("x", {2});
  g.Result("y", g.Op("neg", "y", {x}));
  LowerOptions options;
  options.variable_data = [](const std::string&, ElementType, const ir::PartialShape&,
                             const ir::Origin&) -> std::optional<TensorValue> { return std::nullopt; };
  Context context;
  EXPECT_EQ(LowerGraph(g.graph(), options, context), nullptr);
}

TEST(LoweringMistakes, WindowsAreBounded) {
  NnefGraph g;
  const auto x = g.External("x", "f32[1,1,8,8]");
  g.Result("y", g.Op("box", "y", {x}, "size = [1,1,1,1], stride = [1,1,4611686018427387904,1]"));
  EXPECT_EQ(g.Lower(), nullptr);
  EXPECT_EQ(g.Rules(), std::vector<std::string>({"lower.window-too-large"}));
}

TEST(LoweringMistakes, FactorsAndRegionsAreBounded) {
  struct Bound {
    const char* type;  // of the tensor
    const char* operation;
    const char* attributes;
    bool fits;
  };
  constexpr const char* kPixel = "f32[1,1,1,1]";
  constexpr const char* kAlign = "avg_roi_align";
  for (const auto& [type, operation, attributes, fits] : {
           Bound{kPixel, "nearest_upsample", "factor = [1048576,1048576]", true},
           Bound{kPixel, "nearest_upsample", "factor = [1048577,1]", false},
           Bound{kPixel, "nearest_upsample", "factor = [1,1048577]", false},
           Bound{kPixel, "multilinear_upsample", "factor = [1048576,1], method = \"aligned\"", true},
           Bound{kPixel, "multilinear_upsample", "factor = [1,1048577], method = \"aligned\"", false},
           Bound{"f32[1,1,1073741824,1]", "nearest_upsample", "factor = [1,2]", true},
           Bound{"f32[1,1,1073741825,1]", "nearest_upsample", "factor = [1,2]", false},
           Bound{"f32[1,1,1,1073741825]", "nearest_upsample", "factor = [1,2]", false},
           Bound{kPixel, kAlign, "output_size = [1048576,1], sampling_rate = [1,1048576]", true},
           Bound{kPixel, kAlign, "output_size = [1048577,1], sampling_rate = [1,1]", false},
           Bound{kPixel, kAlign, "output_size = [1,1048577], sampling_rate = [1,1]", false},
           Bound{kPixel, kAlign, "output_size = [1,1], sampling_rate = [1048577,1]", false},
           Bound{kPixel, kAlign, "output_size = [1,1], sampling_rate = [1,1048577]", false},
       }) {
    SCOPED_TRACE(std::string(type) + " " + operation + " " + attributes);
    NnefGraph g;
    std::vector<ir::OutputPort> inputs = {g.External("x", type)};
    if (operation == kAlign) {
      inputs.push_back(g.External("rois", "f32[1,4]"));
      inputs.push_back(g.External("batch", "i64[1,1]"));
    }
    g.Result("y", g.Op(operation, "y", inputs, attributes));
    EXPECT_EQ(g.Lower() != nullptr, fits) << g.FirstMessage();
    EXPECT_EQ(g.Rules(),
              fits ? std::vector<std::string>() : std::vector<std::string>({"lower.window-too-large"}));
  }
}

// The numbers of TopK by the documentation of tract: `largest` selects the order.
TEST(Lowering, TopKTakesTheLargestOrTheSmallest) {
  for (const auto& [largest, mode] : {std::pair("true", "max"), std::pair("false", "min")}) {
    NnefGraph g;
    const auto x = g.External("x", "f32[2,5]");
    const ir::NodeId top = g.Node("tract_core_topk_by", "top", {x, g.External("k", "i64[]")},
                                  fmt::format("axis = 1, largest = {}", largest), 2);
    g.Result("values", {top, 0});
    g.Result("indices", {top, 1});
    ASSERT_NE(g.Lower(), nullptr) << g.FirstMessage();
    EXPECT_EQ(g.Find("TopK").attribute("mode").AsString(), mode);
  }
}

// OpenVINO's `linear_onnx` interpolates pictures and volumes, not sequences.
TEST(Lowering, InterpolationModesByRank) {
  for (const auto& [type, factor, mode] :
       {std::tuple("f32[2,3,4]", "[2]", "linear"), std::tuple("f32[2,3,4,5]", "[2,2]", "linear_onnx"),
        std::tuple("f32[2,3,4,5,6]", "[2,2,2]", "linear_onnx")}) {
    NnefGraph g;
    g.Result("y",
             g.Op("multilinear_upsample", "y", {g.External("x", type)}, fmt::format("factor = {}", factor)));
    ASSERT_NE(g.Lower(), nullptr) << g.FirstMessage();
    EXPECT_EQ(g.Find("Interpolate").attribute("mode").AsString(), mode) << type;
  }
}

// Element u of the result is a sum over i with i * 2 + j - begin = u, where j is in [0, 3). With 4 elements
// and padding (0,3) the first i is -1; with 5 elements and padding (3,0) the last one is 5.
TEST(Lowering, DeconvolutionReadsBeyondEitherEnd) {
  NnefGraph g;
  const auto x = g.External("x", "f32[1,2,4,5]");
  g.Result("y", g.Op("deconv", "y", {x, g.Variable("filter", {2, 3, 3, 3}), g.Literal(0)},
                     "border = \"replicate\", stride = [2,2], padding = [[0,3],[3,0]]"));
  ASSERT_NE(g.Lower(), nullptr) << g.FirstMessage();
  const ir::Node& pad = g.Find("Pad");
  EXPECT_EQ(g.IntInput(pad, 1), Ints({0, 0, 1, 0}));
  EXPECT_EQ(g.IntInput(pad, 2), Ints({0, 0, 0, 1}));
  const ir::Node& deconvolution = g.Find("ConvolutionBackpropData");
  EXPECT_EQ(g.Ints(deconvolution, "pads_begin"), Ints({2, 3}));
  EXPECT_EQ(g.Ints(deconvolution, "pads_end"), Ints({3, 2}));
}

}  // namespace
}  // namespace nnefc::lower
