#include "compiler/transform/pattern.h"

#include <chrono>

#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform {
namespace {

Pattern Chain() {
  return {.nodes = {Op("mul", "Multiply"), Op("tanh", "Tanh"), Op("softplus", "SoftPlus")},
          .edges = {{"softplus", "tanh"}, {"tanh", "mul"}}};
}

class PatternTest : public TransformTest {
 protected:
  // Returns the names of each match in the order of the pattern's aliases.
  std::string Find(const std::string& text, const Pattern& pattern) {
    const std::unique_ptr<ir::Graph> ir = Parse(text);
    if (ir == nullptr) return "no graph";
    Graph graph(*ir);
    std::string found;
    try {
      for (const Match& match : FindMatches(graph, pattern)) {
        found += found.empty() ? "" : " ";
        std::string names;
        for (const PatternNode& node : pattern.nodes) {
          names += (names.empty() ? "" : ",") + match.at(node.alias).name();
          if (node.is_data) names += "." + std::to_string(match.Data(node.alias).index());
        }
        found += names;
      }
    } catch (const Error& error) {
      return error.what();
    }
    return found;
  }
};

TEST_F(PatternTest, AChain) {
  EXPECT_EQ(Find(kMish, Chain()), "m,t,s");
}

TEST_F(PatternTest, PortsCount) {
  Pattern pattern = Chain();
  pattern.edges[1].in = {1};
  EXPECT_EQ(Find(kMish, pattern), "m,t,s");
  pattern.edges[1].in = {0};
  EXPECT_EQ(Find(kMish, pattern), "");
  pattern.edges[1].in = {0, 1};
  EXPECT_EQ(Find(kMish, pattern), "m,t,s");
}

// At most 64 edges join two nodes.
TEST_F(PatternTest, ManyEdges) {
  const auto joined = [&](int count) {
    std::string inputs = "%1";
    for (int i = 1; i < count; ++i) inputs += ", %1";
    const Pattern pattern = {
        .nodes = {Op("concat", "Concat"), Op("relu", "ReLU")},
        .edges = std::vector<PatternEdge>(static_cast<size_t>(count), {.from = "relu", .to = "concat"})};
    return Find(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.ReLU "r" (%0) : f32[2]
  %2 = opset1.Concat "c" ()" +
                    inputs + fmt::format(") {{axis = 0}} : f32[{}]\n  opset1.Result \"y\" (%2)\n", 2 * count),
                pattern);
  };
  for (const int count : {1, 63, 64}) EXPECT_EQ(joined(count), "c,r") << count;
  EXPECT_EQ(joined(65), "more than 64 edges join two nodes of the pattern");
}

// The softplus also feeds the multiplication: an edge that the pattern lacks.
TEST_F(PatternTest, MatchesAreInduced) {
  EXPECT_EQ(Find(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset4.SoftPlus "s" (%0) : f32[2]
  %2 = opset1.Tanh "t" (%1) : f32[2]
  %3 = opset1.Multiply "m" (%1, %2) : f32[2]
  opset1.Result "y" (%3)
)",
                 Chain()),
            "");
}

constexpr const char* kSquare = R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.ReLU "r" (%0) : f32[2]
  %2 = opset1.Multiply "m" (%1, %1) : f32[2]
  opset1.Result "y" (%2)
)";

TEST_F(PatternTest, ParallelEdgesAreCounted) {
  Pattern pattern{.nodes = {Op("r", "ReLU"), Op("m", "Multiply")}, .edges = {{"r", "m"}}};
  EXPECT_EQ(Find(kSquare, pattern), "");
  pattern.edges.push_back({"r", "m"});
  EXPECT_EQ(Find(kSquare, pattern), "r,m");
  pattern.edges[0].in = {1};
  pattern.edges[1].in = {0};
  EXPECT_EQ(Find(kSquare, pattern), "r,m");
  pattern.edges[1].in = {1};
  EXPECT_EQ(Find(kSquare, pattern), "");
}

