// Corners of If and Loop: conditions, missing kernels in bodies, results of unknown shapes.

#include "compiler/ir/text/text.h"
#include "compiler/support/context.h"
#include "compiler/support/tensor/packed_elements.h"
#include "fmt/core.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine {
namespace {

std::shared_ptr<ir::Graph> Parsed(const std::string& text) {
  Context context;
  std::shared_ptr<ir::Graph> graph =
      ir::ParseGraph(context.sources.AddText("graph", text), TestRegistry(), context);
  EXPECT_NE(graph, nullptr) << Messages(context.emitter) << text;
  return graph;
}

// Returns the errors of planning.
std::string PlanErrors(const std::string& text) {
  Emitter emitter;
  (void)Executable::Create(Parsed(text), {}, emitter);
  return Messages(emitter);
}

// An If with a condition of the type `condition`. Its bodies negate and double x.
std::string IfOf(const std::string& condition, const std::string& negate = "opset1.Negative",
                 const std::string& twice = "opset1.Add \"add\" (%0, %0)") {
  return "graph \"net\" {\n  %0 = " + condition +
         "\n  %1 = opset1.Parameter \"x\" {element_type = f32, shape = shape[2]} : f32[2]\n"
         "  %2 = opset8.If \"if\" (%0, %1) : f32[2] bodies {\n"
         "    \"then_body\" input 1 -> 0 output 0 -> 0 graph \"then\" {\n"
         "      %0 = opset1.Parameter \"x\" {element_type = f32, shape = shape[2]} : f32[2]\n"
         "      %1 = " +
         negate +
         " \"negate\" (%0) : f32[2]\n      opset1.Result \"r\" (%1)\n    }\n"
         "    \"else_body\" input 1 -> 0 output 0 -> 0 graph \"else\" {\n"
         "      %0 = opset1.Parameter \"x\" {element_type = f32, shape = shape[2]} : f32[2]\n"
         "      %1 = " +
         twice +
         " : f32[2]\n      opset1.Result \"r\" (%1)\n    }\n  }\n"
         "  opset1.Result \"y\" (%2)\n}";
}

// An If with the condition `condition`, a node %0 of the parameters %5, %6 and %7 and the constants %8 and
// %9.
std::string ReplacedCondition(const std::string& condition) {
  std::string text = IfOf("CONDITION");
  const std::string line = "%0 = CONDITION";
  return text.replace(text.find(line), line.size(),
                      R"(%5 = opset1.Parameter "flags" {element_type = boolean, shape = shape[3]} : boolean[3]
  %6 = opset1.Parameter "start" {element_type = i64, shape = shape[1]} : i64[1]
  %7 = opset1.Parameter "stop" {element_type = i64, shape = shape[1]} : i64[1]
  %8 = opset1.Const "step" : i64[1] = dense<i64[1]: 1>
  %9 = opset1.Const "axis" : i64[1] = dense<i64[1]: 0>
  )" + condition);
}

// If-8: the condition is one element of rank 0 or 1.
TEST(IfConditionTest, OneElementOfTheRun) {
  const auto executable = Compile(
      Parsed(IfOf(R"(opset1.Parameter "cond" {element_type = boolean, shape = [...]} : boolean[...])")), {});
  ASSERT_NE(executable, nullptr);
  const auto session = Session::Create(executable);
  const TensorValue x = TensorValue::FromFloats({2}, {1, -3});
  for (const Shape& shape : {Shape{}, Shape{1}}) {
    for (const uint8_t condition : {0, 1}) {
      const auto outputs = session->Run({TensorValue::FromBools(shape, {condition}), x});
      ASSERT_TRUE(outputs.ok()) << outputs.error().message;
      EXPECT_EQ((*outputs)[0], TensorValue::FromFloats({2}, condition != 0 ? std::vector<float>{-1, 3}
                                                                           : std::vector<float>{2, -6}));
    }
  }
  const auto mistake = [&](const Shape& shape, const std::vector<uint8_t>& values) {
    const auto outputs = session->Run({TensorValue::FromBools(shape, values), x});
    return outputs.ok() ? "no mistake" : outputs.error().message;
  };
  EXPECT_EQ(mistake({2}, {1, 1}), "`cond` of `if` (If) has the shape [2]; expected one element");
  EXPECT_EQ(mistake({0}, {}), "`cond` of `if` (If) has the shape [0]; expected one element");
  EXPECT_EQ(mistake({1, 2}, {1, 1}), "`cond` of `if` (If) has rank 2; expected 0 or 1");
}

// The number of elements of the condition is a result of the run.
TEST(IfConditionTest, PartsOfAList) {
  const std::string text = ReplacedCondition(R"(%0 = opset8.Slice "part" (%5, %6, %7, %8, %9) : boolean[?])");
  const auto executable = Compile(Parsed(text), {});
  ASSERT_NE(executable, nullptr);
  const auto session = Session::Create(executable);
  const TensorValue x = TensorValue::FromFloats({2}, {1, -3});
  const auto run = [&](int64_t start, int64_t stop) {
    return session->Run({TensorValue::FromBools({3}, {1, 0, 1}), TensorValue::FromInts({1}, {start}),
                         TensorValue::FromInts({1}, {stop}), x});
  };
  for (const int64_t start : {0, 1, 2}) {
    const auto outputs = run(start, start + 1);
    ASSERT_TRUE(outputs.ok()) << outputs.error().message;
    EXPECT_EQ((*outputs)[0], TensorValue::FromFloats(
                                 {2}, start == 1 ? std::vector<float>{2, -6} : std::vector<float>{-1, 3}));
  }
  for (const int64_t stop : {1, 3}) {
    const auto outputs = run(1, stop);
    ASSERT_FALSE(outputs.ok()) << stop;
    EXPECT_EQ(outputs.error().message, "`if` (If): its condition is boolean[" + std::to_string(stop - 1) +
                                           "]; expected one element of type boolean");
  }
}

// An operation without a kernel is an error in each body that a run may reach.
TEST(IfConditionTest, BodiesWithoutKernels) {
  const std::string parameter =
      R"(opset1.Parameter "cond" {element_type = boolean, shape = shape[]} : boolean[])";
  const auto constant = [](int value) {
    return "opset1.Const \"cond\" : boolean[] = dense<boolean[]: " + std::to_string(value) + ">";
  };
  const std::string no_negate = "`negate` is a `nnef.neg`, which has no kernel\n";
  const std::string no_add = "`add` is a `nnef.add`, which has no kernel\n";
  const std::string add = "nnef.add \"add\" (%0, %0)";
  EXPECT_EQ(PlanErrors(IfOf(parameter)), "");
  EXPECT_EQ(PlanErrors(IfOf(parameter, "nnef.neg")), no_negate);
  EXPECT_EQ(PlanErrors(IfOf(parameter, "opset1.Negative", add)), no_add);
  EXPECT_EQ(PlanErrors(IfOf(constant(1), "nnef.neg")), no_negate);
  EXPECT_EQ(PlanErrors(IfOf(constant(0), "nnef.neg")), "");
  EXPECT_EQ(PlanErrors(IfOf(constant(1), "opset1.Negative", add)), "");
  EXPECT_EQ(PlanErrors(IfOf(constant(0), "opset1.Negative", add)), no_add);
}

// The body of an iteration over a constant zero runs, too.
TEST(BodiesTest, IterationsOverAZero) {
  const std::string text = R"(graph "net" {
  %0 = opset1.Const "zero" : f32[1] = dense<f32[1]: 0.0>
  %1 = opset1.TensorIterator "iterate" (%0) : f32[1] bodies {
    "body" input 0 -> 0 slice(axis 0, start 0, end -1, stride 1, part 1)
           output 0 -> 0 slice(axis 0, start 0, end -1, stride 1, part 1) graph "body" {
      %0 = opset1.Parameter "x" {element_type = f32, shape = shape[1]} : f32[1]
      %1 = nnef.neg "negate" (%0) : f32[1]
      opset1.Result "r" (%1)
    }
  }
  opset1.Result "y" (%1)
})";
  EXPECT_EQ(PlanErrors(text), "`negate` is a `nnef.neg`, which has no kernel\n");
}

