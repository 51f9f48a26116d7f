#include "compiler/transform/pipeline/pipeline.h"

#include <chrono>
#include <stdexcept>

#include "compiler/transform/configuration/configuration.h"
#include "fmt/format.h"
#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform {
namespace {

// The fusion in the documentation of the framework, as a user writes it.
class MishFusion : public FrontReplacementSubgraph {
 public:
  MishFusion() { enabled = true; }

 protected:
  Pattern GetPattern() const override {
    return {.nodes = {Op("mul", "Multiply"), Op("tanh", "Tanh"), Op("softplus", "SoftPlus")},
            .edges = {{"softplus", "tanh"}, {"tanh", "mul"}}};
  }
  void ReplaceSubGraph(Graph& graph, const Match& match) override {
    const Node mul = match["mul"];
    const Node softplus = match["softplus"];
    const int32_t other = mul.in_port(0).GetConnection().GetSource().node().op() == "Tanh" ? 1 : 0;
    if (!(mul.in_port(other).GetSource() == softplus.in_port(0).GetSource())) return;
    const Node mish = graph.CreateNode("Mish", {});
    mish.in_port(0).Connect(mul.in_port(other).GetSource());
    mul.out_port(0).GetConnection().SetSource(mish.out_port(0));
    graph.TakeName(mul, mish);
  }
};

class PipelineTest : public TransformTest {};

TEST_F(PipelineTest, NamesAreUnique) {
  const auto ir = Parse(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.ReLU "r" (%0) : f32[2]
  %2 = opset1.ReLU "r_3" (%1) : f32[2]
  opset1.Result "y" (%2)
)");
  Graph graph(*ir);
  EXPECT_EQ(graph.UniqueName("s"), "s");
  EXPECT_EQ(graph.UniqueName("r"), "r_2");
  // No node has this name yet; names count once nodes have, get or lose them.
  const Node relu = *graph.FindNode("r");
  graph.CreateConst(TensorValue::FromInts({}, {1}), "s");
  EXPECT_EQ(graph.UniqueName("s"), "s_2");
  EXPECT_EQ(graph.UniqueName("r"), "r_4");
  graph.Rename({{relu, "t"}});
  EXPECT_EQ(graph.UniqueName("r"), "r");
  EXPECT_EQ(graph.UniqueName("t"), "t_2");
  graph.Remove(*graph.FindNode("s"));
  EXPECT_EQ(graph.UniqueName("s"), "s");
  graph.CleanUp();
  EXPECT_EQ(graph.UniqueName("y"), "y_2");
}

// A transformation that runs only if it is told that it may.
class MishFusionOnDemand : public MishFusion {
 public:
  bool may_change = true;
  bool MayChange(const ir::Graph&) const override { return may_change; }
};

TEST_F(PipelineTest, RunsOnACopyIfAnythingChanges) {
  TransformationList list;
  RegisterAnchors(list);
  MishFusionOnDemand& fusion = list.Add<MishFusionOnDemand>();
  const std::shared_ptr<const ir::Graph> graph = Parse(kMish);
  const std::string before = ir::PrintGraph(*graph);
  Emitter emitter;
  std::optional<Pipeline> pipeline = Pipeline::Make(list, {}, emitter);
  ASSERT_TRUE(pipeline.has_value());
  EXPECT_EQ(pipeline->RunOnCopy(Side::kAfterLowering, graph, emitter), graph);
  const auto copy = pipeline->RunOnCopy(Side::kBeforeLowering, graph, emitter);
  ASSERT_NE(copy, nullptr);
  EXPECT_NE(copy, graph);
  EXPECT_EQ(ir::PrintGraph(*graph), before);
  EXPECT_NE(Brief(*copy).find("Mish(m: x) Result(y: m)"), std::string::npos);
  EXPECT_EQ(pipeline->reports().size(), 1U);
  fusion.may_change = false;
  EXPECT_EQ(pipeline->RunOnCopy(Side::kBeforeLowering, graph, emitter), graph);
  EXPECT_EQ(pipeline->reports().size(), 2U);  // it is reported as one that changes nothing
  EXPECT_EQ(pipeline->reports().back().nodes_after, pipeline->reports().back().nodes_before);
}

TEST_F(PipelineTest, UniqueNamesOfManyNodesAreQuick) {
  ir::Graph ir(&ir::StandardOps());
  Graph graph(ir);
  constexpr int kNodes = 100'000;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kNodes; ++i)
    graph.CreateConst(TensorValue::FromInts({}, {1}), graph.UniqueName("constant"));
  EXPECT_TRUE(graph.FindNode("constant_100000").has_value());
  // About 50 ms; a walk over all names for each one would take minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST_F(PipelineTest, MishFusionKeepsTheNameOfTheProduct) {
  TransformationList list;
  RegisterAnchors(list);
  list.Add<MishFusion>().force_clean_up = true;
  const auto graph = Parse(kMish);
  EXPECT_EQ(Run(list, *graph, Side::kBeforeLowering), "");
  EXPECT_EQ(Brief(*graph), "Parameter(x) Mish(m: x) Result(y: m)");
  EXPECT_EQ(graph->output(graph->node(graph->results()[0]).input(0)).names, std::vector<std::string>{"out"});
}

// The sub-graph form: new nodes, and the new edges.
class Doubled : public FrontReplacementSubgraph {
 protected:
  Pattern GetPattern() const override {
    return {.nodes = {Op("softplus", "SoftPlus"), Op("tanh", "Tanh")}, .edges = {{"softplus", "tanh"}}};
  }
  SubGraph GenerateSubGraph(Graph& graph, const Match&) override {
    const Node relu = graph.CreateNode("ReLU", {});
    return {{"relu", relu}, {"abs", graph.CreateNode("Abs", {relu.out_port(0)})}};
  }
  std::map<PortName, PortName> InputEdgesMatch(Graph&, const Match&, const SubGraph&) override {
    return {{{"softplus", 0}, {"relu", 0}}};
  }
  std::map<PortName, PortName> OutputEdgesMatch(Graph&, const Match&, const SubGraph&) override {
    return {{{"tanh", 0}, {"abs", 0}}};
  }
};

TEST_F(PipelineTest, SubGraphsAreGenerated) {
  TransformationList list;
  RegisterAnchors(list);
  list.Add<Doubled>();
  const auto graph = Parse(kMish);
  EXPECT_EQ(Run(list, *graph, Side::kBeforeLowering), "");
  EXPECT_EQ(Brief(*graph), "Parameter(x) ReLU(: x) Abs(t: ) Multiply(m: x, t) Result(y: m)");
}

// One node for each of two outputs, or one for both.
class Halves : public FrontReplacementSubgraph {
 public:
  explicit Halves(bool is_one) : is_one_(is_one) {}

