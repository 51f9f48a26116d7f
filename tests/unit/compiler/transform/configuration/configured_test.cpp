// Sub-graphs that configurations match, and the effects of transformations with configurations.

#include "compiler/transform/configuration/configured.h"

#include "tests/unit/compiler/transform/configuration/configuration_support.h"

namespace nnefc::transform {
namespace {

constexpr const char* kEnds = R"("inputs": [[{"node": "abs$", "port": 0}, {"node": "relu$", "port": 0}]],
  "outputs": [{"node": "sum$", "port": 0}])";

// Records its match instead of a replacement.
class Teller : public FrontReplacementFromConfigFileSubGraph {
 public:
  Teller(std::string name, std::string& reached)
      : FrontReplacementFromConfigFileSubGraph(std::move(name)), reached_(reached) {}

 protected:
  void ReplaceSubGraph(Graph&, const SubgraphMatch& match) override {
    reached_ += reached_.empty() ? "" : "; ";
    for (const std::string& name : match.matched_nodes_names()) reached_ += name + " ";
    reached_ += "<-";
    for (size_t i = 0; i < match.inputs_count(); ++i) {
      reached_ += " [";
      for (const Port& port : match.input_nodes(i))
        reached_ += fmt::format("{}:{},", port.node().name(), port.index());
      reached_.back() = ']';
    }
    reached_ += " ->";
    for (size_t i = 0; i < match.outputs_count(); ++i)
      reached_ += fmt::format(" {}:{}", match.output_node(i).node().name(), match.output_node(i).index());
  }

 private:
  std::string& reached_;
};

class ConfiguredTest : public TransformTest {
 protected:
  // Sets a configuration of the list; returns the diagnostics, or "".
  std::string Configure(TransformationList& list, const std::string& json) {
    Context context;
    auto read = ReadConfiguration(context.sources.AddText("c.json", json), context);
    if (read) {
      EXPECT_TRUE(list.Configure(std::make_shared<const Configuration>(std::move(*read)), context.emitter));
    }
    return context.emitter.diagnostics().empty() ? "" : context.emitter.diagnostics().front().message;
  }

  // Returns the matches of a recording transformation, followed by the diagnostics.
  std::string Find(const std::string& graph, const std::string& json) {
    std::string reached;
    TransformationList list;
    RegisterAnchors(list);
    list.Add<Teller>("T", reached);
    EXPECT_EQ(Configure(list, json), "");
    const auto ir = Parse(graph);
    const std::string said = Run(list, *ir, Side::kBeforeLowering);
    return reached + (said.empty() ? "" : "! " + said);
  }
  std::string FindScope(const std::string& scopes, const std::string& more = "") {
    return Find(kBlocks, R"([{"id": "T", "match_kind": "scope", "instances": [)" + scopes + "]" +
                             (more.empty() ? "" : ", " + more) + "}]");
  }
  std::string FindPoints(const std::string& graph, const std::string& starts, const std::string& ends) {
    return Find(graph, R"([{"id": "T", "match_kind": "points", "instances": {"start_points": [)" + starts +
                           R"(], "end_points": [)" + ends + "]}}]");
  }
};

// Reads one input and one output more than a match has.
class Reacher : public FrontReplacementFromConfigFileSubGraph {
 public:
  Reacher(std::string name, std::string& reached)
      : FrontReplacementFromConfigFileSubGraph(std::move(name)), reached_(reached) {}

 protected:
  void ReplaceSubGraph(Graph&, const SubgraphMatch& match) override {
    const auto attempt = [&](auto read) {
      try {
        read();
        reached_ += "read; ";
      } catch (const Error& error) {
        reached_ += std::string(error.what()) + "; ";
      }
    };
    attempt([&] { (void)match.input_nodes(match.inputs_count() - 1); });
    attempt([&] { (void)match.input_nodes(match.inputs_count()); });
    attempt([&] { (void)match.output_node(match.outputs_count() - 1); });
    attempt([&] { (void)match.output_node(match.outputs_count()); });
  }