// A graph that no inference has checked may have an If without inputs.
TEST(BodiesTest, AnIfWithoutACondition) {
  TestGraph g;
  const ir::NodeId branch =
      ir::AddNode(*g.graph, "opset8", "If", {.name = "if", .inputs = {}, .num_outputs = 1});
  for (const char* role : {"then_body", "else_body"}) {
    auto body = std::make_unique<ir::Graph>(&TestRegistry());
    const std::vector<ir::OutputPort> one = {{ir::AddConst(*body, TensorValue::Scalar(1), "one"), 0}};
    const ir::NodeId negate = ir::AddNode(*body, "nnef", "neg", {.name = role, .inputs = one});
    ir::AddResult(*body, "r", {negate, 0});
    ir::OutputMapping output;
    g.graph->AddBody(branch, {.role = role, .graph = std::move(body), .outputs = {output}});
  }
  g.graph->SetOutputType({branch, 0}, ElementType::kF32, ir::PartialShape::OfRank(0));
  g.Result({branch, 0});
  Emitter emitter;
  EXPECT_EQ(Executable::Create(g.graph, {}, emitter), nullptr);
  EXPECT_EQ(Messages(emitter),
            "`else_body` is a `nnef.neg`, which has no kernel\n"
            "`then_body` is a `nnef.neg`, which has no kernel\n");
}

