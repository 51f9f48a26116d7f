// What OpenVINO IR represents: names, entries, sinks and nested bodies, and the files of writers.

#include <sys/resource.h>

#include <csignal>

#include "compiler/ir/algorithms/infer.h"
#include "compiler/openvino/reading/xml_scan.h"
#include "compiler/openvino/writing/written_form.h"
#include "fmt/format.h"
#include "tests/unit/compiler/openvino/ir_files.h"
#include "tests/unit/compiler/openvino/ir_text.h"

namespace nnefc::openvino {
namespace {

class WritableTest : public IrFilesTest {
 protected:
  // x -> ReLU -> y.
  struct Small {
    std::unique_ptr<ir::Graph> graph;
    ir::NodeId x, relu, result;
  };
  Small MakeSmall() {
    Small made{.graph = std::make_unique<ir::Graph>(&registry_, "net"), .x = {}, .relu = {}, .result = {}};
    made.x = ir::AddParameter(*made.graph, "x", ElementType::kF32, ir::PartialShape({2}));
    made.relu =
        ir::AddNode(*made.graph, "opset1", "ReLU", {.name = "r", .inputs = ir::OutputPort{made.x, 0}});
    made.result = ir::AddResult(*made.graph, "y", {made.relu, 0});
    Emitter emitter;
    EXPECT_TRUE(ir::InferGraph(*made.graph, emitter));
    return made;
  }
  // Returns the messages of the check.
  static std::vector<std::string> Messages(const ir::Graph& graph) {
    Emitter emitter;
    const bool is_writable = CheckWritable(graph, emitter);
    std::vector<std::string> messages;
    for (const Diagnostic& each : emitter.diagnostics()) messages.push_back(each.message);
    EXPECT_EQ(is_writable, messages.empty());
    return messages;
  }
  std::string Written(const ir::Graph& graph) {
    EXPECT_TRUE(WriteOpenVino(graph, Path("net.xml")).ok());
    return ReadText(Path("net.xml"));
  }
};

using Lines = std::vector<std::string>;

// Names in a list are neither empty nor end in a backslash, and have no NUL.
TEST_F(WritableTest, NamesOfTensors) {
  const auto messages = [&](std::vector<std::string> names, bool is_result) {
    Small made = MakeSmall();
    if (is_result)
      made.graph->SetAttribute(made.result, "output_names", ir::Attribute::Strings(names));
    else
      made.graph->SetOutputNames({made.relu, 0}, names);
    return Messages(*made.graph);
  };
  for (const bool is_result : {false, true}) {
    EXPECT_EQ(messages({"a", "b,c", "\\d", "e\\f"}, is_result), Lines());
    ASSERT_EQ(messages({"a\\", "b"}, is_result).size(), 1u);
    EXPECT_NE(messages({"a\\", "b"}, is_result)[0].find("are ambiguous in a list"), std::string::npos);
    EXPECT_FALSE(messages({std::string("a\0b", 3)}, is_result).empty());
  }
  EXPECT_EQ(messages({"", "a"}, true).size(), 1u);
  EXPECT_EQ(messages({"", "a"}, false).size(), 0u);  // the writer omits it
  // The same names of another operation are any attribute, and so are other attributes of a result.
  Small made = MakeSmall();
  made.graph->SetAttribute(made.result, "other_names", ir::Attribute::Strings{"a\\", "b"});
  made.graph->SetAttribute(made.relu, "output_names", ir::Attribute::Strings{"a\\", "b"});
  EXPECT_EQ(Messages(*made.graph), Lines());
}

TEST_F(WritableTest, EntriesWithNul) {
  for (const bool is_graph : {false, true}) {
    for (const bool is_value : {false, true}) {
      Small made = MakeSmall();
      const std::string nul("a\0b", 3);
      const std::string path = is_value ? "a/0/b" : nul + "/0/b";
      if (is_graph)
        made.graph->SetRtInfo(path, is_value ? nul : "v");
      else
        made.graph->SetRtInfo(made.relu, path, is_value ? nul : "v");
      EXPECT_FALSE(Messages(*made.graph).empty()) << is_graph << is_value;
    }
  }
}

TEST_F(WritableTest, Graphs) {
  ir::Graph unnamed(&registry_, std::string("a\0b", 3));
  const ir::NodeId x = ir::AddParameter(unnamed, "x", ElementType::kF32, ir::PartialShape({2}));
  EXPECT_EQ(Messages(unnamed).size(), 2u);
  ir::AddResult(unnamed, "y", {x, 0});
  ASSERT_EQ(Messages(unnamed).size(), 1u);
  EXPECT_NE(Messages(unnamed)[0].find("the name of the graph"), std::string::npos) << Messages(unnamed)[0];
  EXPECT_EQ(Messages(ir::Graph(&registry_, "net")), Lines{"the graph `net` has no result"});
}

TEST_F(WritableTest, SinksAndCustomPrimitives) {
  Small made = MakeSmall();
  ir::AttributeMap attributes;
  attributes.Set("variable_id", "state");
  ir::AddNode(*made.graph, "opset6", "Assign",
              {.name = "a", .inputs = ir::OutputPort{made.relu, 0}, .attributes = attributes});
  EXPECT_EQ(Messages(*made.graph), Lines());
  registry_.Add(
      {.set = std::string(ir::kNnefSet), .name = "mine", .inputs = {{.name = "x"}}, .outputs = {"y"}});
  Small other = MakeSmall();
  const ir::NodeId mine =
      ir::AddNode(*other.graph, ir::kNnefSet, "mine", {.name = "m", .inputs = ir::OutputPort{other.relu, 0}});
  ir::AddResult(*other.graph, "z", {mine, 0});
  EXPECT_EQ(Messages(*other.graph),
            Lines{"`mine`, which makes `m`, has no form in OpenVINO IR: it is a custom "
                  "primitive; give the fragment a body"});
}

// 64 bodies may be nested.
TEST_F(WritableTest, NestedBodies) {
  for (const int depth : {1, 63, 64, 65, 66, 70}) {
    auto graph = std::make_unique<ir::Graph>(&registry_, "innermost");
    const ir::NodeId p = ir::AddParameter(*graph, "p", ElementType::kF32, ir::PartialShape({2}));
    // Bodies that are nested deeper are not checked.
    const ir::NodeId last = depth <= 64 ? p
                                        : ir::AddNode(*graph, ir::kNnefSet, "copy",
                                                      {.name = "c", .inputs = ir::OutputPort{p, 0}});
    ir::AddResult(*graph, "r", {last, 0});
    for (int i = 0; i < depth; ++i) {
      auto outer = std::make_unique<ir::Graph>(&registry_, "outer");
      const ir::NodeId x = ir::AddParameter(*outer, "x", ElementType::kF32, ir::PartialShape({2}));
      const ir::NodeId loop =
          ir::AddNode(*outer, "opset1", "TensorIterator", {.name = "t", .inputs = ir::OutputPort{x, 0}});
      outer->AddBody(loop, {.role = "body",
                            .graph = std::move(graph),
                            .inputs = {{.external = 0, .internal = 0}},
                            .outputs = {{.external = 0, .internal = 0}}});
      ir::AddResult(*outer, "y", {loop, 0});
      graph = std::move(outer);
    }
    EXPECT_EQ(Messages(*graph), depth <= 64 ? Lines() : Lines{"bodies are nested deeper than 64"});
  }
}

// Entries of inputs, outputs and layers are read where they are written.
TEST_F(WritableTest, EntriesOfPorts) {
  Small made = MakeSmall();
  for (const std::string path : {"layout/0/layer", "input:0/layout/0/in", "output:0/layout/0/out"})
    made.graph->SetRtInfo(made.relu, path, "value");
  made.graph->SetRtInfo("version", "11");
  made.graph->SetRtInfo("__weights_path", "x");
  made.graph->SetRtInfo("version/of", "y");
  Written(*made.graph);
  const ReadOutcome outcome = ReadFile(Path("net.xml"));
  ASSERT_NE(outcome.graph, nullptr) << outcome.text;
  const ir::Graph& read = *outcome.graph;
  const ir::Node& relu = read.node(read.node(read.results()[0]).input(0).node);
  EXPECT_EQ(relu.rt_info(), made.graph->node(made.relu).rt_info());
  std::string paths;
  for (const auto& [path, value] : read.rt_info()) paths += path + " ";
  EXPECT_EQ(paths.find("__weights_path"), std::string::npos);
}

// A tensor with names has no other; equal names are written once.
TEST_F(WritableTest, WrittenNames) {
  Small made = MakeSmall();
  ir::AddResult(*made.graph, "y", {made.relu, 0});
  EXPECT_NE(Written(*made.graph).find("<port id=\"1\" precision=\"FP32\" names=\"y\">"), std::string::npos);
  made.graph->SetOutputNames({made.relu, 0}, {"b", "a", "b"});
  EXPECT_NE(Written(*made.graph).find("<port id=\"1\" precision=\"FP32\" names=\"a,b\">"), std::string::npos);
}

// Attributes that a node omits are written with their defaults, except those that OpenVINO adds to others.
TEST_F(WritableTest, OmittedAttributes) {
  ir::Graph graph(&registry_, "net");
  const ir::NodeId x = ir::AddParameter(graph, "x", ElementType::kF32, ir::PartialShape({2, 2}));
  const ir::NodeId product =
      ir::AddNode(graph, "opset1", "MatMul", {.name = "p", .inputs = {{x, 0}, {x, 0}}});
  const ir::NodeId sum = ir::AddNode(graph, "opset1", "Add", {.name = "s", .inputs = {{product, 0}, {x, 0}}});
  ir::AddResult(graph, "y", {sum, 0});
  Emitter emitter;
  ASSERT_TRUE(ir::InferGraph(graph, emitter));
  const std::string text = Written(graph);
  EXPECT_NE(text.find("<data transpose_a=\"false\" transpose_b=\"false\"/>"), std::string::npos) << text;
  EXPECT_NE(text.find("<data auto_broadcast=\"numpy\"/>"), std::string::npos) << text;
}

// A sink that others read is written before them, any other one after the operations.
TEST_F(WritableTest, OrderOfSinks) {
  Small made = MakeSmall();
  const auto assign = [&](const std::string& name) {
    ir::AttributeMap attributes;
    attributes.Set("variable_id", name);
    return ir::AddNode(*made.graph, "opset6", "Assign",
                       {.name = name, .inputs = ir::OutputPort{made.x, 0}, .attributes = attributes});
  };
  const ir::NodeId read = assign("read");
  assign("unread");
  const ir::NodeId exp =
      ir::AddNode(*made.graph, "opset1", "Exp", {.name = "exp", .inputs = ir::OutputPort{read, 0}});
  ir::AddResult(*made.graph, "z", {exp, 0});
  Emitter emitter;
  ASSERT_TRUE(ir::InferGraph(*made.graph, emitter));
  const std::string text = Written(*made.graph);
  const auto at = [&](const std::string& name) { return text.find("name=\"" + name + "\" type"); };
  EXPECT_LT(at("read"), at("exp"));
  EXPECT_LT(at("exp"), at("unread"));
  EXPECT_LT(at("unread"), at("y"));
}

// A range of a whole axis needs no slice, and one of an input whose rank is unknown has one.
TEST_F(WritableTest, SlicesOfLoops) {
  const auto form = [&](int64_t end, bool has_rank) {
    const std::string slice = fmt::format(R"(axis="1" start="0" end="{}" stride="1")", end);
    const ReadOutcome outcome =
        Read(LoopNet({.length = end < 0 ? -1 : end, .input_slice = slice, .output_slice = R"(axis="1")"}));
    EXPECT_NE(outcome.graph, nullptr) << outcome.text;
    ir::Graph& graph = *outcome.graph;
    if (!has_rank) graph.SetOutputType({graph.parameters()[0], 0}, ElementType::kF32, ir::PartialShape());
    return WrittenForm(graph) != nullptr;
  };
  EXPECT_FALSE(form(4, true));
  EXPECT_FALSE(form(-1, true));
  EXPECT_FALSE(form(-1, false));
  EXPECT_TRUE(form(4, false));
  EXPECT_TRUE(form(-2, false));
}

// Only the range of a whole axis with a known extent is written in another form.
TEST_F(WritableTest, RangesOfLoops) {
  const ReadOutcome open = Read(LoopNet({.length = -1, .input_slice = R"(axis="1" start="0" end="-1")"}));
  const ReadOutcome known = Read(LoopNet({.length = 4}));
  ASSERT_TRUE(open.graph && known.graph) << open.text << known.text;
  const auto written = [&](ir::Graph& graph, int64_t start, int64_t end, int64_t stride) {
    ir::OutputMapping& mapping = graph.body(graph.node(graph.results()[0]).input(0).node, 0).outputs[0];
    mapping.start = start;
    mapping.end = end;
    mapping.stride = stride;
    const std::string text = Written(graph);
    const size_t at = text.find("start=\"", text.find("<output axis"));
    return text.substr(at, text.find(" part_size", at) - at);
  };
  EXPECT_EQ(written(*open.graph, 0, 0, 1), R"(start="0" end="0" stride="1")");
  EXPECT_EQ(written(*open.graph, 0, 0, -1), R"(start="0" end="0" stride="-1")");
  EXPECT_EQ(written(*known.graph, 0, 4, 1), R"(start="0" end="-1" stride="1")");
  EXPECT_EQ(written(*known.graph, 0, 4, 0), R"(start="0" end="4" stride="0")");
  EXPECT_EQ(written(*known.graph, 4, 0, 0), R"(start="4" end="0" stride="0")");
  EXPECT_EQ(written(*known.graph, 4, 0, -1), R"(start="-1" end="0" stride="-1")");
  // An input whose rank is unknown has no extents.
  open.graph->SetOutputType({open.graph->parameters()[0], 0}, ElementType::kF32, ir::PartialShape());
  EXPECT_EQ(written(*open.graph, 0, -1, 1), R"(start="0" end="-1" stride="1")");
}

// The order of layers is found in one pass over the edges, however many paths lead to a layer.
TEST_F(WritableTest, ManyPathsToALayer) {
  Small made = MakeSmall();
  ir::OutputPort last{made.relu, 0};
  for (int i = 0; i < 64; ++i) {
    const std::vector<ir::OutputPort> inputs(2, last);
    last = {ir::AddNode(*made.graph, "opset1", "Add", {.name = fmt::format("a{}", i), .inputs = inputs}), 0};
  }
  made.graph->SetInput(made.result, 0, last);
  Emitter emitter;
  ASSERT_TRUE(ir::InferGraph(*made.graph, emitter));
  EXPECT_NE(Written(*made.graph).find("name=\"a63\""), std::string::npos);
}

// The file that a link names is replaced; a failure leaves both files as they were.
TEST_F(WritableTest, FilesThatExist) {
  ir::Graph graph(&registry_, "net");
  ir::AddResult(graph, "y", {ir::AddConst(graph, TensorValue::Scalar(1), "c"), 0});
  WriteText(Path("target.bin"), "before");
  std::filesystem::create_symlink(Path("target.bin"), Path("net.bin"));
  ASSERT_TRUE(WriteOpenVino(graph, Path("net.xml")).ok());
  EXPECT_EQ(std::filesystem::file_size(Path("net.bin")), 4u);
  EXPECT_NE(ReadFile(Path("net.xml")).graph, nullptr);

  std::filesystem::remove(Path("net.bin"));
  std::filesystem::create_directories(Path("net.bin/occupied"));
  WriteText(Path("net.xml"), "xml");
  EXPECT_FALSE(WriteOpenVino(graph, Path("net.xml")).ok());
  EXPECT_EQ(ReadText(Path("net.xml")), "xml");
  EXPECT_TRUE(std::filesystem::is_directory(Path("net.bin/occupied")));

  // The constants fit, the text does not.
  std::filesystem::remove_all(Path("net.bin"));
  WriteText(Path("net.bin"), "bin");
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit few = before;
  few.rlim_cur = 100;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &few), 0);
  const bool is_written = WriteOpenVino(graph, Path("net.xml")).ok();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, ignored);
  EXPECT_FALSE(is_written);
  EXPECT_EQ(ReadText(Path("net.xml")), "xml");
  EXPECT_EQ(ReadText(Path("net.bin")), "bin");
}

// Comments, instructions and character data end with their marks, whatever precedes them.
TEST(Markup, EndsWithItsMark) {
  for (const char* text :
       {"<!--a&-->", "<!--&-->", "<a/><!--a<!--x&-->", "<?a&?>", "<![CDATA[&]]>", "<![CDATA[a&]]>"}) {
    EXPECT_FALSE(ScanXml(text)) << text;
    EXPECT_TRUE(ScanXml(std::string(text) + "&")) << text;
  }
}

}  // namespace
}  // namespace nnefc::openvino
