// Limits of files at their bounds, constants that differ in single bytes, and long texts.

#include "compiler/ir/algorithms/infer.h"
#include "compiler/openvino/limits.h"
#include "compiler/openvino/reading/xml_scan.h"
#include "fmt/format.h"
#include "tests/unit/compiler/openvino/ir_files.h"
#include "tests/unit/compiler/openvino/ir_text.h"

namespace nnefc::openvino {
namespace {

using Labels = std::vector<std::string>;

std::string Repeated(std::string_view text, size_t count) {
  std::string all;
  all.reserve(text.size() * count);
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}

class BoundsTest : public IrFilesTest {
 protected:
  // Returns the labels about x -> ReLU -> y with another text for `<rt_info/>` of the graph, and with `more`
  // in the ReLU.
  Labels LabelsOf(const std::string& graph_info, const std::string& more = "",
                  const std::string& port_info = "") {
    LayerText relu = {.id = 1,
                      .name = "relu",
                      .type = "ReLU",
                      .inputs = {{0, "FP32", {2}}},
                      .outputs = {{1, "FP32", {2}}},
                      .more = more};
    std::string xml = Net({Parameter(0, "x", {2}), relu, Result(2, "y", {2})}, {{0, 0, 1, 0}, {1, 1, 2, 0}});
    const std::string empty = "<rt_info/>";
    xml.replace(xml.rfind(empty), empty.size(), graph_info);
    const size_t port = xml.find("</port></input>");
    xml.insert(port, port_info);
    ReadOutcome outcome = Read(xml);
    EXPECT_EQ(outcome.graph == nullptr, !outcome.labels.empty()) << outcome.text;
    return outcome.labels;
  }
};

// The parsed elements and attributes of a text may take 768 MiB: 64 bytes each element, 40 each attribute.
TEST_F(BoundsTest, MemoryOfElementsAndAttributes) {
  constexpr size_t kElements = kMaxXmlMemory / 64;
  constexpr size_t kOthers = kElements - 6;
  std::string text = Repeated("<>", kOthers);
  const auto scan = [&](std::string_view six_elements) {
    text.resize(2 * kOthers);
    text += six_elements;
    return ScanXml(text);
  };
  EXPECT_FALSE(scan("<><><><><><></></><!--<>--><?<>?><![CDATA[<>]]>"));
  const auto finding = scan("<><><><><><><>");
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->rule->label, std::string_view("openvino.xml-size"));
  EXPECT_EQ(finding->offset, 2 * kElements);
  // Eight attributes take as much as five elements.
  EXPECT_FALSE(scan("<a b='' c='' d='' e='' f='' g='' h=\"\" i=''></a>"));
  EXPECT_TRUE(scan("<a b='' c='' d='' e='' f='' g='' h=\"\" i='' j=''>"));
  EXPECT_TRUE(scan("<a b='' c='' d='' e='' f='' g='' h='' i=''><>"));
}

TEST_F(BoundsTest, LengthOfTexts) {
  std::string text(kLongestXml + 1, ' ');
  text[0] = '\0';
  const auto at_most = ScanXml(std::string_view(text).substr(0, kLongestXml));
  ASSERT_TRUE(at_most);
  EXPECT_EQ(at_most->rule->label, std::string_view("openvino.xml-syntax"));
  const auto longer = ScanXml(text);
  ASSERT_TRUE(longer);
  EXPECT_EQ(longer->rule->label, std::string_view("openvino.xml-size"));
  EXPECT_EQ(longer->offset, 0U);
}

TEST_F(BoundsTest, DepthOfRtInfo) {
  for (const int depth : {63, 64, 65, 66}) {
    const std::string info = "<rt_info>" + Repeated("<a>", static_cast<size_t>(depth) - 1) +
                             "<b value=\"\"/>" + Repeated("</a>", static_cast<size_t>(depth) - 1) +
                             "</rt_info>";
    EXPECT_EQ(LabelsOf(info), depth <= kDeepestRtInfo ? Labels() : Labels{"openvino.rt-info"}) << depth;
  }
}

// An element of a layer has at most 256 entries, each of another name.
TEST_F(BoundsTest, EntriesOfLayers) {
  const auto entries = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += fmt::format("<attribute name=\"e{}\" version=\"0\"/>", i);
    return "<rt_info>" + text + "</rt_info>";
  };
  for (const int count : {255, 256, 257, 258}) {
    const Labels expected = count <= kMaxAttributes ? Labels() : Labels{"openvino.rt-info"};
    EXPECT_EQ(LabelsOf("<rt_info/>", entries(count)), expected) << count;
    EXPECT_EQ(LabelsOf("<rt_info/>", "", entries(count)), expected) << count;
  }
  EXPECT_EQ(LabelsOf("<rt_info/>", entries(256), entries(256)), Labels());
  const std::string one = "<attribute name=\"a\" version=\"0\"/>";
  EXPECT_EQ(LabelsOf("<rt_info/>", "<rt_info>" + one + one + "</rt_info>"), Labels{"openvino.rt-info"});
  EXPECT_EQ(LabelsOf("<rt_info/>", "<rt_info>" + one + "<attribute name=\"b\"/></rt_info>"), Labels());
  EXPECT_EQ(LabelsOf("<rt_info/>", "<rt_info><attribute version=\"0\"/></rt_info>"),
            Labels{"openvino.xml-missing-attribute"});
}

