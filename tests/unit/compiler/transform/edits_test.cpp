// Random sequences of graph edits, of which each leaves a valid graph or one error.

#include "compiler/ir/algorithms/copy.h"
#include "tests/unit/compiler/transform/random_edits.h"
#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform {
namespace {

class EditsTest : public TransformTest {};

TEST_F(EditsTest, LeaveAValidGraphOrOneError) {
  const auto original = Parse(kLoweredGraph);
  ASSERT_NE(original, nullptr);
  int num_valid = 0, num_failed = 0, num_refused = 0;
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    const std::unique_ptr<ir::Graph> graph = ir::Clone(*original);
    TransformationList list;
    RegisterAnchors(list);
    Calls& edits = list.Add<Calls>("EDITS", [&](Graph& view) {
      RandomEdits random(view, seed, RandomEdits::kLowered);
      random.Apply(1 + static_cast<int>(seed % 12));
      num_refused += random.num_errors();
    });
    edits.force_clean_up = seed % 3 == 0;
    edits.force_shape_inference = seed % 5 == 0;
    Emitter emitter;
    std::optional<Pipeline> pipeline = Pipeline::Make(list, {.verify = true}, emitter);
    ASSERT_TRUE(pipeline.has_value());
    const bool is_done = pipeline->Run(Side::kAfterLowering, *graph, emitter);
    ASSERT_EQ(emitter.diagnostics().size(), is_done ? 0U : 1U);
    if (is_done) {
      ++num_valid;
      EXPECT_EQ(ir::Verify(*graph), std::vector<std::string>());
      EXPECT_TRUE(ir::TopologicalOrder(*graph).has_value());
    } else {
      ++num_failed;
      EXPECT_EQ(emitter.diagnostics()[0].message.find("broke the graph"), std::string::npos)
          << emitter.diagnostics()[0].message;
    }
  }
  // Each kind of end occurs.
  EXPECT_GT(num_valid, 100);
  EXPECT_GT(num_failed, 100);
  EXPECT_GT(num_refused, 100);
}

// Only --verify examines what a transformation makes with the underlying graph.
TEST_F(EditsTest, WhatIsBrokenIsFoundOnRequest) {
  for (bool verify : {false, true}) {
    const auto graph = Parse(kLoweredGraph);
    ASSERT_NE(graph, nullptr);
    TransformationList list;
    RegisterAnchors(list);
    list.Add<Calls>("BREAKS", [](Graph& view) {
      view.Raw().SetOutputType(view.FindNode("m")->ir().port(), ElementType::kF64, ir::PartialShape{7});
    });
    Emitter emitter;
    std::optional<Pipeline> pipeline = Pipeline::Make(list, {.verify = verify}, emitter);
    ASSERT_TRUE(pipeline.has_value());
    EXPECT_EQ(pipeline->Run(Side::kAfterLowering, *graph, emitter), !verify);
    ASSERT_EQ(emitter.diagnostics().size(), verify ? 1U : 0U);
    for (const Diagnostic& found : emitter.diagnostics())
      EXPECT_TRUE(found.message.starts_with("transformation `BREAKS` broke the graph: ")) << found.message;
  }
}

// The placeholder of missing sources has no reader at the clean-up, and one afterwards.
TEST_F(EditsTest, InputsAreDisconnectedBeforeAndAfterACleanUp) {
  const auto ir = Parse(kLoweredGraph);
  ASSERT_NE(ir, nullptr);
  Graph graph(*ir);
  Port input = graph.FindNode("m")->in_port(1);
  const Port source = input.GetSource();
  for (int i = 0; i < 2; ++i) {
    input.Disconnect();
    EXPECT_EQ(graph.Unconnected(), std::vector<std::string>{"input 1 of `m` (opset1.Multiply)"});
    input.Connect(source);
    graph.CleanUp();
    EXPECT_EQ(graph.Unconnected(), std::vector<std::string>());
  }
  graph.Finish();
  EXPECT_EQ(ir::Verify(*ir), std::vector<std::string>());
}