TEST_F(PatternTest, SymmetricPatternsMatchEveryWayRound) {
  const std::string text = R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.ReLU "a" (%0) : f32[2]
  %2 = opset1.ReLU "b" (%0) : f32[2]
  %3 = opset1.Add "s" (%1, %2) : f32[2]
  opset1.Result "y" (%3)
)";
  const Pattern pattern{.nodes = {Op("p", "ReLU"), Op("q", "ReLU"), Op("s", "Add")},
                        .edges = {{"p", "s"}, {"q", "s"}}};
  EXPECT_EQ(Find(text, pattern), "a,b,s b,a,s");
}

// Matches are in the order of the nodes of the pattern, wherever the search begins.
TEST_F(PatternTest, MatchesAreInTheOrderOfThePattern) {
  const std::string text = R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.ReLU "a" (%0) : f32[2]
  %2 = opset1.ReLU "b" (%0) : f32[2]
  %3 = opset1.ReLU "c" (%0) : f32[2]
  %4 = opset1.Abs "d" (%2) : f32[2]
  %5 = opset1.Abs "e" (%1) : f32[2]
  opset1.Result "y" (%4)
  opset1.Result "z" (%5)
  opset1.Result "w" (%3)
)";
  EXPECT_EQ(Find(text, {.nodes = {Op("p", "ReLU"), Op("q", "Abs")}, .edges = {{"p", "q"}}}), "a,e b,d");
  EXPECT_EQ(Find(text, {.nodes = {Op("q", "Abs"), Op("p", "ReLU")}, .edges = {{"p", "q"}}}), "d,b e,a");
}

TEST_F(PatternTest, AttributesByValueAndPredicate) {
  const std::string text = R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.Elu "a" (%0) {alpha = 1.0} : f32[2]
  %2 = opset1.Elu "b" (%1) {alpha = 2.0} : f32[2]
  opset1.Result "y" (%2)
)";
  EXPECT_EQ(Find(text, {.nodes = {Op("e", "Elu", {{"alpha", ir::Attribute(2)}})}, .edges = {}}), "b");
  const AttributePredicate absent = [](const ir::Attribute* attribute) { return attribute == nullptr; };
  EXPECT_EQ(Find(text, {.nodes = {Op("e", "Elu", {{"beta", absent}})}, .edges = {}}), "a b");
  EXPECT_EQ(Find(text, {.nodes = {Op("e", "Elu", {{"alpha", absent}})}, .edges = {}}), "");
  EXPECT_EQ(Find(text, {.nodes = {Op("e", "Elu", {{"beta", ir::Attribute(2)}})}, .edges = {}}), "");
}

TEST_F(PatternTest, SetsTellVersionsApart) {
  EXPECT_EQ(Find(kMish, {.nodes = {Op("m", "opset1.Multiply")}, .edges = {}}), "m");
  EXPECT_EQ(Find(kMish, {.nodes = {Op("m", "opset7.Multiply")}, .edges = {}}), "");
}

TEST_F(PatternTest, DataHaveShapeAndValue) {
  const std::string text = R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2,2]} : f32[2,2]
  %1 = opset1.Const "c" : f32[] = dense<f32[]: 2.0>
  %2 = opset1.Multiply "m" (%0, %1) : f32[2,2]
  %3 = opset1.Multiply "n" (%2, %0) : f32[2,2]
  opset1.Result "y" (%3)
)";
  const auto has_value = [](const ir::Output& output) { return output.value.has_value(); };
  const Pattern pattern{.nodes = {Op("m", "Multiply"), Data("c", has_value), Data("out")},
                        .edges = {{"c", "m", {1}}, {"m", "out"}}};
  EXPECT_EQ(Find(text, pattern), "m,c.0,m.0");
  // Data have no ports: an edge from or to them may name any.
  for (const int32_t port : {0, 1}) {
    const Pattern ports{.nodes = pattern.nodes, .edges = {{"c", "m", {1}, {port}}, {"m", "out", {port}}}};
    EXPECT_EQ(Find(text, ports), "m,c.0,m.0") << port;
  }
}

