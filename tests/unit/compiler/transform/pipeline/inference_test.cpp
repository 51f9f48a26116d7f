// Inference of the nodes that a transformation changed, and of those that read them.

#include "compiler/transform/error.h"
#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform {
namespace {

class ChangedInferenceTest : public TransformTest {
 protected:
  // Runs a transformation of a graph; returns the first error, or "".
  std::string Change(const std::string& text, const std::function<void(Graph&)>& call) {
    TransformationList list;
    RegisterAnchors(list);
    list.Add<Calls>("CHANGE", call);
    graph_ = Parse(text);
    return graph_ == nullptr ? "no graph" : Run(list, *graph_);
  }
  // Connects `a` to `z` in a transformation that forces shape inference.
  std::string ConnectWithInference(const std::string& text) {
    TransformationList list;
    RegisterAnchors(list);
    list.Add<Calls>(
            "CHANGE",
            [](Graph& graph) { graph.FindNode("a")->in_port(0).Connect(graph.FindNode("z")->out_port(0)); })
        .force_shape_inference = true;
    graph_ = Parse(text);
    return graph_ == nullptr ? "no graph" : Run(list, *graph_);
  }
  // Returns the type of the only output of a node: "f32[2,3]".
  std::string TypeOf(const std::string& name) {
    const ir::Output& output = Graph(*graph_).FindNode(name)->ir().output();
    return std::string(Name(output.type)) + ir::ToString(output.shape);
  }

  std::unique_ptr<ir::Graph> graph_;
};

TEST_F(ChangedInferenceTest, ReadersOfAnotherTypeAreInferred) {
  EXPECT_EQ(
      Change(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.Parameter "z" {element_type = f16, shape = [2]} : f16[2]
  %2 = opset1.Abs "a" (%0) : f32[2]
  %3 = opset1.Sqrt "b" (%2) : f32[2]
  opset1.Result "y" (%3)
  opset1.Result "w" (%1)
)",
             [](Graph& graph) { graph.FindNode("a")->in_port(0).Connect(graph.FindNode("z")->out_port(0)); }),
      "");
  EXPECT_EQ(TypeOf("a"), "f16[2]");
  EXPECT_EQ(TypeOf("b"), "f16[2]");
}

// A known value that inference does not compute is forgotten where an input changes, and only there.
TEST_F(ChangedInferenceTest, OtherNodesKeepKnownValues) {
  graph_ = Parse(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.Parameter "z" {element_type = f32, shape = [2]} : f32[2]
  %2 = opset1.Abs "a" (%0) : f32[2]
  %3 = opset1.Sqrt "b" (%2) : f32[2]
  %4 = opset1.Abs "before" (%1) : f32[2]
  %5 = opset1.Sqrt "other" (%4) : f32[2]
  opset1.Result "y" (%3)
  opset1.Result "w" (%5)
)");
  ASSERT_NE(graph_, nullptr);
  const auto output = [&](const char* name) { return Graph(*graph_).FindNode(name)->ir().port(); };
  const TensorValue value = TensorValue::FromFloats({2}, {1, 2});
  for (const char* name : {"a", "before", "other"}) graph_->SetOutputValue(output(name), value);
  EXPECT_EQ(RunFunction(*graph_, "CHANGE",
                        [](Graph& graph) {
                          graph.FindNode("a")->in_port(0).Connect(graph.FindNode("z")->out_port(0));
                        }),
            "");
  EXPECT_FALSE(graph_->output(output("a")).value.has_value());
  for (const char* name : {"before", "other"})
    EXPECT_TRUE(graph_->output(output(name)).value.has_value()) << name;
}