 protected:
  Pattern GetPattern() const override { return {.nodes = {Op("split", "Split")}}; }
  SubGraph GenerateSubGraph(Graph& graph, const Match& match) override {
    const Port whole = match["split"].in_port(0).GetSource();
    const Node first = graph.CreateNode("ReLU", {whole}, {.name = "first"});
    return {{"first", first},
            {"second", is_one_ ? first : graph.CreateNode("Abs", {whole}, {.name = "second"})}};
  }
  std::map<PortName, PortName> OutputEdgesMatch(Graph&, const Match&, const SubGraph&) override {
    return {{{"split", 1}, {"second", 0}}, {{"split", 0}, {"first", 0}}};
  }

 private:
  bool is_one_;
};

class ReplacedOutputsTest : public TransformTest {
 protected:
  std::string Replaced(bool is_one) {
    TransformationList list;
    RegisterAnchors(list);
    list.Add<Halves>(is_one).force_clean_up = true;
    const auto graph = Parse(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.Const "axis" : i64[] = dense<i64[]: 0>
  %2:2 = opset1.Split "s" (%0, %1) {num_splits = 2} : f32[1] as ["a"], f32[1] as ["b"]
  %3 = opset1.Tanh "t" (%2) : f32[1]
  %4 = opset1.Exp "e" (%2.1) : f32[1]
  opset1.Result "y" (%3)
  opset1.Result "z" (%4)
)");
    const std::string told = Run(list, *graph, Side::kBeforeLowering);
    if (!told.empty()) return told;
    std::string names;
    for (const char* reader : {"t", "e"}) {
      const ir::Output& read = Graph(*graph).FindNode(reader)->in_port(0).GetSource().data();
      names += fmt::format(" [{}]", fmt::join(read.names, ", "));
    }
    return Brief(*graph) + names;
  }
};

TEST_F(ReplacedOutputsTest, NamesGoToWhatTakesTheirPlace) {
  EXPECT_EQ(
      Replaced(false),
      "Parameter(x) ReLU(s: x) Tanh(t: s) Abs(second: x) Exp(e: second) Result(y: t) Result(z: e) [a] [b]");
}

TEST_F(ReplacedOutputsTest, OneOutputForTwoHasTheNamesOfBoth) {
  EXPECT_EQ(Replaced(true),
            "Parameter(x) ReLU(s: x) Tanh(t: s) Exp(e: s) Result(y: t) Result(z: e) [b, a] [b, a]");
}

// One node for each input and one after them, as in `Pack`.
class Unpack : public FrontReplacementOp {
 public:
  Unpack() : FrontReplacementOp("Concat") {}