// A cycle is an error in the graph and in its bodies.
TEST(GraphsWithCyclesTest, AreRefused) {
  for (const bool is_in_body : {false, true}) {
    const std::shared_ptr<ir::Graph> graph =
        Parsed(IfOf("opset1.Parameter \"cond\" {element_type = boolean, shape = shape[]} : boolean[]"));
    ASSERT_NE(graph, nullptr);
    const ir::NodeId branch = graph->node(graph->results()[0]).input(0).node;
    ir::Graph& changed = is_in_body ? *graph->body(branch, 0).graph : *graph;
    const ir::OutputPort last = changed.node(changed.results()[0]).input(0);
    changed.SetInput(last.node, is_in_body ? 0 : 1, last);
    Emitter emitter;
    EXPECT_EQ(Executable::Create(graph, {}, emitter), nullptr);
    EXPECT_EQ(Messages(emitter),
              is_in_body ? "the graph of a body has a cycle\n" : "the graph has a cycle\n");
  }
}

// A constant condition selects a branch when the graph is planned, or without transformations when it runs.
TEST(IfConditionTest, ConstantConditions) {
  for (const bool transforms : {false, true}) {
    for (const bool negates : {false, true}) {
      const std::string condition =
          fmt::format("opset1.Const \"cond\" : boolean[] = dense<boolean[]: {}>", negates ? 1 : 0);
      ExecutableOptions options;
      if (transforms) options.transform = StandardTransformer();
      Emitter emitter;
      const auto executable = Executable::Create(Parsed(IfOf(condition)), options, emitter);
      ASSERT_NE(executable, nullptr) << Messages(emitter);
      EXPECT_EQ(executable->DescribePlan().find(" If ") == std::string::npos, transforms);
      const auto outputs = Session::Create(executable)->Run({TensorValue::FromFloats({2}, {1, -3})});
      ASSERT_TRUE(outputs.ok());
      EXPECT_EQ((*outputs)[0].ElementAsDouble(0), negates ? -1 : 2);
      EXPECT_EQ((*outputs)[0].ElementAsDouble(1), negates ? 3 : -6);
    }
  }
}

// Returns the errors of planning with transformations, which inline a selected branch.
std::string ErrorsWithTransformations(const std::string& text) {
  Emitter emitter;
  (void)Executable::Create(Parsed(text), {.transform = StandardTransformer()}, emitter);
  return Messages(emitter);
}

