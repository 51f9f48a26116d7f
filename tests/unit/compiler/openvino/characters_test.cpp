// Characters of names and references: each byte alone and after a letter.

#include <csignal>
#include <fstream>

#include <sys/resource.h>

#include "compiler/ir/algorithms/infer.h"
#include "compiler/openvino/reading/xml_scan.h"
#include "compiler/openvino/rt_info.h"
#include "tests/unit/compiler/openvino/ir_files.h"
#include "tests/unit/compiler/openvino/ir_text.h"

namespace nnefc::openvino {
namespace {

class CharactersTest : public IrFilesTest {
 protected:
  // x -> ReLU -> y.
  std::unique_ptr<ir::Graph> Small() {
    auto graph = std::make_unique<ir::Graph>(&registry_, "net");
    const ir::NodeId x = ir::AddParameter(*graph, "x", ElementType::kF32, ir::PartialShape({2}));
    relu_ = ir::AddNode(*graph, "opset1", "ReLU", {.name = "r", .inputs = ir::OutputPort{x, 0}});
    ir::AddResult(*graph, "y", {relu_, 0});
    Emitter emitter;
    EXPECT_TRUE(ir::InferGraph(*graph, emitter));
    return graph;
  }

  ir::NodeId relu_;
};

bool IsLetter(int byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}

// An attribute of XML begins with a letter, `_` or a byte above ASCII; digits, `-` and `.` may follow.
TEST_F(CharactersTest, NamesOfAttributes) {
  for (int byte = 1; byte < 256; ++byte) {
    for (const bool is_first : {true, false}) {
      const std::string name = (is_first ? "" : "a") + std::string(1, static_cast<char>(byte));
      const auto graph = Small();
      graph->SetAttribute(relu_, name, 1);
      Emitter emitter;
      const bool is_allowed = IsLetter(byte) || byte >= 0x80 ||
                              (!is_first && ((byte >= '0' && byte <= '9') || byte == '-' || byte == '.'));
      EXPECT_EQ(CheckWritable(*graph, emitter), is_allowed) << byte << " " << is_first;
    }
  }
  const auto graph = Small();
  graph->SetAttribute(relu_, "", 1);
  Emitter emitter;
  EXPECT_FALSE(CheckWritable(*graph, emitter));
}

// Values of attributes have any bytes but NUL, which XML cannot represent.
TEST_F(CharactersTest, ValuesOfAttributes) {
  for (int byte = 0; byte < 256; ++byte) {
    for (const bool is_first : {true, false}) {
      const auto graph = Small();
      const std::string value(1, static_cast<char>(byte));
      graph->SetAttribute(relu_, "a", is_first ? value + "x" : "x" + value);
      Emitter emitter;
      EXPECT_EQ(CheckWritable(*graph, emitter), byte != 0) << byte;
    }
  }
}

// Entries of rt_info whose names no tag may have become an <info>, and so does an entry named info.
TEST_F(CharactersTest, TagsOfEntries) {
  const auto written = [&](const std::string& name) {
    const auto graph = Small();
    graph->SetRtInfo(openvino::JoinPath({name}), ir::Attribute("v"));
    EXPECT_TRUE(WriteOpenVino(*graph, Path("net.xml")).ok());
    const ReadOutcome outcome = ReadFile(Path("net.xml"));
    EXPECT_NE(outcome.graph, nullptr) << outcome.text;
    if (outcome.graph != nullptr) {
      EXPECT_EQ(outcome.graph->rt_info().size(), 1U);
      EXPECT_EQ(outcome.graph->rt_info().begin()->first, openvino::JoinPath({name}));
    }
    return ReadText(Path("net.xml"));
  };
  for (int byte = 33; byte < 127; ++byte) {
    for (const bool is_first : {true, false}) {
      const std::string name = (is_first ? "" : "a") + std::string(1, static_cast<char>(byte));
      const bool is_tag =
          IsLetter(byte) || (!is_first && ((byte >= '0' && byte <= '9') || byte == '-' || byte == '.'));
      EXPECT_EQ(written(name).find("<info name=") == std::string::npos, is_tag) << name;
    }
  }
  EXPECT_NE(written("info").find("<info name=\"info\""), std::string::npos);
  EXPECT_NE(written("infos").find("<infos "), std::string::npos);
}

// The entries that OpenVINO's reader adds are not written, but those of these names with or below others are.
TEST_F(CharactersTest, EntriesOfTheReader) {
  for (const char* name : {"version", "__weights_path"}) {
    const auto is_written = [&](const std::vector<std::string>& path) {
      const auto graph = Small();
      graph->SetRtInfo(openvino::JoinPath(path), ir::Attribute("kept"));
      EXPECT_TRUE(WriteOpenVino(*graph, Path("net.xml")).ok());
      return ReadText(Path("net.xml")).find("value=\"kept\"") != std::string::npos;
    };
    EXPECT_FALSE(is_written({name})) << name;
    EXPECT_TRUE(is_written({name, "a"})) << name;
    EXPECT_TRUE(is_written({"a", name})) << name;
    EXPECT_TRUE(is_written({std::string(name) + "s"})) << name;
  }
}

// An entry may have a value and entries below it.
TEST_F(CharactersTest, EntriesWithValuesAndChildren) {
  const auto entries = [&](const std::string& more) {
    std::string xml = Net({Parameter(0, "x", {2}), Result(1, "y", {2})}, {{0, 0, 1, 0}});
    const size_t at = xml.find("<rt_info/>");
    EXPECT_NE(at, std::string::npos);
    xml.replace(at, 10, more);
    const ReadOutcome outcome = Read(xml);
    EXPECT_NE(outcome.graph, nullptr) << outcome.text;
    std::string text;
    if (outcome.graph == nullptr) return text;
    for (const auto& [path, value] : outcome.graph->rt_info())
      text += path + (value.get<std::string>() == nullptr ? "" : "=" + value.AsString()) + " ";
    return text;
  };
  EXPECT_EQ(entries("<rt_info><a value=\"1\"><b value=\"2\"/></a></rt_info>"), "a=1 a/b=2 ");
  EXPECT_EQ(entries("<rt_info><a><b value=\"2\"/></a></rt_info>"), "a/b=2 ");
  EXPECT_EQ(entries("<rt_info><a/><b value=\"\"/></rt_info>"), "a b= ");
  EXPECT_EQ(entries("<rt_info><info name=\"c d\" value=\"3\"/></rt_info>"), "c d=3 ");
  // Parameters of the command line are apart, but only directly below.
  EXPECT_EQ(
      entries("<rt_info/><meta_data><a value=\"1\"/><cli_parameters><b value=\"2\"/></cli_parameters><c>"
              "<cli_parameters value=\"3\"/></c></meta_data>"),
      "a=1 c/cli_parameters=3 conversion_parameters/b=2 ");
  EXPECT_EQ(entries("<rt_info/><meta_data><cli_parameters><b value=\"2\"/></cli_parameters>"
                    "<cli_parameters><c value=\"3\"/></cli_parameters></meta_data>"),
            "conversion_parameters/b=2 conversion_parameters/c=3 ");
}

// A reference is one of five entities, or `#` with digits, or `#x` with hexadecimal ones, other than NUL.
TEST(References, AreDefined) {
  for (const char* name : {"amp", "lt", "gt", "quot", "apos", "#1", "#65", "#9", "#x1", "#x41", "#xaf",
                           "#xAF", "#x9", "#01", "#x0A", "#123456789"}) {
    EXPECT_FALSE(ScanXml(std::string("<a>&") + name + ";</a>").has_value()) << name;
    EXPECT_FALSE(ScanXml(std::string("<a b=\"&") + name + ";\"/>").has_value()) << name;
  }
  for (const char* name : {"",   "#",    "#x",  "#0",          "#00", "#x0", "#x00", "a65", "x41",
                           "65", "#6a",  "#/",  "#:",          "#x`", "#xg", "#x@",  "#xG", "#X41",
                           "am", "ampe", "AMP", "#1234567890", "#x/", "#x:", "#-1"}) {
    for (const std::string& text :
         {std::string("<a>&") + name + ";</a>", std::string("<a b=\"&") + name + ";\"/>"}) {
      const auto finding = ScanXml(text);
      ASSERT_TRUE(finding.has_value()) << text;
      EXPECT_EQ(finding->offset, text.find('&')) << text;
    }
  }
  // Quoted values are no markup.
  for (const char* value : {"<!DOCTYPE", "<!--", "<![CDATA[", "<?", ">", "/>", "</a>"}) {
    EXPECT_FALSE(ScanXml(std::string("<a b=\"") + value + "\"/>").has_value()) << value;
    EXPECT_FALSE(ScanXml(std::string("<a b='") + value + "' c='\"'/>").has_value()) << value;
    EXPECT_TRUE(ScanXml(std::string("<a b=\"") + value + "\"/>&bad;").has_value()) << value;
    EXPECT_TRUE(ScanXml(std::string("<a b='") + value + "' c=\"&bad;\"/>").has_value()) << value;
  }
  EXPECT_TRUE(ScanXml("<a>&amp</a>").has_value());
  EXPECT_TRUE(ScanXml("<a>&").has_value());
}

// A mistake of the text is marked by one character.
TEST_F(CharactersTest, MistakesAreOneCharacter) {
  WriteText(Path("net.xml"), "<net>\n &wrong; </net>");
  Context context;
  const auto graph = ReadOpenVino(Path("net.xml"), registry_, context);
  ASSERT_TRUE(graph.ok());
  ASSERT_EQ(context.emitter.diagnostics().size(), 1U);
  const SourceRange range = context.emitter.diagnostics()[0].range;
  EXPECT_EQ(range.begin, 7U);
  EXPECT_EQ(range.end, 8U);
}

// Names in messages are cut after 60 characters.
TEST_F(CharactersTest, LongNamesOfRoots) {
  for (const size_t length : {59U, 60U, 61U}) {
    const std::string name(length, 'n');
    const ReadOutcome outcome = Read("<" + name + "/>");
    EXPECT_EQ(outcome.graph, nullptr);
    EXPECT_NE(outcome.text.find("`" + name.substr(0, 60) + "`"), std::string::npos) << outcome.text;
  }
}

// Sinks are operations that are sinks, and unknown ones without results; others would be lost in a file.
TEST_F(CharactersTest, Sinks) {
  registry_.Add({.set = "acme", .name = "Log", .inputs = {{.name = "data"}}, .outputs = {}});
  registry_.Add({.set = "acme", .name = "Tee", .inputs = {{.name = "data"}}, .outputs = {"data"}});
  const auto is_writable = [&](std::string_view set, std::string_view type, int32_t outputs) {
    const auto graph = Small();
    const ir::NodeId sink = ir::AddNode(
        *graph, set, type, {.name = "sink", .inputs = ir::OutputPort{relu_, 0}, .num_outputs = outputs});
    graph->AddToSinks(sink);
    Emitter emitter;
    const bool is_fine = CheckWritable(*graph, emitter);
    EXPECT_EQ(emitter.diagnostics().size(), is_fine ? 0U : 1U);
    return is_fine;
  };
  EXPECT_TRUE(is_writable("acme", "Log", 0));
  EXPECT_FALSE(is_writable("acme", "Tee", 1));
  EXPECT_FALSE(is_writable("opset1", "Abs", 1));
}

// A Parameter lacks its type or its shape; without either, its port has both.
TEST_F(CharactersTest, ParametersWithoutTheirAttributes) {
  const auto read = [&](const std::string& data) {
    LayerText parameter = Parameter(0, "x", {2});
    parameter.data = data;
    return Read(Net({parameter, Result(1, "y", {2})}, {{0, 0, 1, 0}}));
  };
  for (const auto& [data, name] :
       {std::pair("shape=\"2\"", "element_type"), std::pair("element_type=\"f32\"", "shape")}) {
    const ReadOutcome outcome = read(data);
    EXPECT_EQ(outcome.graph, nullptr);
    EXPECT_NE(outcome.text.find(std::string("lacks the attribute `") + name), std::string::npos)
        << outcome.text;
  }
  const ReadOutcome outcome = read("");
  ASSERT_NE(outcome.graph, nullptr) << outcome.text;
  const ir::Output& output = outcome.graph->node(outcome.graph->parameters()[0]).output();
  EXPECT_EQ(output.type, ElementType::kF32);
  EXPECT_EQ(output.shape, ir::PartialShape({2}));
}

// If no more bytes can be written, the files are those from before.
TEST_F(CharactersTest, FilesOfAFailedRunStay) {
  const auto graph = std::make_unique<ir::Graph>(&registry_, "net");
  const ir::NodeId one = ir::AddConst(*graph, TensorValue::FromFloats({2}, {1, 2}), "a");
  const ir::NodeId x = ir::AddParameter(*graph, "x", ElementType::kF32, ir::PartialShape({2}));
  const ir::NodeId sum = ir::AddNode(*graph, "opset1", "Add", {.name = "s", .inputs = {{x, 0}, {one, 0}}});
  ir::AddResult(*graph, "y", {sum, 0});
  Emitter emitter;
  ASSERT_TRUE(ir::InferGraph(*graph, emitter));
  for (const bool exist : {true, false}) {
    std::filesystem::remove(Path("net.xml"));
    std::filesystem::remove(Path("net.bin"));
    if (exist) {
      WriteText(Path("net.xml"), "xml");
      WriteText(Path("net.bin"), "bin");
    }
    const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
    rlimit before;
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    rlimit none = before;
    none.rlim_cur = 4;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
    const bool is_written = WriteOpenVino(*graph, Path("net.xml")).ok();
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, ignored);
    EXPECT_FALSE(is_written);
    EXPECT_EQ(std::filesystem::exists(Path("net.xml")), exist);
    EXPECT_EQ(std::filesystem::exists(Path("net.bin")), exist);
    if (!exist) continue;
    EXPECT_EQ(ReadText(Path("net.xml")), "xml");
    EXPECT_EQ(ReadText(Path("net.bin")), "bin");
  }
}

}  // namespace
}  // namespace nnefc::openvino