 private:
  std::string& reached_;
};

TEST_F(ConfiguredTest, NumbersBeyondAMatch) {
  std::string reached;
  TransformationList list;
  RegisterAnchors(list);
  list.Add<Reacher>("T", reached);
  EXPECT_EQ(Configure(list, R"([{"id": "T", "match_kind": "scope", "instances": ["net/block1"], )" +
                                std::string(kEnds) + "}]"),
            "");
  const auto ir = Parse(kBlocks);
  (void)Run(list, *ir, Side::kBeforeLowering);
  EXPECT_EQ(reached,
            "read; input 1 of the match is asked for; it has 1; read; output 1 of the match is asked for; it "
            "has 1; ");
}

// ---- scopes ----

TEST_F(ConfiguredTest, ScopesAreBeginningsOfNames) {
  const std::string first = "net/block1/relu net/block1/abs net/block1/sum <- ->";
  const std::string none =
      "! transform.notice: transformation `nnefc::transform::Teller`: no instance of the entry "
      "`T` is in the model";
  EXPECT_EQ(FindScope(R"("net/block1")"), first);
  EXPECT_EQ(FindScope(R"(".*block1")"), first);
  EXPECT_EQ(FindScope(R"("net/\\w+1/")"), first);
  const auto absent = [&](const std::string& scope) {
    return none + ": no name of a node begins as `" + scope + "` says";
  };
  EXPECT_EQ(FindScope(R"("block1")"), absent("block1"));
  EXPECT_EQ(FindScope(R"("NET/block1")"), absent("NET/block1"));
  EXPECT_EQ(FindScope(R"("net/block1$")"), absent("net/block1$"));
  EXPECT_EQ(FindScope(R"("net/block1", "net/block3")"), first);
  EXPECT_EQ(FindScope(R"x("net/block(1|3)")x"), first);
  EXPECT_EQ(FindScope(R"("net/block1/r|net/block1/[as]")"), first);
}

// A result has the name of its source.
TEST_F(ConfiguredTest, ResultsAreInNoScope) {
  const std::string text = R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.ReLU "y" (%0) : f32[2]
  opset1.Result "y" (%1)
)";
  EXPECT_EQ(Find(text, R"([{"id": "T", "match_kind": "scope", "instances": ["y"]}])"), "y <- ->");
  EXPECT_EQ(FindPoints(text, R"("y")", R"("y")"), "y <- [y:0] -> y:0");
}

TEST_F(ConfiguredTest, EachInstanceIsAMatch) {
  EXPECT_EQ(FindScope(R"("net/block2", ".*block1")", kEnds),
            "net/block2/relu net/block2/abs net/block2/sum <- [net/block2/abs:0,net/block2/relu:0] -> "
            "net/block2/sum:0; net/block1/relu net/block1/abs net/block1/sum <- "
            "[net/block1/abs:0,net/block1/relu:0] -> net/block1/sum:0");
}

TEST_F(ConfiguredTest, InputsOfTheEntry) {
  // The order of the list is that of the tensors.
  EXPECT_EQ(FindScope(R"("net/block1")",
                      R"("inputs": [[{"node": "sum$", "port": 1}], [{"node": "sum$", "port": 0}]])"),
            "net/block1/relu net/block1/abs net/block1/sum <- [net/block1/sum:1] [net/block1/sum:0] ->");
  // A name that fits no node of the whole graph: no instance.
  EXPECT_EQ(
      FindScope(R"("net/block1")", R"("inputs": [[{"node": "nosuch$", "port": 0}]])"),
      "! transform.notice: transformation `nnefc::transform::Teller`: no instance of the entry `T` is in the "
      "model: no node fits the input `nosuch$`");
  // A name that fits several nodes of the scope.
  EXPECT_EQ(
      FindScope(R"("net/block1")", R"("inputs": [[{"node": "[ar]", "port": 0}]])"),
      "! transform.mismatch: transformation `nnefc::transform::Teller`: `[ar]` fits `net/block1/relu` and "
      "`net/block1/abs` of the scope `net/block1`; it must fit one node");
  EXPECT_EQ(
      FindScope(R"("net/block1")", R"("inputs": [[{"node": "abs", "port": 1}]])"),
      "! transform.mismatch: transformation `nnefc::transform::Teller`: `net/block1/abs` (opset1.Abs) has no "
      "input 1; it has 1");
}