// All elements of a layer have at most 4,096 entries.
TEST_F(BoundsTest, EntriesOfAllPorts) {
  for (const int last : {255, 256, 257, 258}) {
    LayerText concat = {
        .id = 100, .name = "c", .type = "Concat", .data = R"(axis="0")", .outputs = {{50, "FP32", {16}}}};
    std::vector<LayerText> layers;
    std::vector<EdgeText> edges;
    for (int i = 0; i < 16; ++i) {
      layers.push_back(Parameter(i, fmt::format("x{}", i), {1}));
      concat.inputs.push_back({i, "FP32", {1}});
      edges.push_back({i, 0, 100, i});
    }
    layers.push_back(concat);
    layers.push_back(Result(101, "y", {16}));
    edges.push_back({100, 50, 101, 0});
    std::string xml = Net(layers, edges);
    const auto entries = [](int count) {
      std::string text;
      for (int i = 0; i < count; ++i) text += fmt::format("<attribute name=\"e{}\" version=\"0\"/>", i);
      return "<rt_info>" + text + "</rt_info>";
    };
    size_t at = xml.find("<input>");
    for (int i = 0; i < 16; ++i) {
      at = xml.find("</port>", at);
      xml.insert(at, entries(i == 15 ? std::min(last, 256) : 256));
      at = xml.find("</port>", at) + 1;
    }
    if (last > 256) xml.insert(xml.find("</port></output>", at), entries(last - 256));
    const ReadOutcome outcome = Read(xml);
    EXPECT_EQ(outcome.labels, last <= 256 ? Labels() : Labels{"openvino.rt-info"}) << last << outcome.text;
  }
}

// Inputs are found by the ids of their ports, in any order and number.
TEST_F(BoundsTest, PortsOfLayersWithManyInputs) {
  for (const int count : {2, 31, 32, 33, 70}) {
    LayerText concat = {.id = 1000,
                        .name = "c",
                        .type = "Concat",
                        .data = R"(axis="0")",
                        .outputs = {{5000, "FP32", {count}}}};
    std::vector<LayerText> layers;
    std::vector<EdgeText> edges;
    for (int i = 0; i < count; ++i) {
      layers.push_back(Parameter(i, fmt::format("x{}", i), {1}));
      const int64_t port = 3 + (i * 37) % 1009;
      concat.inputs.push_back({port, "FP32", {1}});
      edges.insert(edges.begin(), {i, 0, 1000, port});
    }
    layers.push_back(concat);
    layers.push_back(Result(1001, "y", {count}));
    edges.push_back({1000, 5000, 1001, 0});
    const ReadOutcome outcome = Read(Net(layers, edges));
    ASSERT_NE(outcome.graph, nullptr) << outcome.text;
    const ir::Graph& graph = *outcome.graph;
    const ir::Node& node = graph.node(graph.node(graph.results()[0]).input(0).node);
    for (int i = 0; i < count; ++i)
      EXPECT_EQ(graph.node(node.input(i).node).name(), fmt::format("x{}", i)) << count;
    edges.front().to_port = 2;
    EXPECT_TRUE(Read(Net(layers, edges)).Has("openvino.edge-port")) << count;
    edges.front().to_port = 1012;
    EXPECT_TRUE(Read(Net(layers, edges)).Has("openvino.edge-port")) << count;
  }
}