TEST_F(EditsTest, PortsOfRemovedNodesAreRefused) {
  const auto ir = Parse(kLoweredGraph);
  ASSERT_NE(ir, nullptr);
  Graph graph(*ir);
  const Node removed = *graph.FindNode("unread"), concat = *graph.FindNode("c");
  const Port output = removed.out_port(0), input = removed.in_port(0);
  graph.Remove(removed);
  const std::function<void()> edits[] = {
      [&] { concat.in_port(0).Connect(output); },
      [&] { Port(input).Connect(concat.out_port(0)); },
      [&] { graph.CreateResult(output, "r"); },
      [&] { graph.AddInPort(concat, output); },
      [&] { graph.ReplaceAllUses(concat.out_port(0), output); },
      [&] { graph.SetType(output, ElementType::kF32, {}); },
      [&] { graph.CreateNode("ReLU", {output}); },
      [&] {
        graph.TakeOutputs({{concat.out_port(0), output}});
      },
      [&] { removed.SetName("n"); },
      [&] { graph.MarkForInference(removed); },
  };
  for (const std::function<void()>& edit : edits) EXPECT_THROW(edit(), Error);
  EXPECT_EQ(ir::Verify(*ir), std::vector<std::string>());
}

// A replaced node passes its name on to the source of its first output, whatever the order of the outputs.
TEST_F(EditsTest, TheFirstOutputPassesTheNameOn) {
  const auto names = [&](bool is_first_listed_first) {
    const auto ir = Parse(
        "  %0 = opset1.Parameter \"x\" {element_type = f32, shape = [4,2]} : f32[4,2]\n"
        "  %1 = opset1.Const \"k\" : i64[] = dense<i64[]: 0>\n"
        "  %2:2 = opset1.Split \"s\" (%0, %1) {num_splits = 2} : f32[2,2], f32[2,2]\n"
        "  %3:2 = opset1.Split \"t\" (%0, %1) {num_splits = 2} : f32[2,2], f32[2,2]\n"
        "  %4:2 = opset1.Split \"u\" (%0, %1) {num_splits = 2} : f32[2,2], f32[2,2]\n"
        "  opset1.Result \"a\" (%2.0)\n  opset1.Result \"b\" (%2.1)\n");
    Graph graph(*ir);
    const Node s = *graph.FindNode("s"), t = *graph.FindNode("t"), u = *graph.FindNode("u");
    std::vector<std::pair<Port, Port>> outputs = {{s.out_port(0), t.out_port(1)},
                                                  {s.out_port(1), u.out_port(0)}};
    if (!is_first_listed_first) std::swap(outputs[0], outputs[1]);
    graph.TakeOutputs(outputs);
    return t.name() + " " + u.name();
  };
  EXPECT_EQ(names(true), "s u");
  EXPECT_EQ(names(false), "s u");
}

// Of two sources for one output the first has its readers and the name.
TEST_F(EditsTest, TheFirstSourceOfAnOutputHasTheName) {
  const auto ir = Parse(
      "  %0 = opset1.Parameter \"x\" {element_type = f32, shape = [2]} : f32[2]\n"
      "  %1 = opset1.ReLU \"r\" (%0) : f32[2]\n"
      "  %2 = opset1.Abs \"s\" (%0) : f32[2]\n"
      "  %3 = opset1.Tanh \"t\" (%0) : f32[2]\n"
      "  opset1.Result \"y\" (%1)\n");
  Graph graph(*ir);
  const Node r = *graph.FindNode("r"), s = *graph.FindNode("s"), t = *graph.FindNode("t");
  graph.TakeOutputs({{r.out_port(0), s.out_port(0)}, {r.out_port(0), t.out_port(0)}});
  EXPECT_EQ(s.name(), "r");
  EXPECT_EQ(t.name(), "t");
  EXPECT_FALSE(s.out_port(0).IsDisconnected());
  EXPECT_TRUE(t.out_port(0).IsDisconnected());
}

