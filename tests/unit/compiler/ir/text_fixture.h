#pragma once

#include <memory>
#include <string>

#include "compiler/ir/graph.h"
#include "compiler/ir/text/text.h"
#include "gtest/gtest.h"

namespace nnefc::ir {

// Parses and prints graphs of the standard operations and of `test.loop`, which is unknown to inference.
class TextFixture : public ::testing::Test {
 protected:
  TextFixture() { registry_.Add({.set = "test", .name = "loop"}); }

  std::unique_ptr<Graph> Parse(std::string text) {
    context_.emitter.Clear();
    return ParseGraph(context_.sources.AddText("graph", std::move(text)), registry_, context_);
  }
  // The first mistake, "rule: message".
  std::string Mistake(std::string text) {
    EXPECT_EQ(Parse(text), nullptr) << text;
    if (context_.emitter.diagnostics().empty()) return "";
    const Diagnostic& first = context_.emitter.diagnostics().front();
    return std::string(first.rule->label) + ": " + first.message;
  }
  void ExpectRoundTrip(const std::string& text) {
    const std::unique_ptr<Graph> graph = Parse(text);
    ASSERT_NE(graph, nullptr) << (context_.emitter.diagnostics().empty()
                                      ? ""
                                      : context_.emitter.diagnostics().front().message);
    EXPECT_EQ(PrintGraph(*graph, {.max_constant_elements = -1}), text);
  }

  OpRegistry registry_{&StandardOps()};
  Context context_;
};

}  // namespace nnefc::ir