// Constants are stored once only if all of their bytes are equal.
TEST_F(BoundsTest, LargeConstantsThatDifferInOneByte) {
  for (const int64_t size : {4095, 4096, 4097, 9000}) {
    for (const int64_t place : {int64_t{0}, int64_t{2047}, int64_t{2048}, size / 2, size - 2048, size - 1}) {
      ir::Graph graph(&registry_, "net");
      std::vector<int64_t> items(static_cast<size_t>(size), 7);
      const auto constant = [&](const std::string& name) {
        const auto buffer = Buffer::Allocate(static_cast<size_t>(size));
        for (size_t i = 0; i < items.size(); ++i)
          buffer->mutable_data()[i] = static_cast<std::byte>(items[i]);
        return ir::AddConst(graph, TensorValue(ElementType::kU8, {size}, buffer), name);
      };
      const ir::NodeId first = constant("a"), equal = constant("b");
      items[static_cast<size_t>(place)] = 8;
      const ir::NodeId other = constant("c");
      ir::AddResult(graph, "x", {first, 0});
      ir::AddResult(graph, "y", {equal, 0});
      ir::AddResult(graph, "z", {other, 0});
      ASSERT_TRUE(WriteOpenVino(graph, Path("net.xml")).ok());
      EXPECT_EQ(std::filesystem::file_size(Path("net.bin")), static_cast<uintmax_t>(2 * size)) << place;
      const ReadOutcome outcome = ReadFile(Path("net.xml"));
      ASSERT_NE(outcome.graph, nullptr) << outcome.text;
      for (size_t i = 0; i < 3; ++i) {
        const ir::Graph& read = *outcome.graph;
        const TensorValue& value = *read.output(read.node(read.results()[i]).input(0)).value;
        EXPECT_EQ(value.ElementAsInt(place), i == 2 ? 8 : 7) << size << " " << place;
        EXPECT_EQ(value.ElementAsInt(place == 0 ? 1 : 0), 7);
      }
    }
  }
}