TEST_F(ConfiguredTest, OutputsOfTheEntry) {
  EXPECT_EQ(FindScope(R"("net/block1")",
                      R"("outputs": [{"node": "sum", "port": 0}, {"node": "nosuch", "port": 0}])"),
            "net/block1/relu net/block1/abs net/block1/sum <- -> net/block1/sum:0");
  EXPECT_EQ(
      FindScope(R"("net/block1")", R"("outputs": [{"node": "sum", "port": 1}])"),
      "! transform.mismatch: transformation `nnefc::transform::Teller`: `net/block1/sum` (opset1.Add) has no "
      "output 1; it has 1");
}

TEST_F(ConfiguredTest, NodesThatAreNotConnectedAreTold) {
  EXPECT_EQ(
      FindScope(R"("net/block./abs")"),
      "net/block1/abs net/block2/abs <- ->! transform.notice: transformation `nnefc::transform::Teller`: the "
      "nodes of the scope `net/block./abs` are not connected with each other");
}

// ---- points ----

constexpr const char* kLattice =
    R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.Const "c" : f32[2] = dense<f32[2]: 1.0, 2.0>
  %2 = opset1.Exp "e" (%1) : f32[2]
  %3 = opset1.ReLU "a" (%0) : f32[2]
  %4 = opset1.Abs "b" (%3) : f32[2]
  %5 = opset1.Add "m" (%4, %2) : f32[2]
  %6 = opset1.Tanh "side" (%3) : f32[2]
  %7 = opset1.Sin "far" (%5) : f32[2]
  %8 = opset1.Multiply "other" (%2, %0) : f32[2]
  opset1.Result "y" (%7)
  opset1.Result "z" (%8)
)";

TEST_F(ConfiguredTest, PointsTakeWhatIsBetweenAndWhatFeedsIt) {
  EXPECT_EQ(FindPoints(kLattice, R"("b")", R"("m")"), "c e b m <- [b:0] -> m:0");
  // A branch without an end point belongs to it; readers of the end do not.
  EXPECT_EQ(FindPoints(kLattice, R"("a")", R"("m")"), "c e a b m side <- [a:0] -> m:0");
  EXPECT_EQ(FindPoints(kLattice, R"("a")", R"("b")"), "a b side <- [a:0] -> b:0");
  EXPECT_EQ(FindPoints(kLattice, R"("b")", R"("far")"), "c e b m far <- [b:0] -> far:0");
  EXPECT_EQ(FindPoints(kLattice, R"("b")", R"("b")"), "b <- [b:0] -> b:0");
}

TEST_F(ConfiguredTest, PointsThatAreMissing) {
  const std::string none =
      "! transform.notice: transformation `nnefc::transform::Teller`: no instance of the entry "
      "`T` is in the model";
  const std::string absent = ": there is no node `nosuch`";
  EXPECT_EQ(FindPoints(kLattice, R"("nosuch")", R"("m")"), none + absent);
  EXPECT_EQ(FindPoints(kLattice, R"("b")", R"("m", "nosuch")"), none + absent);
  // A result is no node of the sub-graph.
  EXPECT_EQ(FindPoints(kLattice, R"("b")", R"("y")"), none + ": there is no node `y`");
  // Names are literal, not expressions.
  EXPECT_EQ(FindPoints(kLattice, R"(".")", R"("m")"), none + ": there is no node `.`");
}