 protected:
  std::vector<Node> ReplaceOp(Graph& graph, const Node& node) override {
    std::vector<Port> sources;
    for (Port& port : node.in_ports()) {
      const Node relu = graph.CreateNode("ReLU", {}, {.name = node.name() + "/Relu"});
      port.GetConnection().SetDestination(relu.in_port(0));
      sources.push_back(relu.out_port(0));
    }
    ir::AttributeMap attributes;
    attributes.Set("axis", 0);
    const Node made = graph.CreateNode("opset1.Concat", sources, {.attributes = attributes});
    graph.TakeName(node, made);
    return {made};
  }
};

TEST_F(PipelineTest, OperationsAreReplaced) {
  TransformationList list;
  RegisterAnchors(list);
  list.Add<Unpack>();
  const auto graph = Parse(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.Abs "a" (%0) : f32[2]
  %2 = opset1.Concat "c" (%0, %1) {axis = 0} : f32[4]
  opset1.Result "y" (%2)
)");
  EXPECT_EQ(Run(list, *graph, Side::kBeforeLowering), "");
  EXPECT_EQ(Brief(*graph),
            "Parameter(x) Abs(a: x) ReLU(c/Relu: x) ReLU(c/Relu: a) Concat(c: c/Relu, c/Relu) Result(y: c)");
}

class Nothing : public FrontReplacementOp {
 public:
  Nothing() : FrontReplacementOp("Tanh") { id = "NOTHING"; }

