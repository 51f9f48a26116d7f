// Consequences of constants alone, and branches with a constant condition.

#include "compiler/transform/pipeline/standard.h"
#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform {
namespace {

// An evaluator that returns constants of the right shapes and types, and records the names of the evaluated
// nodes.
class FakeEvaluator {
 public:
  std::vector<std::string> asked;
  std::string cannot;
  int64_t number = 1;

  ir::Evaluator Function() {
    return [this](const ir::Node& node, llvm::ArrayRef<ir::Output> known,
                  llvm::ArrayRef<TensorValue> inputs) -> std::optional<std::vector<TensorValue>> {
      EXPECT_EQ(inputs.size(), static_cast<size_t>(node.num_inputs()));
      asked.push_back(node.name());
      if (node.name() == cannot) return std::nullopt;
      std::vector<TensorValue> values;
      for (const ir::Output& output : known)
        values.push_back(
            TensorValue::Filled(output.type, *output.shape.extents(), static_cast<double>(number)));
      return values;
    };
  }
};

class ConstantsTest : public TransformTest {
 protected:
  // Returns the graph after one transformation and, by default, the removal of dead nodes.
  std::unique_ptr<ir::Graph> Fold(const std::string& text, const char* name = "middle.FoldConstants",
                                  bool removes_dead_nodes = true) {
    const TransformationList list = StandardTransformations();
    auto graph = Parse(text);
    PipelineOptions options{.only = {name}};
    if (removes_dead_nodes) options.only.push_back("middle.RemoveUnneeded");
    options.evaluate = evaluator_.Function();
    if (graph == nullptr) return nullptr;
    EXPECT_EQ(Run(list, *graph, Side::kAfterLowering, std::move(options)), "");
    return graph;
  }
  // Returns a summary of statements after `x`, f32[2,3], and the constants %1, %2 of the same shape; %9 is
  // the result.
  std::string Brief(const std::string& statements) {
    return TransformTest::Brief(
        *Fold(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2,3]} : f32[2,3]
  %1 = opset1.Const "a" : f32[2,3] = dense<f32[2,3]: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0>
  %2 = opset1.Const "b" : f32[2,3] = dense<f32[2,3]: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0>
)" + statements +
              "  opset1.Result \"y\" (%9)\n"));
  }

  FakeEvaluator evaluator_;
};

// An operation without a shape function accepts any value.
TEST_F(ConstantsTest, ConstantsOfUnknownOperationsAreEvaluated) {
  registry_.Add(
      {.set = "acme", .name = "F", .section = {}, .inputs = {{.name = "a"}}, .outputs = {"output"}});
  EXPECT_EQ(Brief("  %3 = opset1.Multiply \"m\" (%1, %2) : f32[2,3]\n"
                  "  %9 = acme.F \"f\" (%3) : f32[2,3]\n"),
            "Parameter(x) Const(m) F(f: m) Result(y: f)");
}

TEST_F(ConstantsTest, ChainsOfConstantsAreEvaluatedInOrder) {
  EXPECT_EQ(Brief("  %3 = opset1.Multiply \"m\" (%1, %2) : f32[2,3]\n"
                  "  %4 = opset1.Sqrt \"r\" (%3) : f32[2,3]\n"
                  "  %9 = opset1.Add \"s\" (%0, %4) : f32[2,3]\n"),
            "Parameter(x) Const(r) Add(s: x, r) Result(y: s)");
  EXPECT_EQ(evaluator_.asked, (std::vector<std::string>{"m", "r"}));
}

TEST_F(ConstantsTest, EachOutputBecomesAConstant) {
  EXPECT_EQ(Brief("  %3 = opset1.Const \"axis\" : i64[] = dense<i64[]: 0>\n"
                  "  %4:2 = opset1.Split \"p\" (%1, %3) {num_splits = 2} : f32[1,3], f32[1,3]\n"
                  "  %5 = opset1.Add \"s\" (%0, %4) : f32[2,3]\n"
                  "  %9 = opset1.Add \"t\" (%5, %4.1) : f32[2,3]\n"),
            "Parameter(x) Const(p.0) Add(s: x, p.0) Const(p.1) Add(t: s, p.1) Result(y: t)");
}

