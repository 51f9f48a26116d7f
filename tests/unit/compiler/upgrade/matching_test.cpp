// Graphs that are the same apart from the names of tensors, and graphs that differ in one respect.

#include "compiler/upgrade/matching.h"

#include "tests/unit/compiler/ir/text_fixture.h"

namespace nnefc::upgrade {
namespace {

constexpr char kMatched[] = R"(graph "net" {
  %0 = nnef.external "x" {shape = [2,3], dtype = "scalar"} : f32[2,3] as ["x"]
  %1 = nnef.external "z" {shape = [2,3], dtype = "scalar"} : f32[2,3] as ["z"]
  %2 = nnef.variable "v" {shape = [2,3], label = "w:1", exact_label = true, dtype = "scalar"} : f32[2,3] as ["v"]
  %3 = nnef.constant "" {shape = [], value = [0.5], dtype = "scalar"} : f32[] = dense<f32[]: 0.5>
  %4 = nnef.add "a" (%0, %3) : f32[2,3] as ["a"]
  %5 = nnef.max_reduce "b" (%4) {axes = [1]} : f32[2,1] as ["b"]
  %6 = nnef.concat "c" (%0, %1) {axis = 0} : f32[4,3] as ["c"]
  %7 = nnef.tanh "d" (%2) : f32[2,3] as ["d"]
  opset1.Result "b" (%5)
  opset1.Result "c" (%6)
  opset1.Result "d" (%7)
}
)";

class MatchingTest : public ir::TextFixture {
 protected:
  // Matches the graph of kMatched with `after`: "same", "nodes" or "ends", whichever differ.
  std::string Match(const std::string& after) {
    const auto old_graph = Parse(kMatched);
    const auto new_graph = Parse(after);
    EXPECT_TRUE(old_graph != nullptr && new_graph != nullptr)
        << (context_.emitter.has_errors() ? context_.emitter.diagnostics().front().message : "") << after;
    if (old_graph == nullptr || new_graph == nullptr) return "invalid";
    const expand::print::PrintedNames names(*old_graph);
    Matching matching(*old_graph, *new_graph, names);
    const auto operations = [](const ir::Graph& graph) {
      std::vector<ir::NodeId> ids;
      for (ir::NodeId id : graph.nodes()) {
        const ir::Node& node = graph.node(id);
        if (!node.outputs().empty() && !node.output().names.empty()) ids.push_back(id);
      }
      return ids;
    };
    const std::vector<ir::NodeId> before = operations(*old_graph), now = operations(*new_graph);
    EXPECT_EQ(before.size(), now.size());
    for (size_t i = 0; i < before.size(); ++i) {
      if (!matching.Match(before[i], now[i])) return "nodes";
    }
    renamed_ = matching.Renamed();
    return matching.MatchEnds() ? "same" : "ends";
  }
  // Returns the text after each replacement of the first occurrence.
  static std::string Changed(std::initializer_list<std::pair<std::string_view, std::string_view>> changes) {
    std::string text = kMatched;
    // The label is that of a ratified document.
    for (const auto& [from, to] :
         {std::pair<std::string_view, std::string_view>(R"("w:1", exact_label = true)", R"("w_1")")})
      text.replace(text.find(from), from.size(), to);
    for (const auto& [from, to] : changes) {
      EXPECT_NE(text.find(from), std::string::npos) << from;
      text.replace(text.find(from), from.size(), to);
    }
    return text;
  }

  std::map<std::string, std::string> renamed_;
};

TEST_F(MatchingTest, IgnoresNamesOfTensors) {
  EXPECT_EQ(Match(Changed({})), "same");
  EXPECT_TRUE(renamed_.empty());
  EXPECT_EQ(Match(Changed({{R"("a" ()", R"("other" ()"}, {R"(["a"])", R"(["other"])"}})), "same");
  EXPECT_EQ(renamed_, (std::map<std::string, std::string>{{"a", "other"}}));
}

TEST_F(MatchingTest, ComparesOperations) {
  EXPECT_EQ(Match(Changed({{"nnef.tanh", "nnef.relu"}})), "nodes");
  EXPECT_EQ(Match(Changed({{"axes = [1]", "axes = [0]"}})), "nodes");
  EXPECT_EQ(Match(Changed({{R"("w_1")", R"("w_2")"}})), "nodes");
  EXPECT_EQ(Match(Changed({{R"("w_1")", R"("w_1", exact_label = true)"}})), "nodes");
  // Operands: another one, another order, another number, and another literal.
  EXPECT_EQ(Match(Changed({{"(%2)", "(%1)"}})), "nodes");
  EXPECT_EQ(Match(Changed({{"(%0, %1)", "(%1, %0)"}})), "nodes");
  EXPECT_EQ(Match(Changed({{"(%0, %1)", "(%0)"}})), "nodes");
  EXPECT_EQ(Match(Changed({{"(%0, %1)", "(%0, %1, %1)"}})), "nodes");
  EXPECT_EQ(Match(Changed({{"[0.5]", "[0.25]"}, {": 0.5>", ": 0.25>"}})), "nodes");
  EXPECT_EQ(Match(Changed({{"(%0, %3)", "(%0, %1)"}})), "nodes");
}

TEST_F(MatchingTest, ComparesInputsAndResults) {
  EXPECT_EQ(Match(Changed({{R"(graph "net")", R"(graph "other")"}})), "ends");
  EXPECT_EQ(Match(Changed({{R"(Result "b")", R"(Result "other")"}})), "ends");
  EXPECT_EQ(Match(Changed({{R"(Result "b" (%5))", R"(Result "b" (%6))"}})), "ends");
  EXPECT_EQ(Match(Changed({{"  opset1.Result \"d\" (%7)\n", ""}})), "ends");
  // A tensor of a result keeps its name.
  EXPECT_EQ(Match(Changed({{R"(["d"])", R"(["other"])"}})), "ends");
  // The names of two results are exchanged, but not the results.
  EXPECT_EQ(Match(Changed({{R"(["b"])", R"(["e"])"},
                           {R"(["c"])", R"(["b"])"},
                           {R"(["e"])", R"(["c"])"},
                           {R"(Result "b" (%5))", R"(Result "b" (%6))"},
                           {R"(Result "c" (%6))", R"(Result "c" (%5))"}})),
            "ends");
}

}  // namespace
}  // namespace nnefc::upgrade