TEST_F(ConfiguredTest, PointsThatContradictTheGraph) {
  const std::string wrong = "! transform.mismatch: transformation `nnefc::transform::Teller`: ";
  EXPECT_EQ(FindPoints(kLattice, R"("far")", R"("m")"),
            wrong + "the end point `m` (opset1.Add) is not reachable from the start points");
  EXPECT_EQ(FindPoints(kLattice, R"("b")", R"("m", "far")"),
            wrong +
                "the end point `far` (opset1.Sin) is not reachable from the start points without another end "
                "point between");
  EXPECT_EQ(FindPoints(kLattice, R"("m")", R"("far")"),
            wrong + "the start point `m` (opset1.Add) has 2 inputs: `b`, `e`; it must have one");
  EXPECT_EQ(FindPoints(kLattice, R"("x")", R"("far")"),
            wrong + "the start point `x` (opset1.Parameter) has 0 inputs; it must have one");
  for (const char* starts : {R"("e")", R"("b", "e")"}) {
    EXPECT_EQ(FindPoints(kLattice, starts, R"("far")"),
              wrong +
                  "the sub-graph contains `x` (opset1.Parameter), an input of the model; let a start point "
                  "stand between");
  }
  // An input of an NNEF document likewise.
  const std::string external = R"(  %0 = nnef.external "x" {shape = [2], dtype = "scalar"} : f32[2]
  %1 = nnef.abs "a" (%0) : f32[2]
  %2 = nnef.external "z" {shape = [2], dtype = "scalar"} : f32[2]
  %3 = nnef.add "b" (%1, %2) : f32[2]
  opset1.Result "y" (%3)
)";
  EXPECT_EQ(FindPoints(external, R"("a")", R"("b")"),
            wrong +
                "the sub-graph contains `z` (nnef.external), an input of the model; let a start point stand "
                "between");
}

// ---- kinds ----

TEST_F(ConfiguredTest, AnOperationInPlaceOfEachInstance) {
  TransformationList list;
  RegisterAnchors(list);
  EXPECT_EQ(Configure(list, R"([{"id": "Elus", "match_kind": "scope", "instances": [".*block1", ".*block2"],
                                 "op": "Elu", "custom_attributes": {"alpha": 0.5}, )" +
                                std::string(kEnds) + "}]"),
            "");
  const auto graph = Parse(kBlocks);
  EXPECT_EQ(Run(list, *graph, Side::kBeforeLowering), "");
  EXPECT_EQ(Brief(*graph),
            "Parameter(x) Elu(net/block1/sum: x) Elu(net/block2/sum: net/block1/sum) "
            "Result(y: net/block2/sum)");
  const ir::OutputPort last = graph->node(graph->results()[0]).input(0);
  EXPECT_EQ(graph->output(last).names, std::vector<std::string>{"out"});
  EXPECT_EQ(graph->node(last.node).Double("alpha"), 0.5);
  EXPECT_NE(list.Find("Elus"), nullptr);
}

TEST_F(ConfiguredTest, AnOperationForASubgraphThatIsReadElsewhere) {
  TransformationList list;
  RegisterAnchors(list);
  Configure(list, R"([{"id": "T", "match_kind": "points", "op": "Sin",
                       "instances": {"start_points": ["a"], "end_points": ["m"]}}])");
  const auto graph = Parse(kLattice);
  EXPECT_EQ(Run(list, *graph, Side::kBeforeLowering),
            "transform.failed: transformation `T` failed: `e` (Exp) cannot be removed: `other` (Multiply) "
            "reads its "
            "output 0");
}

// Results inside a matched sub-graph are not removed with it: that of the end point remains, another one is
// reported.
TEST_F(ConfiguredTest, ResultsOfASubgraphStay) {
  const auto replaced = [&](const std::string& results) {
    TransformationList list;
    RegisterAnchors(list);
    Configure(list, R"([{"id": "T", "match_kind": "points", "op": "Sin",
                         "instances": {"start_points": ["a"], "end_points": ["b"]}}])");
    const auto graph = Parse(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.ReLU "a" (%0) : f32[2]
  %2 = opset1.Abs "b" (%1) : f32[2]
  %3 = opset1.Tanh "side" (%1) : f32[2]
)" + results);
    const std::string wrong = Run(list, *graph, Side::kBeforeLowering);
    return wrong.empty() ? Brief(*graph) : wrong;
  };
  const std::string last = "  opset1.Result \"y\" (%2)\n";
  EXPECT_EQ(replaced(last), "Parameter(x) Sin(b: x) Result(y: b)");
  EXPECT_EQ(replaced(last + "  opset1.Result \"z\" (%2)\n"),
            "Parameter(x) Sin(b: x) Result(y: b) Result(z: b)");
  for (const char* more : {"%1", "%3"}) {
    const std::string wrong = replaced(last + "  opset1.Result \"z\" (" + more + ")\n");
    EXPECT_NE(wrong.find("cannot be removed: `z` (Result) reads its output 0"), std::string::npos) << wrong;
  }
}