// The graph is evaluated again after its selected branch is inlined: each failure is reported once.
TEST(SelectedBranchTest, FailuresOfConstants) {
  std::string text = IfOf("opset1.Const \"cond\" : boolean[] = dense<boolean[]: 1>");
  const std::string end = "  opset1.Result \"y\" (%2)\n}";
  text.replace(text.find(end), end.size(), R"(
  %3 = opset1.Const "data" : f32[4] = dense<f32[4]: 1, 2, 3, 4>
  %4 = opset1.Const "indices" : i64[2] = dense<i64[2]: 1, 7>
  %5 = opset1.Const "axis" : i64[] = dense<i64[]: 0>
  %6 = opset8.Gather "gather" (%3, %4, %5) {batch_dims = 0} : f32[2]
  %7 = opset1.Add "sum" (%2, %6) : f32[2]
  opset1.Result "y" (%7)
})");
  EXPECT_EQ(ErrorsWithTransformations(text), "`gather` (Gather): index 7 is outside an axis of extent 4\n");
}

// An If that reshapes x to an extent that is known after evaluation of the branch: 6. Tensors with two other
// extents are added to the result.
std::string AddedToReshape(int first, int second) {
  return fmt::format(R"(graph "net" {{
  %0 = opset1.Const "cond" : boolean[] = dense<boolean[]: 1>
  %1 = opset1.Parameter "x" {{element_type = f32, shape = shape[6]}} : f32[6]
  %2 = opset8.If "if" (%0, %1) : f32[...] bodies {{
    "then_body" input 1 -> 0 output 0 -> 0 graph "then" {{
      %0 = opset1.Parameter "x" {{element_type = f32, shape = shape[6]}} : f32[6]
      %1 = opset1.Const "square" : f32[1] = dense<f32[1]: 36>
      %2 = opset1.Sqrt "root" (%1) : f32[1]
      %3 = opset1.Convert "extent" (%2) {{destination_type = i64}} : i64[1]
      %4 = opset1.Reshape "reshape" (%0, %3) {{special_zero = false}} : f32[?]
      opset1.Result "r" (%4)
    }}
    "else_body" input 1 -> 0 output 0 -> 0 graph "else" {{
      %0 = opset1.Parameter "x" {{element_type = f32, shape = shape[6]}} : f32[6]
      opset1.Result "r" (%0)
    }}
  }}
  %3 = opset1.Parameter "y" {{element_type = f32, shape = shape[{0}]}} : f32[{0}]
  %4 = opset1.Parameter "z" {{element_type = f32, shape = shape[{1}]}} : f32[{1}]
  %5 = opset1.Add "first" (%2, %3) : f32[...]
  %6 = opset1.Add "second" (%2, %4) : f32[...]
  opset1.Result "v" (%5)
  opset1.Result "w" (%6)
}})",
                     first, second);
}

TEST(SelectedBranchTest, AllErrorsOfShapes) {
  const auto error = [](int extent) {
    return fmt::format("`b` of `Add` has the shape [{}], which does not broadcast with [6] (numpy)\n",
                       extent);
  };
  EXPECT_EQ(ErrorsWithTransformations(AddedToReshape(6, 6)), "");
  EXPECT_EQ(ErrorsWithTransformations(AddedToReshape(5, 6)), error(5));
  EXPECT_EQ(ErrorsWithTransformations(AddedToReshape(6, 4)), error(4));
  EXPECT_EQ(ErrorsWithTransformations(AddedToReshape(5, 4)), error(5) + error(4));
}