// The names of a bypassed tensor are those of the other one, and its own no longer.
TEST_F(EditsTest, BypassedTensorsHaveNoNames) {
  const auto ir = Parse(
      "  %0 = opset1.Parameter \"x\" {element_type = f32, shape = [2]} : f32[2] as [\"x\"]\n"
      "  %1 = opset1.ReLU \"r\" (%0) : f32[2] as [\"a\", \"b\"]\n"
      "  %2 = opset1.Abs \"s\" (%1) : f32[2] as [\"b\", \"c\"]\n"
      "  opset1.Result \"y\" (%2)\n");
  ASSERT_NE(ir, nullptr);
  Graph graph(*ir);
  const Node r = *graph.FindNode("r"), s = *graph.FindNode("s");
  EXPECT_TRUE(graph.Bypass(s.out_port(0), r.out_port(0)));
  EXPECT_EQ(r.out_port(0).data().names, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(s.out_port(0).data().names, std::vector<std::string>());
}

TEST_F(EditsTest, OperationsOfAnyNumberOfInputsTakeMore) {
  const auto ir = Parse(kLoweredGraph);
  ASSERT_NE(ir, nullptr);
  Graph graph(*ir);
  const Node concat = *graph.FindNode("c"), product = *graph.FindNode("m");
  const int32_t count = concat.num_in_ports();
  const Port source = concat.in_port(0).GetSource();
  for (int32_t i = 0; i < 3; ++i) EXPECT_EQ(graph.AddInPort(concat, source).index(), count + i);
  EXPECT_EQ(concat.in_port(count + 2).GetSource(), source);
  EXPECT_THROW(graph.AddInPort(product, source), Error);
}

// A caller of Raw() may add nodes, whose names count.
TEST_F(EditsTest, NamesAddedToTheUnderlyingGraphCount) {
  const auto ir = Parse(kLoweredGraph);
  ASSERT_NE(ir, nullptr);
  Graph graph(*ir);
  EXPECT_EQ(graph.UniqueName("fresh"), "fresh");
  ir::AddConst(graph.Raw(), TensorValue::FromInts({}, {1}), "fresh");
  EXPECT_EQ(graph.UniqueName("fresh"), "fresh_2");
}

// A name is free again after the node that had it is removed by a clean-up.
TEST_F(EditsTest, NamesOfDeadNodesAreFree) {
  const auto ir = Parse(kLoweredGraph);
  ASSERT_NE(ir, nullptr);
  Graph graph(*ir);
  graph.CreateConst(TensorValue::FromInts({}, {1}), "unused");
  EXPECT_EQ(graph.UniqueName("unused"), "unused_2");
  graph.CleanUp();
  EXPECT_EQ(graph.UniqueName("unused"), "unused");
}

// A removed node gives its name back once: the next node of the name holds it.
TEST_F(EditsTest, NamesOfRemovedNodesAreFreeOnce) {
  const auto ir = Parse(kLoweredGraph);
  ASSERT_NE(ir, nullptr);
  Graph graph(*ir);
  EXPECT_EQ(graph.UniqueName("fresh"), "fresh");
  const auto add = [&] { return graph.CreateConst(TensorValue::FromInts({}, {1}), "fresh"); };
  graph.Remove(add());
  EXPECT_EQ(graph.UniqueName("fresh"), "fresh");
  const Node second = add();
  EXPECT_EQ(graph.UniqueName("fresh"), "fresh_2");
  second.SetName("other");
  EXPECT_EQ(graph.UniqueName("fresh"), "fresh");
  EXPECT_EQ(graph.UniqueName("other"), "other_2");
  const Node third = add();
  EXPECT_EQ(graph.UniqueName("fresh"), "fresh_3");
  graph.Remove(second);
  EXPECT_EQ(graph.UniqueName("other"), "other");
  graph.Remove(third);
  EXPECT_EQ(graph.UniqueName("fresh"), "fresh");
}

// A source has no inputs, whether they are passed or stated.
TEST_F(EditsTest, SourcesHaveNoInputs) {
  const auto ir = Parse(kLoweredGraph);
  ASSERT_NE(ir, nullptr);
  Graph graph(*ir);
  const Port port = graph.CreateConst(TensorValue::FromInts({}, {1}), "c").out_port(0);
  const auto message = [&](std::initializer_list<Port> sources, std::optional<int32_t> num_inputs) {
    try {
      graph.CreateNode("opset1.Parameter", sources, {.name = "p", .num_inputs = num_inputs});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({port}, std::nullopt), "a new `opset1.Parameter` has 1 inputs; expected none");
  EXPECT_EQ(message({port, port}, 0), "a new `opset1.Parameter` has 2 inputs; expected none");
  EXPECT_EQ(message({}, 3), "a new `opset1.Parameter` has 3 inputs; expected none");
}

// ---- inputs and outputs of the model ----

ir::AttributeMap VectorOf(int64_t extent) {
  ir::AttributeMap attributes;
  attributes.Set("element_type", ElementType::kF32);
  attributes.Set("shape", ir::PartialShape{extent});
  return attributes;
}

TEST_F(EditsTest, NewParametersAndResultsBelongToTheGraph) {
  const auto ir = Parse(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.ReLU "r" (%0) : f32[2]
  opset1.Result "y" (%1)
)");
  ASSERT_NE(ir, nullptr);
  const std::string error = RunFunction(*ir, "ADD", [](Graph& graph) {
    const Node relu = *graph.FindNode("r");
    const Node made = graph.CreateNode("Parameter", {}, {.name = "z", .attributes = VectorOf(2)});
    EXPECT_EQ(made.out_port(0).shape(), ir::PartialShape{2});
    const Node sum = graph.CreateNode("Add", {relu.out_port(0), made.out_port(0)}, {.name = "sum"});
    relu.out_port(0).GetDestinations().front().Connect(sum.out_port(0));
    const Node result = graph.CreateNode("Result", {relu.out_port(0)}, {.name = "second"});
    EXPECT_EQ(result.num_out_ports(), 0);
    // Connected later.
    graph.CreateNode("opset1.Result", {}, {.name = "third"}).in_port(0).Connect(made.out_port(0));
    EXPECT_THROW(graph.CreateNode("Result", {relu.out_port(0), made.out_port(0)}), Error);
    EXPECT_THROW(graph.CreateNode("Parameter", {relu.out_port(0)}, {.attributes = VectorOf(2)}), Error);
    EXPECT_THROW(graph.CreateNode("Parameter", {}, {.attributes = VectorOf(2), .num_inputs = 1}), Error);
  });
  EXPECT_EQ(error, "");
  EXPECT_EQ(Brief(*ir),
            "Parameter(x) ReLU(r: x) Parameter(z) Add(sum: r, z) Result(y: sum) Result(second: r) "
            "Result(third: z)");
  EXPECT_EQ(ir->parameters().size(), 2u);
  EXPECT_EQ(ir->results().size(), 3u);
}

TEST_F(EditsTest, NewExternalsBelongToTheGraph) {
  const auto ir = Parse(R"(  %0 = nnef.external "x" {shape = [2], dtype = "scalar"} : f32[2]
  opset1.Result "y" (%0)
)");
  ASSERT_NE(ir, nullptr);
  const std::string error = RunFunction(*ir, "ADD", [](Graph& graph) {
    ir::AttributeMap attributes;
    attributes.Set("shape", ir::Attribute::Integers{3});
    attributes.Set("dtype", "scalar");
    const Node made = graph.CreateNode("nnef.external", {}, {.name = "z", .attributes = attributes});
    graph.CreateResult(made.out_port(0), "z");
  });
  EXPECT_EQ(error, "");
  EXPECT_EQ(Brief(*ir), "external(x) Result(y: x) external(z) Result(z: z)");
  EXPECT_EQ(ir->parameters().size(), 2u);
}

// A port map refers to the parameters and results of a body by their indices.
TEST_F(EditsTest, BodiesKeepTheirParametersAndResults) {
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
      %1 = opset1.Const "k" : f32[2] = dense<f32[2]: 1.0, 2.0>
      opset1.Result "" (%1)
    }
  }
  opset1.Result "y" (%2)
)";
  const auto change = [&](const std::string& body, const std::function<void(Graph&)>& call) {
    const auto graph = Parse(text);
    if (graph == nullptr) return std::string("no graph");
    return RunFunction(*graph, "CHANGE", [&](Graph& changed) {
      if (changed.ir().name() == body) call(changed);
    });
  };
  const std::string start = "transform.invalid-graph: transformation `CHANGE` left a body of `if` with ";
  EXPECT_EQ(change("then",
                   [](Graph& graph) {
                     graph.CreateNode("Parameter", {}, {.name = "z", .attributes = VectorOf(2)});
                   }),
            start + "2 parameters; expected 1");
  EXPECT_EQ(change("then", [](Graph& graph) { graph.CreateResult(graph.FindNode("ra")->out_port(0), "z"); }),
            start + "2 results; expected 1");
  EXPECT_EQ(change("else", [](Graph& graph) { graph.Remove(*graph.FindNode("b")); }),
            start + "0 parameters; expected 1");
  // As many as before.
  EXPECT_EQ(change("then",
                   [](Graph& graph) {
                     const Port source = graph.FindNode("ra")->out_port(0);
                     graph.Remove(source.GetDestinations().front().node());
                     graph.CreateResult(source, "z");
                   }),
            "");
}

