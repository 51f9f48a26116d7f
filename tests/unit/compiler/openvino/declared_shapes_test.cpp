// Shapes that ports declare, and the elements that messages name.
#include "fmt/format.h"
#include "tests/unit/compiler/openvino/ir_files.h"
#include "tests/unit/compiler/openvino/ir_text.h"

namespace nnefc::openvino {
namespace {

class DeclaredShapesTest : public IrFilesTest {
 protected:
  // Returns the messages about ReLU(x) of x of shape [1,3,8], where the output of ReLU declares other
  // extents.
  std::string Declared(const std::vector<int64_t>& dims) {
    const ReadOutcome outcome = Read(Net({Parameter(0, "x", {1, 3, 8}),
                                          {.id = 1,
                                           .name = "relu",
                                           .type = "ReLU",
                                           .inputs = {{0, "FP32", {1, 3, 8}}},
                                           .outputs = {{1, "FP32", dims}}},
                                          Result(2, "y", {1, 3, 8})},
                                         {{0, 0, 1, 0}, {1, 1, 2, 0}}));
    EXPECT_EQ(outcome.graph == nullptr, !outcome.text.empty()) << outcome.text;
    const size_t begin = outcome.text.find("port 1");
    return begin == std::string::npos
               ? ""
               : outcome.text.substr(begin, outcome.text.find(" [", begin + 70) - begin);
  }
};

TEST_F(DeclaredShapesTest, DifferencesAreReported) {
  EXPECT_EQ(Declared({1, 3, 8}), "");
  for (const std::vector<int64_t>& open :
       {std::vector<int64_t>{-1, 3, 8}, {1, -1, 8}, {1, 3, -1}, {-1, -1, -1}})
    EXPECT_EQ(Declared(open), "");
  for (const std::vector<int64_t>& other : {std::vector<int64_t>{2, 3, 8},
                                            {1, 4, 8},
                                            {1, 3, 7},
                                            {1, 3},
                                            {1},
                                            {1, 3, 8, 1},
                                            {1, 3, 8, 8},
                                            {-1, -1},
                                            {3, 8}}) {
    const std::string reported = Declared(other);
    EXPECT_NE(reported.find("port 1 of the layer `relu` declares the shape "), std::string::npos)
        << fmt::format("{}", fmt::join(other, ",")) << reported;
  }
}

// Of the text of a shape at most 240 bytes are shown, and then its rank.
TEST_F(DeclaredShapesTest, LongShapesAreCut) {
  for (const size_t rank : {119, 120, 200}) {
    std::string shape = "[1";
    for (size_t i = 1; i < rank; ++i) shape += ",1";
    shape += "]";
    if (rank > 119) shape = fmt::format("{}.., of rank {}", shape.substr(0, 240), rank);
    const std::string reported = Declared(std::vector<int64_t>(rank, 1));
    EXPECT_TRUE(reported.starts_with("port 1 of the layer `relu` declares the shape " + shape + "; it is"))
        << reported;
  }
}

// A layer is named by its name, if it has one.
// A shape is written in up to 240 characters.
TEST_F(DeclaredShapesTest, LongShapesAreShownInPart) {
  for (const size_t length : {239, 240, 241}) {
    std::vector<int64_t> dims((length - 1) / 2, 1);
    if (length % 2 == 0) dims.front() = 10;
    std::string shape = "[" + std::to_string(dims.front());
    for (size_t i = 1; i < dims.size(); ++i) shape += ",1";
    shape += "]";
    ASSERT_EQ(shape.size(), length);
    const std::string message = Declared(dims);
    const std::string shown = length > 240 ? shape.substr(0, 240) + ".., of rank 120" : shape;
    EXPECT_NE(message.find(shown), std::string::npos) << message;
    EXPECT_EQ(message.find(".., of rank") != std::string::npos, length > 240) << message;
  }
}

TEST_F(DeclaredShapesTest, MessagesNameLayers) {
  const auto message = [&](const std::string& layer) {
    const ReadOutcome outcome =
        Read("<net name=\"n\" version=\"11\"><layers>" + layer + "</layers><edges/></net>");
    EXPECT_EQ(outcome.graph, nullptr);
    return outcome.text;
  };
  EXPECT_NE(message("<layer name=\"a\" type=\"ReLU\" version=\"opset1\"/>").find("the layer `a`"),
            std::string::npos);
  const std::string unnamed = message("<layer type=\"ReLU\" version=\"opset1\"/>");
  EXPECT_NE(unnamed.find("`layer`"), std::string::npos) << unnamed;
  EXPECT_EQ(unnamed.find("the layer"), std::string::npos) << unnamed;
}

// A port without an id is reported alone.
TEST_F(DeclaredShapesTest, PortsHaveAnId) {
  std::string xml = Net({Parameter(0, "x", {2}), Result(1, "y", {2})}, {{0, 0, 1, 0}});
  const std::string id = "<port id=\"0\"";
  for (size_t at = xml.find(id); at != std::string::npos; at = xml.find(id, at + 1)) {
    std::string without = xml;
    without.replace(at, id.size(), "<port");
    const ReadOutcome outcome = Read(without);
    EXPECT_EQ(outcome.graph, nullptr);
    ASSERT_FALSE(outcome.labels.empty());
    EXPECT_NE(outcome.text.find("`id`"), std::string::npos) << outcome.text;
  }
}

// A value ends at its own quote: others and `>` belong to it.
TEST_F(DeclaredShapesTest, QuotesOfValues) {
  for (const auto& [quoted, name] : {std::pair("\"a'>'b\"", "a'>'b"),
                                     {"'a\">\"b'", "a\">\"b"},
                                     {"\">\"", ">"},
                                     {"'<a'", "<a"},
                                     {"\"a b='c>d'\"", "a b='c>d'"}}) {
    std::string xml = Net({Parameter(0, "x", {2}), Result(1, "y", {2})}, {{0, 0, 1, 0}});
    const size_t at = xml.find("name=\"x\"");
    ASSERT_NE(at, std::string::npos);
    xml.replace(at, 8, std::string("name=") + quoted);
    const ReadOutcome outcome = Read(xml);
    ASSERT_NE(outcome.graph, nullptr) << outcome.text;
    EXPECT_EQ(outcome.graph->node(outcome.graph->parameters()[0]).name(), name);
  }
}

// Both spellings of the end of an axis are written as -1.
TEST_F(DeclaredShapesTest, WholeAxesOfALoop) {
  const auto slice = [](int64_t start, int64_t end, int64_t stride, int64_t part) {
    return fmt::format(R"(axis="1" start="{}" end="{}" stride="{}" part_size="{}")", start, end, stride,
                       part);
  };
  const auto written = [&](const std::string& in, const std::string& out, int64_t part) {
    const ReadOutcome outcome = Read(LoopNet({.part = part, .input_slice = in, .output_slice = out}));
    EXPECT_NE(outcome.graph, nullptr) << outcome.text;
    if (outcome.graph == nullptr) return std::string();
    EXPECT_TRUE(WriteOpenVino(*outcome.graph, Path("written.xml")).ok());
    const std::string text = ReadText(Path("written.xml"));
    std::string ranges;
    for (size_t at = text.find("start=\""); at != std::string::npos; at = text.find("start=\"", at + 1))
      ranges += text.substr(at, text.find(" part_size", at) - at) + "; ";
    return ranges;
  };
  const std::string forward = "start=\"0\" end=\"-1\" stride=\"1\"; ",
                    backward = "start=\"-1\" end=\"0\" stride=\"-1\"; ";
  EXPECT_EQ(written(slice(0, 4, 1, 1), slice(0, 4, 1, 1), 1), forward + forward);
  EXPECT_EQ(written(slice(0, -1, 1, 1), slice(0, -1, 1, 1), 1), forward + forward);
  EXPECT_EQ(written(slice(4, 0, -1, 1), slice(4, 0, -1, 1), 1), backward + backward);
  EXPECT_EQ(written(slice(-1, 0, -1, 1), slice(0, 4, 1, 1), 1), backward + forward);
  EXPECT_EQ(written(slice(0, 4, 2, 2), slice(4, 0, -2, 2), 2),
            "start=\"0\" end=\"-1\" stride=\"2\"; start=\"-1\" end=\"0\" stride=\"-2\"; ");
  // Other spellings of the start of an axis remain.
  EXPECT_EQ(written(slice(0, 4, 1, 1), slice(-5, 4, 1, 1), 1),
            forward + "start=\"-5\" end=\"4\" stride=\"1\"; ");
  EXPECT_EQ(written(slice(0, 4, 1, 1), slice(4, -5, -1, 1), 1),
            forward + "start=\"4\" end=\"-5\" stride=\"-1\"; ");
}

}  // namespace
}  // namespace nnefc::openvino