// A node that reads an output many times is one candidate.
TEST_F(PatternTest, ManyUsesByOneNode) {
  std::string operands = "%1";
  for (int i = 1; i < 60; ++i) operands += ", %1";
  const std::string text =
      fmt::format(R"(  %0 = opset1.Parameter "x" {{element_type = f32, shape = [1]}} : f32[1]
  %1 = opset1.ReLU "r" (%0) : f32[1]
  %2 = opset1.Concat "c" ({0}) {{axis = 0}} : f32[60]
  %3 = opset1.Concat "d" ({0}) {{axis = 0}} : f32[60]
  opset1.Result "y" (%2)
  opset1.Result "z" (%3)
)",
                  operands);
  Pattern pattern{.nodes = {Op("r", "ReLU"), Op("c", "Concat")}, .edges = {}};
  for (int i = 0; i < 60; ++i) pattern.edges.push_back({"r", "c"});
  EXPECT_EQ(Find(text, pattern), "r,c r,d");
}

TEST_F(PatternTest, AnyOperation) {
  EXPECT_EQ(Find(kSquare, {.nodes = {Op("p", ""), Op("r", "ReLU")}, .edges = {{"p", "r"}}}), "x,r");
}

TEST_F(PatternTest, WrongPatternsAreTold) {
  EXPECT_EQ(Find(kSquare, {}), "the pattern has no nodes");
  EXPECT_EQ(Find(kSquare, {.nodes = {Op("", "ReLU")}, .edges = {}}), "a node of the pattern has no alias");
  EXPECT_EQ(Find(kSquare, {.nodes = {Op("a", "ReLU"), Op("a", "ReLU")}, .edges = {}}),
            "the pattern has two nodes `a`");
  EXPECT_EQ(Find(kSquare, {.nodes = {Op("a", "ReLU")}, .edges = {{"a", "b"}}}),
            "an edge of the pattern names `b`, which is none of its nodes");
  EXPECT_EQ(Find(kSquare, {.nodes = {Data("a"), Data("b")}, .edges = {{"a", "b"}}}),
            "an edge of the pattern joins `a` and `b`, which are both data");
  EXPECT_EQ(Find(kSquare,
                 {.nodes = {Op("a", "ReLU"), Op("b", "ReLU"), Data("c")}, .edges = {{"a", "c"}, {"b", "c"}}}),
            "`a` and `b` both write `c`");
}

TEST_F(PatternTest, AnUnknownAliasNamesTheKnownOnes) {
  const std::unique_ptr<ir::Graph> ir = Parse(kMish);
  Graph graph(*ir);
  const Match match = FindMatches(graph, Chain()).at(0);
  try {
    match["sqrt"];
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the match has no `sqrt`; it has `mul`, `tanh`, `softplus`");
  }
}

// A pattern that compared every pair of nodes would not end.
TEST_F(PatternTest, LargeGraphsAreSearchedByOperation) {
  ir::Graph ir(&ir::StandardOps());
  ir::OutputPort last{ir::AddParameter(ir, "x", ElementType::kF32, {2}), 0};
  for (int i = 0; i < 10'000; ++i) {
    for (const char* op : {"ReLU", "Abs", "Exp", "Sin", "Cos", "Neg", "Sign", "Floor", "Tanh", "Sigmoid"}) {
      const std::string name = std::string(op) == "Neg" ? "Negative" : op;
      last = {ir::AddNode(ir, "opset1", name, {.inputs = last}), 0};
    }
  }
  ir::AddResult(ir, "y", last);
  Graph graph(ir);
  const Pattern pattern{.nodes = {Op("a", "ReLU"), Op("b", "Abs"), Op("c", "Exp")},
                        .edges = {{"a", "b"}, {"b", "c"}}};
  EXPECT_EQ(FindMatches(graph, pattern).size(), 10'000u);
}

}  // namespace
}  // namespace nnefc::transform