 protected:
  std::vector<Node> ReplaceOp(Graph&, const Node&) override { return {}; }
};

TEST_F(PipelineTest, AnOutputThatIsUsedNeedsAReplacement) {
  TransformationList list;
  RegisterAnchors(list);
  list.Add<Nothing>();
  const auto graph = Parse(kMish);
  EXPECT_EQ(Run(list, *graph, Side::kBeforeLowering),
            "transform.failed: transformation `NOTHING` failed: `t` (opset1.Tanh) cannot be removed: `m` "
            "(opset1.Multiply) reads its output 0");
}

TEST_F(PipelineTest, LaterMatchesThatLostANodeAreLeftOut) {
  TransformationList list;
  RegisterAnchors(list);
  int applied = 0;
  list.Add<Calls>("PAIRS", [&](Graph& graph) {
    ApplyPattern(
        graph, {.nodes = {Op("a", "ReLU"), Op("b", "ReLU")}, .edges = {{"a", "b"}}},
        [&](const Match& match) {
          ++applied;
          match["b"].out_port(0).GetConnection().SetSource(match["a"].out_port(0));
          graph.Remove(match["b"]);
        },
        [](const std::string&) {});
  });
  const auto graph = Parse(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.ReLU "a" (%0) : f32[2]
  %2 = opset1.ReLU "b" (%1) : f32[2]
  %3 = opset1.ReLU "c" (%2) : f32[2]
  opset1.Result "y" (%3)
)");
  EXPECT_EQ(Run(list, *graph), "");
  EXPECT_EQ(applied, 1);
  EXPECT_EQ(Brief(*graph), "Parameter(x) ReLU(a: x) ReLU(c: a) Result(y: c)");
}

TEST_F(PipelineTest, ShapesFollowWhatChanged) {
  TransformationList list;
  RegisterAnchors(list);
  list.Add<Calls>("TRANSPOSED", [](Graph& graph) {
    const Node tanh = graph.GetOpNodes("Tanh").at(0);
    const Node order = graph.CreateConst(TensorValue::FromInts({2}, {1, 0}));
    const Node transpose = graph.CreateNode("Transpose", {tanh.in_port(0).GetSource(), order.out_port(0)});
    tanh.in_port(0).Connect(transpose.out_port(0));
  });
  const auto graph = Parse(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2,3]} : f32[2,3]
  %1 = opset1.Tanh "t" (%0) : f32[2,3]
  %2 = opset1.ReLU "r" (%1) : f32[2,3]
  opset1.Result "y" (%2)
)");
  EXPECT_EQ(Run(list, *graph), "");
  const ir::OutputPort y = graph->node(graph->results()[0]).input(0);
  EXPECT_EQ(ir::ToString(graph->output(y).shape), "[3,2]");
}

TEST_F(PipelineTest, ForcedInferenceHoldsShapes) {
  const std::string text = R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2,3]} : f32[2,3]
  %1 = opset1.Const "k" : f32[4,1,1] = dense<f32[4,1,1]: 1.0, 2.0, 3.0, 4.0>
  %2 = opset1.Const "l" : f32[] = dense<f32[]: 1.0>
  %3 = opset1.Multiply "m" (%0, %2) : f32[2,3]
  opset1.Result "y" (%3)
  opset1.Result "z" (%1)
)";
  for (bool overrides : {false, true}) {
    TransformationList list;
    RegisterAnchors(list);
    list.Add<Calls>("WIDER",
                    [&](Graph& graph) {
                      const Node product = graph.GetOpNodes("Multiply").at(0);
                      product.in_port(1).Connect(graph.FindNode("k")->out_port(0));
                      if (overrides) graph.MarkForInference(product, true);
                    })
        .force_shape_inference = true;
    const auto graph = Parse(text);
    EXPECT_EQ(
        Run(list, *graph),
        overrides
            ? ""
            : "transform.shape-changed: transformation `WIDER` made the shape of output 0 of `m` [4,2,3] "
              "where it was [2,3]");
  }
}

// Only nodes that were there before have a shape to hold.
TEST_F(PipelineTest, ShapesOfNewNodesMayChange) {
  TransformationList list;
  RegisterAnchors(list);
  list.Add<Calls>("NEW",
                  [](Graph& graph) {
                    const Node made = graph.CreateNode("ReLU", {graph.FindNode("x")->out_port(0)});
                    const Node next = graph.CreateNode("Tanh", {made.out_port(0)});
                    made.in_port(0).Connect(graph.FindNode("k")->out_port(0));
                    graph.FindNode("y")->in_port(0).Connect(next.out_port(0));
                  })
      .force_shape_inference = true;
  const auto graph = Parse(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2,3]} : f32[2,3]
  %1 = opset1.Const "k" : f32[2] = dense<f32[2]: 1.0, 2.0>
  opset1.Result "y" (%1)
  opset1.Result "z" (%0)
)");
  EXPECT_EQ(Run(list, *graph), "");
}

TEST_F(PipelineTest, WhatIsLeftUnconnectedIsTold) {
  TransformationList list;
  RegisterAnchors(list);
  list.Add<Calls>("OPEN", [](Graph& graph) {
    graph.GetOpNodes("Multiply").at(0).in_port(1).Disconnect();
    graph.GetOpNodes("Tanh").at(0).in_port(0).Disconnect();  // the first one in the graph
  });
  const auto graph = Parse(kMish);
  EXPECT_EQ(Run(list, *graph),
            "transform.failed: transformation `OPEN` left input 0 of `t` (opset1.Tanh) unconnected");
}

