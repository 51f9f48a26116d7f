// Selection of Selects that become If, and the contents of the bodies.

#include "compiler/transform/middle/control_flow/branches.h"

#include <chrono>

#include "compiler/ir/algorithms/verify.h"
#include "compiler/ir/ops/opset/control_flow/port_maps.h"
#include "compiler/ir/text/text.h"
#include "compiler/support/context.h"
#include "compiler/transform/middle/control_flow/post_dominators.h"
#include "compiler/transform/pipeline/pipeline.h"
#include "compiler/transform/pipeline/standard.h"
#include "gtest/gtest.h"

namespace nnefc::transform {
namespace {

// Returns the operations except Const, Parameter and Result, in order. An If has its bodies and the number of
// inputs that they share: "If 2 {MatMul | ReLU}".
std::string Operations(const ir::Graph& graph) {
  std::string text;
  const auto order = ir::TopologicalOrder(graph);
  for (ir::NodeId id : *order) {
    const ir::Node& node = graph.node(id);
    if (node.type() == "Const" || node.type() == "Parameter" || node.type() == "Result") continue;
    text += (text.empty() ? "" : " ") + node.type();
    if (node.bodies().empty()) continue;
    text += ' ' + std::to_string(node.num_inputs() - 1) + " {";
    for (const ir::Body& body : node.bodies()) {
      text += (text.back() == '{' ? "" : " | ") + Operations(*body.graph);
    }
    text += '}';
  }
  return text;
}

// A graph of statements with the conditions `%0` c and `%1` d and `%2` x, f32[4,4], as parameters; `%3` is a
// constant matrix.
class Branches : public ::testing::Test {
 protected:
  std::string Choose(const std::string& statements) {
    const std::string text =
        "graph \"net\" {\n"
        "  %0 = opset1.Parameter \"c\" {element_type = boolean, shape = shape[1]} : boolean[1]\n"
        "  %1 = opset1.Parameter \"d\" {element_type = boolean, shape = shape[]} : boolean[]\n"
        "  %2 = opset1.Parameter \"x\" {element_type = f32, shape = shape[4,4]} : f32[4,4]\n"
        "  %3 = opset1.Const \"w\" : f32[4,4] = dense<f32[4,4]: 1.0, 0.5, 2.0, 0.25, 1.0, 0.5, 2.0, 0.25, "
        "1.0, "
        "0.5, 2.0, 0.25, 1.0, 0.5, 2.0, 0.25>\n" +
        statements + "}\n";
    const FileId file = context_.sources.AddText("net.ir", text);
    graph_ = ir::ParseGraph(file, ir::StandardOps(), context_);
    if (graph_ == nullptr) return RenderText(context_.emitter.diagnostics(), context_.sources, {});
    middle::ChooseBranches(*graph_, 0);
    for (const std::string& violation : ir::Verify(*graph_)) ADD_FAILURE() << violation;
    return Operations(*graph_);
  }
  static std::string MatMul(int to, int from, int by = 3) {
    return fmt::format(
        "  %{} = opset1.MatMul \"m{}\" (%{}, %{}) {{transpose_a = false, transpose_b = false}} : "
        "f32[4,4]\n",
        to, to, from, by);
  }
  static std::string Relu(int to, int from) {
    return fmt::format("  %{} = opset1.ReLU \"r{}\" (%{}) : f32[4,4]\n", to, to, from);
  }
  static std::string Select(int to, int condition, int taken, int other) {
    return fmt::format(
        "  %{} = opset1.Select \"s{}\" (%{}, %{}, %{}) {{auto_broadcast = \"numpy\"}} : f32[4,4]\n", to, to,
        condition, taken, other);
  }
  static std::string Result(int from) { return fmt::format("  opset1.Result \"y{}\" (%{})\n", from, from); }

