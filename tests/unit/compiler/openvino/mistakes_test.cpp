// Mistakes of files: each is reported once, and nothing else. What a file may omit.

#include "compiler/openvino/reading/xml_scan.h"
#include "fmt/format.h"
#include "tests/unit/compiler/openvino/ir_files.h"
#include "tests/unit/compiler/openvino/ir_text.h"

namespace nnefc::openvino {
namespace {

using Labels = std::vector<std::string>;

class MistakesTest : public IrFilesTest {
 protected:
  static LayerText Layer(const std::string& type, const std::string& data = "") {
    return {.id = 1,
            .name = "layer",
            .type = type,
            .data = data,
            .inputs = {{0, "FP32", {2}}},
            .outputs = {{1, "FP32", {2}}}};
  }
  // x -> layer -> y.
  static std::string Chain(const LayerText& layer) {
    return Net({Parameter(0, "x", {2}), layer, Result(2, "y", {2})}, {{0, 0, 1, 0}, {1, 1, 2, 0}});
  }
  static std::string With(std::string text, std::string_view from, std::string_view to) {
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }
  Labels LabelsOf(const std::string& xml, std::string_view weights = "") {
    const ReadOutcome outcome = Read(xml, weights);
    EXPECT_EQ(outcome.graph == nullptr, !outcome.labels.empty()) << outcome.text;
    return outcome.labels;
  }
};

TEST_F(MistakesTest, FilesThatDoNotExist) {
  const ReadOutcome outcome = ReadFile(Path("none.xml"));
  EXPECT_EQ(outcome.graph, nullptr);
  ASSERT_EQ(outcome.labels.size(), 1u);
  EXPECT_NE(outcome.labels[0].find("none.xml"), std::string::npos) << outcome.labels[0];
}

// An edge that is wrong is no other edge that is missing.
TEST_F(MistakesTest, EdgesThatAreWrong) {
  const std::string chain = Chain(Layer("ReLU"));
  EXPECT_EQ(LabelsOf(chain), Labels());
  EXPECT_EQ(LabelsOf(With(chain, R"(from-port="1")", R"(from-port="4")")), Labels{"openvino.edge-port"});
  EXPECT_EQ(LabelsOf(With(chain, R"(from-layer="1")", R"(from-layer="4")")), Labels{"openvino.edge-layer"});
  EXPECT_EQ(LabelsOf(With(chain, R"(<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>)", "")),
            Labels{"openvino.unconnected-input"});
}

// Messages show at most 60 characters of a layer's name.
TEST_F(MistakesTest, LongNamesOfLayers) {
  for (const size_t length : {59, 60, 61}) {
    LayerText layer = Layer("ReLU");
    layer.name = std::string(length, 'n');
    const std::string text = Read(With(Chain(layer), R"( type="ReLU")", "")).text;
    EXPECT_NE(text.find(fmt::format("`{}`", std::string(std::min<size_t>(length, 60), 'n'))),
              std::string::npos)
        << text;
    EXPECT_EQ(text.find(std::string(61, 'n') + "`"), std::string::npos) << text;
  }
}

TEST_F(MistakesTest, TypesOfParameters) {
  const auto labels = [&](const std::string& data, const std::string& precision) {
    LayerText parameter = Parameter(0, "x", {2});
    parameter.data = data;
    std::string xml = Net({parameter, Result(1, "y", {2})}, {{0, 0, 1, 0}});
    if (precision.empty()) xml = With(xml, R"( precision="FP32")", "");
    return LabelsOf(xml);
  };
  EXPECT_EQ(labels(R"(element_type="f32" shape="2")", "FP32"), Labels());
  EXPECT_EQ(labels(R"(element_type="f32" shape="2")", ""), Labels());
  EXPECT_EQ(labels("", "FP32"), Labels());
  EXPECT_EQ(labels("", ""), Labels{"openvino.xml-missing-element"});
  EXPECT_EQ(labels(R"(element_type="f99" shape="2")", "FP32"), Labels{"openvino.xml-attribute-value"});
  EXPECT_EQ(labels(R"(element_type="f32" shape="x")", "FP32"), Labels{"openvino.xml-attribute-value"});
  EXPECT_EQ(labels(R"(element_type="f99" shape="x")", "FP32"),
            (Labels{"openvino.xml-attribute-value", "openvino.xml-attribute-value"}));
}

// Without attributes of its own, a Parameter is known by its port, which a file may omit if nothing uses it.
TEST_F(MistakesTest, ParametersWithoutPorts) {
  const auto labels = [&](const std::string& data) {
    const LayerText source = {.id = 0, .name = "unused", .type = "Parameter", .data = data};
    return LabelsOf(Net({source, Parameter(1, "x", {2}), Result(2, "y", {2})}, {{1, 0, 2, 0}}));
  };
  EXPECT_EQ(labels(""), Labels{"openvino.xml-missing-element"});
  EXPECT_EQ(labels(R"(element_type="f32")"), Labels{"openvino.xml-missing-attribute"});
  EXPECT_EQ(labels(R"(shape="2")"), Labels{"openvino.xml-missing-attribute"});
  EXPECT_EQ(labels(R"(element_type="f32" shape="2")"), Labels());
}

// A constant without bytes needs no file; others have the bytes at their offset.
TEST_F(MistakesTest, SizesOfConstants) {
  const auto net = [](const std::vector<int64_t>& dims, int64_t offset, int64_t size) {
    return Net({Const(0, "c", dims, offset, size, "BOOL"), Result(1, "y", dims, "BOOL")}, {{0, 0, 1, 0}});
  };
  WriteText(Path("alone.xml"), net({0}, 0, 0));
  const ReadOutcome empty = ReadFile(Path("alone.xml"));
  EXPECT_NE(empty.graph, nullptr) << empty.text;
  WriteText(Path("alone.xml"), net({1}, 0, 1));
  EXPECT_EQ(ReadFile(Path("alone.xml")).labels, Labels{"openvino.weights"});
  for (const int64_t offset : {0, 1, 2}) {
    const ReadOutcome outcome = Read(net({1}, offset, 1), std::string("\0\1\0", 3));
    ASSERT_NE(outcome.graph, nullptr) << outcome.text;
    const ir::Graph& graph = *outcome.graph;
    EXPECT_EQ(graph.output(graph.node(graph.results()[0]).input(0)).value->ElementAsInt(0), offset == 1);
  }
  EXPECT_EQ(LabelsOf(net({1}, 3, 1), std::string(3, '\0')), Labels{"openvino.const-range"});
}

// Words of enumerations are read in any case.
TEST_F(MistakesTest, WordsOfAttributes) {
  LayerText round = Layer("Round", R"(mode="HALF_away_from_ZERO")");
  round.version = "opset5";
  const ReadOutcome outcome = Read(Chain(round));
  ASSERT_NE(outcome.graph, nullptr) << outcome.text;
  const ir::Graph& graph = *outcome.graph;
  EXPECT_EQ(graph.node(graph.node(graph.results()[0]).input(0).node).attribute("mode"),
            ir::Attribute("half_away_from_zero"));
  Emitter emitter;
  EXPECT_TRUE(RequireKnownOperations(graph, emitter));
}

// The first element without effect is named. An unknown operation has its bodies in the order of the file.
TEST_F(MistakesTest, BodiesInTheFile) {
  const std::string empty = "<layers></layers><edges></edges>";
  LayerText relu = Layer("ReLU");
  relu.more = "<first_body>" + empty + "</first_body><second_body>" + empty + "</second_body>";
  const ReadOutcome outcome = Read(Chain(relu));
  ASSERT_NE(outcome.graph, nullptr) << outcome.text;
  EXPECT_NE(outcome.text.find("the element `first_body` has no effect"), std::string::npos) << outcome.text;

  LayerText unknown = Layer("MyOp");
  unknown.version = "extension";
  const std::string body = NetParts({Parameter(0, "p", {2}), Result(1, "r", {2})}, {{0, 0, 1, 0}});
  for (const char* name : {"z_body", "m_body", "a_body"})
    unknown.more += fmt::format("<{}_port_map/>", std::string_view(name).substr(0, 1));
  for (const char* name : {"z_body", "m_body", "a_body"})
    unknown.more += fmt::format("<{0}>{1}</{0}>", name, body);
  const ReadOutcome read = Read(Chain(unknown));
  ASSERT_NE(read.graph, nullptr) << read.text;
  std::string roles;
  for (ir::NodeId id : read.graph->nodes()) {
    for (const ir::Body& each : read.graph->node(id).bodies()) roles += each.role + " ";
  }
  EXPECT_EQ(roles, "z_body m_body a_body ");
}

// A mistake in a body is the only one of its layer.
TEST_F(MistakesTest, MistakesInBodies) {
  const std::string wrong =
      Body("then_body", {Parameter(0, "x", {1, 2, 2}), Parameter(1, "y", {1, 2, 2})}, {});
  IfParts parts;
  parts.then_body = wrong;
  EXPECT_EQ(LabelsOf(IfNet(parts)), Labels{"openvino.no-result"});
  parts.then_body = "";
  parts.else_body = With(With(wrong, "<then_body>", "<else_body>"), "</then_body>", "</else_body>");
  EXPECT_EQ(LabelsOf(IfNet(parts)), Labels{"openvino.no-result"});
}

// An empty list of names is none.
TEST_F(MistakesTest, NamesOfResults) {
  const auto name = [&](const std::string& attribute) {
    LayerText relu = Layer("ReLU");
    relu.outputs[0].names = "tensor";
    const ReadOutcome outcome =
        Read(With(Chain(relu), R"(name="y" type="Result")", R"(name="y" type="Result")" + attribute));
    EXPECT_NE(outcome.graph, nullptr) << outcome.text;
    return outcome.graph == nullptr ? "" : outcome.graph->node(outcome.graph->results()[0]).name();
  };
  EXPECT_EQ(name(""), "tensor");
  EXPECT_EQ(name(R"( output_names="")"), "tensor");
  EXPECT_EQ(name(R"( output_names="other")"), "other");
  EXPECT_EQ(name(R"( output_names="other,y")"), "y");
}

// The number of the iteration and the condition are values of a Loop, marked by their purpose.
TEST_F(MistakesTest, PurposesOfPorts) {
  const auto labels = [&](const std::string& type, int64_t id, const std::string& purpose) {
    const std::string body = Body(
        "body", {Parameter(0, "p", {2}), Parameter(1, "n", {}, "I64"), Result(2, "r", {2})}, {{0, 0, 2, 0}});
    LayerText loop = {.id = 4,
                      .name = "loop",
                      .type = type,
                      .version = "opset5",
                      .inputs = {{0, "I64", {}}, {1, "BOOL", {}}, {2, "FP32", {2}}, {3, "I64", {}}},
                      .outputs = {{4, "FP32", {2}}}};
    loop.more =
        "<port_map>" + MapInput(2, 0) +
        fmt::format(R"(<input external_port_id="{}" internal_layer_id="1" purpose="{}"/>)", id, purpose) +
        MapOutput(4, 2) + "</port_map><back_edges/>" + body;
    if (type == "Loop" && id == -1) loop.inputs.pop_back();
    std::vector<EdgeText> edges = {{0, 0, 4, 0}, {1, 0, 4, 1}, {2, 0, 4, 2}, {4, 4, 5, 0}};
    if (loop.inputs.size() == 4) edges.push_back({3, 0, 4, 3});
    const std::string xml =
        Net({Parameter(0, "t", {}, "I64"), Parameter(1, "c", {}, "BOOL"), Parameter(2, "x", {2}),
             Parameter(3, "n", {}, "I64"), loop, Result(5, "y", {2})},
            edges);
    Labels found = Read(xml).labels;
    return found.empty() ? "" : found.front();
  };
  EXPECT_EQ(labels("Loop", -1, "current_iteration"), "");
  EXPECT_EQ(labels("Loop", -1, "execution_condition"), "");
  EXPECT_EQ(labels("Loop", -1, "other"), "openvino.external-port-id");
  EXPECT_EQ(labels("Loop", -1, ""), "openvino.external-port-id");
  EXPECT_EQ(labels("Loop", 3, ""), "");
  EXPECT_EQ(labels("Loop", 3, "current_iteration"), "");
  EXPECT_EQ(labels("TensorIterator", -1, "current_iteration"), "openvino.external-port-id");
}

TEST_F(MistakesTest, EntriesOfGraphs) {
  const auto entries = [&](const std::string& info) {
    const ReadOutcome outcome =
        Read(With(Net({Parameter(0, "x", {2}), Result(1, "y", {2})}, {{0, 0, 1, 0}}), "<rt_info/>", info));
    EXPECT_NE(outcome.graph, nullptr) << outcome.text;
    std::string text;
    if (outcome.graph == nullptr) return text;
    for (const auto& [path, value] : outcome.graph->rt_info()) text += path + " ";
    return text;
  };
  EXPECT_EQ(entries("<rt_info><info value=\"3\"/><infos name=\"a\" value=\"4\"/></rt_info>"), "info infos ");
  // Data of old versions are read if there are no others.
  const std::string old =
      "<meta_data><b value=\"1\"/></meta_data><quantization_parameters><c value=\"2\"/>"
      "</quantization_parameters>";
  EXPECT_EQ(entries("<rt_info><a value=\"1\"/></rt_info>" + old), "a ");
  EXPECT_EQ(entries("<rt_info/>" + old), "b optimization/c ");
  EXPECT_EQ(entries(old), "b optimization/c ");
}

// A quoted value may contain the other quote, and ends before markup.
TEST(Quotes, EndBeforeMarkup) {
  for (const char* value : {"'\"'", "\"'\"", "'a\"b'", "\"a'b\""}) {
    const std::string element = std::string("<a b=") + value + "/>";
    EXPECT_FALSE(ScanXml(element)) << value;
    const auto finding = ScanXml(element + "<!DOCTYPE a>");
    ASSERT_TRUE(finding) << value;
    EXPECT_EQ(finding->offset, element.size());
  }
}

}  // namespace
}  // namespace nnefc::openvino
