// Layers that lack what they need, and the number of messages about many mistakes.

#include <algorithm>

#include "tests/unit/compiler/openvino/ir_files.h"
#include "tests/unit/compiler/openvino/ir_text.h"

namespace nnefc::openvino {
namespace {

class RefusedTest : public IrFilesTest {
 protected:
  // Returns how often a label occurs.
  static int64_t Count(const ReadOutcome& outcome, std::string_view label) {
    return std::count(outcome.labels.begin(), outcome.labels.end(), label);
  }
  static LayerText Relu(int64_t id, const std::string& name) {
    return {.id = id,
            .name = name,
            .type = "ReLU",
            .inputs = {{.id = 0, .dims = {2}}},
            .outputs = {{.id = 1, .dims = {2}}}};
  }
};

TEST_F(RefusedTest, LayersWithoutTheirAttributes) {
  const std::string whole =
      Net({Parameter(0, "x", {2}), Relu(1, "r"), Result(2, "y", {2})}, {{0, 0, 1, 0}, {1, 1, 2, 0}});
  ASSERT_NE(Read(whole).graph, nullptr);
  for (const std::string text : {" name=\"r\"", " type=\"ReLU\""}) {
    std::string xml = whole;
    const size_t at = xml.find(text);
    ASSERT_NE(at, std::string::npos) << text;
    xml.erase(at, text.size());
    const ReadOutcome outcome = Read(xml);
    EXPECT_EQ(outcome.graph, nullptr) << text;
    EXPECT_EQ(Count(outcome, "openvino.xml-missing-attribute"), 1) << outcome.text;
  }
}

TEST_F(RefusedTest, ConstantsWithoutTheirAttributes) {
  const auto read = [&](const std::string& data) {
    LayerText constant = Const(0, "k", {2}, 0, 8);
    constant.data = data;
    return Read(Net({constant, Result(1, "y", {2})}, {{0, 0, 1, 0}}), std::string(8, '\0'));
  };
  const std::string place = " offset=\"0\" size=\"8\"";
  EXPECT_NE(read("element_type=\"f32\" shape=\"2\"" + place).graph, nullptr);
  for (const auto& [data, label] :
       {std::pair("shape=\"2\"", "openvino.xml-missing-attribute"),
        std::pair("element_type=\"f32\"", "openvino.xml-missing-attribute"),
        std::pair("element_type=\"f99\" shape=\"2\"", "openvino.xml-attribute-value"),
        std::pair("element_type=\"f32\" shape=\"2,x\"", "openvino.xml-attribute-value")}) {
    const ReadOutcome outcome = read(data + place);
    EXPECT_EQ(outcome.graph, nullptr) << data;
    EXPECT_EQ(outcome.labels, std::vector<std::string>{label}) << data << "\n" << outcome.text;
  }
}

TEST_F(RefusedTest, LayersOfPortMapsThatAreNotThere) {
  IfParts parts;
  parts.then_map = MapInput(1, 77) + MapInput(2, 1) + MapOutput(3, 3);
  EXPECT_NE(Read(IfNet(parts)).text.find("`internal_layer_id` 77 matches no Parameter of `then_body`"),
            std::string::npos);
  parts.then_map = MapInput(1, 0) + MapInput(2, 1) + MapOutput(3, 77);
  EXPECT_NE(Read(IfNet(parts)).text.find("`internal_layer_id` 77 matches no Result of `then_body`"),
            std::string::npos);
}

// Messages about port maps have at most 60 bytes of the layer's name.
TEST_F(RefusedTest, LongNamesOfPortMaps) {
  for (const bool is_internal : {false, true}) {
    IfParts parts;
    parts.then_map = (is_internal ? MapInput(1, 77) : MapInput(77, 0)) + MapInput(2, 1) + MapOutput(3, 3);
    for (const size_t size : {59, 60, 61, 62}) {
      std::string xml = IfNet(parts);
      const std::string name = "name=\"branch\"";
      const size_t at = xml.find(name);
      ASSERT_NE(at, std::string::npos);
      xml.replace(at, name.size(), "name=\"" + std::string(size, 'n') + "\"");
      const std::string text = Read(xml).text;
      const std::string shown = "`" + std::string(std::min<size_t>(size, 60), 'n') + "`";
      EXPECT_NE(text.find(shown), std::string::npos) << size << text;
    }
  }
}

// Twenty unused layers are listed, and the number of the others.
TEST_F(RefusedTest, ManyUnusedLayers) {
  for (const int count : {19, 20, 21, 22}) {
    std::vector<LayerText> layers = {Parameter(0, "x", {2}), Result(1, "y", {2})};
    std::vector<EdgeText> edges = {{0, 0, 1, 0}};
    for (int i = 0; i < count; ++i) {
      layers.push_back(Relu(2 + i, "unused" + std::to_string(i)));
      edges.push_back({0, 0, 2 + i, 0});
    }
    const ReadOutcome outcome = Read(Net(layers, edges));
    int listed = 0;
    for (size_t at = outcome.text.find("nothing uses the layer"); at != std::string::npos;
         at = outcome.text.find("nothing uses the layer", at + 1))
      ++listed;
    EXPECT_EQ(listed, std::min(count, 20)) << outcome.text;
  }
}

// A hundred unknown attributes are listed.
TEST_F(RefusedTest, ManyUnknownAttributes) {
  for (const int count : {99, 100, 101, 102}) {
    LayerText first = Relu(1, "r"), second = Relu(2, "s");
    for (int i = 0; i < count; ++i) (i < 60 ? first : second).data += " a" + std::to_string(i) + "=\"1\"";
    const ReadOutcome outcome = Read(Net({Parameter(0, "x", {2}), first, second, Result(3, "y", {2})},
                                         {{0, 0, 1, 0}, {1, 1, 2, 0}, {2, 1, 3, 0}}));
    EXPECT_NE(outcome.graph, nullptr) << outcome.text;
    EXPECT_EQ(outcome.labels.size(), static_cast<size_t>(std::min(count, 100)));
  }
}

}  // namespace
}  // namespace nnefc::openvino