TEST_F(ConstantsTest, WhatShapeFunctionsKnowNeedsNoEvaluator) {
  EXPECT_EQ(Brief("  %3 = opset3.ShapeOf \"shape\" (%0) {output_type = i64} : i64[2]\n"
                  "  %9 = opset1.Reshape \"v\" (%0, %3) {special_zero = false} : f32[2,3]\n"),
            "Parameter(x) Const(shape) Reshape(v: x, shape) Result(y: v)");
  EXPECT_TRUE(evaluator_.asked.empty());
}

// A node that nothing reads remains for the removal of dead nodes: its value is not computed.
TEST_F(ConstantsTest, UnreadNodesAreNotEvaluated) {
  EXPECT_EQ(Brief("  %3 = opset1.Multiply \"m\" (%1, %2) : f32[2,3]\n"
                  "  %4 = opset1.Sqrt \"unread\" (%3) : f32[2,3]\n"
                  "  %5 = opset1.Sqrt \"read\" (%1) : f32[2,3]\n"
                  "  %9 = opset1.Add \"s\" (%0, %5) : f32[2,3]\n"),
            "Parameter(x) Const(read) Add(s: x, read) Result(y: s)");
  EXPECT_EQ(evaluator_.asked, (std::vector<std::string>{"m", "read"}));
}

// What follows from a folded value is folded in the same pass: the shape of `v` is known from that of `p`.
TEST_F(ConstantsTest, ShapesThatFollowFromConstantsAreFolded) {
  evaluator_.number = 6;
  EXPECT_EQ(Brief("  %3 = opset1.Const \"c\" : f32[1] = dense<f32[1]: 36.0>\n"
                  "  %4 = opset1.Sqrt \"q\" (%3) : f32[1]\n"
                  "  %5 = opset1.Convert \"p\" (%4) {destination_type = i64} : i64[1]\n"
                  "  %6 = opset1.Reshape \"v\" (%0, %5) {special_zero = false} : f32[...]\n"
                  "  %7 = opset3.ShapeOf \"s\" (%6) {output_type = i64} : i64[...]\n"
                  "  %9 = opset1.Reshape \"w\" (%0, %7) {special_zero = false} : f32[...]\n"),
            "Parameter(x) Const(s) Reshape(w: x, s) Result(y: w)");
}

// The second pass folds by the rules of the first, and does so after the transformations that make constants.
TEST_F(ConstantsTest, NewConstantsAreFoldedToo) {
  const auto graph = Fold(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [1,2]} : f32[1,2]
  %1 = opset1.Const "c" : f32[2] = dense<f32[2]: 1.0, 2.0>
  %2 = opset1.Const "axis" : i64[1] = dense<i64[1]: 0>
  %3 = opset1.Unsqueeze "u" (%1, %2) : f32[1,2]
  %4 = opset1.Add "a" (%0, %3) : f32[1,2]
  opset1.Result "y" (%4)
)",
                          "middle.FoldNewConstants");
  ASSERT_NE(graph, nullptr);
  EXPECT_EQ(TransformTest::Brief(*graph), "Parameter(x) Const(u) Add(a: x, u) Result(y: a)");
  Emitter emitter;
  const TransformationList list = StandardTransformations();
  const auto order = list.Order(emitter);
  ASSERT_TRUE(order.has_value());
  const auto place = [&](std::string_view name) {
    return llvm::find(*order, list.Find(name)) - order->begin();
  };
  for (const char* earlier :
       {"middle.TensorIteratorToSequence", "middle.UnrollLoops", "middle.EinsumToMatMul",
        "middle.FuseConstantSequence", "middle.FuseScaleIntoFollowing"})
    EXPECT_LT(place(earlier), place("middle.FoldNewConstants")) << earlier;
  EXPECT_LT(place("middle.FoldNewConstants"), place("middle.RemoveUnneeded"));
}

TEST_F(ConstantsTest, ResultsAreComputedByANode) {
  EXPECT_EQ(Brief("  %9 = opset1.Multiply \"m\" (%1, %2) : f32[2,3]\n"),
            "Parameter(x) Const(a) Const(b) Multiply(m: a, b) Result(y: m)");
}