TEST_F(PipelineTest, CyclesAreTold) {
  TransformationList list;
  RegisterAnchors(list);
  list.Add<Calls>("CIRCLE", [](Graph& graph) {
    graph.GetOpNodes("SoftPlus").at(0).in_port(0).Connect(graph.GetOpNodes("Multiply").at(0).out_port(0));
  });
  const auto graph = Parse(kMish);
  EXPECT_EQ(Run(list, *graph), "transform.invalid-graph: transformation `CIRCLE` made a cycle");
}

TEST_F(PipelineTest, BrokenRulesOfOperationsAreTold) {
  TransformationList list;
  RegisterAnchors(list);
  list.Add<Calls>("WRONG", [](Graph& graph) {
    const Node k = graph.CreateConst(TensorValue::FromFloats({5}, {1, 2, 3, 4, 5}));
    graph.GetOpNodes("Multiply").at(0).in_port(0).Connect(k.out_port(0));
  });
  const auto graph = Parse(kMish);
  const std::string told = Run(list, *graph);
  EXPECT_EQ(told.substr(0, 84),
            "transform.invalid-graph: transformation `WRONG` made `m` (opset1.Multiply) invalid: ");
  EXPECT_NE(told.find("Multiply", 84), std::string::npos) << told;
  // None runs on the graph that it left.
  bool has_run = false;
  TransformationList more;
  RegisterAnchors(more);
  more.Add<Calls>("Z_WRONG", [](Graph& graph) {
    const Node k = graph.CreateConst(TensorValue::FromFloats({5}, {1, 2, 3, 4, 5}));
    graph.GetOpNodes("Multiply").at(0).in_port(0).Connect(k.out_port(0));
  });
  more.Add<Calls>("A_LATER", [&](Graph&) { has_run = true; });
  const auto other = Parse(kMish);
  EXPECT_NE(Run(more, *other).find("Z_WRONG"), std::string::npos);
  EXPECT_FALSE(has_run);
}

TEST_F(PipelineTest, ExceptionsOfAnyKindAreTold) {
  TransformationList list;
  RegisterAnchors(list);
  list.Add<Calls>("THROWS", [](Graph&) { throw 7; });
  const auto graph = Parse(kMish);
  EXPECT_EQ(
      Run(list, *graph),
      "transform.failed: transformation `THROWS` failed: it threw something other than a std::exception");
}

TEST_F(PipelineTest, ThePlugInIsTold) {
  TransformationList list;
  RegisterAnchors(list);
  list.Add<Calls>("THROWS", [](Graph&) { throw 7; }).plugin = "a.so";
  const auto graph = Parse(kMish);
  EXPECT_EQ(Run(list, *graph),
            "transform.failed: transformation `THROWS` of the plug-in `a.so` failed: it threw something "
            "other than a "
            "std::exception");
}

// Throws in one of the functions that describe it.
class Throws : public Calls {
 public:
  explicit Throws(std::string function) : Calls("THROWS", [](Graph&) {}), function_(std::move(function)) {
    plugin = "a.so";
    if (function_ == "graph_condition")
      graph_condition = {[](const ir::Graph&) -> bool { throw std::runtime_error("no answer"); }};
  }
  Names RunBefore() const override { return Or("RunBefore", Names{"MiddleFinish"}); }
  Names RunAfter() const override { return Or("RunAfter", Names{"MiddleStart"}); }
  std::string_view replacement_id() const override { return "ENTRY"; }
  bool MayChange(const ir::Graph&) const override { return Or("MayChange", true); }
  void Configure(const std::shared_ptr<const Configuration>&) override { Or("Configure", 0); }

 private:
  template <typename T>
  T Or(const char* function, T value) const {
    if (function_ == function) throw std::runtime_error("no answer");
    return value;
  }
  std::string function_;
};