  Context context_;
  std::unique_ptr<ir::Graph> graph_;
};

TEST_F(Branches, RealWorkGoesIntoABody) {
  EXPECT_EQ(Choose(MatMul(4, 2) + Relu(5, 4) + Relu(6, 2) + Select(7, 0, 5, 6) + Result(7)),
            "If 1 {MatMul ReLU | ReLU}");
  const ir::Node& branch = graph_->node(graph_->node(graph_->results()[0]).input(0).node);
  EXPECT_EQ(branch.name(), "s7");
  EXPECT_EQ(branch.bodies()[0].graph->name(), "s7/then");
  EXPECT_EQ(branch.bodies()[0].graph->parameters().size(), 1u);  // the matrix is a constant of the body
}

TEST_F(Branches, CheapBranchesStay) {
  EXPECT_EQ(Choose(Relu(4, 2) + Select(5, 0, 4, 2) + Result(5)), "ReLU Select");
  EXPECT_EQ(Choose(MatMul(4, 2) + Select(5, 0, 4, 4) + Result(5)), "MatMul Select");
  EXPECT_EQ(Choose(MatMul(4, 2) + Select(5, 0, 4, 2) + Result(4) + Result(5)), "MatMul Select");
}

TEST_F(Branches, ManyElementsAreRealWork) {
  const std::string wide =
      "  %4 = opset1.Parameter \"wide\" {element_type = f32, shape = shape[256,256]} : f32[256,256]\n"
      "  %5 = opset1.ReLU \"r\" (%4) : f32[256,256]\n"
      "  %6 = opset1.Select \"s\" (%0, %5, %4) {auto_broadcast = \"numpy\"} : f32[256,256]\n";
  EXPECT_EQ(Choose(wide + Result(6)), "If 1 {ReLU | }");
}

// Views of many elements take no time.
TEST_F(Branches, ViewsAreCheap) {
  const std::string shapes =
      "  %4 = opset1.Parameter \"wide\" {element_type = f32, shape = shape[256,256]} : f32[256,256]\n"
      "  %5 = opset1.Parameter \"other\" {element_type = f32, shape = shape[1,256,256]} : f32[1,256,256]\n"
      "  %6 = opset1.Const \"axis\" : i64[1] = dense<i64[1]: 0>\n"
      "  %7 = opset1.Const \"shape\" : i64[3] = dense<i64[3]: 1, 256, 256>\n";
  const auto chosen = [&](const std::string& view, const std::string& inputs, const std::string& attributes) {
    return Choose(
        shapes +
        fmt::format("  %8 = opset1.{} \"v\" ({}) {{{}}} : f32[1,256,256]\n", view, inputs, attributes) +
        "  %9 = opset1.Select \"s\" (%0, %8, %5) {auto_broadcast = \"numpy\"} : f32[1,256,256]\n" +
        Result(9));
  };
  EXPECT_EQ(chosen("Reshape", "%4, %7", "special_zero = false"), "Reshape Select");
  EXPECT_EQ(chosen("Unsqueeze", "%4, %6", ""), "Unsqueeze Select");
  EXPECT_EQ(chosen("ReLU", "%5", ""), "If 1 {ReLU | }");
}

// A body has no results of open extents. A selection of boxes takes long whatever its extents are.
TEST_F(Branches, OpenExtentsStay) {
  const std::string open =
      "  %4 = opset1.Parameter \"a\" {element_type = f32, shape = [?,4]} : f32[?,4]\n"
      "  %5 = opset1.MatMul \"m\" (%4, %3) {transpose_a = false, transpose_b = false} : f32[?,4]\n";
  EXPECT_EQ(Choose(open + Select(6, 0, 5, 2) + Result(6)), "MatMul Select");
  EXPECT_EQ(Choose(open + Select(6, 0, 2, 5) + Result(6)), "MatMul Select");
  EXPECT_NE(Choose(MatMul(4, 2) + Select(6, 0, 2, 4) + Result(6)), "MatMul Select");
}

TEST_F(Branches, SelectionsOfBoxesAreRealWork) {
  for (const char* name : {"MulticlassNms", "MatrixNms"}) {
    const std::string text =
        "  %4 = opset1.Parameter \"boxes\" {element_type = f32, shape = shape[1,6,4]} : f32[1,6,4]\n"
        "  %5 = opset1.Parameter \"scores\" {element_type = f32, shape = shape[1,2,6]} : f32[1,2,6]\n"
        "  %6 = opset1.Parameter \"none\" {element_type = i64, shape = shape[1]} : i64[1]\n" +
        fmt::format("  %7:3 = opset8.{} \"n\" (%4, %5) {{}} : f32[...], i64[...], i64[1]\n", name) +
        "  %8 = opset1.Select \"s\" (%0, %7.2, %6) {auto_broadcast = \"numpy\"} : i64[1]\n" + Result(8);
    EXPECT_EQ(Choose(text), fmt::format("If 3 {{{} | }}", name));
  }
}

TEST_F(Branches, WhatOthersUseStaysOutside) {
  EXPECT_EQ(Choose(MatMul(4, 2) + MatMul(5, 4) + Relu(6, 4) + Select(7, 0, 5, 6) + Result(7)),
            "MatMul If 1 {MatMul | ReLU}");
  EXPECT_EQ(Choose(MatMul(4, 2) + MatMul(5, 4) + Select(6, 0, 5, 2) + Result(6) + Result(4)),
            "MatMul If 2 {MatMul | }");
}

TEST_F(Branches, SelectsOfOneConditionShareAnIf) {
  EXPECT_EQ(Choose(MatMul(4, 2) + Relu(5, 4) + Relu(6, 4) + Select(7, 0, 5, 2) + Select(8, 0, 6, 2) +
                   Result(7) + Result(8)),
            "If 1 {MatMul ReLU ReLU | }");
  EXPECT_EQ(Choose(MatMul(4, 2) + Select(5, 0, 4, 2) + Select(6, 0, 2, 4) + Result(5) + Result(6)),
            "MatMul Select Select");
  EXPECT_EQ(
      Choose(MatMul(4, 2) + Select(5, 0, 4, 2) + MatMul(6, 2) + Select(7, 1, 6, 2) + Result(5) + Result(7)),
      "If 1 {MatMul | } If 1 {MatMul | }");
}

TEST_F(Branches, OneThatDependsOnAnotherIsNestedOrFollows) {
  // Inside the branch of the other one.
  EXPECT_EQ(Choose(MatMul(4, 2) + Select(5, 1, 4, 2) + MatMul(6, 5) + Select(7, 0, 6, 2) + Result(7)),
            "If 2 {If 1 {MatMul | } MatMul | }");
  // Used by the branch and elsewhere.
  EXPECT_EQ(
      Choose(MatMul(4, 2) + Select(5, 0, 4, 2) + MatMul(6, 5) + Select(7, 0, 6, 2) + Result(7) + Result(5)),
      "If 1 {MatMul | } If 2 {MatMul | }");
}

TEST_F(Branches, AConditionOfSeveralElementsChoosesElements) {
  const std::string mask =
      "  %4 = opset1.Parameter \"mask\" {element_type = boolean, shape = shape[4,4]} : boolean[4,4]\n";
  EXPECT_EQ(Choose(mask + MatMul(5, 2) + Select(6, 4, 5, 2) + Result(6)), "MatMul Select");
  const std::string known = "  %4 = opset1.Const \"known\" : boolean[] = dense<boolean[]: 1>\n";
  EXPECT_EQ(Choose(known + MatMul(5, 2) + Select(6, 4, 5, 2) + Result(6)), "MatMul Select");
}

TEST_F(Branches, ViewsOfOneConditionAreOne) {
  const std::string views =
      "  %4 = opset1.Const \"axes\" : i64[1] = dense<i64[1]: 1>\n"
      "  %5 = opset1.Unsqueeze \"u\" (%0, %4) : boolean[1,1]\n"
      "  %6 = opset1.Unsqueeze \"v\" (%0, %4) : boolean[1,1]\n";
  EXPECT_EQ(Choose(views + MatMul(7, 2) + MatMul(8, 2) + Select(9, 5, 7, 2) + Select(10, 6, 8, 2) +
                   Result(9) + Result(10)),
            "If 1 {MatMul MatMul | }");
}

TEST_F(Branches, BodiesHaveTheShapeOfTheSelect) {
  const std::string narrow =
      "  %4 = opset1.Parameter \"row\" {element_type = f32, shape = shape[1,4]} : f32[1,4]\n";
  EXPECT_EQ(Choose(narrow + MatMul(5, 2) + Select(6, 0, 5, 4) + Result(6)), "If 2 {MatMul | Broadcast}");
}

TEST_F(Branches, StatesAreReadOutside) {
  const std::string state =
      "  %4 = opset6.ReadValue \"v\" (%3) {variable_id = \"v\", variable_type = f32, variable_shape = "
      "shape[4,4]} : "
      "f32[4,4]\n";
  const std::string text = Choose(state + MatMul(5, 4) + Select(6, 0, 5, 2) +
                                  "  %7 = opset6.Assign \"a\" (%6) {variable_id = \"v\"} : f32[4,4]\n" +
                                  Result(6) + "  sinks (%7)\n");
  EXPECT_EQ(text, "ReadValue If 2 {MatMul | } Assign");
}

// s = select(c, s * w, x), nested: bodies are nested up to the limit.
TEST_F(Branches, NestingIsBounded) {
  std::string text;
  int last = 2;
  for (int i = 0; i < 100; ++i) {
    text += MatMul(4 + 2 * i, last) + Select(5 + 2 * i, i % 2, 4 + 2 * i, 2);
    last = 5 + 2 * i;
  }
  const std::string operations = Choose(text + Result(last));
  EXPECT_NE(operations.find("Select"), std::string::npos);
  int deepest = 0;
  for (ir::NodeId id : graph_->nodes())
    deepest = std::max(deepest, ir::ops::opset::NestingHeight(graph_->node(id)));
  EXPECT_EQ(deepest, ir::kMaxBodyNesting);
}

// Returns an If with bodies in bodies, up to `height`; `innermost` defines %2 by %0, boolean, and %1,
// f32[4,4].
std::string NestedIfs(int height, const std::string& innermost, const std::string& outer,
                      const std::string& inputs) {
  std::string text = innermost;
  for (int i = 0; i < height; ++i) {
    const bool is_outer = i + 1 == height;
    const std::string head = fmt::format("{} = opset8.If \"i\" ({}) : f32[4,4] bodies {{\n",
                                         is_outer ? outer : "%2", is_outer ? inputs : "%0, %0, %1");
    text = fmt::format(
        "{}\"then_body\" input 1 -> 0 input 2 -> 1 output 0 -> 0 graph \"then\" {{\n"
        "%0 = opset1.Parameter \"d\" {{element_type = boolean, shape = shape[]}} : boolean[]\n"
        "%1 = opset1.Parameter \"x\" {{element_type = f32, shape = shape[4,4]}} : f32[4,4]\n"
        "{}\nopset1.Result \"r\" (%2)\n}}\n\"else_body\" input 2 -> 0 output 0 -> 0 graph \"else\" {{\n"
        "%0 = opset1.Parameter \"x\" {{element_type = f32, shape = shape[4,4]}} : f32[4,4]\n"
        "opset1.Result \"r\" (%0)\n}}\n}}\n",
        head, text);
  }
  return text;
}

// The bodies of a branch count as well: those within them are nested up to the limit, including the new one.
TEST_F(Branches, NestingOfBranches) {
  for (const int height : {1, ir::kMaxBodyNesting - 1, ir::kMaxBodyNesting}) {
    const std::string nested =
        NestedIfs(height, "%2 = opset1.ReLU \"r\" (%1) : f32[4,4]", "  %4", "%1, %1, %2");
    const std::string operations = Choose(nested + Select(5, 0, 4, 2) + Result(5));
    EXPECT_EQ(operations.find("Select") == std::string::npos, height < ir::kMaxBodyNesting)
        << height << ": " << operations;
  }
}

// So do the bodies around a branch.
TEST(SelectToIf, NestingOfBodies) {
  for (const int height : {1, ir::kMaxBodyNesting - 1, ir::kMaxBodyNesting}) {
    Context context;
    const std::string select =
        "%3 = opset1.MatMul \"m\" (%1, %1) {transpose_a = false, transpose_b = false} : f32[4,4]\n"
        "%2 = opset1.Select \"s\" (%0, %3, %1) {auto_broadcast = \"numpy\"} : f32[4,4]";
    const auto graph = ir::ParseGraph(
        context.sources.AddText(
            "net.ir",
            "graph \"net\" {\n"
            "%0 = opset1.Parameter \"c\" {element_type = boolean, shape = shape[]} : boolean[]\n"
            "%1 = opset1.Parameter \"x\" {element_type = f32, shape = shape[4,4]} : f32[4,4]\n" +
                NestedIfs(height, select, "%2", "%0, %0, %1") + "opset1.Result \"y\" (%2)\n}"),
        ir::StandardOps(), context);
    ASSERT_NE(graph, nullptr) << RenderText(context.emitter.diagnostics(), context.sources, {});
    const TransformationList list = StandardTransformations();
    Emitter emitter;
    std::optional<Pipeline> pipeline = Pipeline::Make(list, {.only = {"middle.SelectToIf"}}, emitter);
    ASSERT_TRUE(pipeline.has_value());
    EXPECT_TRUE(pipeline->Run(Side::kAfterLowering, *graph, emitter));
    int deepest = 0;
    for (ir::NodeId id : graph->nodes())
      deepest = std::max(deepest, ir::ops::opset::NestingHeight(graph->node(id)));
    EXPECT_EQ(deepest, std::min(height + 1, ir::kMaxBodyNesting));
  }
}

// Chains whose branches have enough work only together. The longer chain has: it is nested as far as the
// bound on the work allows.
TEST_F(Branches, LongChainsTakeLittleTime) {
  for (int length : {4000, 20000}) {
    std::string text;
    for (int i = 0; i < length; ++i) text += Select(4 + i, i % 2, i == 0 ? 2 : 3 + i, 2);
    const auto start = std::chrono::steady_clock::now();
    const std::string operations = Choose(text + Result(length + 3));
    EXPECT_EQ(operations.find("If") != std::string::npos, length > 4096);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  }
}

// Bodies are transformed first, at any depth.
TEST(SelectToIf, ActsInBodies) {
  Context context;
  const auto graph = ir::ParseGraph(context.sources.AddText("net.ir", R"(graph "net" {
  %0 = opset1.Parameter "c" {element_type = boolean, shape = shape[]} : boolean[]
  %1 = opset1.Parameter "x" {element_type = f32, shape = shape[4,4]} : f32[4,4]
  %2 = opset8.If "i" (%0, %0, %1) : f32[4,4] bodies {
    "then_body" input 1 -> 0 input 2 -> 1 output 0 -> 0 graph "then" {
      %0 = opset1.Parameter "d" {element_type = boolean, shape = shape[]} : boolean[]
      %1 = opset1.Parameter "x" {element_type = f32, shape = shape[4,4]} : f32[4,4]
      %2 = opset1.MatMul "m" (%1, %1) {transpose_a = false, transpose_b = false} : f32[4,4]
      %3 = opset1.Select "s" (%0, %2, %1) {auto_broadcast = "numpy"} : f32[4,4]
      opset1.Result "o" (%3)
    }
    "else_body" input 2 -> 0 output 0 -> 0 graph "else" {
      %0 = opset1.Parameter "x" {element_type = f32, shape = shape[4,4]} : f32[4,4]
      opset1.Result "o" (%0)
    }
  }
  opset1.Result "y" (%2)
})"),
                                    ir::StandardOps(), context);
  ASSERT_NE(graph, nullptr);
  const TransformationList list = StandardTransformations();
  PipelineOptions options{.only = {"middle.SelectToIf"}};
  options.verify = true;
  auto pipeline = Pipeline::Make(list, std::move(options), context.emitter);
  ASSERT_TRUE(pipeline.has_value());
  EXPECT_TRUE(pipeline->Run(Side::kAfterLowering, *graph, context.emitter));
  EXPECT_EQ(Operations(*graph), "If 2 {If 1 {MatMul | } | }");
}

// The condition of an If has rank 0 or 1; that of a Select may have more axes of one element.
TEST_F(Branches, ConditionsOfMoreAxesAreReshaped) {
  EXPECT_EQ(
      Choose("  %4 = opset1.Parameter \"e\" {element_type = boolean, shape = shape[1,1]} : boolean[1,1]\n" +
             MatMul(5, 2) + Relu(6, 5) + Relu(7, 2) + Select(8, 4, 6, 7) + Result(8)),
      "Reshape If 1 {MatMul ReLU | ReLU}");
  for (ir::NodeId id : graph_->nodes()) {
    const ir::Node& node = graph_->node(id);
    if (node.type() != "Reshape") continue;
    EXPECT_EQ(node.output().type, ElementType::kBoolean);
    EXPECT_EQ(node.output().shape, ir::PartialShape::OfRank(0));
    EXPECT_FALSE(node.Bool("special_zero"));
  }
}

TEST(PostDominators, AreTheFirstThatAllPathsMeet) {
  // 1 -> exit; 2 -> 1; 3 -> 1; 4 -> 2, 3; 5 -> 4; 6 -> 2; 7 -> 6, 5; 8 -> 7, exit
  middle::PostDominatorTree tree(9);
  const std::vector<std::vector<int32_t>> successors = {{}, {0}, {1}, {1}, {2, 3}, {4}, {2}, {6, 5}, {7, 0}};
  for (int32_t i = 1; i < 9; ++i) tree.Add(i, successors[static_cast<size_t>(i)]);
  const std::vector<int32_t> parents = {0, 1, 1, 1, 4, 2, 1, 0};
  for (int32_t i = 1; i < 9; ++i) EXPECT_EQ(tree.parent(i), parents[static_cast<size_t>(i - 1)]) << i;
}

// Random graphs against the definition: the paths of a vertex without its post-dominator do not end.
TEST(PostDominators, OfRandomGraphs) {
  uint32_t state = 1;
  const auto below = [&](int32_t bound) {
    state = state * 1664525 + 1013904223;
    return static_cast<int32_t>((state >> 8) % static_cast<uint32_t>(bound));
  };
  constexpr int32_t kSize = 24;
  for (int trial = 0; trial < 100; ++trial) {
    middle::PostDominatorTree tree(kSize);
    std::vector<std::vector<int32_t>> successors(kSize);
    for (int32_t i = 1; i < kSize; ++i) {
      for (int32_t k = 1 + below(3); k > 0; --k)
        successors[static_cast<size_t>(i)].push_back(std::max(0, i - 1 - below(trial % 8 + 1)));
      tree.Add(i, successors[static_cast<size_t>(i)]);
      // The vertices on all paths from `i`, of which the highest number is the first.
      int32_t first = 0;
      for (int32_t without = 1; without < i; ++without) {
        std::vector<bool> ends(static_cast<size_t>(i) + 1, false);
        ends[0] = true;
        for (int32_t k = 1; k <= i; ++k) {
          for (int32_t next : successors[static_cast<size_t>(k)])
            if (k != without && ends[static_cast<size_t>(next)]) ends[static_cast<size_t>(k)] = true;
        }
        if (!ends[static_cast<size_t>(i)]) first = without;
      }
      ASSERT_EQ(tree.parent(i), first) << trial << ", " << i;
    }
  }
}

// A chain of a million nodes, whose ends meet far above.
TEST(PostDominators, MeetFarAboveInNoTime) {
  constexpr int32_t kLength = 1000000;
  middle::PostDominatorTree tree(2 * kLength + 2);
  tree.Add(1, {0});
  for (int32_t i = 0; i < kLength - 1; ++i) {
    tree.Add(2 + 2 * i, {i == 0 ? 1 : 2 * i});
    tree.Add(3 + 2 * i, {i == 0 ? 1 : 1 + 2 * i});
  }
  const int32_t last = 2 * kLength - 1;
  for (int32_t i = 0; i < 2; ++i) {
    tree.Add(last + 1 + i, {last - 1, last});
    EXPECT_EQ(tree.parent(last + 1 + i), 1);
  }
}

}  // namespace
}  // namespace nnefc::transform