TEST_F(ConstantsTest, WhatMustNotOrCannotBeEvaluatedStays) {
  const auto stays = [&](const std::string& statement) {
    return Brief(statement + "  %9 = opset1.Add \"s\" (%0, %8) : f32[2,3]\n").find("Add(s: x, stays)") !=
           std::string::npos;
  };
  evaluator_.cannot = "stays";
  EXPECT_TRUE(stays("  %8 = opset1.Multiply \"stays\" (%1, %2) : f32[2,3]\n"));
  EXPECT_EQ(evaluator_.asked, (std::vector<std::string>{"stays"}));
  EXPECT_TRUE(stays("  %8 = opset1.Abs \"stays\" (%0) : f32[2,3]\n"));
  evaluator_.cannot = "";
  EXPECT_TRUE(stays("  %8 = opset1.FakeQuantize \"stays\" (%1, %2, %2, %2, %2) {levels = 256} : f32[2,3]\n"));
  EXPECT_TRUE(stays(
      "  %8 = opset6.ReadValue \"stays\" (%1) {variable_id = \"v\", variable_type = f32, variable_shape = "
      "shape[2,3]} : f32[2,3]\n"));
  EXPECT_EQ(evaluator_.asked, (std::vector<std::string>{"stays"}));
}

TEST_F(ConstantsTest, ValuesGrowToSixteenKilobytesAtMost) {
  const auto folds = [&](int64_t extent) {
    return Brief(fmt::format("  %3 = opset1.Const \"n\" : i64[1] = dense<i64[1]: {}>\n"
                             "  %4 = opset1.Const \"one\" : f32[] = dense<f32[]: 1.0>\n"
                             "  %5 = opset3.Broadcast \"wide\" (%4, %3) {{mode = \"numpy\"}} : f32[{}]\n"
                             "  %6 = opset1.Parameter \"z\" {{element_type = f32, shape = [{}]}} : f32[{}]\n"
                             "  %9 = opset1.Add \"s\" (%5, %6) : f32[{}]\n",
                             extent, extent, extent, extent, extent))
               .find("Broadcast") == std::string::npos;
  };
  EXPECT_TRUE(folds(4096));
  EXPECT_FALSE(folds(4097));
}

TEST_F(ConstantsTest, ValuesAsLargeAsWhatTheyAreMadeOfAreFolded) {
  const std::string text = "  %0 = opset1.Const \"w\" : f32[8192] = dense<f32[8192]: " +
                           [] {
                             std::string items = "0.0";
                             for (int i = 1; i < 8192; ++i) items += ", 0.0";
                             return items;
                           }() +
                           ">\n"
                           "  %1 = opset1.Abs \"a\" (%0) : f32[8192]\n"
                           "  %2 = opset1.Convert \"c\" (%1) {destination_type = f64} : f64[8192]\n"
                           "  %3 = opset1.Parameter \"x\" {element_type = f64, shape = [8192]} : f64[8192]\n"
                           "  %4 = opset1.Add \"s\" (%3, %2) : f64[8192]\n"
                           "  opset1.Result \"y\" (%4)\n";
  EXPECT_EQ(TransformTest::Brief(*Fold(text)),
            "Const(a) Convert(c: a) Parameter(x) Add(s: x, c) Result(y: s)");
}

// A run of the model reports the error with its location.
TEST_F(ConstantsTest, ValuesThatTheirReaderRefusesStay) {
  evaluator_.number = 5;
  EXPECT_EQ(Brief("  %3 = opset1.Const \"k\" : i64[2] = dense<i64[2]: 3, 2>\n"
                  "  %4 = opset1.Abs \"five\" (%3) : i64[2]\n"
                  "  %9 = opset1.Reshape \"v\" (%0, %4) {special_zero = false} : f32[?,?]\n"),
            "Parameter(x) Const(k) Abs(five: k) Reshape(v: x, five) Result(y: v)");
  evaluator_.number = 6;
}

