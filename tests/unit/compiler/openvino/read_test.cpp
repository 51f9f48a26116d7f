#include "compiler/openvino/read.h"

#include <cstring>

#include "compiler/ir/algorithms/infer.h"
#include "fmt/core.h"
#include "tests/unit/compiler/openvino/ir_files.h"
#include "tests/unit/compiler/openvino/ir_text.h"

namespace nnefc::openvino {
namespace {

class ReadTest : public IrFilesTest {
 protected:
  // x -> ReLU -> y with the layer in the middle replaced.
  static std::string Chain(LayerText middle) {
    return Net({Parameter(0, "x", {2}), std::move(middle), Result(2, "y", {2})},
               {{0, 0, 1, 0}, {1, 1, 2, 0}});
  }
  static LayerText Relu() {
    return {
        .id = 1, .name = "relu", .type = "ReLU", .inputs = {{0, "FP32", {2}}}, .outputs = {{1, "FP32", {2}}}};
  }
  static std::string Replaced(std::string text, std::string_view from, std::string_view to) {
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }
  void ExpectError(std::string_view xml, std::string_view label, std::string_view weights = "") {
    const ReadOutcome outcome = Read(xml, weights);
    EXPECT_EQ(outcome.graph, nullptr);
    EXPECT_TRUE(outcome.Has(label)) << label << "\n" << outcome.text;
  }
  std::unique_ptr<ir::Graph> ExpectFine(std::string_view xml, std::string_view weights = "") {
    ReadOutcome outcome = Read(xml, weights);
    EXPECT_NE(outcome.graph, nullptr) << outcome.text;
    if (outcome.graph != nullptr) ExpectStable(*outcome.graph);
    return std::move(outcome.graph);
  }
};

TEST_F(ReadTest, KnowsOpenVinoByItsRoot) {
  EXPECT_TRUE(LooksLikeOpenVino("<?xml version=\"1.0\"?>\n<!-- c -->\n<Net name=\"a\">"));
  EXPECT_TRUE(LooksLikeOpenVino("<net>"));
  for (const char* end : {" ", "\t", "\r", "\n", ">"})
    EXPECT_TRUE(LooksLikeOpenVino(std::string("<net") + end));
  for (const char* text :
       {"<net", "<ne>", "<>", "<", "<nets>", "< net>", "<?xml version=\"1.0\"?>", "<a><net>"})
    EXPECT_FALSE(LooksLikeOpenVino(text)) << text;
  for (const char* text : {"<svg>", "<nut a=\"1\">", "<set>", "<tan>", "<xml><net>", "<network>"})
    EXPECT_FALSE(LooksLikeOpenVino(text)) << text;
  EXPECT_FALSE(LooksLikeOpenVino("version 1.0; graph net( x ) -> ( y )"));
  EXPECT_FALSE(LooksLikeOpenVino(""));
}

TEST_F(ReadTest, ReadsAChain) {
  const auto graph = ExpectFine(Chain(Relu()));
  ASSERT_EQ(graph->parameters().size(), 1u);
  ASSERT_EQ(graph->results().size(), 1u);
  EXPECT_EQ(graph->num_nodes(), 3u);
  const ir::Node& relu = graph->node(graph->node(graph->results()[0]).input(0).node);
  EXPECT_TRUE(relu.Is("opset1", "ReLU"));
  EXPECT_EQ(relu.output().type, ElementType::kF32);
}

TEST_F(ReadTest, IgnoresTheCaseOfTypesAndInheritsOpsets) {
  LayerText relu = Relu();
  relu.type = "RELU";
  relu.version = "opset8";
  const auto graph = ExpectFine(Chain(relu));
  const ir::Node& node = graph->node(graph->node(graph->results()[0]).input(0).node);
  EXPECT_TRUE(node.Is("opset1", "ReLU"));
}

// Attributes that an operation does not have are written again, in their order.
TEST_F(ReadTest, OtherAttributesAreWrittenAgain) {
  LayerText layer = Relu();
  for (const auto& [type, version] : {std::pair("ReLU", "opset1"), {"Thing", "extension"}}) {
    layer.type = type;
    layer.version = version;
    layer.data = R"(b="two words" a="1")";
    const ReadOutcome outcome = Read(Chain(layer));
    ASSERT_NE(outcome.graph, nullptr) << outcome.text;
    ExpectStable(*outcome.graph);
    EXPECT_NE(ReadText(Path("first.xml")).find(R"(<data b="two words" a="1"/>)"), std::string::npos)
        << ReadText(Path("first.xml"));
  }
}

TEST_F(ReadTest, TakesTheVersionThatASetHolds) {
  LayerText softmax = Relu();
  softmax.type = "SoftMax";
  softmax.data = R"(axis="-1")";
  softmax.version = "opset9";
  const auto graph = ExpectFine(Chain(softmax));
  EXPECT_TRUE(graph->node(graph->node(graph->results()[0]).input(0).node).Is("opset8", "SoftMax"));
}

TEST_F(ReadTest, ReadsLayersInAnyOrderAndAnyPortIds) {
  const std::string xml = Net({Result(7, "y", {2}),
                               {.id = 40,
                                .name = "sum",
                                .type = "Add",
                                .inputs = {{11, "FP32", {2}}, {5, "FP32", {2}}},
                                .outputs = {{3, "FP32", {2}}}},
                               Parameter(2, "b", {2}),
                               Parameter(9, "a", {2})},
                              {{40, 3, 7, 0}, {2, 0, 40, 5}, {9, 0, 40, 11}});
  const auto graph = ExpectFine(xml);
  EXPECT_EQ(graph->node(graph->parameters()[0]).name(), "b");
  const ir::Node& sum = graph->node(graph->node(graph->results()[0]).input(0).node);
  EXPECT_EQ(graph->node(sum.input(0).node).name(), "a");
}

TEST_F(ReadTest, MapsConstantsWhereverTheyLie) {
  std::string weights(13, 'x');
  const float values[2] = {1.5f, -2};
  weights.append(reinterpret_cast<const char*>(values), sizeof(values));
  const std::string xml =
      Net({Parameter(0, "x", {2}), Const(1, "c", {2}, 13, 8), Binary(2, "Add", {2}), Result(3, "y", {2})},
          {{0, 0, 2, 0}, {1, 0, 2, 1}, {2, 2, 3, 0}});
  const auto graph = ExpectFine(xml, weights);
  const ir::Node& sum = graph->node(graph->node(graph->results()[0]).input(0).node);
  const TensorValue value = *graph->output(sum.input(1)).value;
  EXPECT_TRUE(value.buffer()->mapped());
  EXPECT_EQ(value.ElementAsDouble(0), 1.5);
  EXPECT_EQ(value.ElementAsDouble(1), -2);
}

// A Parameter without `<data>` has the type that its port declares.
TEST_F(ReadTest, TakesParametersByTheirPorts) {
  const std::string xml =
      Net({Parameter(0, "x", {2, 3}, "I64"), Result(1, "y", {2, 3}, "I64")}, {{0, 0, 1, 0}});
  const size_t data = xml.find("<data");
  const std::string bare = std::string(xml).erase(data, xml.find('>', data) + 1 - data);
  const auto graph = ExpectFine(bare);
  const ir::Node& parameter = graph->node(graph->parameters()[0]);
  EXPECT_EQ(parameter.output().type, ElementType::kI64);
  EXPECT_EQ(parameter.attribute("shape"), ir::Attribute(ir::PartialShape({2, 3})));
  ExpectError(Replaced(bare, R"( precision="I64")", ""), "openvino.xml-missing-element");
  ExpectError(Replaced(xml, R"( shape="2,3")", ""), "openvino.xml-missing-attribute");
  ExpectError(Replaced(xml, R"( element_type="i64")", ""), "openvino.xml-missing-attribute");
}

TEST_F(ReadTest, TellsDamagedConstants) {
  const auto xml = [](int64_t offset, int64_t size) {
    return Net({Const(0, "c", {2}, offset, size), Result(1, "y", {2})}, {{0, 0, 1, 0}});
  };
  const std::string weights(8, 0);
  ExpectFine(xml(0, 8), weights);
  ExpectError(xml(1, 8), "openvino.const-range", weights);
  ExpectError(xml(INT64_MAX, 8), "openvino.const-range", weights);
  ExpectError(xml(8, INT64_MAX), "openvino.const-range", weights);
  ExpectError(xml(0, 7), "openvino.const-size", weights);
  ExpectError(xml(-1, 8), "openvino.xml-attribute-value", weights);
  ExpectError(xml(0, -8), "openvino.xml-attribute-value", weights);
  ExpectError(Replaced(xml(0, 8), R"(shape="2")", R"(shape="9223372036854775807,9223372036854775807")"),
              "openvino.const-size", weights);
  ExpectError(Replaced(xml(0, 8), R"(shape="2")", R"(shape="?")"), "openvino.const-size", weights);
  ExpectError(Replaced(xml(0, 8), R"(element_type="f32")", R"(element_type="string")"), "openvino.const-size",
              weights);
  ExpectFine(Replaced(xml(0, 8), R"(size="8")", R"(size="16")"), std::string(16, 0));
}

// The file is reported once, whatever the number of constants.
TEST_F(ReadTest, TellsAMissingWeightsFile) {
  WriteText(Path("alone.xml"), Net({Const(0, "c", {2}, 0, 8), Result(1, "y", {2}), Const(2, "d", {2}, 8, 8),
                                    Result(3, "z", {2})},
                                   {{0, 0, 1, 0}, {2, 0, 3, 0}}));
  const ReadOutcome outcome = ReadFile(Path("alone.xml"));
  EXPECT_EQ(outcome.graph, nullptr);
  EXPECT_EQ(std::count(outcome.labels.begin(), outcome.labels.end(), "openvino.weights"), 1) << outcome.text;
  EXPECT_NE(outcome.text.find("alone.bin"), std::string::npos) << outcome.text;
}

TEST_F(ReadTest, ReadsConstantsOfOldFiles) {
  const std::string xml = Replaced(Net({{.id = 0,
                                         .name = "c",
                                         .type = "Const",
                                         .data = R"(offset="0" size="16")",
                                         .outputs = {{1, "I64", {2}}}},
                                        Result(1, "y", {2}, "I64")},
                                       {{0, 1, 1, 0}}),
                                   R"(version="11")", R"(version="10")");
  const auto graph = ExpectFine(xml, std::string(16, 1));
  EXPECT_EQ(graph->output(graph->node(graph->results()[0]).input(0)).type, ElementType::kI64);
}

TEST_F(ReadTest, ReadsMetaDataOfOldFiles) {
  const std::string xml = Replaced(
      Chain(Relu()), "<rt_info/>",
      R"(<meta_data><MO_version value="1"/><cli_parameters><framework value="tf"/><unset unset_cli_parameters="a, b"/></cli_parameters></meta_data>)");
  const auto graph = ExpectFine(xml);
  EXPECT_EQ(*graph->rt_info().Find("MO_version"), ir::Attribute("1"));
  EXPECT_EQ(*graph->rt_info().Find("conversion_parameters/framework"), ir::Attribute("tf"));
  EXPECT_EQ(*graph->rt_info().Find("conversion_parameters/unset"), ir::Attribute("a, b"));
}

// Text between the elements of rt_info is no entry.
TEST_F(ReadTest, TextInRtInfo) {
  const auto graph = ExpectFine(Replaced(
      Chain(Relu()), "<rt_info/>",
      R"(<rt_info>one<a value="1"/>two<b><c value="2"/>three</b><![CDATA[four]]><d value="3"/>five</rt_info>)"));
  std::string entries;
  for (const auto& [path, value] : graph->rt_info()) entries += path + " ";
  EXPECT_EQ(entries, "a b/c d ");
}

// The version and the path of the weights are those of the file only at its top.
TEST_F(ReadTest, EntriesOfTheReader) {
  const auto graph =
      ExpectFine(Replaced(Chain(Relu()), "<rt_info/>",
                          R"(<rt_info><version value="1"/><__weights_path value="2"/>)"
                          R"(<a><version value="3"/><__weights_path value="4"/></a></rt_info>)"));
  std::string entries;
  for (const auto& [path, value] : graph->rt_info()) entries += path + " ";
  EXPECT_EQ(entries, "a/version a/__weights_path ");
}

TEST_F(ReadTest, NamesResultsByTheirTensors) {
  LayerText relu = Relu();
  relu.outputs[0].names = R"(a\,b,z)";
  const auto graph = ExpectFine(Replaced(Chain(relu), R"(name="y")", R"(name="Result_7")"));
  EXPECT_EQ(graph->node(graph->results()[0]).name(), "a,b");
}

// In version 10 a tensor has the name of its layer, with its number if the layer makes several.
TEST_F(ReadTest, NamesResultsOfOldFilesByTheirLayers) {
  const auto name = [&](const LayerText& middle, int64_t port) {
    const std::string xml = Replaced(
        Net({Parameter(0, "x", {2}), Const(3, "axis", {}, 0, 8, "I64"), middle, Result(2, "Result_7", {})},
            {{0, 0, 1, 0}, {3, 0, 1, 1}, {1, port, 2, 0}}),
        R"(version="11")", R"(version="10")");
    const auto graph = ExpectFine(xml, std::string(8, 0));
    return graph == nullptr ? "" : graph->node(graph->results()[0]).name();
  };
  LayerText layer = {.id = 1,
                     .name = "middle",
                     .type = "Split",
                     .data = R"(num_splits="2")",
                     .inputs = {{0, "FP32", {2}}, {1, "I64", {}}},
                     .outputs = {{2, "FP32", {1}}, {3, "FP32", {1}}}};
  EXPECT_EQ(name(layer, 2), "middle.0");
  EXPECT_EQ(name(layer, 3), "middle.1");
  layer.type = "Unsqueeze";
  layer.data = "";
  layer.outputs = {{2, "FP32", {1, 2}}};
  EXPECT_EQ(name(layer, 2), "middle");
}

// The converted weights of a compressed model have the declared precision of the stored ones.
TEST_F(ReadTest, CompressedWeightsHaveTheStoredPrecision) {
  const auto labels = [&](const std::string& declared, bool is_decompression) {
    LayerText convert = {.id = 1,
                         .name = "convert",
                         .type = "Convert",
                         .data = R"(destination_type="f32")",
                         .inputs = {{0, "FP16", {2}}},
                         .outputs = {{1, declared, {2}}}};
    if (is_decompression)
      convert.more = R"(<rt_info><attribute name="decompression" version="0"/></rt_info>)";
    const ReadOutcome outcome = Read(
        Net({Const(0, "c", {2}, 0, 4, "FP16"), convert, Result(2, "y", {2})}, {{0, 0, 1, 0}, {1, 1, 2, 0}}),
        std::string(4, 0));
    EXPECT_NE(outcome.graph, nullptr) << outcome.text;
    return outcome.labels;
  };
  using Labels = std::vector<std::string>;
  EXPECT_EQ(labels("FP32", true), Labels());
  EXPECT_EQ(labels("FP16", true), Labels());
  EXPECT_EQ(labels("I64", true), Labels{"openvino.port-precision"});
  EXPECT_EQ(labels("FP16", false), Labels{"openvino.port-precision"});
  // Only conversions have another precision.
  LayerText equal = {.id = 1,
                     .name = "equal",
                     .type = "Equal",
                     .inputs = {{0, "FP16", {2}}, {1, "FP16", {2}}},
                     .outputs = {{2, "FP16", {2}}},
                     .more = R"(<rt_info><attribute name="decompression" version="0"/></rt_info>)"};
  const std::string xml = Net({Parameter(0, "x", {2}, "FP16"), equal, Result(2, "y", {2})},
                              {{0, 0, 1, 0}, {0, 0, 1, 1}, {1, 2, 2, 0}});
  EXPECT_EQ(Read(xml).labels, Labels{"openvino.port-precision"});
}

TEST_F(ReadTest, KeepsUnknownOperations) {
  LayerText custom = Relu();
  custom.type = "MyOp";
  custom.version = "extension";
  custom.data = R"(alpha="0.5" items="1,2" text="a &lt; b")";
  const auto graph = ExpectFine(Chain(custom));
  const ir::Node& node = graph->node(graph->node(graph->results()[0]).input(0).node);
  EXPECT_TRUE(node.Is("extension", "MyOp"));
  EXPECT_EQ(node.attribute("text"), ir::Attribute("a < b"));
  EXPECT_EQ(node.output().shape, ir::PartialShape({2}));
  ASSERT_TRUE(WriteOpenVino(*graph, Path("written.xml")).ok());
  const std::string written = ReadText(Path("written.xml"));
  EXPECT_NE(written.find("<data " + custom.data + "/>"), std::string::npos) << written;
  Emitter emitter;
  EXPECT_FALSE(RequireKnownOperations(*graph, emitter));
  ASSERT_EQ(emitter.diagnostics().size(), 1u);
  EXPECT_EQ(emitter.diagnostics()[0].message,
            "the operation `MyOp` of `extension`, the layer `relu`, is unknown; a plug-in can add it: "
            "`--extensions FILE.so`");
  EXPECT_TRUE(emitter.diagnostics()[0].range.valid());
}

TEST_F(ReadTest, RefusesOperationsOfOurOwnSet) {
  LayerText custom = Relu();
  custom.type = "conv";
  custom.version = "nnef";
  ExpectError(Chain(custom), "openvino.layer-version");
}

TEST_F(ReadTest, WarnsOfLayersThatNothingUses) {
  LayerText unused = Relu();
  unused.id = 5;
  unused.name = "unused";
  const std::string xml = Net({Parameter(0, "x", {2}), Relu(), Result(2, "y", {2}), unused},
                              {{0, 0, 1, 0}, {1, 1, 2, 0}, {0, 0, 5, 0}});
  const ReadOutcome outcome = Read(xml);
  ASSERT_NE(outcome.graph, nullptr) << outcome.text;
  EXPECT_TRUE(outcome.Has("openvino.unused-layer"));
  EXPECT_EQ(outcome.graph->num_nodes(), 3u);
}

TEST_F(ReadTest, TellsLineAndColumn) {
  const ReadOutcome outcome = Read(Replaced(Chain(Relu()), R"(from-layer="1")", R"(from-layer="8")"));
  EXPECT_NE(outcome.text.find("net.xml:8:7: error: there is no layer with the id 8 [openvino.edge-layer]"),
            std::string::npos)
      << outcome.text;
}

TEST_F(ReadTest, TellsBrokenStructure) {
  const std::string chain = Chain(Relu());
  ExpectError(Replaced(chain, R"(id="1" name="relu")", R"(id="0" name="relu")"),
              "openvino.repeated-layer-id");
  ExpectError(Replaced(chain, R"(version="11")", R"(version="9")"), "openvino.net-version");
  ExpectError(Replaced(chain, R"(version="11")", R"(version="12")"), "openvino.net-version");
  ExpectError(Replaced(chain, R"(to-layer="1")", R"(to-layer="2")"), "openvino.edge-repeated-input");
  ExpectError(Replaced(chain, R"(from-port="1")", R"(from-port="4")"), "openvino.edge-port");
  for (const char* id : {R"(from-port="1")", R"(to-port="0" )", R"(from-layer="1")", R"(to-layer="1")"}) {
    // Ids are not negative.
    const std::string name(id, std::string_view(id).find('='));
    const std::string negative =
        Replaced(Replaced(chain, R"(to-port="0"/>)", R"(to-port="0" />)"), id, name + R"(="-1" )");
    ExpectError(negative, "openvino.xml-attribute-value");
  }
  ExpectError(Replaced(chain, R"(<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>)", ""),
              "openvino.unconnected-input");
  ExpectError(Replaced(chain, R"(from-layer="0" from-port="0")", R"(from-layer="1" from-port="1")"),
              "openvino.cycle");
  ExpectError(Replaced(chain, "<layers>", "<layers><layer"), "openvino.xml-syntax");
  ExpectError(Replaced(chain, "</edges>", "</edges><edges/>"), "openvino.xml-repeated-element");
  ExpectError(Replaced(chain, R"(id="1")", R"(id="1" id="1")"), "openvino.xml-repeated-attribute");
  ExpectError(Replaced(chain, R"( version="opset1")", ""), "openvino.xml-missing-attribute");
  ExpectError(Replaced(chain, "<net", "<!DOCTYPE net><net"), "openvino.xml-doctype");
  ExpectError(Replaced(chain, "relu", "&relu;"), "openvino.xml-entity");
  ExpectError(chain + "<net/>", "openvino.xml-syntax");
  ExpectError("", "openvino.xml-syntax");
  ExpectError("<network/>", "openvino.xml-missing-element");
  ExpectError(Net({}, {}), "openvino.no-result");
  ExpectError(Net({{.id = 0, .name = "y", .type = "Result"}}, {}), "openvino.number-of-inputs");
  LayerText fed = Parameter(1, "p", {2});
  fed.inputs = {{3, "FP32", {2}}};
  ExpectError(Net({Parameter(0, "x", {2}), fed, Result(2, "y", {2})}, {{0, 0, 1, 3}, {1, 0, 2, 0}}),
              "openvino.number-of-inputs");
  ExpectError(Net({Parameter(0, "x", {2})}, {}), "openvino.no-result");
}

TEST_F(ReadTest, ComparesDeclaredPortsWithInferredOnes) {
  LayerText relu = Relu();
  relu.outputs[0].dims = {3};
  ExpectError(Chain(relu), "openvino.port-dims");
  relu = Relu();
  relu.outputs[0].dims = {1, 2};
  ExpectError(Chain(relu), "openvino.port-dims");
  relu = Relu();
  relu.outputs[0].type = "I64";
  const ReadOutcome outcome = Read(Chain(relu));
  EXPECT_NE(outcome.graph, nullptr) << outcome.text;
  EXPECT_TRUE(outcome.Has("openvino.port-precision"));
  relu = Relu();
  relu.outputs[0].dims = {-1};
  ExpectFine(Chain(relu));
  relu.outputs[0].dims = {-2};
  ExpectError(Chain(relu), "openvino.xml-attribute-value");
}

TEST_F(ReadTest, TellsBadAttributes) {
  LayerText concat = {.id = 1,
                      .name = "concat",
                      .type = "Concat",
                      .data = R"(axis="one")",
                      .inputs = {{0, "FP32", {2}}},
                      .outputs = {{1, "FP32", {2}}}};
  ExpectError(Chain(concat), "openvino.xml-attribute-value");
  concat.data = R"(axis="5")";
  ExpectError(Chain(concat), "opset.axis");
  concat.data = R"(axis="0" depth="2")";
  const ReadOutcome outcome = Read(Chain(concat));
  EXPECT_NE(outcome.graph, nullptr) << outcome.text;
  EXPECT_TRUE(outcome.Has("openvino.unknown-attribute"));
  LayerText relu = Relu();
  relu.outputs.push_back({2, "FP32", {2}});
  ExpectError(Chain(relu), "openvino.number-of-outputs");
}

TEST_F(ReadTest, IgnoresBodiesOfOperationsWithoutBodies) {
  std::string xml = Chain(Relu());
  xml.insert(xml.find("</layer>", xml.find("ReLU")), "<body><layers></layers><edges></edges></body>");
  const ReadOutcome outcome = Read(xml);
  ASSERT_NE(outcome.graph, nullptr) << outcome.text;
  EXPECT_TRUE(outcome.Has("openvino.unknown-attribute")) << outcome.text;
  EXPECT_NE(outcome.text.find("`ReLU` has no bodies; the element `body` has no effect"), std::string::npos)
      << outcome.text;
  const ir::Node& node = outcome.graph->node(outcome.graph->node(outcome.graph->results()[0]).input(0).node);
  EXPECT_TRUE(node.bodies().empty());
}

TEST_F(ReadTest, ReadsLongChainsInLinearTime) {
  constexpr int64_t kLength = 20000;
  std::vector<LayerText> layers = {Parameter(0, "x", {2})};
  std::vector<EdgeText> edges;
  for (int64_t i = 1; i <= kLength; ++i) {
    LayerText relu = Relu();
    relu.id = i;
    layers.push_back(relu);
    edges.push_back({i - 1, i == 1 ? 0 : 1, i, 0});
  }
  layers.push_back(Result(kLength + 1, "y", {2}));
  edges.push_back({kLength, 1, kLength + 1, 0});
  const ReadOutcome outcome = Read(Net(layers, edges));
  ASSERT_NE(outcome.graph, nullptr) << outcome.text;
  EXPECT_EQ(outcome.graph->num_nodes(), static_cast<size_t>(kLength) + 2);
}

// A mistake of the root ends the reading.
TEST_F(ReadTest, MistakesOfTheRoot) {
  const auto only_mistake = [&](std::string_view version) {
    const ReadOutcome outcome = Read(Replaced(Chain(Relu()), " version=\"11\"", version));
    EXPECT_EQ(outcome.graph, nullptr);
    EXPECT_EQ(outcome.labels.size(), 1u) << outcome.text;
    return outcome.text;
  };
  EXPECT_NE(only_mistake("").find("lacks the attribute `version`"), std::string::npos);
  EXPECT_NE(only_mistake(" version=\"x\"").find("`version` of `net` is `x`; expected an integer ["),
            std::string::npos)
      << only_mistake(" version=\"x\"");
  std::string attributes = " version=\"11\"";
  for (int i = 0; i < 300; ++i) attributes += fmt::format(" a{}=\"\"", i);
  only_mistake(attributes);
}

// Operations of a plug-in may have the name of an operation of OpenVINO, and any number of last outputs.
TEST_F(ReadTest, OperationsOfPlugins) {
  const auto infer = [](ir::InferContext& context) {
    for (int32_t i = 0; i < context.node().num_outputs(); ++i)
      context.SetOutput(i, context.input(0).type, context.input(0).shape);
  };
  registry_.Add({.set = "acme",
                 .name = "Result",
                 .inputs = {{.name = "x"}},
                 .outputs = {"y", "others[]"},
                 .infer = infer});
  const std::vector<int64_t> dims = {2};
  const LayerText layer = {.id = 1,
                           .name = "r",
                           .type = "Result",
                           .version = "acme",
                           .inputs = {{0, "FP32", dims}},
                           .outputs = {{1, "FP32", dims}, {2, "FP32", dims}, {3, "FP32", dims}}};
  const ReadOutcome outcome =
      Read(Net({Parameter(0, "x", dims), layer, Result(2, "y", dims)}, {{0, 0, 1, 0}, {1, 3, 2, 0}}));
  ASSERT_NE(outcome.graph, nullptr) << outcome.text;
  ASSERT_EQ(outcome.graph->results().size(), 1u);
  const ir::OutputPort source = outcome.graph->node(outcome.graph->results()[0]).input(0);
  EXPECT_EQ(outcome.graph->node(source.node).set(), "acme");
  EXPECT_EQ(source.index, 2);
}

TEST_F(ReadTest, BoundsWhatXmlMayAskFor) {
  std::string attributes;
  for (int i = 0; i < 300; ++i) attributes += fmt::format("a{}=\"\" ", i);
  ExpectError(fmt::format("<net {}/>", attributes), "openvino.xml-size");
  for (const int count : {255, 256, 257}) {
    std::string own;
    for (int i = 0; i < count; ++i) own += fmt::format("a{}=\"\" ", i);
    const ReadOutcome outcome =
        Read(Replaced(Chain(Relu()), "<rt_info/>", fmt::format("<other {}/><rt_info/>", own)));
    EXPECT_EQ(outcome.text.find("openvino.xml-size") != std::string::npos, count > 256)
        << count << outcome.text;
    std::string entries;
    for (int i = 0; i < count * 16; ++i) entries += fmt::format("<e{} value=\"\"/>", i);
    const ReadOutcome info =
        Read(Replaced(Chain(Relu()), "<rt_info/>", fmt::format("<rt_info>{}</rt_info>", entries)));
    EXPECT_EQ(info.text.find("openvino.rt-info") != std::string::npos, count > 256) << count << info.text;
  }
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "<a>";
  ExpectError("<net version=\"11\">" + deep, "openvino.xml-syntax");
  std::string info = "<b value=\"\"/>";
  for (int i = 0; i < 100; ++i) info = fmt::format("<a>{}</a>", info);
  ExpectError(Replaced(Chain(Relu()), "<rt_info/>", "<rt_info>" + info + "</rt_info>"), "openvino.rt-info");
}

}  // namespace
}  // namespace nnefc::openvino