TEST_F(PipelineTest, ExceptionsBesidesTheChangeAreReported) {
  for (const std::string function : {"RunBefore", "RunAfter", "graph_condition", "MayChange", "none"}) {
    TransformationList list;
    RegisterAnchors(list);
    list.Add<Throws>(function);
    const auto graph = Parse(kMish);
    const std::string expected =
        "transform.failed: transformation `THROWS` of the plug-in `a.so` failed: its `" + function +
        "` threw: no answer";
    EXPECT_EQ(Run(list, *graph), function == "none" ? "" : expected);
  }
  TransformationList list;
  list.Add<Throws>("Configure");
  Emitter emitter;
  EXPECT_FALSE(list.Configure(std::make_shared<const Configuration>(), emitter));
  ASSERT_EQ(emitter.diagnostics().size(), 1U);
  EXPECT_EQ(emitter.diagnostics()[0].message,
            "transformation `THROWS` of the plug-in `a.so` failed: its `Configure` threw: no answer");
}

TEST_F(PipelineTest, TransformationsSwitchOthersOff) {
  TransformationList list;
  RegisterAnchors(list);
  std::string ran;
  Calls& first = list.Add<Calls>("A", [&](Graph&) { ran += "A"; });
  list.Add<Calls>("B", [&](Graph&) {
    ran += "B";
    first.enabled = false;
  });
  const auto graph = Parse(kMish);
  EXPECT_EQ(Run(list, *graph), "");
  EXPECT_EQ(ran, "B");  // of the same class: by id, the later first
}

// A transformation sets `enabled` of others by their names, before or after these run.
TEST_F(PipelineTest, TransformationsSwitchOthersByName) {
  for (const bool state : {false, true}) {
    TransformationList list;
    RegisterAnchors(list);
    std::string ran;
    list.Add<Calls>("A", [&](Graph&) { ran += "A"; }).enabled = !state;
    const Transformation* second = nullptr;
    second = &list.Add<Calls>("B", [&](Graph&) {
      ran += "B";
      second->find("A")->enabled = state;
      EXPECT_EQ(second->find("C")->enabled, true);
      second->find("C")->enabled = false;  // it has run
      EXPECT_EQ(second->find("D"), nullptr);
    });
    list.Add<Calls>("C", [&](Graph&) { ran += "C"; });
    const auto graph = Parse(kMish);
    EXPECT_EQ(Run(list, *graph), "");
    EXPECT_EQ(ran, state ? "CBA" : "CB");
  }
}

// Invalid nodes without influence on results are no error; they are removed.
TEST_F(PipelineTest, DeadNodesAreNotChecked) {
  const std::string text = R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2,3]} : f32[2,3]
  %1 = opset1.Const "k" : f32[4] = dense<f32[4]: 1.0, 2.0, 3.0, 4.0>
  %2 = opset1.Const "l" : f32[] = dense<f32[]: 1.0>
  %3 = opset1.Multiply "m" (%0, %2) : f32[2,3]
  %4 = opset1.ReLU "r" (%3) : f32[2,3]
  %5 = opset1.Abs "a" (%0) : f32[2,3]
  opset1.Result "y" (%4)
)";
  for (const bool is_dead : {false, true}) {
    for (const bool cleans : {false, true}) {
      TransformationList list;
      RegisterAnchors(list);
      list.Add<Calls>("BYPASS",
                      [&](Graph& graph) {
                        graph.FindNode("m")->in_port(1).Connect(graph.FindNode("k")->out_port(0));
                        const Port result = graph.GetOpNodes("Result").at(0).in_port(0);
                        if (is_dead) result.GetConnection().SetSource(graph.FindNode("x")->out_port(0));
                      })
          .force_clean_up = cleans;
      const auto graph = Parse(text);
      const std::string message = Run(list, *graph);
      if (!is_dead) {
        EXPECT_EQ(message.substr(0, 75),
                  "transform.invalid-graph: transformation `BYPASS` made `m` (opset1.Multiply)");
      } else {
        EXPECT_EQ(message, "");
        EXPECT_EQ(Brief(*graph), "Parameter(x) Result(y: x)");
      }
    }
  }
}