// Results with shapes that only a run knows: a whole value and a part of it that starts at the same byte,
// with the extents exchanged between the bodies. A whole value is passed on without a copy.
TEST(IfResultsTest, AWholeValueWithItsPart) {
  const auto body = [](const std::string& whole, const std::string& part) {
    return R"({
      %0 = opset1.Parameter "x" {element_type = f32, shape = shape[4]} : f32[4]
      %1 = opset1.Negative "negate" (%0) : f32[4]
      %2 = opset1.Const "axis" : i64[] = dense<i64[]: 0>
      %3:2 = opset1.Split "parts" (%1, %2) {num_splits = 2} : f32[2], f32[2]
      opset1.Result "a" ()" +
           whole + ")\n      opset1.Result \"b\" (" + part + ")\n    }\n";
  };
  const std::string text = R"(graph "net" {
  %0 = opset1.Parameter "cond" {element_type = boolean, shape = shape[]} : boolean[]
  %1 = opset1.Parameter "x" {element_type = f32, shape = shape[4]} : f32[4]
  %2:2 = opset8.If "if" (%0, %1) : f32[...], f32[...] bodies {
    "then_body" input 1 -> 0 output 0 -> 0 output 1 -> 1 graph "then" )" +
                           body("%1", "%3") +
                           R"(    "else_body" input 1 -> 0 output 0 -> 0 output 1 -> 1 graph "else" )" +
                           body("%3.1", "%1") + R"(  }
  opset1.Result "a" (%2)
  opset1.Result "b" (%2.1)
})";
  const TensorValue x = TensorValue::FromFloats({4}, {1, 2, 3, 4});
  const TensorValue whole = TensorValue::FromFloats({4}, {-1, -2, -3, -4});
  for (const kernels::Backend backend : kBackends) {
    const auto executable = Compile(Parsed(text), {.backend = backend});
    ASSERT_NE(executable, nullptr);
    const auto session = Session::Create(executable);
    const auto first = session->Run({TensorValue::FromBools({}, {1}), x});
    ASSERT_TRUE(first.ok()) << first.error().message;
    EXPECT_EQ((*first)[0], whole);
    EXPECT_EQ((*first)[1], TensorValue::FromFloats({2}, {-1, -2}));
    const auto second = session->Run({TensorValue::FromBools({}, {0}), x});
    ASSERT_TRUE(second.ok()) << second.error().message;
    EXPECT_EQ((*second)[0], TensorValue::FromFloats({2}, {-3, -4}));
    EXPECT_EQ((*second)[1], whole);
  }
}

// Runs an If of 1000 numbers with 7000 bytes of memory, which allow one value of 4000 and not two. Its first
// body negates them; `other` are the nodes of the second body after its input, of which %1 is the result.
void ExpectOneValueInMemory(const std::string& result, const std::string& other,
                            const std::vector<bool>& conditions) {
  constexpr const char* kInput =
      "%0 = opset1.Parameter \"x\" {element_type = f32, shape = shape[1000]} : f32[1000]\n";
  const std::string text = fmt::format(R"(graph "net" {{
  %0 = opset1.Parameter "cond" {{element_type = boolean, shape = shape[]}} : boolean[]
  %1 = opset1.Parameter "x" {{element_type = f32, shape = shape[1000]}} : f32[1000]
  %2 = opset8.If "if" (%0, %1) : {} bodies {{
    "then_body" input 1 -> 0 output 0 -> 0 graph "then" {{
      {}
      %1 = opset1.Negative "negate" (%0) : f32[1000]
      opset1.Result "r" (%1)
    }}
    "else_body" input 1 -> 0 output 0 -> 0 graph "else" {{
      {}
      {}
      opset1.Result "r" (%1)
    }}
  }}
  opset1.Result "y" (%2)
}})",
                                       result, kInput, kInput, other);
  const auto executable = Compile(Parsed(text), {.threads = 1, .limits = {.bytes = 7000}});
  ASSERT_NE(executable, nullptr);
  for (const bool condition : conditions) {
    const auto outputs =
        Session::Create(executable)->Run({TensorValue::FromBools({}, {condition}), RandomTensor({1000}, 1)});
    EXPECT_TRUE(outputs.ok()) << outputs.error().message;
  }
}

// A result of an unknown shape is passed on without a copy.
TEST(IfResultsTest, AWholeValueIsNotCopied) {
  ExpectOneValueInMemory("f32[...]", "%1 = opset1.Const \"c\" : f32[1] = dense<f32[1]: 1.0>", {true});
}