// A shape that is computed from values follows them, although the shape of the values is the same.
TEST_F(ChangedInferenceTest, ReadersOfAnotherValueAreInferred) {
  const std::string text = R"(  %0 = opset1.Parameter "known" {element_type = f32, shape = [6]} : f32[6]
  %1 = opset1.Parameter "unknown" {element_type = f32, shape = [?]} : f32[?]
  %2 = opset1.Parameter "data" {element_type = f32, shape = [2,3]} : f32[2,3]
  %3 = opset1.ShapeOf "shape" (%READ) : i64[1]
  %4 = opset1.Reshape "reshape" (%2, %3) {special_zero = false} : f32[?]
  %5 = opset1.Abs "abs" (%4) : f32[?]
  opset1.Result "y" (%5)
  opset1.Result "v" (%0)
  opset1.Result "w" (%1)
)";
  const auto change = [&](const char* from, const char* to) {
    return Change(std::regex_replace(text, std::regex("READ"), from), [&](Graph& graph) {
      graph.FindNode("shape")->in_port(0).Connect(graph.FindNode(to)->out_port(0));
    });
  };
  EXPECT_EQ(change("0", "unknown"), "");
  EXPECT_EQ(TypeOf("reshape"), "f32[?]");
  EXPECT_EQ(TypeOf("abs"), "f32[?]");
  EXPECT_EQ(change("1", "known"), "");
  EXPECT_EQ(TypeOf("reshape"), "f32[6]");
  EXPECT_EQ(TypeOf("abs"), "f32[6]");
}

// With forced inference a shape may become known, but no other one.
TEST_F(ChangedInferenceTest, ShapesMayBecomeKnown) {
  const auto change = [&](const char* shape) {
    return ConnectWithInference(
        fmt::format(R"(  %0 = opset1.Parameter "x" {{element_type = f32, shape = {0}}} : f32{0}
  %1 = opset1.Parameter "z" {{element_type = f32, shape = [2]}} : f32[2]
  %2 = opset1.Abs "a" (%0) : f32{0}
  opset1.Result "y" (%2)
)",
                    shape));
  };
  EXPECT_EQ(change("[?]"), "");
  EXPECT_EQ(TypeOf("a"), "f32[2]");
  EXPECT_EQ(change("[2]"), "");
  EXPECT_EQ(change("[3]"),
            "transform.shape-changed: transformation `CHANGE` made the shape of output 0 of `a` [2] where it "
            "was [3]");
}

// Another type of the same shape is no other shape.
TEST_F(ChangedInferenceTest, ForcedInferenceAllowsOtherTypes) {
  EXPECT_EQ(ConnectWithInference(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.Parameter "z" {element_type = f16, shape = [2]} : f16[2]
  %2 = opset1.Abs "a" (%0) : f32[2]
  opset1.Result "y" (%2)
)"),
            "");
  EXPECT_EQ(TypeOf("a"), "f16[2]");
}

// A node is needed if only the new value of a variable depends on it.
TEST_F(ChangedInferenceTest, InvalidNodesOfSinksAreReported) {
  const std::string wrong =
      Change(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2,3]} : f32[2,3]
  %1 = opset1.Const "k" : f32[4] = dense<f32[4]: 1.0, 2.0, 3.0, 4.0>
  %2 = opset1.Const "l" : f32[] = dense<f32[]: 1.0>
  %3 = opset1.Multiply "m" (%0, %2) : f32[2,3]
  %4 = opset6.Assign "set" (%3) {variable_id = "v"} : f32[2,3]
  opset1.Result "y" (%0)
)",
             [](Graph& graph) { graph.FindNode("m")->in_port(1).Connect(graph.FindNode("k")->out_port(0)); });
  EXPECT_EQ(wrong.substr(0, 75),
            "transform.invalid-graph: transformation `CHANGE` made `m` (opset1.Multiply)");
}

// The nodes after an invalid one are visited once each, not once for each path.
TEST_F(ChangedInferenceTest, InvalidNodesBeforeManyPathsAreQuick) {
  std::string text = R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2,3]} : f32[2,3]
  %1 = opset1.Const "k" : f32[4] = dense<f32[4]: 1.0, 2.0, 3.0, 4.0>
  %2 = opset1.Const "l" : f32[] = dense<f32[]: 1.0>
  %3 = opset1.Multiply "m" (%0, %2) : f32[2,3]
)";
  for (int i = 4; i < 104; ++i)
    text += fmt::format("  %{0} = opset1.Add \"a{0}\" (%{1}, %{1}) : f32[2,3]\n", i, i - 1);
  EXPECT_EQ(
      Change(text + "  opset1.Result \"y\" (%0)\n",
             [](Graph& graph) { graph.FindNode("m")->in_port(1).Connect(graph.FindNode("k")->out_port(0)); }),
      "");
  EXPECT_EQ(Brief(*graph_), "Parameter(x) Result(y: x)");
}