TEST_F(ConfiguredTest, AnOperationThatThereIsNot) {
  TransformationList list;
  RegisterAnchors(list);
  Configure(list, R"([{"id": "T", "match_kind": "scope", "instances": [".*block1"], "op": "NoSuch", )" +
                      std::string(kEnds) + "}]");
  const auto graph = Parse(kBlocks);
  EXPECT_EQ(Run(list, *graph, Side::kBeforeLowering),
            "transform.failed: transformation `T` failed: there is no operation `NoSuch`");
}

TEST_F(ConfiguredTest, AnOperationWithoutOutputs) {
  TransformationList list;
  RegisterAnchors(list);
  Configure(list, R"([{"id": "T", "match_kind": "scope", "instances": [".*block1"], "op": "Mish"}])");
  const auto graph = Parse(kBlocks);
  EXPECT_EQ(Run(list, *graph, Side::kBeforeLowering),
            "transform.mismatch: transformation `T`: the entry `T` names no output of `.*block1`; "
            "`--custom-operations-config-update` fills inputs and outputs");
}

// Each instance that the model lacks is logged; one that it has is replaced all the same.
TEST_F(ConfiguredTest, MissingInstancesAreLogged) {
  TransformationList list;
  RegisterAnchors(list);
  Configure(list, R"([{"id": "Elus", "match_kind": "scope", "instances": ["net/block3", "net/block2"],
                       "op": "Elu", "custom_attributes": {"alpha": 0.5}, )" +
                      std::string(kEnds) + "}]");
  const auto graph = Parse(kBlocks);
  std::vector<std::string> logged;
  const auto log = [&](const Transformation&, const std::string& text) { logged.push_back(text); };
  EXPECT_EQ(Run(list, *graph, Side::kBeforeLowering, {.log = log}), "");
  EXPECT_EQ(logged, std::vector<std::string>{"no name of a node begins as `net/block3` says"});
  EXPECT_NE(Brief(*graph).find("Elu(net/block2/sum: net/block1/sum)"), std::string::npos);
}

// Of two matches with a common node, the first is replaced.
TEST_F(ConfiguredTest, MatchesThatLostANodeAreReported) {
  TransformationList list;
  RegisterAnchors(list);
  Configure(list, R"([{"id": "Elus", "match_kind": "scope", "instances": ["net/block1", "net/bl.*1"],
                       "op": "Elu", "custom_attributes": {"alpha": 0.5}, )" +
                      std::string(kEnds) + "}]");
  const auto graph = Parse(kBlocks);
  EXPECT_EQ(Run(list, *graph, Side::kBeforeLowering),
            "transform.notice: transformation `Elus`: a match was left out: an earlier replacement removed a "
            "node of it");
  EXPECT_EQ(Brief(*graph),
            "Parameter(x) Elu(net/block1/sum: x) ReLU(net/block2/relu: net/block1/sum) "
            "Abs(net/block2/abs: net/block1/sum) Add(net/block2/sum: net/block2/relu, net/block2/abs) "
            "Result(y: net/block2/sum)");
}

// Makes two nodes, and names another as the source of its output.
class Misnames : public FrontReplacementFromConfigFileSubGraph {
 public:
  Misnames() : FrontReplacementFromConfigFileSubGraph("T") {}

 protected:
  SubGraph GenerateSubGraph(Graph& graph, const SubgraphMatch& match) override {
    const Node relu = graph.CreateNode("ReLU", {match.source(0)});
    return {{"relu", relu}, {"abs", graph.CreateNode("Abs", {relu.out_port(0)})}};
  }
  std::map<size_t, PortName> OutputEdgesMatch(Graph&, const SubgraphMatch&, const SubGraph&) override {
    return {{0, {"sum", 0}}};
  }
};

TEST_F(ConfiguredTest, UnknownNamesOfNewNodesAreReportedWithTheKnownOnes) {
  TransformationList list;
  RegisterAnchors(list);
  list.Add<Misnames>();
  Configure(list, R"([{"id": "T", "match_kind": "scope", "instances": ["net/block1"], )" +
                      std::string(kEnds) + "}]");
  const auto graph = Parse(kBlocks);
  EXPECT_EQ(Run(list, *graph, Side::kBeforeLowering),
            "transform.failed: transformation `nnefc::transform::Misnames` failed: there is no new node "
            "`sum`; there are `abs`, `relu`");
}

