#pragma once

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/algorithms/verify.h"
#include "compiler/ir/op_registry.h"
#include "compiler/openvino/read.h"
#include "compiler/openvino/write.h"
#include "gtest/gtest.h"

namespace nnefc::openvino {

// A run of the reader: the graph and the diagnostics.
struct ReadOutcome {
  std::unique_ptr<ir::Graph> graph;
  std::vector<std::string> labels;  // of errors and warnings
  std::string text;                 // the rendered diagnostics

  bool Has(std::string_view label) const {
    return std::find(labels.begin(), labels.end(), label) != labels.end();
  }
};

// A separate folder for each test, with functions to read and write in it.
class IrFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        std::filesystem::temp_directory_path() / (std::string("nnefc_openvino_") + test->test_suite_name() +
                                                  "_" + test->name() + "_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Path(std::string_view name) const { return (folder_ / name).string(); }

  static void WriteText(const std::string& path, std::string_view text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  static std::string ReadText(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }

  ReadOutcome ReadFile(const std::string& path) {
    Context context;
    ReadOutcome outcome;
    auto graph = ReadOpenVino(path, registry_, context);
    if (graph) {
      outcome.graph = std::move(*graph);
    } else {
      outcome.labels.push_back(graph.error().message);
    }
    for (const Diagnostic& diagnostic : context.emitter.diagnostics()) {
      outcome.labels.emplace_back(diagnostic.rule->label);
    }
    outcome.text = RenderText(context.emitter.diagnostics(), context.sources, {.excerpts = false});
    return outcome;
  }

  ReadOutcome Read(std::string_view xml, std::string_view weights = "") {
    WriteText(Path("net.xml"), xml);
    WriteText(Path("net.bin"), weights);
    return ReadFile(Path("net.xml"));
  }

  // Writes the graph, reads it, writes it again and expects equal bytes.
  void ExpectStable(const ir::Graph& graph) {
    for (const std::string& violation : ir::Verify(graph)) ADD_FAILURE() << violation;
    ASSERT_TRUE(WriteOpenVino(graph, Path("first.xml")).ok());
    const ReadOutcome outcome = ReadFile(Path("first.xml"));
    ASSERT_NE(outcome.graph, nullptr) << outcome.text << ReadText(Path("first.xml"));
    for (const std::string& violation : ir::Verify(*outcome.graph)) ADD_FAILURE() << violation;
    ASSERT_TRUE(WriteOpenVino(*outcome.graph, Path("second.xml")).ok());
    EXPECT_EQ(ReadText(Path("first.xml")), ReadText(Path("second.xml")));
    EXPECT_EQ(ReadText(Path("first.bin")), ReadText(Path("second.bin")));
  }

  std::filesystem::path folder_;
  ir::OpRegistry registry_{&ir::StandardOps()};
};

}  // namespace nnefc::openvino
