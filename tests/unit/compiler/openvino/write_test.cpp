#include "compiler/openvino/write.h"

#include <sys/stat.h>

#include "compiler/ir/algorithms/infer.h"
#include "compiler/openvino/rt_info.h"
#include "tests/unit/compiler/openvino/ir_files.h"
#include "tests/unit/compiler/openvino/ir_text.h"
#include "tests/unit/other_user.h"

namespace nnefc::openvino {
namespace {

using ir::Graph;
using ir::NodeId;

class WriteTest : public IrFilesTest {
 protected:
  std::string Written(const Graph& graph) {
    EXPECT_TRUE(WriteOpenVino(graph, Path("net.xml")).ok());
    return ReadText(Path("net.xml"));
  }

  bool Contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  }

  NodeId Add(Graph& graph, std::string_view set, std::string_view name, std::vector<ir::OutputPort> inputs,
             ir::AttributeMap attributes = {}) {
    return ir::AddNode(graph, set, name,
                       {.name = std::string(name), .inputs = inputs, .attributes = std::move(attributes)});
  }

  void Infer(Graph& graph) {
    Emitter emitter;
    ASSERT_TRUE(ir::InferGraph(graph, emitter)) << emitter.diagnostics().front().message;
  }
};

TEST_F(WriteTest, WritesLayersPortsAndEdges) {
  Graph graph(&registry_, "net");
  const NodeId x = ir::AddParameter(graph, "x", ElementType::kF32, ir::PartialShape({1, 3}));
  const NodeId relu = Add(graph, "opset1", "ReLU", {{x, 0}});
  ir::AddResult(graph, "y", {relu, 0});
  Infer(graph);
  EXPECT_EQ(Written(graph), R"(<?xml version="1.0"?>
<net name="net" version="11">
	<layers>
		<layer id="0" name="x" type="Parameter" version="opset1">
			<data element_type="f32" shape="1,3"/>
			<output>
				<port id="0" precision="FP32" names="x">
					<dim>1</dim>
					<dim>3</dim>
				</port>
			</output>
		</layer>
		<layer id="1" name="ReLU" type="ReLU" version="opset1">
			<input>
				<port id="0" precision="FP32">
					<dim>1</dim>
					<dim>3</dim>
				</port>
			</input>
			<output>
				<port id="1" precision="FP32" names="y">
					<dim>1</dim>
					<dim>3</dim>
				</port>
			</output>
		</layer>
		<layer id="2" name="y" type="Result" version="opset1" output_names="y">
			<input>
				<port id="0" precision="FP32">
					<dim>1</dim>
					<dim>3</dim>
				</port>
			</input>
		</layer>
	</layers>
	<edges>
		<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
		<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>
	</edges>
	<rt_info/>
</net>
)");
  ExpectStable(graph);
}

// A file that cannot take all bytes fails the run, and the other file is not written.
TEST_F(WriteTest, FilesOnAFullDevice) {
  Graph graph(&registry_, "net");
  ir::AddResult(graph, "y", {ir::AddConst(graph, TensorValue::Scalar(1), "c"), 0});
  Infer(graph);
  EXPECT_FALSE(WriteOpenVino(graph, Path("net.xml"), {.weights_path = "/dev/full"}).ok());
  EXPECT_FALSE(std::filesystem::exists(Path("net.xml")));
  EXPECT_FALSE(WriteOpenVino(graph, "/dev/full", {.weights_path = Path("net.bin")}).ok());
  EXPECT_FALSE(std::filesystem::exists(Path("net.bin")));
}

// An attribute that a node lacks is written if it has a default.
TEST_F(WriteTest, AttributesThatANodeLacks) {
  Graph graph(&registry_, "net");
  const NodeId x = ir::AddParameter(graph, "x", ElementType::kF32, ir::PartialShape({2}));
  ir::AddResult(graph, "y", {Add(graph, "opset1", "Clamp", {{x, 0}}), 0});
  ir::AddResult(graph, "z", {Add(graph, "opset1", "Add", {{x, 0}, {x, 0}}), 0});
  const std::string xml = Written(graph);
  EXPECT_FALSE(Contains(xml, "min=\""));
  EXPECT_TRUE(Contains(xml, R"(<data auto_broadcast="numpy"/>)"));
}

// Edges are ordered by the layer that they leave, then by the port, then by their end.
TEST_F(WriteTest, OrdersEdges) {
  Graph graph(&registry_, "net");
  const NodeId x = ir::AddParameter(graph, "x", ElementType::kF32, ir::PartialShape({2, 2}));
  const NodeId relu = Add(graph, "opset1", "ReLU", {{x, 0}});
  const NodeId sum = Add(graph, "opset1", "Add", {{relu, 0}, {x, 0}});
  const NodeId last = Add(graph, "opset1", "Add", {{sum, 0}, {x, 0}});
  ir::AddResult(graph, "y", {last, 0});
  Infer(graph);
  const std::string xml = Written(graph);
  std::string edges;
  for (const char* name : {"from-layer=\"", "from-port=\"", "to-layer=\"", "to-port=\""}) {
    const std::string_view key(name);
    for (size_t at = xml.find(key); at != std::string::npos; at = xml.find(key, at + 1))
      edges += xml[at + key.size()];
    edges += ' ';
  }
  EXPECT_EQ(edges, "000123 000122 123234 011000 ");
}

// A node is written once, by however many paths the results depend on it.
TEST_F(WriteTest, NodesOfManyPaths) {
  Graph graph(&registry_, "net");
  ir::OutputPort last = {ir::AddParameter(graph, "x", ElementType::kF32, ir::PartialShape({2})), 0};
  for (int i = 0; i < 60; ++i) last = {Add(graph, "opset1", "Add", {last, last}), 0};
  ir::AddResult(graph, "y", last);
  Infer(graph);
  const std::string xml = Written(graph);
  size_t num_layers = 0;
  for (size_t at = xml.find("<layer "); at != std::string::npos; at = xml.find("<layer ", at + 1))
    ++num_layers;
  EXPECT_EQ(num_layers, 62U);
}

TEST_F(WriteTest, WritesEqualConstantsOnce) {
  Graph graph(&registry_, "net");
  const NodeId x = ir::AddParameter(graph, "x", ElementType::kF32, ir::PartialShape({2}));
  const NodeId a = ir::AddConst(graph, TensorValue::FromFloats({2}, {1, 2}), "a");
  const NodeId b = ir::AddConst(graph, TensorValue::FromFloats({2, 1}, {1, 2}), "b");
  const NodeId c = ir::AddConst(graph, TensorValue::FromFloats({2}, {3, 4}), "c");
  const NodeId ab = Add(graph, "opset1", "Add", {{a, 0}, {b, 0}});
  const NodeId abc = Add(graph, "opset1", "Add", {{ab, 0}, {c, 0}});
  const NodeId y = Add(graph, "opset1", "Add", {{abc, 0}, {x, 0}});
  ir::AddResult(graph, "y", {y, 0});
  Infer(graph);
  const std::string xml = Written(graph);
  EXPECT_EQ(ReadText(Path("net.bin")).size(), 16u);
  EXPECT_TRUE(Contains(xml, R"(<data element_type="f32" shape="2, 1" offset="0" size="8"/>)"));
  EXPECT_TRUE(Contains(xml, R"(<data element_type="f32" shape="2" offset="8" size="8"/>)"));
  ExpectStable(graph);
}

TEST_F(WriteTest, WritesEmptyAndScalarConstants) {
  Graph graph(&registry_, "net");
  const NodeId a = ir::AddConst(graph, TensorValue::FromFloats({0, 2}, {}), "a");
  const NodeId b = ir::AddConst(graph, TensorValue::Scalar(2), "b");
  const NodeId y = Add(graph, "opset1", "Add", {{a, 0}, {b, 0}});
  ir::AddResult(graph, "y", {y, 0});
  Infer(graph);
  EXPECT_TRUE(Contains(Written(graph), R"(<data element_type="f32" shape="" offset="0" size="4"/>)"));
  ExpectStable(graph);
}

// An empty constant is located at the end of the data that precede it.
TEST_F(WriteTest, OffsetsOfEmptyConstants) {
  Graph graph(&registry_, "net");
  std::vector<ir::OutputPort> parts;
  for (const int64_t rows : {0, 2, 0}) {
    const std::vector<float> values(static_cast<size_t>(rows), 1.5F);
    parts.push_back({ir::AddConst(graph, TensorValue::FromFloats({rows}, values), "c"), 0});
  }
  ir::AttributeMap attributes;
  attributes.Set("axis", int64_t{0});
  const NodeId y = ir::AddNode(graph, "opset1", "Concat",
                               {.name = "joined", .inputs = parts, .attributes = std::move(attributes)});
  ir::AddResult(graph, "y", {y, 0});
  Infer(graph);
  const std::string xml = Written(graph);
  EXPECT_TRUE(Contains(xml, R"(shape="0" offset="0" size="0")"));
  EXPECT_TRUE(Contains(xml, R"(shape="2" offset="0" size="8")"));
  EXPECT_TRUE(Contains(xml, R"(shape="0" offset="8" size="0")"));
}

// The names of a Result are an attribute of its layer: those among its data have no meaning.
TEST_F(WriteTest, NamesOfResults) {
  LayerText result = Result(1, "y", {2});
  result.data = R"(output_names="unseen")";
  const ReadOutcome outcome = Read(Net({Parameter(0, "x", {2}), result}, {{0, 0, 1, 0}}));
  ASSERT_NE(outcome.graph, nullptr) << outcome.text;
  EXPECT_TRUE(outcome.labels.empty()) << outcome.text;
  EXPECT_FALSE(Contains(Written(*outcome.graph), "unseen"));
}

TEST_F(WriteTest, EscapesNames) {
  Graph graph(&registry_, "a \"net\" <of> & ours\n");
  const NodeId x = ir::AddParameter(graph, "x<1>&\"\t", ElementType::kF32, ir::PartialShape({1}));
  graph.SetOutputNames({x, 0}, {"b,c", "a"});
  const NodeId relu = Add(graph, "opset1", "ReLU", {{x, 0}});
  ir::AddResult(graph, "y", {relu, 0});
  Infer(graph);
  const std::string xml = Written(graph);
  EXPECT_TRUE(Contains(xml, R"(name="a &quot;net&quot; &lt;of&gt; &amp; ours&#10;")"));
  EXPECT_TRUE(Contains(xml, R"(name="x&lt;1&gt;&amp;&quot;&#9;")"));
  EXPECT_TRUE(Contains(xml, R"(names="a,b\,c")"));
  const ReadOutcome outcome = ReadFile(Path("net.xml"));
  ASSERT_NE(outcome.graph, nullptr) << outcome.text;
  EXPECT_EQ(outcome.graph->name(), graph.name());
  EXPECT_EQ(outcome.graph->node(outcome.graph->parameters()[0]).name(), "x<1>&\"\t");
  ExpectStable(graph);
}

TEST_F(WriteTest, WritesPartialShapes) {
  Graph graph(&registry_, "net");
  const ir::PartialShape shape({ir::Dim(1), ir::Dim(), ir::Dim(2, 8), ir::Dim(3, ir::Dim::kUnbounded)});
  const NodeId x = ir::AddParameter(graph, "x", ElementType::kF16, shape);
  const NodeId any = ir::AddParameter(graph, "any", ElementType::kF16, ir::PartialShape());
  ir::AddResult(graph, "y", {Add(graph, "opset1", "ReLU", {{x, 0}}), 0});
  ir::AddResult(graph, "z", {Add(graph, "opset1", "ReLU", {{any, 0}}), 0});
  Infer(graph);
  const std::string xml = Written(graph);
  EXPECT_TRUE(Contains(xml, R"(<data element_type="f16" shape="1,?,2..8,3.."/>)"));
  EXPECT_TRUE(Contains(xml, R"(<data element_type="f16" shape="..."/>)"));
  const ReadOutcome outcome = ReadFile(Path("net.xml"));
  ASSERT_NE(outcome.graph, nullptr) << outcome.text;
  EXPECT_EQ(outcome.graph->node(outcome.graph->parameters()[0]).output().shape, shape);
  ExpectStable(graph);
}

TEST_F(WriteTest, KeepsSeveralResultsOfOneOutputAndParametersWithoutUse) {
  Graph graph(&registry_, "net");
  const NodeId x = ir::AddParameter(graph, "x", ElementType::kF32, ir::PartialShape({1}));
  ir::AddParameter(graph, "unused", ElementType::kF32, ir::PartialShape({1}));
  const NodeId relu = Add(graph, "opset1", "ReLU", {{x, 0}});
  ir::AddResult(graph, "a", {relu, 0});
  ir::AddResult(graph, "b", {relu, 0});
  ir::AddResult(graph, "c", {x, 0});
  Infer(graph);
  Written(graph);
  const ReadOutcome outcome = ReadFile(Path("net.xml"));
  ASSERT_NE(outcome.graph, nullptr) << outcome.text;
  ASSERT_EQ(outcome.graph->results().size(), 3u);
  EXPECT_EQ(outcome.graph->node(outcome.graph->results()[1]).name(), "b");
  EXPECT_EQ(outcome.graph->parameters().size(), 2u);
  ExpectStable(graph);
}

TEST_F(WriteTest, LeavesOutWhatNothingUses) {
  Graph graph(&registry_, "net");
  const NodeId x = ir::AddParameter(graph, "x", ElementType::kF32, ir::PartialShape({1}));
  Add(graph, "opset1", "Sqrt", {{x, 0}});
  ir::AddResult(graph, "y", {Add(graph, "opset1", "ReLU", {{x, 0}}), 0});
  Infer(graph);
  EXPECT_FALSE(Contains(Written(graph), "Sqrt"));
  ExpectStable(graph);
}

TEST_F(WriteTest, WritesStateAsSinks) {
  Graph graph(&registry_, "net");
  const NodeId x = ir::AddParameter(graph, "x", ElementType::kF32, ir::PartialShape({1}));
  const NodeId first = ir::AddConst(graph, TensorValue::FromFloats({1}, {0}), "first");
  ir::AttributeMap read;
  read.Set("variable_id", "state");
  read.Set("variable_type", ElementType::kF32);
  read.Set("variable_shape", ir::PartialShape({1}));
  const NodeId state = Add(graph, "opset6", "ReadValue", {{first, 0}}, read);
  const NodeId sum = Add(graph, "opset1", "Add", {{state, 0}, {x, 0}});
  ir::AttributeMap assign;
  assign.Set("variable_id", "state");
  Add(graph, "opset6", "Assign", {{sum, 0}}, assign);
  ir::AddResult(graph, "y", {sum, 0});
  Infer(graph);
  const std::string xml = Written(graph);
  EXPECT_TRUE(Contains(xml, R"(<data variable_id="state" variable_type="f32" variable_shape="1"/>)"));
  EXPECT_LT(xml.find(R"(type="Assign")"), xml.find(R"(type="Result")"));
  ExpectStable(graph);
}

TEST_F(WriteTest, KeepsRtInfo) {
  Graph graph(&registry_, "net");
  graph.SetRtInfo("Runtime version", "1.0");
  graph.SetRtInfo("conversion_parameters/framework", "nnef");
  graph.SetRtInfo("conversion_parameters/empty", ir::Attribute());
  graph.SetRtInfo("info", "x");
  const NodeId x = ir::AddParameter(graph, "x", ElementType::kF32, ir::PartialShape({1}));
  graph.SetRtInfo(x, "fused_names/0/value", "a,b");
  graph.SetRtInfo(x, "output:0/layout/0/layout", "[N]");
  graph.SetRtInfo(x, "decompression/0", ir::Attribute());
  ir::AddResult(graph, "y", {Add(graph, "opset1", "ReLU", {{x, 0}}), 0});
  Infer(graph);
  const std::string xml = Written(graph);
  EXPECT_TRUE(Contains(xml, R"(<info name="Runtime version" value="1.0"/>)"));
  EXPECT_TRUE(Contains(xml, R"(<info name="info" value="x"/>)"));
  EXPECT_TRUE(Contains(xml, R"(<attribute name="fused_names" version="0" value="a,b"/>)"));
  const ReadOutcome outcome = ReadFile(Path("net.xml"));
  ASSERT_NE(outcome.graph, nullptr) << outcome.text;
  EXPECT_EQ(outcome.graph->rt_info(), graph.rt_info());
  ExpectStable(graph);
}

// The version of an attribute is written unless it is empty; its name is always.
TEST_F(WriteTest, VersionsOfRtInfo) {
  for (const auto& [name, version, expected] :
       {std::tuple("a", "0", R"(<attribute name="a" version="0" k="v"/>)"),
        {"a", "", R"(<attribute name="a" k="v"/>)"},
        {"", "0", R"(<attribute name="" version="0" k="v"/>)"}}) {
    Graph graph(&registry_, "net");
    const NodeId x = ir::AddParameter(graph, "x", ElementType::kF32, ir::PartialShape({1}));
    graph.SetRtInfo(x, JoinPath({name, version, "k"}), "v");
    ir::AddResult(graph, "y", {x, 0});
    Infer(graph);
    const std::string xml = Written(graph);
    EXPECT_TRUE(Contains(xml, expected)) << xml;
  }
}

// An attribute may have no fields; an entry without a version is no attribute of a file.
TEST_F(WriteTest, RtInfoWithoutFields) {
  Graph graph(&registry_, "net");
  const NodeId x = ir::AddParameter(graph, "x", ElementType::kF32, ir::PartialShape({1}));
  graph.SetRtInfo(x, "decompression/0", ir::Attribute());
  graph.SetRtInfo(x, "ours", "v");
  ir::AddResult(graph, "y", {x, 0});
  Infer(graph);
  const std::string xml = Written(graph);
  EXPECT_TRUE(Contains(xml, R"(<attribute name="decompression" version="0"/>)")) << xml;
  EXPECT_FALSE(Contains(xml, "ours")) << xml;
}

TEST_F(WriteTest, TellsWhatHasNoForm) {
  Graph graph(&registry_, "net");
  const NodeId data = ir::AddNode(graph, "opset1", "Const", {.name = "weights"});
  const NodeId copy =
      ir::AddNode(graph, ir::kNnefSet, "copy", {.name = "y", .inputs = ir::OutputPort{data, 0}});
  ir::AddResult(graph, "y", {copy, 0});
  Emitter emitter;
  EXPECT_FALSE(CheckWritable(graph, emitter));
  ASSERT_EQ(emitter.diagnostics().size(), 2u);
  EXPECT_EQ(emitter.diagnostics()[0].message, "the variable `weights` has no data to write");
  EXPECT_EQ(emitter.diagnostics()[1].message, "`copy`, which makes `y`, has no form in OpenVINO IR");
}

TEST_F(WriteTest, WritesBothFilesOrNone) {
  Graph graph(&registry_, "net");
  ir::AddResult(graph, "y", {ir::AddConst(graph, TensorValue::Scalar(1), "c"), 0});
  Infer(graph);
  WriteText(Path("net.bin"), "before");
  std::filesystem::create_directory(Path("net.xml"));
  WriteText(Path("net.xml/occupied"), "");
  EXPECT_FALSE(WriteOpenVino(graph, Path("net.xml")).ok());
  EXPECT_EQ(ReadText(Path("net.bin")), "before");
  EXPECT_FALSE(WriteOpenVino(graph, Path("no/such/folder.xml")).ok());
  EXPECT_FALSE(WriteOpenVino(graph, Path("net.bin")).ok());
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) files += entry.exists() ? 1 : 0;
  EXPECT_EQ(files, 2);
  // Nor does the first one remain if there was none before.
  std::filesystem::remove(Path("net.bin"));
  EXPECT_FALSE(WriteOpenVino(graph, Path("net.xml")).ok());
  EXPECT_FALSE(std::filesystem::exists(Path("net.bin")));
}

// A successful run leaves its two files, whether or not there were files of these names before, and no open
// file.
TEST_F(WriteTest, LeavesItsTwoFilesAlone) {
  Graph graph(&registry_, "net");
  ir::AddResult(graph, "y", {ir::AddConst(graph, TensorValue::Scalar(1), "c"), 0});
  Infer(graph);
  const auto entries = [](const std::string& folder) {
    const auto all = std::filesystem::directory_iterator(folder);
    return std::distance(begin(all), end(all));
  };
  for (const bool had_weights : {false, true}) {
    SCOPED_TRACE(had_weights);
    const auto open_files = entries("/proc/self/fd");
    ASSERT_EQ(std::filesystem::exists(Path("net.bin")), had_weights);
    EXPECT_TRUE(WriteOpenVino(graph, Path("net.xml")).ok());
    EXPECT_EQ(entries(folder_), 2);
    EXPECT_EQ(std::filesystem::file_size(Path("net.bin")), sizeof(float));
    EXPECT_EQ(entries("/proc/self/fd"), open_files);
  }
}

// The weights are restored if the XML cannot replace a file of somebody else.
TEST_F(WriteTest, RestoresTheWeights) {
  Graph graph(&registry_, "net");
  ir::AddResult(graph, "y", {ir::AddConst(graph, TensorValue::Scalar(1), "c"), 0});
  Infer(graph);
  WriteText(Path("net.xml"), "xml");
  // Files of others in this folder can be read, but not replaced.
  ASSERT_EQ(::chmod(folder_.c_str(), 01777), 0);
  for (const bool had_weights : {true, false}) {
    {
      const OtherUser user;
      if (!user.Reaches(folder_)) GTEST_SKIP() << "not the administrator, or a private folder";
      std::filesystem::remove(Path("net.bin"));
      if (had_weights) WriteText(Path("net.bin"), "before");
      EXPECT_FALSE(WriteOpenVino(graph, Path("net.xml")).ok());
    }
    EXPECT_EQ(ReadText(Path("net.xml")), "xml");
    EXPECT_EQ(std::filesystem::exists(Path("net.bin")), had_weights);
    EXPECT_EQ(ReadText(Path("net.bin")), had_weights ? "before" : "");
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) files += entry.exists() ? 1 : 0;
    EXPECT_EQ(files, had_weights ? 2 : 1);
  }
}

}  // namespace
}  // namespace nnefc::openvino