TEST_F(ConstantsTest, SelectByAKnownCondition) {
  const auto after = [&](const std::string& condition, const std::string& a, const std::string& b) {
    return TransformTest::Brief(*Fold(
        "  %0 = opset1.Parameter \"x\" {element_type = f32, shape = [2,3]} : f32[2,3]\n  %1 = "
        "opset1.Parameter \"z\" {element_type = f32, shape = [3]} : f32[3]\n  %2 = opset1.ReLU \"r\" (%0) : "
        "f32[2,3]\n  %3 = opset1.Tanh \"h\" (%1) : f32[3]\n  %4 = opset1.Const \"c\" : boolean" +
            condition + ">\n  %5 = opset1.Select \"s\" (%4, " + a + ", " + b +
            ") : f32[2,3]\n  opset1.Result \"y\" (%5)\n",
        "middle.TakeSelected"));
  };
  EXPECT_EQ(after("[3] = dense<boolean[3]: 1, 1, 1", "%2", "%3"),
            "Parameter(x) Parameter(z) ReLU(r: x) Result(y: r)");
  EXPECT_EQ(
      after("[] = dense<boolean[]: 0", "%2", "%3"),
      "Parameter(x) Parameter(z) Tanh(h: z) Const(s/shape) Broadcast(s/broadcast: h, s/shape) Result(y: "
      "s/broadcast)");
  EXPECT_NE(after("[3] = dense<boolean[3]: 1, 0, 1", "%2", "%3").find("Select("), std::string::npos);
  // A result is computed by a node.
  EXPECT_NE(after("[] = dense<boolean[]: 1", "%0", "%2").find("Select("), std::string::npos);
}

// What is not selected is removed at once, so that later patterns count the readers of its inputs right.
TEST_F(ConstantsTest, WhatASelectDropsIsRemoved) {
  for (const bool removes_dead_nodes : {false, true}) {
    const auto graph = Fold(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.ReLU "r" (%0) : f32[2]
  %2 = opset1.Tanh "h" (%0) : f32[2]
  %3 = opset1.Const "c" : boolean[] = dense<boolean[]: 0>
  %4 = opset1.Select "s" (%3, %1, %2) : f32[2]
  opset1.Result "y" (%4)
)",
                            "middle.TakeSelected", removes_dead_nodes);
    EXPECT_EQ(TransformTest::Brief(*graph), "Parameter(x) Tanh(h: x) Result(y: h)") << removes_dead_nodes;
  }
}

// ---- branches ----

std::string Branch(const std::string& condition, const std::string& then_source, const std::string& last) {
  return "  %0 = opset1.Parameter \"x\" {element_type = f32, shape = [2]} : f32[2]\n" + condition +
         R"(  %2 = opset8.If "i" (%1, %0) : f32[2] as ["t"] bodies {
    "then_body" input 1 -> 0 output 0 -> 0 graph "then" {
      %0 = opset1.Parameter "a" {element_type = f32, shape = [2]} : f32[2]
      %1 = opset1.ReLU "x" (%0) : f32[2] as ["inner"]
      %2 = opset1.Const "k" : f32[2] = dense<f32[2]: 1.0, 2.0>
      %3 = opset1.Multiply "m" (%1, %2) : f32[2]
      opset1.Result "o" ()" +
         then_source + R"()
    }
    "else_body" input 1 -> 0 output 0 -> 0 graph "else" {
      %0 = opset1.Parameter "b" {element_type = f32, shape = [2]} : f32[2]
      %1 = opset1.Tanh "h" (%0) : f32[2]
      opset1.Result "o" (%1)
    }
  }
)" + last;
}

class BranchesOfConstantsTest : public ConstantsTest {
 protected:
  std::string Inline(const std::string& text) {
    return TransformTest::Brief(*Fold(text, "middle.InlineTakenBranch"));
  }
  static std::string Condition(int value) {
    return fmt::format("  %1 = opset1.Const \"c\" : boolean[1] = dense<boolean[1]: {}>\n", value);
  }
  const std::string result_ = "  opset1.Result \"y\" (%2)\n";
  const std::string sine_ = "  %3 = opset1.Sin \"s\" (%2) : f32[2]\n  opset1.Result \"y\" (%3)\n";
};

TEST_F(BranchesOfConstantsTest, ConstantsOfAnIfAreThoseOfItsBranches) {
  const auto graph = Fold(R"(  %0 = opset1.Parameter "c" {element_type = boolean, shape = []} : boolean[]
  %1 = opset1.Const "k" : f32[2] = dense<f32[2]: 1.0, 2.0>
  %2 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %3 = opset8.If "i" (%0, %1, %2) : f32[2] bodies {
    "then_body" input 1 -> 0 input 2 -> 1 output 0 -> 0 graph "then" {
      %0 = opset1.Parameter "a" {element_type = f32, shape = [2]} : f32[2]
      %1 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
      %2 = opset1.Multiply "m" (%1, %0) : f32[2]
      opset1.Result "o" (%2)
    }
    "else_body" input 2 -> 0 output 0 -> 0 graph "else" {
      %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
      opset1.Result "o" (%0)
    }
  }
  opset1.Result "y" (%3)
)",
                          "middle.BindConstantsInBodies");
  for (ir::NodeId id : graph->nodes()) {
    if (!graph->node(id).Is(ir::OpRole::kIf)) continue;
    EXPECT_EQ(TransformTest::Brief(*graph->node(id).bodies()[0].graph),
              "Parameter(a) Parameter(x) Const(a/constant) Multiply(m: x, a/constant) Result(o: m)");
    EXPECT_EQ(TransformTest::Brief(*graph->node(id).bodies()[1].graph), "Parameter(x) Result(o: x)");
  }
}