TEST_F(ChangedInferenceTest, GraphsKeepAResultOrASink) {
  const std::string wrong = "transform.invalid-graph: transformation `CHANGE` left the graph without results";
  const std::string x = "  %0 = opset1.Parameter \"x\" {element_type = f32, shape = [2]} : f32[2]\n";
  const std::string sink = "  %1 = opset6.Assign \"set\" (%0) {variable_id = \"v\"} : f32[2]\n";
  const std::string result = "  opset1.Result \"y\" (%0)\n";
  const auto without = [&](const std::string& nodes, std::vector<std::string> names) {
    return Change(x + nodes, [names](Graph& graph) {
      for (const std::string& name : names) graph.Remove(*graph.FindNode(name));
    });
  };
  EXPECT_EQ(without(sink, {"set"}), wrong);
  EXPECT_EQ(without(result, {"y"}), wrong);
  EXPECT_EQ(without(sink + result, {"set"}), "");
  EXPECT_EQ(without(sink + result, {"y"}), "");
  EXPECT_EQ(without(sink + result, {"y", "set"}), wrong);
  EXPECT_EQ(without("  %1 = opset1.Abs \"a\" (%0) : f32[2]\n", {"a"}), "");
}

// Without a forced clean-up, dead nodes remain; with one, those of bodies are removed as well.
TEST_F(ChangedInferenceTest, OutermostGraphsAreCleanedUpOnRequest) {
  const auto body = [](const std::string& role) {
    return fmt::format(R"(    "{0}" input 1 -> 0 output 0 -> 0 graph "{0}" {{
      %0 = opset1.Parameter "a" {{element_type = f32, shape = [2]}} : f32[2]
      %1 = opset1.Abs "dead" (%0) : f32[2]
      opset1.Result "" (%0)
    }}
)",
                       role);
  };
  for (const bool outermost : {false, true}) {
    for (const bool cleans : {false, true}) {
      graph_ = Parse(R"(  %0 = opset1.Parameter "c" {element_type = boolean, shape = []} : boolean[]
  %1 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %2 = opset8.If "if" (%0, %1) : f32[2] bodies {
)" + body("then_body") +
                     body("else_body") +
                     "  }\n  %3 = opset1.Abs \"dead\" (%1) : f32[2]\n  opset1.Result \"y\" (%2)\n");
      ASSERT_NE(graph_, nullptr);
      TransformationList list;
      RegisterAnchors(list);
      Calls& nothing = list.Add<Calls>("NOTHING", [](Graph&) {});
      nothing.run_not_recursively = outermost;
      nothing.force_clean_up = cleans;
      EXPECT_EQ(Run(list, *graph_), "");
      EXPECT_EQ(Graph(*graph_).FindNode("dead").has_value(), !cleans) << outermost;
      for (const ir::Body& inner : Graph(*graph_).FindNode("if")->ir().bodies())
        EXPECT_EQ(Graph(*inner.graph).FindNode("dead").has_value(), !cleans) << outermost;
    }
  }
}

// A node whose bodies stay as they are is not inferred again.
TEST_F(ChangedInferenceTest, NodesOfUnchangedBodiesKeepTheirTypes) {
  const auto body = [](const std::string& role) {
    return fmt::format(R"(    "{0}" input 1 -> 0 output 0 -> 0 graph "{0}" {{
      %0 = opset1.Parameter "a" {{element_type = f32, shape = [2]}} : f32[2]
      opset1.Result "" (%0)
    }}
)",
                       role);
  };
  graph_ = Parse(R"(  %0 = opset1.Parameter "c" {element_type = boolean, shape = []} : boolean[]
  %1 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %2 = opset8.If "if" (%0, %1) : f32[2] bodies {
)" + body("then_body") +
                 body("else_body") + "  }\n  opset1.Result \"y\" (%2)\n");
  ASSERT_NE(graph_, nullptr);
  graph_->SetOutputType(Graph(*graph_).FindNode("if")->ir().port(), ElementType::kF32, ir::PartialShape{7});
  TransformationList list;
  RegisterAnchors(list);
  list.Add<Calls>("NOTHING", [](Graph&) {});
  Emitter emitter;
  std::optional<Pipeline> pipeline = Pipeline::Make(list, {}, emitter);
  ASSERT_TRUE(pipeline.has_value());
  EXPECT_TRUE(pipeline->Run(Side::kAfterLowering, *graph_, emitter));
  EXPECT_EQ(TypeOf("if"), "f32[7]");
}