class ChangedBodiesTest : public TransformTest {};

// An If whose bodies change has the shapes of their results afterwards.
TEST_F(ChangedBodiesTest, NodesWithChangedBodiesAreInferred) {
  const auto branch = [](const std::string& role) {
    return fmt::format(R"(    "{0}" input 1 -> 0 output 0 -> 0 graph "{0}" {{
      %0 = opset1.Parameter "a" {{element_type = f32, shape = [2]}} : f32[2]
      %1 = opset1.ReLU "r" (%0) : f32[2]
      opset1.Result "o" (%1)
    }}
)",
                       role);
  };
  const auto graph = Parse(R"(  %0 = opset1.Parameter "c" {element_type = boolean, shape = []} : boolean[]
  %1 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %2 = opset8.If "if" (%0, %1) : f32[2] bodies {
)" + branch("then_body") + branch("else_body") +
                           "  }\n  %3 = opset1.Abs \"abs\" (%2) : f32[2]\n  opset1.Result \"y\" (%3)\n");
  ASSERT_NE(graph, nullptr);
  const std::string error = RunFunction(*graph, "UNSQUEEZE", [](Graph& edited) {
    for (const Node& relu : edited.GetOpNodes("opset.ReLU")) {
      std::vector<Port> readers = relu.out_port(0).GetDestinations();
      const Node axis = edited.CreateConst(TensorValue::FromInts({1}, {0}), "axis");
      const Node made =
          edited.CreateNode("opset1.Unsqueeze", {relu.out_port(0), axis.out_port(0)}, {.name = "u"});
      for (Port& reader : readers) reader.Connect(made.out_port(0));
    }
  });
  EXPECT_EQ(error, "");
  for (ir::NodeId id : graph->nodes()) {
    const ir::Node& node = graph->node(id);
    if (node.name() != "if" && node.name() != "abs") continue;
    EXPECT_EQ(ir::ToString(node.output().shape), "[1,2]") << node.name();
  }
}