// A constant that every iteration reads is one of the body; a state and slices are none.
TEST_F(BranchesOfConstantsTest, ConstantsOfIterations) {
  const auto graph = Fold(R"(  %0 = opset1.Const "k" : f32[1,2] = dense<f32[1,2]: 1.0, 2.0>
  %1 = opset1.Const "rows" : f32[3,2] = dense<f32[3,2]: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0>
  %2 = opset1.Parameter "x" {element_type = f32, shape = [3,2]} : f32[3,2]
  %3:2 = opset1.TensorIterator "t" (%0, %1, %0, %2) : f32[1,2], f32[3,2] bodies {
    "body" input 0 -> 0 input 1 -> 1 slice(axis 0, start 0, end -1, stride 1, part 1) input 2 -> 2 input 3 -> 3 slice(axis 0, start 0, end -1, stride 1, part 1) output 0 -> 0 output 1 -> 1 slice(axis 0, start 0, end -1, stride 1, part 1) back 0 -> 2 graph "step" {
      %0 = opset1.Parameter "fixed" {element_type = f32, shape = [1,2]} : f32[1,2]
      %1 = opset1.Parameter "row" {element_type = f32, shape = [1,2]} : f32[1,2]
      %2 = opset1.Parameter "state" {element_type = f32, shape = [1,2]} : f32[1,2]
      %3 = opset1.Parameter "slice" {element_type = f32, shape = [1,2]} : f32[1,2]
      %4 = opset1.Add "a" (%0, %1) : f32[1,2]
      %5 = opset1.Add "b" (%2, %3) : f32[1,2]
      %6 = opset1.Add "next" (%4, %5) : f32[1,2]
      opset1.Result "last" (%6)
      opset1.Result "each" (%6)
    }
  }
  opset1.Result "y" (%3)
  opset1.Result "z" (%3.1)
)",
                          "middle.BindConstantsInBodies");
  ASSERT_NE(graph, nullptr);
  for (ir::NodeId id : graph->nodes()) {
    if (graph->node(id).bodies().empty()) continue;
    const std::string body = TransformTest::Brief(*graph->node(id).bodies()[0].graph);
    EXPECT_NE(body.find("Add(a: fixed/constant, row) Add(b: state, slice)"), std::string::npos) << body;
  }
}

// Operations with bodies are not merged, even if their inputs are equal: their bodies may differ.
TEST_F(BranchesOfConstantsTest, BranchesAreNotMerged) {
  const auto branch = [](int id, const std::string& name, const std::string& operation) {
    return fmt::format(R"(  %{0} = opset8.If "{1}" (%0, %1) : f32[2] bodies {{
    "then_body" input 1 -> 0 output 0 -> 0 graph "then" {{
      %0 = opset1.Parameter "a" {{element_type = f32, shape = [2]}} : f32[2]
      %1 = opset1.{2} "r" (%0) : f32[2]
      opset1.Result "o" (%1)
    }}
    "else_body" input 1 -> 0 output 0 -> 0 graph "else" {{
      %0 = opset1.Parameter "a" {{element_type = f32, shape = [2]}} : f32[2]
      opset1.Result "o" (%0)
    }}
  }}
)",
                       id, name, operation);
  };
  const auto graph = Fold(R"(  %0 = opset1.Parameter "c" {element_type = boolean, shape = []} : boolean[]
  %1 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
)" + branch(2, "i", "Sin") + branch(3, "j", "Cos") +
                              R"(  %4 = opset1.Add "s" (%2, %3) : f32[2]
  opset1.Result "y" (%4)
)",
                          "middle.MergeEqualNodes");
  ASSERT_NE(graph, nullptr);
  EXPECT_EQ(TransformTest::Brief(*graph),
            "Parameter(c) Parameter(x) If(i: c, x) If(j: c, x) Add(s: i, j) Result(y: s)");
}

