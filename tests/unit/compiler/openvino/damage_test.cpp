#include <chrono>
#include <regex>

#include "fmt/core.h"
#include "tests/unit/compiler/openvino/ir_files.h"
#include "tests/unit/compiler/openvino/ir_text.h"

namespace nnefc::openvino {
namespace {

// Damages files at every position and expects one of two results: a graph that can be written, or a message.
// No crash or long run is allowed.
class DamageTest : public IrFilesTest {
 protected:
  void SetUp() override {
    IrFilesTest::SetUp();
    begin_ = std::chrono::steady_clock::now();
  }

  void Try(const std::string& xml, const std::string& weights) {
    const auto begin = std::chrono::steady_clock::now();
    const ReadOutcome outcome = Read(xml, weights);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10)) << xml;
    ++tries_;
    if (outcome.graph == nullptr) {
      EXPECT_FALSE(outcome.labels.empty()) << xml;
      return;
    }
    Emitter emitter;
    if (CheckWritable(*outcome.graph, emitter)) {
      EXPECT_TRUE(WriteOpenVino(*outcome.graph, Path("out.xml")).ok());
    }
  }

  // The sweep ends early on a slow machine.
  bool InTime() const { return std::chrono::steady_clock::now() - begin_ < std::chrono::seconds(40); }

  void SweepAttributes(const std::string& xml, const std::string& weights) {
    const std::regex attribute(R"re( ([a-z_-]+)="([^"]*)")re");
    for (std::sregex_iterator match(xml.begin(), xml.end(), attribute), end; match != end && InTime();
         ++match) {
      const std::string name = (*match)[1];
      const std::string value = (*match)[2];
      for (const std::string& damaged :
           {std::string(), fmt::format(R"( {0}="{1}" {0}="{1}")", name, value),
            fmt::format(R"( {}="")", name), fmt::format(R"( {}="99999999999999999999999")", name),
            fmt::format(R"( {}="9223372036854775807")", name),
            fmt::format(R"( {}="4611686018427387904")", name), fmt::format(R"( {}="-1")", name),
            fmt::format(R"( {}="-9223372036854775808")", name), fmt::format(R"( {}="&#255;")", name)}) {
        std::string copy = xml;
        copy.replace(static_cast<size_t>(match->position()), static_cast<size_t>(match->length()), damaged);
        Try(copy, weights);
      }
    }
  }

  void SweepDims(const std::string& xml, const std::string& weights) {
    const std::regex dim("<dim>[^<]*</dim>");
    for (std::sregex_iterator match(xml.begin(), xml.end(), dim), end; match != end && InTime(); ++match) {
      for (const std::string damaged :
           {"", "<dim/>", "<dim>9223372036854775807</dim>", "<dim>-1</dim>", "<dim>-2</dim>"}) {
        std::string copy = xml;
        copy.replace(static_cast<size_t>(match->position()), static_cast<size_t>(match->length()), damaged);
        Try(copy, weights);
      }
    }
  }

  // Most lines are one element.
  void SweepLines(const std::string& xml, const std::string& weights) {
    for (size_t begin = 0; begin < xml.size() && InTime();) {
      const size_t end = xml.find('\n', begin) + 1;
      std::string without = xml;
      without.erase(begin, end - begin);
      Try(without, weights);
      std::string doubled = xml;
      doubled.insert(begin, xml.substr(begin, end - begin));
      Try(doubled, weights);
      begin = end;
    }
  }

  void SweepLengths(const std::string& xml, const std::string& weights) {
    for (size_t length = 0; length < xml.size() && InTime(); length += 23)
      Try(xml.substr(0, length), weights);
    for (size_t length = 0; length < weights.size(); ++length) Try(xml, weights.substr(0, length));
  }

  void Sweep(const std::string& xml, const std::string& weights = "") {
    ASSERT_NE(Read(xml, weights).graph, nullptr);
    SweepAttributes(xml, weights);
    SweepDims(xml, weights);
    SweepLines(xml, weights);
    SweepLengths(xml, weights);
    EXPECT_GT(tries_, 100);
  }

  std::chrono::steady_clock::time_point begin_;
  int tries_ = 0;
};

TEST_F(DamageTest, Convolution) {
  const LayerText convolution = {
      .id = 2,
      .name = "conv",
      .type = "Convolution",
      .data = R"(strides="1, 1" dilations="1, 1" pads_begin="0, 0" pads_end="0, 0" auto_pad="explicit")",
      .inputs = {{0, "FP32", {1, 1, 3, 3}}, {1, "FP32", {1, 1, 2, 2}}},
      .outputs = {{2, "FP32", {1, 1, 2, 2}, "a,b"}}};
  const LayerText pool = {
      .id = 3,
      .name = "pool",
      .type = "MaxPool",
      .version = "opset8",
      .data =
          R"(strides="1, 1" dilations="1, 1" pads_begin="0, 0" pads_end="0, 0" kernel="2, 2" rounding_type="floor" auto_pad="explicit" index_element_type="i64" axis="0")",
      .inputs = {{0, "FP32", {1, 1, 2, 2}}},
      .outputs = {{1, "FP32", {1, 1, 1, 1}}, {2, "I64", {1, 1, 1, 1}}}};
  Sweep(Net({Parameter(0, "x", {1, 1, 3, 3}), Const(1, "w", {1, 1, 2, 2}, 0, 16), convolution, pool,
             Result(4, "y", {1, 1, 1, 1})},
            {{0, 0, 2, 0}, {1, 0, 2, 1}, {2, 2, 3, 0}, {3, 1, 4, 0}}),
        std::string(16, 0));
}

TEST_F(DamageTest, If) {
  Sweep(IfNet({}));
}

TEST_F(DamageTest, TensorIterator) {
  const std::string slice = R"(axis="1" start="0" end="-1" stride="1" part_size="1")";
  Sweep(LoopNet({.input_slice = slice, .output_slice = slice}));
}

TEST_F(DamageTest, UnknownOperationsAndRtInfo) {
  LayerText custom = {.id = 1,
                      .name = "custom",
                      .type = "Custom",
                      .version = "extension",
                      .data = R"(alpha="1")",
                      .inputs = {{0, "FP32", {2}}},
                      .outputs = {{1, "FP32", {2}}}};
  custom.more = R"(<rt_info><attribute name="fused_names" version="0" value="a"/>
<attribute name="layout" version="0" layout="[N]"/></rt_info>)";
  std::string xml = Net({Parameter(0, "x", {2}), custom, Result(2, "y", {2})}, {{0, 0, 1, 0}, {1, 1, 2, 0}});
  const std::string info = "<rt_info>\n<a><b value=\"1\"/>\n</a><info name=\"c d\" value=\"2\"/></rt_info>";
  xml.replace(xml.rfind("<rt_info/>"), std::string_view("<rt_info/>").size(), info);
  Sweep(xml);
}

// 10^6 layers: a result in bounded time and memory.
TEST_F(DamageTest, MillionLayers) {
  std::string xml = "<net version=\"11\"><layers>\n";
  for (int i = 0; i < 1'000'000; ++i) {
    fmt::format_to(std::back_inserter(xml),
                   "<layer id=\"{}\" name=\"r\" type=\"ReLU\" version=\"opset1\"/>\n", i);
  }
  xml += "</layers><edges/></net>";
  const auto begin = std::chrono::steady_clock::now();
  const ReadOutcome outcome = Read(xml);
  EXPECT_EQ(outcome.graph, nullptr);
  EXPECT_FALSE(outcome.labels.empty());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

}  // namespace
}  // namespace nnefc::openvino