// A connection has the destination that it was given.
TEST_F(EditsTest, ConnectionsChangeBothEnds) {
  const auto graph = Parse(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.ReLU "r" (%0) : f32[2]
  %2 = opset1.Sigmoid "s" (%0) : f32[2]
  %3 = opset1.Abs "a" (%1) : f32[2]
  %4 = opset1.Negative "n" (%1) : f32[2]
  opset1.Result "y" (%3)
  opset1.Result "z" (%4)
)");
  ASSERT_NE(graph, nullptr);
  const std::string error = RunFunction(*graph, "MOVE", [](Graph& edited) {
    const auto node = [&](const char* name) { return *edited.FindNode(name); };
    Connection connection = node("a").in_port(0).GetConnection();
    connection.SetDestination(node("n").in_port(0));
    EXPECT_EQ(connection.GetDestination().node().name(), "n");
    connection.SetSource(node("s").out_port(0));
    node("a").in_port(0).Connect(node("x").out_port(0));
  });
  EXPECT_EQ(error, "");
  EXPECT_EQ(Brief(*graph),
            "Parameter(x) ReLU(r: x) Sigmoid(s: x) Abs(a: x) Negative(n: s) Result(y: a) Result(z: n)");
}

// The destinations of an output are in the order of their nodes, whatever was connected last.
TEST_F(EditsTest, DestinationsAreInTheOrderOfNodes) {
  const auto graph = Parse(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.ReLU "r" (%0) : f32[2]
  %2 = opset1.Add "a" (%1, %1) : f32[2]
  %3 = opset1.Abs "b" (%1) : f32[2]
  opset1.Result "y" (%2)
  opset1.Result "z" (%3)
)");
  ASSERT_NE(graph, nullptr);
  const std::string error = RunFunction(*graph, "AGAIN", [](Graph& edited) {
    const Port source = edited.FindNode("r")->out_port(0);
    const Node sum = *edited.FindNode("a");
    for (const int32_t index : {0, 1}) sum.in_port(index).Disconnect();
    for (const int32_t index : {1, 0}) sum.in_port(index).Connect(source);
    std::string text;
    for (const Port& port : source.GetDestinations())
      text += fmt::format("{}.{} ", port.node().name(), port.index());
    EXPECT_EQ(text, "a.0 a.1 b.0 ");
  });
  EXPECT_EQ(error, "");
}

// Of several readers, the first one is named.
TEST_F(EditsTest, ReadersOfARemovedNode) {
  const auto graph = Parse(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.Abs "a" (%0) : f32[2]
  %2 = opset1.Tanh "b" (%1) : f32[2]
  %3 = opset1.Add "c" (%1, %2) : f32[2]
  opset1.Result "y" (%3)
)");
  EXPECT_EQ(RunFunction(*graph, "REMOVE", [](Graph& each) { each.Remove(*each.FindNode("a")); }),
            "transform.failed: transformation `REMOVE` failed: `a` (opset1.Abs) cannot be removed: `b` "
            "(opset1.Tanh) reads its output 0");
}

}  // namespace
}  // namespace nnefc::transform