// An error in a branch counts if a run executes it.
TEST_F(BranchesOfConstantsTest, AConstantThatABranchRefusesStaysOutside) {
  const auto graph = Fold(R"(  %0 = opset1.Parameter "c" {element_type = boolean, shape = []} : boolean[]
  %1 = opset1.Const "k" : i64[1] = dense<i64[1]: 5>
  %2 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %3 = opset8.If "i" (%0, %1, %2) : f32[...] bodies {
    "then_body" input 1 -> 0 input 2 -> 1 output 0 -> 0 graph "then" {
      %0 = opset1.Parameter "shape" {element_type = i64, shape = [1]} : i64[1]
      %1 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
      %2 = opset1.Reshape "r" (%1, %0) {special_zero = false} : f32[?]
      opset1.Result "o" (%2)
    }
    "else_body" input 2 -> 0 output 0 -> 0 graph "else" {
      %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
      opset1.Result "o" (%0)
    }
  }
  opset1.Result "y" (%3)
)",
                          "middle.BindConstantsInBodies");
  for (ir::NodeId id : graph->nodes()) {
    if (!graph->node(id).Is(ir::OpRole::kIf)) continue;
    EXPECT_EQ(TransformTest::Brief(*graph->node(id).bodies()[0].graph),
              "Parameter(shape) Parameter(x) Reshape(r: x, shape) Result(o: r)");
  }
}

TEST_F(BranchesOfConstantsTest, TheTakenBranchTakesThePlaceAndTheNames) {
  const auto graph = Fold(Branch(Condition(1), "%3", result_), "middle.InlineTakenBranch");
  EXPECT_EQ(TransformTest::Brief(*graph),
            "Parameter(x) ReLU(x_2: x) Const(k) Multiply(i: x_2, k) Result(y: i)");
  EXPECT_EQ(graph->output(graph->node(graph->results()[0]).input(0)).names, (std::vector<std::string>{"t"}));
  EXPECT_EQ(Inline(Branch(Condition(0), "%3", result_)), "Parameter(x) Tanh(i: x) Result(y: i)");
}

TEST_F(BranchesOfConstantsTest, BranchesThatComputeNothing) {
  EXPECT_EQ(Inline(Branch(Condition(1), "%0", sine_)), "Parameter(x) Sin(s: x) Result(y: s)");
  EXPECT_EQ(Inline(Branch(Condition(1), "%2", sine_)), "Parameter(x) Const(i) Sin(s: i) Result(y: s)");
}

TEST_F(BranchesOfConstantsTest, AResultIsNoParameterAndNoConstant) {
  EXPECT_NE(Inline(Branch(Condition(1), "%0", result_)).find("If(i: c, x)"), std::string::npos);
  EXPECT_NE(Inline(Branch(Condition(1), "%2", result_)).find("If(i: c, x)"), std::string::npos);
}

// Two results are computed by two nodes; between other nodes one may serve both.
TEST_F(BranchesOfConstantsTest, ResultsThatWouldBeOneStay) {
  const auto stays = [&](const std::string& second, const std::string& results) {
    return Inline(
               "  %0 = opset1.Parameter \"x\" {element_type = f32, shape = [2]} : f32[2]\n"
               "  %1 = opset1.Const \"c\" : boolean[] = dense<boolean[]: 1>\n"
               "  %2:2 = opset8.If \"i\" (%1, %0) : f32[2], f32[2] bodies {\n"
               "    \"then_body\" input 1 -> 0 output 0 -> 0 output 1 -> 1 graph \"then\" {\n"
               "      %0 = opset1.Parameter \"a\" {element_type = f32, shape = [2]} : f32[2]\n"
               "      %1 = opset1.ReLU \"r\" (%0) : f32[2]\n      %2 = opset1.Abs \"b\" (%0) : f32[2]\n"
               "      opset1.Result \"o\" (%1)\n      opset1.Result \"p\" (" +
               second +
               ")\n    }\n    \"else_body\" input 1 -> 0 output 0 -> 0 output 1 -> 1 graph \"else\" {\n"
               "      %0 = opset1.Parameter \"a\" {element_type = f32, shape = [2]} : f32[2]\n"
               "      %1 = opset1.Tanh \"t\" (%0) : f32[2]\n      %2 = opset1.Exp \"e\" (%0) : f32[2]\n"
               "      opset1.Result \"o\" (%1)\n      opset1.Result \"p\" (%2)\n    }\n  }\n" +
               results)
               .find("If(i:") != std::string::npos;
  };
  const std::string both = "  opset1.Result \"y\" (%2)\n  opset1.Result \"z\" (%2.1)\n";
  EXPECT_FALSE(stays("%2", both));
  EXPECT_TRUE(stays("%1", both));
  EXPECT_TRUE(stays("%0", both));
  const std::string sum = "  %3 = opset1.Add \"s\" (%2, %2.1) : f32[2]\n  opset1.Result \"y\" (%3)\n";
  for (const char* second : {"%0", "%1", "%2"}) EXPECT_FALSE(stays(second, sum)) << second;
}