// A result of a known shape is written to the output.
TEST(IfResultsTest, AValueIsWrittenToTheOutput) {
  ExpectOneValueInMemory("f32[1000]", "%1 = opset1.Abs \"abs\" (%0) : f32[1000]", {false, true});
}

// Elements of 4 bits are computed as bytes: the branches reshape them to an extent that only a run knows.
TEST(IfResultsTest, PackedElements) {
  const std::vector<std::byte> codes = {std::byte{1}, std::byte{2}, std::byte{3},
                                        std::byte{7}, std::byte{0}, std::byte{5}};
  for (const auto& [name, type] : {std::pair("i4", ElementType::kI4), {"u4", ElementType::kU4}}) {
    const auto body = [&](const char* role) {
      return fmt::format(R"(
    "{1}_body" input 1 -> 0 input 2 -> 1 output 0 -> 0 graph "{1}" {{
      %0 = opset1.Parameter "x" {{element_type = {0}, shape = shape[6]}} : {0}[6]
      %1 = opset1.Parameter "extents" {{element_type = i64, shape = shape[2]}} : i64[2]
      %2 = opset1.Reshape "r" (%0, %1) {{special_zero = false}} : {0}[?,?]
      opset1.Result "r" (%2)
    }})",
                         name, role);
    };
    const std::string text = fmt::format(R"(graph "net" {{
  %0 = opset1.Parameter "cond" {{element_type = boolean, shape = shape[]}} : boolean[]
  %1 = opset1.Parameter "x" {{element_type = {0}, shape = shape[6]}} : {0}[6]
  %2 = opset1.Parameter "extents" {{element_type = i64, shape = shape[2]}} : i64[2]
  %3 = opset8.If "if" (%0, %1, %2) : {0}[?,?] bodies {{{1}{2}
  }}
  opset1.Result "y" (%3)
}})",
                                         name, body("then"), body("else"));
    for (const kernels::Backend backend : kBackends) {
      const auto executable = Compile(Parsed(text), {.backend = backend});
      ASSERT_NE(executable, nullptr);
      const auto session = Session::Create(executable);
      for (const bool condition : {true, false}) {
        const auto outputs =
            session->Run({TensorValue::FromBools({}, {condition}), PackCodes(type, {6}, codes.data()),
                          TensorValue::FromInts({2}, {3, 2})});
        ASSERT_TRUE(outputs.ok()) << outputs.error().message;
        EXPECT_EQ((*outputs)[0], PackCodes(type, {3, 2}, codes.data())) << name << condition;
      }
    }
  }
}

// A result of one byte, whose step has an operand of an extent that only a run knows.
TEST(DynamicResultsTest, OneByte) {
  const std::string text = R"(graph "net" {
  %0 = opset1.Parameter "x" {element_type = f32, shape = shape[1]} : f32[1]
  %1 = opset1.Parameter "extent" {element_type = i64, shape = shape[1]} : i64[1]
  %2 = opset3.Broadcast "wide" (%0, %1) {mode = "numpy"} : f32[?]
  %3 = opset1.Const "zero" : f32[] = dense<f32[]: 0.0>
  %4 = opset1.Greater "greater" (%2, %3) {auto_broadcast = "numpy"} : boolean[?]
  %5 = opset1.Const "axes" : i64[1] = dense<i64[1]: 0>
  %6 = opset1.ReduceLogicalAnd "all" (%4, %5) {keep_dims = false} : boolean[]
  opset1.Result "y" (%6)
})";
  for (const kernels::Backend backend : kBackends) {
    const auto executable = Compile(Parsed(text), {.backend = backend});
    ASSERT_NE(executable, nullptr);
    const auto session = Session::Create(executable);
    for (const float x : {1.0F, -1.0F, 2.0F, -2.0F}) {
      const auto outputs = session->Run({TensorValue::FromFloats({1}, {x}), TensorValue::FromInts({1}, {5})});
      ASSERT_TRUE(outputs.ok()) << outputs.error().message;
      EXPECT_EQ((*outputs)[0], TensorValue::FromBools({}, {x > 0})) << x;
    }
  }
}

