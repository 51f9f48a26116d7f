// Properties of whole graphs: names, biases, constants, states, and everything that is reported.

#include "compiler/ir/text/text.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/raise/raising_support.h"

namespace nnefc::raise {
namespace {

using Lines = std::vector<std::string>;

std::string Parameter(int id, const std::string& name, const std::string& type) {
  const size_t bracket = type.find('[');
  return fmt::format("%{} = opset1.Parameter \"{}\" {{element_type = {}, shape = shape{}}} : {}\n", id, name,
                     type.substr(0, bracket), type.substr(bracket), type);
}

constexpr std::string_view kConvolution =
    "{strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]} : f32[1,2,4]";

TEST(Raise, MakesADocument) {
  const Raising raising(Parameter(0, "x", "f32[2,3]") +
                        "%1 = opset1.ReLU \"relu\" (%0) : f32[2,3]\nopset1.Result \"y\" (%1)\n");
  ASSERT_TRUE(raising.ok());
  EXPECT_EQ(
      raising.Document(),
      "version 1.0;\n\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [2, 3]);\n    y = relu(x);\n}\n");
}

// A repetition has more elements than its inputs together.
TEST(Raise, RepetitionsHaveMoreElements) {
  const auto repeats = [](const std::string& data, const std::string& type, int64_t count) {
    Context context;
    const std::string text = fmt::format(
        "graph \"g\" {{\n{}%1 = opset1.Const \"n\" : i64[1] = dense<i64[1]: {}>\n"
        "%2 = opset3.Broadcast \"b\" (%0, %1) {{mode = \"numpy\"}} : {}[{}]\nopset1.Result \"y\" (%2)\n}}\n",
        Parameter(0, "x", data), count, type, count);
    const auto graph = ir::ParseGraph(context.sources.AddText("graph", text), ir::StandardOps(), context);
    EXPECT_NE(graph, nullptr);
    if (graph == nullptr) return false;
    return IsRepetition(*graph, graph->node(graph->node(graph->results()[0]).input(0).node));
  };
  // The number of elements is an input, too.
  EXPECT_TRUE(repeats("f32[1]", "f32", 3));
  EXPECT_TRUE(repeats("boolean[1]", "boolean", 3));
  EXPECT_FALSE(repeats("f32[1]", "f32", 2));
  EXPECT_FALSE(repeats("f32[1]", "f32", 1));
  EXPECT_FALSE(repeats("f32[3]", "f32", 3));
  EXPECT_FALSE(repeats("i64[1]", "i64", 3));
}

TEST(Raise, NamesTensorsByTheirTensorNames) {
  const Raising raising(Parameter(0, "input:0", "f32[2,3]") +
                        "%1 = opset1.ReLU \"layer\" (%0) : f32[2,3] as [\"/block 1/Relu_output_0\"]\n"
                        "%2 = opset1.Exp \"12\" (%1) : f32[2,3] as [\"34\"]\n"
                        "%3 = opset1.Abs \"abs\" (%2) : f32[2,3]\n"
                        "opset1.Result \"result 1\" (%3)\n");
  ASSERT_TRUE(raising.ok());
  EXPECT_EQ(raising.Externals(), Lines{"input_0 = external(shape = [2, 3]);"});
  EXPECT_EQ(raising.Statements(), (Lines{"block_1_Relu_output_0 = relu(input_0);",
                                         "t12 = exp(block_1_Relu_output_0);", "result_1 = abs(t12);"}));
}

TEST(Raise, DistinguishesEqualNames) {
  const Raising raising(Parameter(0, "x", "f32[2]") + "%1 = opset1.ReLU \"x\" (%0) : f32[2]\n" +
                        "%2 = opset1.Abs \"x\" (%1) : f32[2]\n%3 = opset1.Exp \"y\" (%2) : f32[2]\n"
                        "opset1.Result \"x.1\" (%3)\nopset1.Result \"x-1\" (%2)\n");
  ASSERT_TRUE(raising.ok());
  EXPECT_EQ(raising.Statements(), (Lines{"x_2 = relu(x);", "x_1_2 = abs(x_2);", "x_1 = exp(x_1_2);"}));
}

TEST(Raise, CopiesASecondResultOfATensor) {
  const Raising raising(Parameter(0, "x", "f32[2]") + "%1 = opset1.ReLU \"r\" (%0) : f32[2]\n" +
                        "opset1.Result \"a\" (%1)\nopset1.Result \"b\" (%1)\nopset1.Result \"c\" (%0)\n");
  ASSERT_TRUE(raising.ok());
  EXPECT_EQ(raising.Statements(), (Lines{"a = relu(x);", "b = copy(a);", "c = copy(x);"}));
}

// A result is the output of an operation: an input and a constant, listed or stored, are copied.
TEST(Raise, CopiesResultsThatHaveNames) {
  const Raising raising(Parameter(0, "x", "f32[2]") +
                        "%1 = opset1.Const \"few\" : f32[2] = dense<f32[2]: 1.0, 2.0>\n"
                        "%2 = opset1.Const \"more\" : f32[9] = dense<f32[9]: 1, 2, 3, 4, 5, 6, 7, 8, 9>\n"
                        "opset1.Result \"a\" (%0)\nopset1.Result \"b\" (%1)\nopset1.Result \"c\" (%2)\n");
  ASSERT_TRUE(raising.ok());
  EXPECT_EQ(raising.Statements(),
            (Lines{"a = copy(x);", "few = constant(shape = [2], value = [1.0, 2.0]);", "b = copy(few);",
                   "more = variable(shape = [9], label = 'more');", "c = copy(more);"}));
}

TEST(Raise, RetainsUnusedInputsAndDropsDeadLayers) {
  const Raising raising(
      Parameter(0, "x", "f32[2]") + Parameter(1, "unused", "f32[3]") +
      "%2 = opset1.ReLU \"r\" (%0) : f32[2]\n%3 = opset1.Const \"axis\" : i64[] = dense<i64[]: 0>\n"
      "%4 = opset3.CumSum \"dead\" (%0, %3) : f32[2]\nopset1.Result \"y\" (%2)\n");
  ASSERT_TRUE(raising.ok());
  EXPECT_EQ(raising.Externals(), (Lines{"x = external(shape = [2]);", "unused = external(shape = [3]);"}));
  EXPECT_EQ(raising.Statements(), Lines{"y = relu(x);"});
}

std::string BiasedConvolution(const std::string& bias, const std::string& more) {
  return Parameter(0, "x", "f32[1,3,4]") + Parameter(1, "w", "f32[2,3,1]") +
         fmt::format("%2 = opset1.Convolution \"conv\" (%0, %1) {}\n", kConvolution) +
         fmt::format("%3 = opset1.Const \"conv.bias\" : {}\n", bias) +
         "%4 = opset1.Add \"sum\" (%2, %3) {} : f32[1,2,4]\nopset1.Result \"y\" (%4)\n" + more;
}

TEST(Raise, MovesABiasIntoTheConvolution) {
  const Raising raising(BiasedConvolution("f32[1,2,1] = dense<f32[1,2,1]: 0.25, 0.5>", ""));
  ASSERT_TRUE(raising.ok());
  EXPECT_EQ(raising.Statements(), (Lines{"conv_bias = constant(shape = [1, 2], value = [0.25, 0.5]);",
                                         "y = conv(x, w, conv_bias);"}));
}

TEST(Raise, MovesABiasOfLowerRankIntoTheConvolution) {
  const Raising raising(BiasedConvolution("f32[2,1] = dense<f32[2,1]: 0.25, 0.5>", ""));
  ASSERT_TRUE(raising.ok());
  EXPECT_EQ(raising.Statements().back(), "y = conv(x, w, conv_bias);");
}

TEST(Raise, LeavesAnAdditionAlongAnotherAxis) {
  const Raising raising(BiasedConvolution("f32[1,1,4] = dense<f32[1,1,4]: 1.0, 2.0, 3.0, 4.0>", ""));
  ASSERT_TRUE(raising.ok());
  EXPECT_EQ(
      raising.Statements(),
      (Lines{"conv = conv(x, w);", "conv_bias = constant(shape = [1, 1, 4], value = [1.0, 2.0, 3.0, 4.0]);",
             "y = add(conv, conv_bias);"}));
}

// As many numbers as channels, but one for each element of the last axis.
TEST(Raise, LeavesAnAdditionAlongTheLastAxis) {
  for (const char* type : {"f32[2]", "f32[1,2]", "f32[1,1,2]"}) {
    const Raising raising(Parameter(0, "x", "f32[1,1,2]") + Parameter(1, "w", "f32[2,1,1]") +
                          "%2 = opset1.Convolution \"conv\" (%0, %1) {strides = [1], dilations = [1], "
                          "pads_begin = [0], pads_end = "
                          "[0]} : f32[1,2,2]\n" +
                          fmt::format("%3 = opset1.Const \"b\" : {0} = dense<{0}: 1.0, 2.0>\n", type) +
                          "%4 = opset1.Add \"y\" (%2, %3) : f32[1,2,2]\nopset1.Result \"y\" (%4)\n");
    ASSERT_TRUE(raising.ok());
    EXPECT_EQ(raising.Statements().back(), "y = add(conv, b);") << type;
  }
}

TEST(Raise, LeavesTheBiasOfAConvolutionWithAnotherUse) {
  const Raising raising(
      BiasedConvolution("f32[1,2,1] = dense<f32[1,2,1]: 0.25, 0.5>", "opset1.Result \"z\" (%2)\n"));
  ASSERT_TRUE(raising.ok());
  EXPECT_EQ(raising.Statements(),
            (Lines{"z = conv(x, w);", "conv_bias = constant(shape = [1, 2], value = [0.25, 0.5]);",
                   "y = add(z, conv_bias);"}));
}

TEST(Raise, MovesABiasIntoLinear) {
  const Raising raising(Parameter(0, "x", "f32[4,3]") +
                        "%1 = opset1.Const \"w\" : f32[2,3] = dense<f32[2,3]: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0>\n"
                        "%2 = opset1.MatMul \"fc\" (%0, %1) {transpose_b = true} : f32[4,2]\n"
                        "%3 = opset1.Const \"b\" : f32[2] = dense<f32[2]: 0.5, 1.5>\n"
                        "%4 = opset1.Add \"sum\" (%3, %2) {} : f32[4,2]\nopset1.Result \"y\" (%4)\n");
  ASSERT_TRUE(raising.ok());
  EXPECT_EQ(raising.Statements().back(), "y = linear(x, w, b);");
}

// Only the product of a matrix and a constant matrix becomes `linear`. A number for each row is no bias of
// others.
TEST(Raise, LeavesAnAdditionAfterOtherProducts) {
  const auto statements = [](const std::string& x, const std::string& w, const std::string& attributes,
                             const std::string& bias, const std::string& y) {
    std::string elements = "0";
    for (int i = 1; w[0] == '=' && i < std::stoi(w.substr(1)); ++i) elements += fmt::format(", {}", i);
    const std::string type = w.substr(w.find(' ') + 1);
    const Raising raising(
        Parameter(0, "x", x) +
        (w[0] == '=' ? fmt::format("%1 = opset1.Const \"w\" : {0} = dense<{0}: {1}>\n", type, elements)
                     : Parameter(1, "w", type)) +
        fmt::format("%2 = opset1.MatMul \"p\" (%0, %1) {} : {}\n", attributes, y) +
        fmt::format("%3 = opset1.Const \"b\" : {0} = dense<{0}: 0.5, 1.5>\n", bias) +
        fmt::format("%4 = opset1.Add \"y\" (%2, %3) {{}} : {}\nopset1.Result \"y\" (%4)\n", y));
    EXPECT_TRUE(raising.ok()) << x << w;
    return raising.ok() ? raising.Statements().back() : "";
  };
  const std::string plain = "{transpose_b = false}";
  EXPECT_EQ(statements("f32[4,3]", "=6 f32[3,2]", plain, "f32[2]", "f32[4,2]"), "y = linear(x, w, b);");
  EXPECT_EQ(statements("f32[3,4]", "=6 f32[3,2]", "{transpose_a = true}", "f32[1,2]", "f32[4,2]"),
            "y = add(p, b);");
  EXPECT_EQ(statements("f32[4,3]", "v f32[3,2]", plain, "f32[1,2]", "f32[4,2]"), "y = add(p, b);");
  EXPECT_EQ(statements("f32[2,3]", "=24 f32[2,3,4]", plain, "f32[1,2,1]", "f32[2,2,4]"), "y = add(p, b);");
  EXPECT_EQ(statements("f32[3,2,3]", "=12 f32[3,4]", plain, "f32[1,2,1]", "f32[3,2,4]"), "y = add(p, b);");
}

// gamma / sqrt(variance + epsilon) is 0.5 and 2, beta - mean * that 1 and -5.
std::string Normalization(const std::string& data, const std::string& shape) {
  return "%10 = opset1.Const \"gamma\" : f32[2] = dense<f32[2]: 1.0, 2.0>\n"
         "%11 = opset1.Const \"beta\" : f32[2] = dense<f32[2]: 2.0, 1.0>\n"
         "%12 = opset1.Const \"mean\" : f32[2] = dense<f32[2]: 2.0, 3.0>\n"
         "%13 = opset1.Const \"variance\" : f32[2] = dense<f32[2]: 3.0, 0.0>\n" +
         fmt::format(
             "%14 = opset5.BatchNormInference \"bn\" ({}, %10, %11, %12, %13) {{epsilon = 1.0}} : f32{}\n"
             "opset1.Result \"y\" (%14)\n",
             data, shape);
}

std::string NormalizedConvolution(const std::string& more = "") {
  return Parameter(0, "x", "f32[1,3,4]") +
         "%1 = opset1.Const \"w\" : f32[2,3,1] = dense<f32[2,3,1]: 2.0, 4.0, 6.0, 1.0, 2.0, 3.0>\n" +
         fmt::format("%2 = opset1.Convolution \"conv\" (%0, %1) {}\n", kConvolution) +
         Normalization("%2", "[1,2,4]") + more;
}

TEST(Raise, FoldsABatchNormalizationIntoTheConvolution) {
  const Raising raising(NormalizedConvolution(), /*folds_batch_normalization=*/true);
  ASSERT_TRUE(raising.ok());
  EXPECT_EQ(raising.Statements(),
            (Lines{"w = constant(shape = [2, 3, 1], value = [1.0, 2.0, 3.0, 2.0, 4.0, 6.0]);",
                   "bn_bias = constant(shape = [1, 2], value = [1.0, -5.0]);", "y = conv(x, w, bn_bias);"}));
}

// The outputs of all groups are scaled in the order of the groups.
TEST(Raise, FoldsABatchNormalizationIntoGroups) {
  const Raising raising(
      Parameter(0, "x", "f32[1,4,4]") +
          "%1 = opset1.Const \"w\" : f32[2,1,2,1] = dense<f32[2,1,2,1]: 2.0, 4.0, 1.0, 3.0>\n" +
          fmt::format("%2 = opset1.GroupConvolution \"conv\" (%0, %1) {}\n", kConvolution) +
          Normalization("%2", "[1,2,4]"),
      /*folds_batch_normalization=*/true);
  ASSERT_TRUE(raising.ok());
  EXPECT_EQ(raising.Statements(), (Lines{"w = constant(shape = [2, 2, 1], value = [1.0, 2.0, 2.0, 6.0]);",
                                         "bn_bias = constant(shape = [1, 2], value = [1.0, -5.0]);",
                                         "y = conv(x, w, bn_bias, groups = 2);"}));
}

TEST(Raise, FoldsABatchNormalizationAfterASharedConvolution) {
  const Raising raising(NormalizedConvolution("opset1.Result \"z\" (%2)\n"),
                        /*folds_batch_normalization=*/true);
  ASSERT_TRUE(raising.ok());
  EXPECT_EQ(
      raising.Statements(),
      (Lines{"w = constant(shape = [2, 3, 1], value = [2.0, 4.0, 6.0, 1.0, 2.0, 3.0]);", "z = conv(x, w);",
             "bn_scale = constant(shape = [1, 2], value = [0.5, 2.0]);", "bn_scaled = mul(z, bn_scale);",
             "bn_shift = constant(shape = [1, 2], value = [1.0, -5.0]);", "y = add(bn_scaled, bn_shift);"}));
}

// Scales of a run cannot be folded into a filter.
TEST(Raise, RetainsBatchNormalizationsOfUnknownScales) {
  std::string body = NormalizedConvolution();
  const std::string known = "%10 = opset1.Const \"gamma\" : f32[2] = dense<f32[2]: 1.0, 2.0>\n";
  ASSERT_NE(body.find(known), std::string::npos);
  body.replace(body.find(known), known.size(), Parameter(10, "gamma", "f32[2]"));
  const Raising raising(body, /*folds_batch_normalization=*/true);
  ASSERT_TRUE(raising.ok());
  EXPECT_TRUE(raising.Statements().back().starts_with("y = batch_normalization(conv, mean, variance, beta, "))
      << raising.Statements().back();
}

TEST(Raise, RetainsBatchNormalizationsByDefault) {
  const Raising raising(NormalizedConvolution());
  ASSERT_TRUE(raising.ok());
  EXPECT_EQ(raising.Statements().back(),
            "y = batch_normalization(conv, mean, variance, beta, gamma, epsilon = 1.0);");
}

// Nine elements are too many to be listed in the document.
constexpr std::string_view kNine = "dense<f32[9]: 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5>";

TEST(Raise, WritesLargeConstantsAsVariables) {
  const Raising raising(Parameter(0, "x", "f32[9]") +
                        fmt::format("%1 = opset1.Const \"/layer/scale\" : f32[9] = {}\n", kNine) +
                        "%2 = opset1.Multiply \"m\" (%0, %1) {} : f32[9]\nopset1.Result \"y\" (%2)\n");
  ASSERT_TRUE(raising.ok());
  EXPECT_EQ(raising.Statements(), (Lines{"layer_scale = variable(shape = [9], label = 'layer/scale');",
                                         "y = mul(x, layer_scale);"}));
  ASSERT_EQ(raising.raised().data.size(), 1u);
  EXPECT_EQ(raising.raised().data.at("layer/scale").ElementAsDouble(8), 4.5);
}

TEST(Raise, NamesNumberedConstantsAfterTheirUse) {
  const Raising raising(Parameter(0, "x", "f32[9]") +
                        fmt::format("%1 = opset1.Const \"Constant_12\" : f32[9] = {}\n", kNine) +
                        "%2 = opset1.Multiply \"m\" (%0, %1) {} : f32[9]\nopset1.Result \"y\" (%2)\n");
  ASSERT_TRUE(raising.ok());
  EXPECT_EQ(raising.raised().data.begin()->first, "m/b");
}

TEST(Raise, WritesASharedConstantOnce) {
  const Raising raising(Parameter(0, "x", "f32[9]") +
                        fmt::format("%1 = opset1.Const \"c\" : f32[9] = {}\n", kNine) +
                        "%2 = opset1.Multiply \"m\" (%0, %1) {} : f32[9]\n"
                        "%3 = opset1.Add \"a\" (%2, %1) {} : f32[9]\nopset1.Result \"y\" (%3)\n");
  ASSERT_TRUE(raising.ok());
  EXPECT_EQ(raising.Statements(),
            (Lines{"c = variable(shape = [9], label = 'c');", "m = mul(x, c);", "y = add(m, c);"}));
}

TEST(Raise, KeepsCompressedConstantsInHalfPrecision) {
  const std::string half = "dense<f16[9]: 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5>";
  const Raising raising(Parameter(0, "x", "f32[9]") + "%1 = opset1.Const \"c\" : f16[9] = " + half +
                        "\n%2 = opset1.Convert \"wide\" (%1) {destination_type = f32} : f32[9]\n"
                        "%3 = opset1.Multiply \"m\" (%0, %2) {} : f32[9]\nopset1.Result \"y\" (%3)\n");
  ASSERT_TRUE(raising.ok());
  EXPECT_EQ(raising.Statements().front(), "wide = variable(shape = [9], label = 'wide');");
  EXPECT_EQ(raising.raised().data.at("wide").type(), ElementType::kF16);
}

TEST(Raise, DistinguishesLabelsThatDifferInCase) {
  const std::string other = "dense<f32[9]: 1.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5>";
  const Raising raising(Parameter(0, "x", "f32[9]") +
                        fmt::format("%1 = opset1.Const \"c\" : f32[9] = {}\n", kNine) +
                        "%2 = opset1.Const \"C\" : f32[9] = " + other +
                        "\n%3 = opset1.Multiply \"m\" (%0, %1) {} : f32[9]\n"
                        "%4 = opset1.Add \"a\" (%3, %2) {} : f32[9]\nopset1.Result \"y\" (%4)\n");
  ASSERT_TRUE(raising.ok());
  EXPECT_EQ(raising.raised().data.count("c"), 1u);
  EXPECT_EQ(raising.raised().data.count("C_2"), 1u);
}

TEST(Raise, StoresInfinitiesInTensorFiles) {
  const Raising raising(Parameter(0, "x", "f32[2]") +
                        "%1 = opset1.Const \"limit\" : f32[] = dense<f32[]: inf>\n"
                        "%2 = opset1.Minimum \"m\" (%0, %1) {} : f32[2]\nopset1.Result \"y\" (%2)\n");
  ASSERT_TRUE(raising.ok());
  EXPECT_EQ(raising.Statements(),
            (Lines{"limit = variable(shape = [1], label = 'limit');", "y = min(x, limit);"}));
}

TEST(Raise, WritesStatesAsUpdatedVariables) {
  const Raising raising(Parameter(0, "x", "f32[2]") +
                        "%1 = opset1.Const \"start\" : f32[2] = dense<f32[2]: 1.0, 2.0>\n"
                        "%2 = opset6.ReadValue \"read\" (%1) {variable_id = \"sum\", variable_type = f32, "
                        "variable_shape = shape[2]} : f32[2]\n"
                        "%3 = opset1.Add \"next\" (%2, %0) {} : f32[2]\n"
                        "%4 = opset6.Assign \"assign\" (%3) {variable_id = \"sum\"} : f32[2]\n"
                        "opset1.Result \"y\" (%3)\nsinks (%4)\n");
  ASSERT_TRUE(raising.ok());
  EXPECT_EQ(raising.Statements(), (Lines{"read = variable(shape = [2], label = 'sum');", "y = add(read, x);",
                                         "assign = update(read, y);"}));
  EXPECT_EQ(raising.raised().data.at("sum").ElementAsDouble(1), 2.0);
}

TEST(Raise, ReportsAllOperationsWithoutAForm) {
  const Raising raising(Parameter(0, "x", "f32[2,3]") + Parameter(1, "i", "i64[2]") +
                        Parameter(2, "j", "i64[2,3]") +
                        "%3 = opset6.GatherElements \"first\" (%0, %2) {axis = 1} : f32[2,3]\n"
                        "%4 = opset1.Add \"second\" (%1, %1) {} : i64[2]\n"
                        "%5 = opset1.ReLU \"fine\" (%3) : f32[2,3]\n"
                        "opset1.Result \"y\" (%5)\nopset1.Result \"z\" (%4)\n");
  EXPECT_FALSE(raising.ok());
  EXPECT_EQ(
      raising.Messages(),
      (Lines{"`GatherElements`, the layer `first`, has no form in the ratified dialect: nnefc has no "
             "combination of "
             "standard operations for it; `--target tract` or `--target nnefc` writes it",
             "`Add`, the layer `second`, has no form in the ratified dialect: its input 0 has the type i64, "
             "and NNEF computes with scalars only; `--target tract` or `--target nnefc` writes it"}));
}

// 3.2.1: the list of the graph's inputs has at least one.
TEST(Raise, GraphsWithoutInputsAreNotStandard) {
  const std::string graph =
      "%0 = opset1.Const \"c\" : f32[2] = dense<f32[2]: 1, 2>\n"
      "%1 = opset1.ReLU \"y\" (%0) : f32[2]\nopset1.Result \"y\" (%1)\n";
  const Raising standard(graph);
  EXPECT_FALSE(standard.ok());
  ASSERT_EQ(standard.Messages().size(), 1u);
  EXPECT_TRUE(std::string_view(standard.Messages().front())
                  .ends_with("it has no inputs, and the standard requires one; `--target tract` or `--target "
                             "nnefc` writes it"));
  for (const Target target : {Target::kTract, Target::kNnefc})
    EXPECT_TRUE(Raising(graph, /*folds_batch_normalization=*/false, target).ok());
}

// Each of the other targets is named if it has a form, and only then.
TEST(Raise, NamesTheTargetsWithAForm) {
  const std::string remainder = "%2 = opset1.FloorMod \"y\" (%0, %1) : ";
  const auto graph = [&](const std::string& type) {
    return Parameter(0, "a", type) + Parameter(1, "b", type) + remainder + type +
           "\nopset1.Result \"y\" (%2)\n";
  };
  const auto ends = [](const Raising& raising, std::string_view end) {
    EXPECT_FALSE(raising.ok());
    ASSERT_EQ(raising.Messages().size(), 1u);
    EXPECT_TRUE(raising.Messages().front().ends_with(end)) << raising.Messages().front();
  };
  // Only integers have a remainder in tract.
  ends(Raising(graph("f32[2]")), "combination of standard operations for it; `--target nnefc` writes it");
  ends(Raising(graph("i64[2]")),
       "combination of standard operations for it; `--target tract` or `--target nnefc` writes it");
  ends(Raising(graph("f32[2]"), /*folds_batch_normalization=*/false, Target::kTract),
       "no remainder of scalars; `--target nnefc` writes it");
  const std::string state =
      Parameter(0, "x", "f32[2]") +
      "%1 = opset1.Const \"start\" : f32[2] = dense<f32[2]: 1.0, 2.0>\n"
      "%2 = opset6.ReadValue \"read\" (%1) {variable_id = \"sum\", variable_type = f32, "
      "variable_shape = shape[2]} : f32[2]\n"
      "%3 = opset1.Add \"next\" (%2, %0) {} : f32[2]\n"
      "%4 = opset6.Assign \"assign\" (%3) {variable_id = \"sum\"} : f32[2]\n"
      "opset1.Result \"y\" (%3)\nsinks (%4)\n";
  const Raising updated(state, /*folds_batch_normalization=*/false, Target::kTract);
  ASSERT_EQ(updated.Messages().size(), 2u);
  EXPECT_TRUE(updated.Messages().front().ends_with("; `--target ratified` or `--target nnefc` writes it"))
      << updated.Messages().front();
}

TEST(Raise, ReportsATypeOnce) {
  const Raising raising(Parameter(0, "x", "f16[2]") +
                        "%1 = opset1.ReLU \"r\" (%0) : f16[2]\n%2 = opset1.Abs \"a\" (%1) : f16[2]\n"
                        "opset1.Result \"y\" (%2)\n");
  EXPECT_FALSE(raising.ok());
  EXPECT_EQ(raising.Messages(),
            Lines{"`Parameter`, the layer `x`, has no form in the ratified dialect: its type is "
                  "f16, and NNEF has f32 scalars, integers and logicals; `--target nnefc` writes it"});
  const Raising wide(Parameter(0, "x", "u64[2]") +
                     "%1 = opset1.ReLU \"r\" (%0) : u64[2]\nopset1.Result \"y\" (%1)\n");
  EXPECT_EQ(wide.Messages(),
            Lines{"`Parameter`, the layer `x`, has no form in the ratified dialect: its type is "
                  "u64, and NNEF has f32 scalars, integers and logicals"});
}

TEST(Raise, NamesTheInputWithOpenExtents) {
  const Raising raising(Parameter(0, "x", "f32[?,2]") +
                        "%1 = opset1.ReLU \"r\" (%0) : f32[?,2]\nopset1.Result \"y\" (%1)\n");
  EXPECT_FALSE(raising.ok());
  EXPECT_EQ(raising.Messages(),
            Lines{"the input `x` has the shape [?,2], and NNEF needs every extent; set them by "
                  "`--input-shape x=..`"});
}

// Values up to 64 MiB are computed from inputs of any size.
TEST(Raise, EvaluatesConstantsOfModestSizes) {
  const auto evaluated = [](int64_t extent, const std::string& input) {
    Context context(semantics::StandardLibrary::Shared().base());
    const std::string text = fmt::format(
        "graph \"g\" {{\n{}{}%2 = opset1.Const \"n\" : i64[1] = dense<i64[1]: {}>\n"
        "%3 = opset3.Broadcast \"b\" (%1, %2) {{mode = \"numpy\"}} : f32[{}]\n"
        "%4 = opset1.Add \"y\" (%3, %0) {{}} : f32[{}]\nopset1.Result \"y\" (%4)\n}}\n",
        Parameter(0, "x", "f32[1]"), input, extent, extent, extent);
    const auto graph = ir::ParseGraph(context.sources.AddText("graph", text), ir::StandardOps(), context);
    EXPECT_NE(graph, nullptr);
    if (graph == nullptr) return std::string();
    std::string nodes;
    const auto evaluate = [&](const ir::Node& node, llvm::ArrayRef<ir::Output>,
                              llvm::ArrayRef<TensorValue> inputs) {
      nodes += fmt::format("{}:{} ", node.name(), inputs.size());
      return std::optional<std::vector<TensorValue>>();
    };
    [[maybe_unused]] const auto raised = RaiseGraph(*graph, {.evaluate = evaluate}, context);
    return nodes;
  };
  const std::string constant = "%1 = opset1.Const \"c\" : f32[1] = dense<f32[1]: 2.5>\n";
  EXPECT_EQ(evaluated(9, constant), "b:2 ");
  EXPECT_EQ(evaluated(int64_t{16} << 20, constant), "b:2 ");
  EXPECT_EQ(evaluated((int64_t{16} << 20) + 1, constant), "");
  EXPECT_EQ(evaluated(9, Parameter(1, "u", "f32[1]")), "");
}

TEST(Raise, WarnsAboutIndicesThatDependOnData) {
  const Raising raising(Parameter(0, "x", "f32[4,3]") + Parameter(1, "i", "i64[2]") +
                        "%2 = opset1.Const \"axis\" : i64[] = dense<i64[]: 0>\n"
                        "%3 = opset8.Gather \"g\" (%0, %1, %2) {} : f32[2,3]\nopset1.Result \"y\" (%3)\n");
  ASSERT_TRUE(raising.ok());
  EXPECT_EQ(
      raising.Messages(Severity::kWarning),
      Lines{"the indices of `Gather`, the layer `g`, depend on data; negative ones, which count from the end "
            "in OpenVINO, are undefined in NNEF"});
}

TEST(Raise, HandlesTenThousandOperationsOfOneName) {
  constexpr int kCount = 10000;
  std::string body = Parameter(0, "x", "f32[2]");
  for (int i = 1; i <= kCount; ++i) body += fmt::format("%{} = opset1.ReLU \"r\" (%{}) : f32[2]\n", i, i - 1);
  body += fmt::format("opset1.Result \"y\" (%{})\n", kCount);
  const Raising raising(body);
  ASSERT_TRUE(raising.ok());
  const Lines statements = raising.Statements();
  ASSERT_EQ(statements.size(), size_t{kCount});
  EXPECT_EQ(statements[1], "r_2 = relu(r);");
  EXPECT_EQ(statements.back(), "y = relu(r_9999);");
}

// `multilinear_upsample` interpolates between elements: an axis of one element has none.
// Returns the document for a linear resampling of f32[1,1,extent,4] by 2.
std::string LinearUpsampling(int64_t extent, std::string_view coordinates, Target target) {
  const Raising raising(
      Parameter(0, "x", fmt::format("f32[1,1,{},4]", extent)) +
          fmt::format("%1 = opset1.Const \"sizes\" : i64[2] = dense<i64[2]: {0}, 8>\n"
                      "%2 = opset1.Const \"axes\" : i64[2] = dense<i64[2]: 2, 3>\n"
                      "%3 = opset11.Interpolate \"y\" (%0, %1, %2) {{mode = \"linear_onnx\", "
                      "shape_calculation_mode = "
                      "\"sizes\", coordinate_transformation_mode = \"{1}\"}} : f32[1,1,{0},8]\n"
                      "opset1.Result \"y\" (%3)\n",
                      2 * extent, coordinates),
      false, target);
  EXPECT_TRUE(raising.ok());
  return raising.ok() ? raising.Document() : "";
}

TEST(Raise, InterpolatesAxesOfOneElementByGather) {
  for (const char* mode : {"half_pixel", "asymmetric", "align_corners"}) {
    EXPECT_NE(LinearUpsampling(2, mode, Target::kRatified).find("multilinear_upsample("), std::string::npos);
    EXPECT_NE(LinearUpsampling(1, mode, Target::kRatified).find("gather("), std::string::npos);
    EXPECT_NE(LinearUpsampling(2, mode, Target::kNnefc).find("multilinear_upsample("), std::string::npos);
    EXPECT_NE(LinearUpsampling(1, mode, Target::kNnefc).find("opset11_Interpolate("), std::string::npos);
  }
}

// tract gathers the elements of borders and of slices with negative steps. The indices are those of NumPy's
// pad(arange(4), (begin, end), mode) and arange(5)[start::step].
TEST(RaiseForTract, GathersElements) {
  const auto expect_indices = [](const std::string& body, const std::vector<int64_t>& expected) {
    const Raising raising(body, false, Target::kTract);
    ASSERT_TRUE(raising.ok()) << body;
    ASSERT_EQ(raising.raised().data.size(), 1u) << body;
    const TensorValue& indices = raising.raised().data.begin()->second;
    std::vector<int64_t> actual;
    for (int64_t i = 0; i < indices.volume(); ++i) actual.push_back(indices.ElementAsInt(i));
    EXPECT_EQ(actual, expected) << body;
  };
  struct Border {
    int64_t begin, end;
    std::string mode;
    std::vector<int64_t> indices;
  };
  const Border borders[] = {
      {2, 3, "reflect", {2, 1, 0, 1, 2, 3, 2, 1, 0}}, {2, 3, "symmetric", {1, 0, 0, 1, 2, 3, 3, 2, 1}},
      {2, 3, "edge", {0, 0, 0, 1, 2, 3, 3, 3, 3}},    {3, 0, "reflect", {3, 2, 1, 0, 1, 2, 3}},
      {0, 2, "reflect", {0, 1, 2, 3, 2, 1}},          {4, 0, "symmetric", {3, 2, 1, 0, 0, 1, 2, 3}},
      {0, 4, "symmetric", {0, 1, 2, 3, 3, 2, 1, 0}},  {1, 0, "edge", {0, 0, 1, 2, 3}},
  };
  for (const Border& border : borders) {
    const size_t extent = border.indices.size();
    expect_indices(Parameter(0, "x", "f32[4]") +
                       fmt::format("%1 = opset1.Const \"b\" : i64[1] = dense<i64[1]: {}>\n"
                                   "%2 = opset1.Const \"e\" : i64[1] = dense<i64[1]: {}>\n"
                                   "%3 = opset1.Pad \"p\" (%0, %1, %2) {{pad_mode = \"{}\"}} : f32[{}]\n"
                                   "opset1.Result \"y\" (%3)\n",
                                   border.begin, border.end, border.mode, extent),
                   border.indices);
  }
  struct Steps {
    int64_t start, step;
    std::vector<int64_t> indices;
  };
  const Steps slices[] = {{4, -1, {4, 3, 2, 1, 0}}, {-1, -2, {4, 2, 0}}, {3, -2, {3, 1}}, {9, -3, {4, 1}}};
  for (const Steps& slice : slices) {
    expect_indices(
        Parameter(0, "x", "f32[5]") + fmt::format("%1 = opset1.Const \"b\" : i64[1] = dense<i64[1]: {}>\n"
                                                  "%2 = opset1.Const \"e\" : i64[1] = dense<i64[1]: -100>\n"
                                                  "%3 = opset1.Const \"s\" : i64[1] = dense<i64[1]: {}>\n"
                                                  "%4 = opset8.Slice \"p\" (%0, %1, %2, %3) : f32[{}]\n"
                                                  "opset1.Result \"y\" (%4)\n",
                                                  slice.start, slice.step, slice.indices.size()),
        slice.indices);
  }
}

}  // namespace
}  // namespace nnefc::raise