TEST_F(BranchesOfConstantsTest, ConditionsOfARunStay) {
  const std::string parameter =
      "  %1 = opset1.Parameter \"c\" {element_type = boolean, shape = [1]} : boolean[1]\n";
  EXPECT_NE(Inline(Branch(parameter, "%3", result_)).find("If(i: c, x)"), std::string::npos);
}

TEST_F(BranchesOfConstantsTest, NestedBranchesFollow) {
  const auto graph = Fold(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.Const "c" : boolean[] = dense<boolean[]: 1>
  %2 = opset8.If "i" (%1, %0, %1) : f32[2] bodies {
    "then_body" input 1 -> 0 input 2 -> 1 output 0 -> 0 graph "then" {
      %0 = opset1.Parameter "a" {element_type = f32, shape = [2]} : f32[2]
      %1 = opset1.Parameter "c" {element_type = boolean, shape = []} : boolean[]
      %2 = opset1.LogicalNot "not" (%1) : boolean[]
      %3 = opset8.If "j" (%2, %0) : f32[2] bodies {
        "then_body" input 1 -> 0 output 0 -> 0 graph "then" {
          %0 = opset1.Parameter "a" {element_type = f32, shape = [2]} : f32[2]
          %1 = opset1.Cos "c" (%0) : f32[2]
          opset1.Result "o" (%1)
        }
        "else_body" input 1 -> 0 output 0 -> 0 graph "else" {
          %0 = opset1.Parameter "a" {element_type = f32, shape = [2]} : f32[2]
          %1 = opset1.Sin "s" (%0) : f32[2]
          opset1.Result "o" (%1)
        }
      }
      opset1.Result "o" (%3)
    }
    "else_body" input 1 -> 0 output 0 -> 0 graph "else" {
      %0 = opset1.Parameter "b" {element_type = f32, shape = [2]} : f32[2]
      opset1.Result "o" (%0)
    }
  }
  opset1.Result "y" (%2)
)",
                          "middle.InlineTakenBranch");
  // The evaluator returns true for the negation.
  EXPECT_EQ(TransformTest::Brief(*graph), "Parameter(x) Cos(i: x) Result(y: i)");
}

TEST_F(BranchesOfConstantsTest, StatesOfTheTakenBranchGoOn) {
  std::string text = Branch(Condition(1), "%3", result_);
  const std::string before = "      opset1.Result \"o\" (%3)\n";
  text.insert(text.find(before) + before.size(), "      sinks (%6)\n");
  text.insert(
      text.find(before),
      "      %4 = opset6.ReadValue \"read\" (%2) {variable_id = \"v\", variable_type = f32, variable_shape "
      "= shape[2]} : f32[2]\n"
      "      %5 = opset1.Add \"next\" (%4, %3) : f32[2]\n"
      "      %6 = opset6.Assign \"set\" (%5) {variable_id = \"v\"} : f32[2]\n");
  const auto graph = Fold(text, "middle.InlineTakenBranch");
  EXPECT_EQ(graph->sinks().size(), 1u);
  const std::string brief = TransformTest::Brief(*graph);
  EXPECT_NE(brief.find("ReadValue(read: k)"), std::string::npos) << brief;
  EXPECT_NE(brief.find("Assign(set: next)"), std::string::npos) << brief;
}

}  // namespace
}  // namespace nnefc::transform