// The parts of a concatenation are written to their places: 11000 bytes of memory allow the whole of 8000,
// but no part of 4000 next to it.
TEST(LoopResultsTest, PartsAreWrittenToTheWhole) {
  const std::string text = R"(graph "net" {
  %0 = opset1.Const "trips" : i64[] = dense<i64[]: 2>
  %1 = opset1.Const "go" : boolean[] = dense<boolean[]: 1>
  %2 = opset1.Parameter "x" {element_type = f32, shape = shape[1,1000]} : f32[1,1000]
  %3 = opset5.Loop "loop" (%0, %1, %2) : f32[2,1000] bodies {
    "body" input 2 -> 0 output -1 -> 1 output 0 -> 0 slice(axis 0, start 0, end -1, stride 1, part 1) graph "body" {
      %0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,1000]} : f32[1,1000]
      %1 = opset1.Negative "negate" (%0) : f32[1,1000]
      %2 = opset1.Const "go" : boolean[] = dense<boolean[]: 1>
      opset1.Result "r" (%1)
      opset1.Result "go" (%2)
    }
  }
  opset1.Result "y" (%3)
})";
  const auto executable = Compile(Parsed(text), {.threads = 1, .limits = {.bytes = 11000}});
  ASSERT_NE(executable, nullptr);
  const TensorValue x = RandomTensor({1, 1000}, 1);
  const auto outputs = Session::Create(executable)->Run({x});
  ASSERT_TRUE(outputs.ok()) << outputs.error().message;
  for (int64_t i = 0; i < 2000; ++i)
    EXPECT_EQ((*outputs)[0].ElementAsDouble(i), -x.ElementAsDouble(i % 1000)) << i;
}

// Each iteration concatenates positions of nonzero elements, whose number only the iteration knows. `parts`
// is the rank of x, and the trip count is known in advance.
TEST(LoopResultsTest, PartsOfUnknownShapes) {
  const std::string text = R"(graph "net" {
  %0 = opset1.Parameter "trips" {element_type = i64, shape = shape[]} : i64[]
  %1 = opset1.Const "go" : boolean[] = dense<boolean[]: 1>
  %2 = opset1.Parameter "x" {element_type = f32, shape = shape[2,3]} : f32[2,3]
  %3 = opset5.Loop "loop" (%0, %1, %2) : i64[...] bodies {
    "body" input 2 -> 0 output -1 -> 1
           output 0 -> 0 slice(axis 0, start 0, end -1, stride 2, part 2) graph "body" {
      %0 = opset1.Parameter "x" {element_type = f32, shape = shape[2,3]} : f32[2,3]
      %1 = opset1.Const "again" : boolean[] = dense<boolean[]: 1>
      %2 = opset3.NonZero "positions" (%0) {output_type = i64} : i64[2,?]
      opset1.Result "r" (%2)
      opset1.Result "go" (%1)
    }
  }
  opset1.Result "y" (%3)
})";
  const TensorValue x = TensorValue::FromFloats({2, 3}, {0, 5, 0, 1, 0, 7});
  const std::vector<int64_t> rows = {0, 1, 1}, columns = {1, 0, 2};
  for (const kernels::Backend backend : kBackends) {
    const auto executable = Compile(Parsed(text), {.backend = backend});
    ASSERT_NE(executable, nullptr);
    const auto session = Session::Create(executable);
    for (const int64_t trips : {1, 2, 3}) {
      std::vector<int64_t> expected;
      for (int64_t i = 0; i < trips; ++i) {
        expected.insert(expected.end(), rows.begin(), rows.end());
        expected.insert(expected.end(), columns.begin(), columns.end());
      }
      const auto outputs = session->Run({TensorValue::FromInts({}, {trips}), x});
      ASSERT_TRUE(outputs.ok()) << outputs.error().message;
      EXPECT_EQ((*outputs)[0], TensorValue::FromInts({2 * trips, 3}, expected));
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