class Generals : public FrontReplacementFromConfigFileGeneral {
 public:
  explicit Generals(std::vector<int64_t>& seen)
      : FrontReplacementFromConfigFileGeneral("TFYOLO"), seen_(seen) {}

 protected:
  void TransformGraph(Graph&, const ir::AttributeMap& attributes) override {
    seen_.push_back(attributes.Get("classes").AsInt());
  }

 private:
  std::vector<int64_t>& seen_;
};

TEST_F(ConfiguredTest, GeneralIsCalledForEachEntry) {
  std::vector<int64_t> seen;
  TransformationList list;
  RegisterAnchors(list);
  list.Add<Generals>(seen);
  const auto graph = Parse(kBlocks);
  EXPECT_EQ(Run(list, *graph, Side::kBeforeLowering), "");
  EXPECT_TRUE(seen.empty());  // nothing without a configuration
  Configure(list, R"([{"id": "TFYOLO", "match_kind": "general", "custom_attributes": {"classes": 20}},
                      {"id": "TFYOLO", "match_kind": "general", "custom_attributes": {"classes": 80}}])");
  EXPECT_EQ(Run(list, *graph, Side::kBeforeLowering), "");
  EXPECT_EQ(seen, (std::vector<int64_t>{20, 80}));
}

// Fails with a text about its entry.
class Fails : public FrontReplacementFromConfigFileGeneral {
 public:
  explicit Fails(std::string id) : FrontReplacementFromConfigFileGeneral(std::move(id)) {}

 protected:
  void TransformGraph(Graph&, const ir::AttributeMap&) override {
    throw Error("[REPLACEMENT_ID] failed; see [REPLACEMENT_ID], not [OTHER]");
  }
};

TEST_F(ConfiguredTest, ErrorsNameTheEntry) {
  for (const char* id : {"TFYOLO", "a[REPLACEMENT_ID]"}) {
    TransformationList list;
    RegisterAnchors(list);
    list.Add<Fails>(id);
    EXPECT_EQ(Configure(list, fmt::format(R"([{{"id": "{}", "match_kind": "general"}}])", id)), "");
    const auto graph = Parse(kBlocks);
    EXPECT_EQ(
        Run(list, *graph, Side::kBeforeLowering),
        fmt::format("transform.failed: transformation `nnefc::transform::Fails` failed: {0} failed; see {0}, "
                    "not [OTHER]",
                    id));
  }
  // Without entries the text remains.
  TransformationList list;
  RegisterAnchors(list);
  list.Add<Calls>("FAILS", [](Graph&) { throw Error("[REPLACEMENT_ID] failed"); });
  const auto graph = Parse(kBlocks);
  EXPECT_EQ(Run(list, *graph), "transform.failed: transformation `FAILS` failed: [REPLACEMENT_ID] failed");
}

TEST_F(ConfiguredTest, EntriesOfNobodyAndOfAnotherKind) {
  std::string reached;
  TransformationList list;
  RegisterAnchors(list);
  list.Add<Teller>("Blocks", reached);
  EXPECT_EQ(Configure(list, R"([{"id": "Bloks", "match_kind": "general"}])"),
            "no transformation acts on the entry `Bloks`; did you mean `Blocks`?");
  EXPECT_EQ(Configure(list, R"([{"id": "Something", "match_kind": "general"}])"),
            "no transformation acts on the entry `Something`; give it an `op`, or load the transformation");
  EXPECT_EQ(Configure(list, R"([{"id": "Blocks", "match_kind": "general"}])"), "");
  const auto graph = Parse(kBlocks);
  EXPECT_EQ(
      Run(list, *graph, Side::kBeforeLowering),
      "transform.mismatch: transformation `nnefc::transform::Teller`: the entry `Blocks` is of `match_kind` "
      "`general`; this transformation needs `scope` or `points`");
}

}  // namespace
}  // namespace nnefc::transform