// A file is written in parts of 1 MiB; a text in memory has the same bytes.
TEST_F(BoundsTest, LongTexts) {
  ir::Graph graph(&registry_, "net");
  ir::NodeId last = ir::AddParameter(graph, "x", ElementType::kF32, ir::PartialShape({2}));
  for (int i = 0; i < 50; ++i) {
    const std::string name = fmt::format("relu{}_", i) + std::string(100'000, 'n');
    last = ir::AddNode(graph, "opset1", "ReLU", {.name = name, .inputs = ir::OutputPort{last, 0}});
  }
  ir::AddResult(graph, "y", {last, 0});
  Emitter emitter;
  ASSERT_TRUE(ir::InferGraph(graph, emitter));
  const OpenVinoInMemory in_memory = WriteOpenVinoInMemory(graph);
  EXPECT_GT(in_memory.xml.size(), size_t{5'000'000});
  ExpectStable(graph);
  EXPECT_EQ(ReadText(Path("first.xml")), in_memory.xml);
}

// Constants in memory are placed as in a file.
TEST_F(BoundsTest, ConstantsInMemory) {
  ir::Graph graph(&registry_, "net");
  const ir::NodeId a = ir::AddConst(graph, TensorValue::FromFloats({2}, {1, 2}), "a");
  const ir::NodeId b = ir::AddConst(graph, TensorValue::FromFloats({3}, {4, 5, 6}), "b");
  const ir::NodeId c = ir::AddConst(graph, TensorValue::FromFloats({1, 2}, {1, 2}), "c");
  for (const ir::NodeId id : {a, b, c}) ir::AddResult(graph, "r", {id, 0});
  const OpenVinoInMemory in_memory = WriteOpenVinoInMemory(graph);
  EXPECT_EQ(in_memory.weights_size, 20u);
  ASSERT_EQ(in_memory.constants.size(), 2u);
  EXPECT_EQ(in_memory.constants[0].offset, 0u);
  EXPECT_EQ(in_memory.constants[1].offset, 8u);
  EXPECT_EQ(in_memory.constants[1].value, TensorValue::FromFloats({3}, {4, 5, 6}));
}

// Layers have at most 256 attributes.
TEST_F(BoundsTest, AttributesOfWrittenLayers) {
  for (const int count : {255, 256, 257}) {
    ir::Graph graph(&registry_, "net");
    const ir::NodeId x = ir::AddParameter(graph, "x", ElementType::kF32, ir::PartialShape({2}));
    const ir::NodeId relu =
        ir::AddNode(graph, "opset1", "ReLU", {.name = "r", .inputs = ir::OutputPort{x, 0}});
    for (int i = 0; i < count; ++i) graph.SetAttribute(relu, fmt::format("a{}", i), 1);
    ir::AddResult(graph, "y", {relu, 0});
    Emitter emitter;
    EXPECT_EQ(CheckWritable(graph, emitter), count <= 256) << count;
  }
}

// A field of rt_info is an attribute of XML; its name and version are others.
TEST_F(BoundsTest, FieldsOfWrittenRtInfo) {
  const auto is_writable = [&](const std::string& path) {
    ir::Graph graph(&registry_, "net");
    const ir::NodeId x = ir::AddParameter(graph, "x", ElementType::kF32, ir::PartialShape({2}));
    ir::AddResult(graph, "y", {x, 0});
    graph.SetRtInfo(x, path, "value");
    Emitter emitter;
    return CheckWritable(graph, emitter);
  };
  for (const std::string prefix : {"", "input:0/", "output:0/"}) {
    EXPECT_TRUE(is_writable(prefix + "layout/0/layout"));
    EXPECT_TRUE(is_writable(prefix + "a b/0"));
    EXPECT_TRUE(is_writable(prefix + "a b/x y/c"));
    EXPECT_FALSE(is_writable(prefix + "layout/0/a b"));
    EXPECT_FALSE(is_writable(prefix + "layout/0/name"));
    EXPECT_FALSE(is_writable(prefix + "layout/0/version"));
    EXPECT_TRUE(is_writable(prefix + "layout/0/names"));
  }
}

// A division of signed integers by `m_pythondiv` with a negative constant is another number in OpenVINO's
// documentation.
TEST_F(BoundsTest, RoundedDivisions) {
  const auto labels = [&](const std::string& type, const std::string& data, bool is_dividend,
                          const std::string& weights) {
    LayerText divide = Binary(2, "Divide", {2}, type);
    divide.data += data;
    const int64_t bytes = type == "I64" ? 16 : 8;
    const std::string xml = Net(
        {Parameter(0, "x", {2}, type), Const(1, "c", {2}, 0, bytes, type), divide, Result(3, "y", {2}, type)},
        {{0, 0, 2, is_dividend ? 1 : 0}, {1, 0, 2, is_dividend ? 0 : 1}, {2, 2, 3, 0}});
    const ReadOutcome outcome = Read(xml, weights);
    EXPECT_NE(outcome.graph, nullptr) << outcome.text;
    return outcome.labels;
  };
  const auto bytes = [](auto first, auto second) {
    const decltype(first) items[] = {first, second};
    return std::string(reinterpret_cast<const char*>(items), sizeof items);
  };
  const Labels rounded{"openvino.rounded-division"};
  for (const bool is_dividend : {false, true}) {
    for (const std::string data : {"", " m_pythondiv=\"true\""}) {
      EXPECT_EQ(labels("I64", data, is_dividend, bytes(int64_t{-1}, int64_t{5})), rounded) << is_dividend;
      EXPECT_EQ(labels("I64", data, is_dividend, bytes(int64_t{5}, int64_t{-1})), rounded) << is_dividend;
      EXPECT_EQ(labels("I32", data, is_dividend, bytes(int32_t{7}, int32_t{-3})), rounded) << is_dividend;
      EXPECT_EQ(labels("I64", data, is_dividend, bytes(int64_t{0}, int64_t{5})), Labels());
      EXPECT_EQ(labels("FP32", data, is_dividend, bytes(-1.0F, 2.0F)), Labels());
    }
    EXPECT_EQ(labels("I64", " m_pythondiv=\"false\"", is_dividend, bytes(int64_t{-1}, int64_t{5})), Labels());
  }
}

// A result has the name of its tensor, unless that is the name of another result, or the tensor has the name
// of the layer, too.
TEST_F(BoundsTest, NamesOfResults) {
  using Names = std::vector<std::string>;
  const auto names = [&](const std::string& tensor_names, const std::string& first, const std::string& second,
                         bool is_same_tensor) {
    LayerText split = {.id = 1,
                       .name = "split",
                       .type = "Split",
                       .data = R"(num_splits="2")",
                       .inputs = {{0, "FP32", {2}}, {1, "I64", {}}},
                       .outputs = {{2, "FP32", {1}, tensor_names}, {3, "FP32", {1}, "other"}}};
    const std::string xml =
        Net({Parameter(0, "x", {2}), Const(4, "axis", {}, 0, 8, "I64"), split, Result(2, first, {1}),
             Result(3, second, {1})},
            {{0, 0, 1, 0}, {4, 0, 1, 1}, {1, 2, 2, 0}, {1, is_same_tensor ? 2 : 3, 3, 0}});
    const ReadOutcome outcome = Read(xml, std::string(8, '\0'));
    EXPECT_NE(outcome.graph, nullptr) << outcome.text;
    Names found;
    for (ir::NodeId id : outcome.graph->results()) found.push_back(outcome.graph->node(id).name());
    return found;
  };
  EXPECT_EQ(names("a,b", "r1", "r2", false), (Names{"a", "other"}));
  EXPECT_EQ(names("a,b", "b", "r2", false), (Names{"b", "other"}));
  EXPECT_EQ(names("a,b", "r1", "r2", true), (Names{"r1", "r2"}));
  EXPECT_EQ(names("a,b", "b", "r2", true), (Names{"b", "a"}));
  EXPECT_EQ(names("", "r1", "r2", false), (Names{"r1", "other"}));
  EXPECT_EQ(names("r2", "r1", "r2", true), (Names{"r1", "r2"}));
}

}  // namespace
}  // namespace nnefc::openvino