TEST_F(PipelineTest, OperationsThatDoNotExistAreReported) {
  TransformationList list;
  RegisterAnchors(list);
  class Searches : public MiddleReplacementPattern {
   protected:
    Pattern GetPattern() const override { return {.nodes = {Op("a", "Tahn"), Op("b", "Tanh")}, .edges = {}}; }
    void ReplacePattern(Graph&, const Match&) override {}
  };
  list.Add<Searches>().id = "SEARCHES";
  const auto graph = Parse(kMish);
  Emitter emitter;
  std::optional<Pipeline> pipeline = Pipeline::Make(list, {}, emitter);
  ASSERT_TRUE(pipeline.has_value());
  EXPECT_TRUE(pipeline->Run(Side::kAfterLowering, *graph, emitter));
  ASSERT_EQ(emitter.diagnostics().size(), 1U);
  EXPECT_EQ(emitter.diagnostics()[0].message,
            "transformation `SEARCHES`: `a` of the pattern matches nothing: there is no operation `Tahn`");
}

TEST_F(PipelineTest, ConditionsAreAsked) {
  TransformationList list;
  RegisterAnchors(list);
  bool ran = false;
  list.Add<Calls>("SMALL", [&](Graph&) { ran = true; }).graph_condition = {
      [](const ir::Graph& graph) { return graph.num_nodes() < 3; }};
  const auto graph = Parse(kMish);
  EXPECT_EQ(Run(list, *graph), "");
  EXPECT_FALSE(ran);
}

TEST_F(PipelineTest, OnlyAndStopAfter) {
  std::string ran;
  TransformationList list;
  RegisterAnchors(list);
  for (const char* name : {"A", "B", "C"}) list.Add<Calls>(name, [&ran, name](Graph&) { ran += name; });
  list.Find("A")->enabled = false;
  const auto graph = Parse(kMish);
  EXPECT_EQ(Run(list, *graph, Side::kAfterLowering, {.only = {"A"}}), "");
  EXPECT_EQ(ran, "A");
  EXPECT_EQ(Run(list, *graph, Side::kAfterLowering, {.stop_after = "C"}), "");
  EXPECT_EQ(ran, "AC");
  EXPECT_EQ(Run(list, *graph, Side::kAfterLowering, {.stop_after = "MiddleStart"}), "");
  EXPECT_EQ(ran, "AC");
  EXPECT_EQ(Run(list, *graph, Side::kAfterLowering, {.only = {"D"}}),
            "transform.unknown: there is no transformation `D`");
}

TEST_F(PipelineTest, BodiesAreTransformedUnlessToldOtherwise) {
  const std::string text = R"(  %0 = opset1.Parameter "c" {element_type = boolean, shape = []} : boolean[]
  %1 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %2 = opset8.If "if" (%0, %1) : f32[2] bodies {
    "then_body" input 1 -> 0 output 0 -> 0 graph "then" {
      %0 = opset1.Parameter "a" {element_type = f32, shape = [2]} : f32[2]
      %1 = opset1.ReLU "ra" (%0) : f32[2]
      opset1.Result "" (%1)
    }
    "else_body" input 1 -> 0 output 0 -> 0 graph "else" {
      %0 = opset1.Parameter "b" {element_type = f32, shape = [2]} : f32[2]
      opset1.Result "" (%0)
    }
  }
  opset1.Result "y" (%2)
)";
  for (bool outermost : {false, true}) {
    std::string seen;
    TransformationList list;
    RegisterAnchors(list);
    list.Add<Calls>("VISIT", [&](Graph& graph) { seen += graph.ir().name() + " "; }).run_not_recursively =
        outermost;
    const auto graph = Parse(text);
    EXPECT_EQ(Run(list, *graph), "");
    EXPECT_EQ(seen, outermost ? "g " : "g then else ");
  }
}

}  // namespace
}  // namespace nnefc::transform