// A node is inferred again if a body has another result, even one of a node that stays as it is.
TEST_F(ChangedInferenceTest, NodesOfBodiesWithOtherResultsAreInferred) {
  const auto body = [](const std::string& role) {
    return fmt::format(R"(    "{0}" input 1 -> 0 output 0 -> 0 graph "{0}" {{
      %0 = opset1.Parameter "a" {{element_type = f32, shape = [2]}} : f32[2]
      %1 = opset1.ShapeOf "other" (%0) : i64[1]
      opset1.Result "r" (%0)
    }}
)",
                       role);
  };
  EXPECT_EQ(Change(R"(  %0 = opset1.Parameter "c" {element_type = boolean, shape = []} : boolean[]
  %1 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %2 = opset8.If "if" (%0, %1) : f32[2] bodies {
)" + body("then_body") +
                       body("else_body") +
                       "  }\n  %3 = opset1.Abs \"abs\" (%2) : f32[2]\n  opset1.Result \"y\" (%3)\n",
                   [](Graph& graph) {
                     const std::optional<Node> other = graph.FindNode("other");
                     if (!other) return;
                     graph.Remove(*graph.FindNode("r"));
                     graph.CreateResult(other->out_port(0), "r");
                   }),
            "");
  EXPECT_EQ(TypeOf("if"), "i64[1]");
  EXPECT_EQ(TypeOf("abs"), "i64[1]");
}

// The first of several mistakes of a node is reported: here that of its first body.
TEST_F(ChangedInferenceTest, FirstMistakesAreReported) {
  const auto body = [](const std::string& role, const std::string& operation) {
    return fmt::format(R"(    "{0}" input 1 -> 0 output 0 -> 0 graph "{0}" {{
      %0 = opset1.Parameter "a" {{element_type = f32, shape = [2]}} : f32[2]
      %1 = opset1.Const "k" : f32[2] = dense<f32[2]: 1.0, 2.0>
      %2 = opset1.{1} "{0} node" (%0, %1) : f32[2]
      opset1.Result "r" (%2)
    }}
)",
                       role, operation);
  };
  const std::string wrong = Change(
      R"(  %0 = opset1.Parameter "c" {element_type = boolean, shape = []} : boolean[]
  %1 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %2 = opset1.Parameter "z" {element_type = f32, shape = [3]} : f32[3]
  %3 = opset8.If "if" (%0, %1) : f32[2] bodies {
)" + body("then_body", "Add") +
          body("else_body", "Multiply") + "  }\n  opset1.Result \"y\" (%3)\n  opset1.Result \"w\" (%2)\n",
      [](Graph& graph) {
        if (const std::optional<Node> branch = graph.FindNode("if"))
          branch->in_port(1).Connect(graph.FindNode("z")->out_port(0));
      });
  EXPECT_NE(wrong.find("(opset8.If) invalid: `b` of `Add` has the shape [2]"), std::string::npos) << wrong;
}

// After a configuration that does not fit, no transformation runs.
TEST_F(ChangedInferenceTest, MismatchesEndARun) {
  TransformationList list;
  RegisterAnchors(list);
  std::string ran;
  list.Add<Calls>("B_FIRST", [&](Graph&) {
    ran += "first ";
    throw Mismatch("the entry does not fit");
  });
  list.Add<Calls>("A_SECOND", [&](Graph&) { ran += "second "; });
  const auto graph = Parse(kMish);
  Emitter emitter;
  std::optional<Pipeline> pipeline = Pipeline::Make(list, {}, emitter);
  ASSERT_TRUE(pipeline.has_value());
  EXPECT_FALSE(pipeline->Run(Side::kAfterLowering, *graph, emitter));
  EXPECT_EQ(ran, "first ");
  ASSERT_EQ(emitter.diagnostics().size(), 1U);
  EXPECT_EQ(emitter.diagnostics()[0].message, "transformation `B_FIRST`: the entry does not fit");
}

}  // namespace
}  // namespace nnefc::transform
