// Effects of the built-in transformations, and graphs that they do not change.

#include "fmt/core.h"
#include "llvm/ADT/STLExtras.h"
#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform {
namespace {

// ---- descriptions ----

TEST_F(BuiltInTest, EachHasADescriptionAndAnExampleOnWhichItActs) {
  const TransformationList list = StandardTransformations();
  Emitter emitter;
  const auto order = list.Order(emitter);
  ASSERT_TRUE(order.has_value());
  for (const Transformation* item : *order) {
    if (item->is_anchor()) continue;
    EXPECT_TRUE(item->Description().ends_with(".")) << item->name();
    if (item->name().ends_with("::CheckForCycle")) continue;  // no text form can express a cycle
    const auto graph = Parse(std::string(item->Example()), item->ExampleOperations());
    ASSERT_NE(graph, nullptr) << item->name();
    const std::string before = ir::PrintGraph(*graph);
    EXPECT_EQ(
        Run(list, *graph, SideOf(item->phase()), {.only = {item->name()}, .evaluate = EvaluateFunction}), "");
    graph->EraseDeadNodes();
    EXPECT_NE(ir::PrintGraph(*graph), before) << item->name();
  }
}

// ---- sets ----

// A plug-in's operation may have the name of an OpenVINO operation.
TEST_F(BuiltInTest, OperationsOfOtherSetsRemain) {
  ir::OpRegistry registry(&ir::StandardOps());
  registry.Add({.set = "acme",
                .name = "Transpose",
                .inputs = {{.name = "data"}, {.name = "order"}},
                .outputs = {"output"}});
  const auto after = [&](const std::string& set) {
    const std::string body = fmt::format(R"(graph "g" {{
  %0 = opset1.Parameter "x" {{element_type = f32, shape = [2,3,4]}} : f32[2,3,4]
  %1 = opset1.Const "a" : i64[3] = dense<i64[3]: 1, 2, 0>
  %2 = {0}.Transpose "t" (%0, %1) : f32[3,4,2]
  %3 = opset1.Const "b" : i64[3] = dense<i64[3]: 0, 2, 1>
  %4 = {0}.Transpose "u" (%2, %3) : f32[3,2,4]
  opset1.Result "y" (%4)
}}
)",
                                         set);
    const auto graph = ir::ParseGraph(context_.sources.AddText("graph", body), registry, context_);
    if (graph == nullptr) return std::string("no graph");
    const TransformationList list = StandardTransformations();
    EXPECT_EQ(Run(list, *graph, Side::kAfterLowering, {.only = {"middle.FuseTransposesSequence"}}), "");
    graph->EraseDeadNodes();
    return std::to_string(llvm::count_if(
               graph->nodes(), [&](ir::NodeId id) { return graph->node(id).type() == "Transpose"; })) +
           " transpositions";
  };
  EXPECT_EQ(after("opset1"), "1 transpositions");
  EXPECT_EQ(after("acme"), "2 transpositions");
}

// ---- identities ----

TEST_F(BuiltInTest, IdentitiesAreRemoved) {
  const std::string identity = "middle.RemoveIdentity";
  const std::string bare = "Parameter(x) ReLU(r: x) Sin(s: r) Result(y: s)";
  const auto around = [&](const std::string& body) {
    return Body(identity, "  %1 = opset1.ReLU \"r\" (%0) : f32[2,3,4]\n" + body +
                              "  %9 = opset1.Sin \"s\" (%8) : f32[2,3,4]\n");
  };
  EXPECT_EQ(around("  %8 = opset1.Convert \"c\" (%1) {destination_type = f32} : f32[2,3,4]\n"), bare);
  EXPECT_EQ(around("  %2 = opset1.Const \"k\" : i64[3] = dense<i64[3]: 2, 3, 4>\n"
                   "  %8 = opset1.Reshape \"v\" (%1, %2) {special_zero = false} : f32[2,3,4]\n"),
            bare);
  EXPECT_EQ(around("  %2 = opset1.Const \"k\" : i64[3] = dense<i64[3]: 0, 1, 2>\n"
                   "  %8 = opset1.Transpose \"t\" (%1, %2) : f32[2,3,4]\n"),
            bare);
  EXPECT_EQ(around("  %2 = opset1.Const \"k\" : i64[3] = dense<i64[3]: 0, 0, 0>\n"
                   "  %8 = opset1.Pad \"p\" (%1, %2, %2) {pad_mode = \"reflect\"} : f32[2,3,4]\n"),
            bare);
  EXPECT_EQ(around("  %8 = opset1.Concat \"c\" (%1) {axis = 0} : f32[2,3,4]\n"), bare);
  EXPECT_EQ(around("  %2 = opset1.Const \"k\" : i64[] = dense<i64[]: 1>\n"
                   "  %8 = opset1.Split \"p\" (%1, %2) {num_splits = 1} : f32[2,3,4]\n"),
            bare);
  EXPECT_EQ(around("  %2 = opset1.Const \"k\" : i64[3] = dense<i64[3]: 2, 3, 4>\n"
                   "  %8 = opset3.Broadcast \"b\" (%1, %2) {mode = \"numpy\"} : f32[2,3,4]\n"),
            bare);
  EXPECT_EQ(around("  %2 = opset1.Const \"k\" : i64[3] = dense<i64[3]: 1, 1, 1>\n"
                   "  %8 = opset1.Tile \"t\" (%1, %2) : f32[2,3,4]\n"),
            bare);
  EXPECT_EQ(around("  %2 = opset1.Const \"k\" : f32[] = dense<f32[]: 1.0>\n"
                   "  %8 = opset1.Multiply \"m\" (%1, %2) : f32[2,3,4]\n"),
            bare);
  EXPECT_EQ(around("  %2 = opset1.Const \"k\" : f32[] = dense<f32[]: 1.0>\n"
                   "  %8 = opset1.Divide \"m\" (%1, %2) : f32[2,3,4]\n"),
            bare);
  EXPECT_EQ(around("  %2 = opset1.Const \"k\" : f32[] = dense<f32[]: 0.0>\n"
                   "  %8 = opset1.Subtract \"m\" (%1, %2) : f32[2,3,4]\n"),
            bare);
}

TEST_F(BuiltInTest, WhatIsNearlyAnIdentityStays) {
  const std::string identity = "middle.RemoveIdentity";
  // x + 0 is 0 for -0, and so is x - -0.
  EXPECT_EQ(Body(identity,
                 "  %2 = opset1.Const \"k\" : f32[] = dense<f32[]: 0.0>\n"
                 "  %8 = opset1.Add \"a\" (%0, %2) : f32[2,3,4]\n"
                 "  %9 = opset1.Sin \"s\" (%8) : f32[2,3,4]\n"),
            "Parameter(x) Const(k) Add(a: x, k) Sin(s: a) Result(y: s)");
  EXPECT_EQ(Body(identity,
                 "  %2 = opset1.Const \"k\" : f32[] = dense<f32[]: -0.0>\n"
                 "  %8 = opset1.Subtract \"a\" (%0, %2) : f32[2,3,4]\n"
                 "  %9 = opset1.Sin \"s\" (%8) : f32[2,3,4]\n"),
            "Parameter(x) Const(k) Subtract(a: x, k) Sin(s: a) Result(y: s)");
  // The number broadcasts the tensor to another shape.
  EXPECT_EQ(Body(identity,
                 "  %2 = opset1.Const \"k\" : f32[1,1,1,1] = dense<f32[1,1,1,1]: 1.0>\n"
                 "  %8 = opset1.Multiply \"m\" (%0, %2) : f32[1,2,3,4]\n"
                 "  %9 = opset1.Sin \"s\" (%8) : f32[1,2,3,4]\n"),
            "Parameter(x) Const(k) Multiply(m: x, k) Sin(s: m) Result(y: s)");
  // Equal extents in another order.
  EXPECT_EQ(After(identity, R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [3,3]} : f32[3,3]
  %1 = opset1.Const "k" : i64[2] = dense<i64[2]: 1, 0>
  %2 = opset1.Transpose "t" (%0, %1) : f32[3,3]
  %3 = opset1.Sin "s" (%2) : f32[3,3]
  opset1.Result "y" (%3)
)"),
            "Parameter(x) Const(k) Transpose(t: x, k) Sin(s: t) Result(y: s)");
  // A result that would become a parameter.
  EXPECT_EQ(Body(identity, "  %9 = opset1.Convert \"c\" (%0) {destination_type = f32} : f32[2,3,4]\n"),
            "Parameter(x) Convert(c: x) Result(y: c)");
}

TEST_F(BuiltInTest, NamesOfTensorsGoOn) {
  const TransformationList list = StandardTransformations();
  const auto graph = Parse(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.ReLU "r" (%0) : f32[2] as ["inner"]
  %2 = opset1.Convert "c" (%1) {destination_type = f32} : f32[2] as ["outer"]
  opset1.Result "y" (%2)
)");
  EXPECT_EQ(Run(list, *graph, Side::kAfterLowering, {.only = {"middle.RemoveIdentity"}}), "");
  EXPECT_EQ(Brief(*graph), "Parameter(x) ReLU(r: x) Result(y: r)");
  EXPECT_EQ(graph->output(graph->node(graph->results()[0]).input(0)).names,
            (std::vector<std::string>{"inner", "outer"}));
}

TEST_F(BuiltInTest, TransposesInARow) {
  const std::string name = "middle.FuseTransposesSequence";
  const TransformationList list = StandardTransformations();
  const auto graph = Parse(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2,3,4]} : f32[2,3,4]
  %1 = opset1.Const "a" : i64[3] = dense<i64[3]: 1, 2, 0>
  %2 = opset1.Transpose "t" (%0, %1) : f32[3,4,2]
  %3 = opset1.Const "b" : i64[3] = dense<i64[3]: 0, 2, 1>
  %4 = opset1.Transpose "u" (%2, %3) : f32[3,2,4]
  opset1.Result "y" (%4)
)");
  EXPECT_EQ(Run(list, *graph, Side::kAfterLowering, {.only = {name, "middle.RemoveUnneeded"}}), "");
  EXPECT_EQ(Brief(*graph), "Parameter(x) Const(u/order) Transpose(u: x, u/order) Result(y: u)");
  Graph view(*graph);
  EXPECT_EQ(view.FindNode("u")->in_port(1).value(), TensorValue::FromInts({3}, {1, 0, 2}));
  // Two nodes that undo each other; the identity between them is also removed.
  const auto both = Parse(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2,3,4]} : f32[2,3,4]
  %1 = opset1.Const "a" : i64[3] = dense<i64[3]: 1, 2, 0>
  %2 = opset1.Transpose "t" (%0, %1) : f32[3,4,2]
  %3 = opset1.Const "b" : i64[3] = dense<i64[3]: 2, 0, 1>
  %4 = opset1.Transpose "u" (%2, %3) : f32[2,3,4]
  %5 = opset1.ReLU "r" (%4) : f32[2,3,4]
  opset1.Result "y" (%5)
)");
  EXPECT_EQ(Run(list, *both, Side::kAfterLowering,
                {.only = {name, "middle.RemoveIdentity", "middle.RemoveUnneeded"}}),
            "");
  EXPECT_EQ(Brief(*both), "Parameter(x) ReLU(r: x) Result(y: r)");
}

TEST_F(BuiltInTest, TransposesOfUnknownOrderStay) {
  const std::string text = R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2,3]} : f32[2,3]
  %1 = opset1.Parameter "a" {element_type = i64, shape = [2]} : i64[2]
  %2 = opset1.Transpose "t" (%0, %1) : f32[?,?]
  %3 = opset1.Const "b" : i64[2] = dense<i64[2]: 1, 0>
  %4 = opset1.Transpose "u" (%2, %3) : f32[?,?]
  opset1.Result "y" (%4)
)";
  EXPECT_EQ(After("middle.FuseTransposesSequence", text),
            "Parameter(x) Parameter(a) Transpose(t: x, a) Const(b) Transpose(u: t, b) Result(y: u)");
  const std::string second = R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2,3]} : f32[2,3]
  %1 = opset1.Parameter "a" {element_type = i64, shape = [2]} : i64[2]
  %2 = opset1.Const "b" : i64[2] = dense<i64[2]: 1, 0>
  %3 = opset1.Transpose "t" (%0, %2) : f32[3,2]
  %4 = opset1.Transpose "u" (%3, %1) : f32[?,?]
  opset1.Result "y" (%4)
)";
  EXPECT_EQ(After("middle.FuseTransposesSequence", second),
            "Parameter(x) Parameter(a) Const(b) Transpose(t: x, b) Transpose(u: t, a) Result(y: u)");
  // An empty order reverses the axes.
  const auto orders = [](const std::string& first, const std::string& second) {
    return R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2,2,2]} : f32[2,2,2]
  %1 = opset1.Const "a" : )" +
           first + R"(
  %2 = opset1.Transpose "t" (%0, %1) : f32[2,2,2]
  %3 = opset1.Const "b" : )" +
           second + R"(
  %4 = opset1.Transpose "u" (%2, %3) : f32[2,2,2]
  opset1.Result "y" (%4)
)";
  };
  const std::string reversed = "i64[0] = dense<i64[0]:>", turned = "i64[3] = dense<i64[3]: 1, 2, 0>";
  for (const auto& [first, second] :
       {std::pair(reversed, turned), std::pair(turned, reversed), std::pair(reversed, reversed)}) {
    EXPECT_EQ(After("middle.FuseTransposesSequence", orders(first, second)),
              "Parameter(x) Const(a) Transpose(t: x, a) Const(b) Transpose(u: t, b) Result(y: u)");
  }
}

TEST_F(BuiltInTest, ViewsInARow) {
  EXPECT_EQ(Body("middle.FuseReshapesSequence",
                 "  %1 = opset1.Const \"a\" : i64[2] = dense<i64[2]: 6, 4>\n"
                 "  %2 = opset1.Reshape \"v\" (%0, %1) {special_zero = false} : f32[6,4]\n"
                 "  %3 = opset1.Const \"b\" : i64[1] = dense<i64[1]: 0>\n"
                 "  %9 = opset1.Unsqueeze \"w\" (%2, %3) : f32[1,6,4]\n"),
            "Parameter(x) Const(w/shape) Reshape(w: x, w/shape) Result(y: w)");
  EXPECT_EQ(Body("middle.FuseReshapesSequence",
                 "  %1 = opset1.Const \"a\" : i64[2] = dense<i64[2]: 6, 4>\n"
                 "  %2 = opset1.Reshape \"v\" (%0, %1) {special_zero = false} : f32[6,4]\n"
                 "  %3 = opset1.ReLU \"r\" (%2) : f32[6,4]\n"
                 "  %4 = opset1.Const \"b\" : i64[1] = dense<i64[1]: 0>\n"
                 "  %9 = opset1.Unsqueeze \"w\" (%3, %4) : f32[1,6,4]\n"),
            "Parameter(x) Const(a) Reshape(v: x, a) ReLU(r: v) Const(b) Unsqueeze(w: r, b) Result(y: w)");
  EXPECT_EQ(Body("middle.FuseReshapesSequence",
                 "  %1 = opset1.Const \"n\" : i64[3] = dense<i64[3]: 0, 1, 2>\n"
                 "  %2 = opset1.ReduceSum \"s\" (%0, %1) {keep_dims = true} : f32[1,1,1]\n"
                 "  %3 = opset1.Const \"a\" : i64[1] = dense<i64[1]: 0>\n"
                 "  %4 = opset1.Squeeze \"v\" (%2, %3) : f32[1,1]\n"
                 "  %5 = opset1.Const \"b\" : i64[2] = dense<i64[2]: 0, 1>\n"
                 "  %9 = opset1.Squeeze \"w\" (%4, %5) : f32[]\n"),
            "Parameter(x) Const(n) ReduceSum(s: x, n) Const(w/axes) Squeeze(w: s, w/axes) Result(y: w)");
}

// ---- equal nodes ----

TEST_F(BuiltInTest, EqualNodesAreOne) {
  const auto merged = [&](const std::string& second) {
    return Body("middle.MergeEqualNodes",
                "  %1 = opset1.Const \"a\" : f32[] = dense<f32[]: 2.0>\n"
                "  %2 = opset1.Const \"b\" : f32[] = dense<f32[]: 2.0>\n"
                "  %3 = opset1.Const \"c\" : f32[] = dense<f32[]: 3.0>\n"
                "  %4 = opset1.Power \"p\" (%0, %1) : f32[2,3,4]\n"
                "  %5 = " +
                    second +
                    "\n"
                    "  %9 = opset1.Add \"s\" (%4, %5) : f32[2,3,4]\n");
  };
  EXPECT_EQ(merged("opset1.Power \"q\" (%0, %2) : f32[2,3,4]"),
            "Parameter(x) Const(a) Power(p: x, a) Add(s: p, p) Result(y: s)");
  EXPECT_EQ(merged("opset1.Power \"q\" (%0, %3) : f32[2,3,4]"),
            "Parameter(x) Const(a) Const(c) Power(p: x, a) Power(q: x, c) Add(s: p, q) Result(y: s)");
  EXPECT_EQ(merged("opset1.Power \"q\" (%1, %0) : f32[2,3,4]"),
            "Parameter(x) Const(a) Power(p: x, a) Power(q: a, x) Add(s: p, q) Result(y: s)");
}

TEST_F(BuiltInTest, NodesOfOtherAttributesAreTwo) {
  const auto elus = [&](const std::string& alpha) {
    return Body("middle.MergeEqualNodes",
                "  %1 = opset1.Elu \"a\" (%0) {alpha = 1.0} : f32[2,3,4]\n"
                "  %2 = opset1.Elu \"b\" (%0) {alpha = " +
                    alpha +
                    "} : f32[2,3,4]\n"
                    "  %9 = opset1.Add \"s\" (%1, %2) : f32[2,3,4]\n");
  };
  EXPECT_EQ(elus("1.0"), "Parameter(x) Elu(a: x) Add(s: a, a) Result(y: s)");
  EXPECT_EQ(elus("2.0"), "Parameter(x) Elu(a: x) Elu(b: x) Add(s: a, b) Result(y: s)");
}

// Sums and comparisons are equal in either operand order. Differences are not; neither is a maximum, which is
// the second operand if one is NaN, nor a PDPD broadcast to the first operand.
TEST_F(BuiltInTest, CommutedNodesAreOne) {
  const auto commuted = [&](const std::string& operation, const std::string& attributes = "") {
    const std::string first = "opset1." + operation;
    return Body("middle.MergeEqualNodes",
                "  %1 = opset1.Abs \"a\" (%0) : f32[2,3,4]\n"
                "  %2 = " +
                    first + " \"p\" (%0, %1)" + attributes + " : f32[2,3,4]\n  %3 = " + first +
                    " \"q\" (%1, %0)" + attributes +
                    " : f32[2,3,4]\n"
                    "  %9 = opset1.Divide \"d\" (%2, %3) : f32[2,3,4]\n");
  };
  for (const std::string operation : {"Add", "Multiply", "SquaredDifference"}) {
    EXPECT_EQ(commuted(operation),
              "Parameter(x) Abs(a: x) " + operation + "(p: x, a) Divide(d: p, p) Result(y: d)");
  }
  for (const std::string operation : {"Subtract", "Maximum", "Minimum", "Divide", "Power"}) {
    EXPECT_EQ(commuted(operation),
              fmt::format("Parameter(x) Abs(a: x) {0}(p: x, a) {0}(q: a, x) Divide(d: p, q) Result(y: d)",
                          operation));
  }
  EXPECT_EQ(commuted("Add", " {auto_broadcast = \"pdpd\"}"),
            "Parameter(x) Abs(a: x) Add(p: x, a) Add(q: a, x) Divide(d: p, q) Result(y: d)");
}

// Operations of NNEF that no operation of OpenVINO replaces.
TEST_F(BuiltInTest, CommutedFunctionsAreOne) {
  const auto is_merged = [&](const std::string& operation, const std::string& type) {
    const std::string text = fmt::format(
        "  %0 = opset1.Parameter \"x\" {{element_type = {0}, shape = [2,3]}} : {0}[2,3]\n"
        "  %1 = opset1.Parameter \"w\" {{element_type = {0}, shape = [2,3]}} : {0}[2,3]\n"
        "  %2 = nnef.{1} \"p\" (%0, %1) : {2}[2,3]\n"
        "  %3 = nnef.{1} \"q\" (%1, %0) : {2}[2,3]\n"
        "  %4 = nnef.select \"s\" (%2, %2, %3) {{dtype = \"logical\"}} : boolean[2,3]\n"
        "  opset1.Result \"y\" (%4)\n",
        type, operation, "boolean");
    return After("middle.MergeEqualNodes", text).find("(q: ") == std::string::npos;
  };
  for (const char* operation : {"eq", "ne"}) EXPECT_TRUE(is_merged(operation, "f32")) << operation;
  for (const char* operation : {"and", "or"}) EXPECT_TRUE(is_merged(operation, "boolean")) << operation;
  for (const char* operation : {"lt", "le", "gt", "ge"})
    EXPECT_FALSE(is_merged(operation, "f32")) << operation;
}

// Each call draws other numbers.
TEST_F(BuiltInTest, RandomNumbersAreKeptApart) {
  for (const char* seeds : {"global_seed = 0, op_seed = 0", "global_seed = 7, op_seed = 3"}) {
    EXPECT_EQ(Body("middle.MergeEqualNodes",
                   fmt::format("  %1 = opset1.Const \"n\" : i64[3] = dense<i64[3]: 2, 3, 4>\n"
                               "  %2 = opset1.Const \"low\" : f32[] = dense<f32[]: 0.0>\n"
                               "  %3 = opset1.Const \"high\" : f32[] = dense<f32[]: 1.0>\n"
                               "  %4 = opset8.RandomUniform \"p\" (%1, %2, %3) {{output_type = f32, {0}}} : "
                               "f32[2,3,4]\n"
                               "  %5 = opset8.RandomUniform \"q\" (%1, %2, %3) {{output_type = f32, {0}}} : "
                               "f32[2,3,4]\n"
                               "  %6 = opset1.Add \"r\" (%0, %4) : f32[2,3,4]\n"
                               "  %9 = opset1.Add \"s\" (%6, %5) : f32[2,3,4]\n",
                               seeds)),
              "Parameter(x) Const(n) Const(low) Const(high) RandomUniform(p: n, low, high) "
              "RandomUniform(q: n, low, high) Add(r: x, p) Add(s: r, q) Result(y: s)");
  }
}

// The inputs are equal, but not the lists that they are divided into.
TEST_F(BuiltInTest, ListsOfInputsAreCompared) {
  const auto row = [] {
    return ir::OpInfo{.set = "acme",
                      .name = "Lists",
                      .inputs = {{.name = "a", .variadic = true}, {.name = "b", .variadic = true}},
                      .outputs = {"output"},
                      .infer = [](ir::InferContext& context) {
                        context.SetOutput(0, ElementType::kF32, context.input(0).shape);
                      }};
  };
  const auto after = [&](const std::string& first, const std::string& second) {
    const auto graph =
        Parse(fmt::format("  %0 = opset1.Parameter \"x\" {{element_type = f32, shape = [2]}} : f32[2]\n"
                          "  %1 = acme.Lists \"a\" (%0, %0, %0) segments [{}] : f32[2]\n"
                          "  %2 = acme.Lists \"b\" (%0, %0, %0) segments [{}] : f32[2]\n"
                          "  %3 = opset1.Add \"s\" (%1, %2) : f32[2]\n"
                          "  opset1.Result \"y\" (%3)\n",
                          first, second),
              {row()});
    if (graph == nullptr) return std::string("no graph");
    EXPECT_EQ(
        Run(StandardTransformations(), *graph, Side::kAfterLowering, {.only = {"middle.MergeEqualNodes"}}),
        "");
    graph->EraseDeadNodes();
    return Brief(*graph);
  };
  EXPECT_EQ(after("1,2", "1,2"), "Parameter(x) Lists(a: x, x, x) Add(s: a, a) Result(y: s)");
  EXPECT_EQ(after("1,2", "2,1"),
            "Parameter(x) Lists(a: x, x, x) Lists(b: x, x, x) Add(s: a, b) Result(y: s)");
}

TEST_F(BuiltInTest, EqualViewsAreOne) {
  EXPECT_EQ(Body("middle.MergeEqualNodes",
                 "  %1 = opset1.Const \"k\" : i64[1] = dense<i64[1]: 24>\n"
                 "  %2 = opset1.Reshape \"a\" (%0, %1) {special_zero = false} : f32[24]\n"
                 "  %3 = opset1.Reshape \"b\" (%0, %1) {special_zero = false} : f32[24]\n"
                 "  %9 = opset1.Add \"s\" (%2, %3) : f32[24]\n"),
            "Parameter(x) Const(k) Reshape(a: x, k) Add(s: a, a) Result(y: s)");
}

// Nothing is known about nodes of an operation without a shape function.
TEST_F(BuiltInTest, NodesOfUnknownOperationsAreKeptApart) {
  registry_.Add(
      {.set = "acme", .name = "F", .section = {}, .inputs = {{.name = "a"}}, .outputs = {"output"}});
  EXPECT_EQ(Body("middle.MergeEqualNodes",
                 "  %1 = acme.F \"a\" (%0) : f32[2]\n"
                 "  %2 = acme.F \"b\" (%0) : f32[2]\n"
                 "  %9 = opset1.Add \"s\" (%1, %2) : f32[2]\n"),
            "Parameter(x) F(a: x) F(b: x) Add(s: a, b) Result(y: s)");
}

// Two results of one value remain two outputs.
TEST_F(BuiltInTest, EqualResultsAreKeptApart) {
  EXPECT_EQ(After("middle.MergeEqualNodes",
                  R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.ReLU "a" (%0) : f32[2]
  %2 = opset1.ReLU "b" (%0) : f32[2]
  opset1.Result "y" (%1)
  opset1.Result "z" (%2)
)"),
            "Parameter(x) ReLU(a: x) ReLU(b: x) Result(y: a) Result(z: b)");
}

// ---- fusions ----

TEST_F(BuiltInTest, Swish) {
  const std::string name = "middle.SwishFusion";
  EXPECT_EQ(Body(name,
                 "  %1 = opset1.Sigmoid \"s\" (%0) : f32[2,3,4]\n"
                 "  %9 = opset1.Multiply \"m\" (%1, %0) : f32[2,3,4]\n"),
            "Parameter(x) Swish(m: x) Result(y: m)");
  EXPECT_EQ(Body(name,
                 "  %1 = opset1.Const \"c\" : f32[] = dense<f32[]: 1.5>\n"
                 "  %2 = opset1.Multiply \"b\" (%0, %1) : f32[2,3,4]\n"
                 "  %3 = opset1.Sigmoid \"s\" (%2) : f32[2,3,4]\n"
                 "  %9 = opset1.Multiply \"m\" (%0, %3) : f32[2,3,4]\n"),
            "Parameter(x) Const(m/beta) Swish(m: x, m/beta) Result(y: m)");
  EXPECT_EQ(Body(name,
                 "  %1 = opset1.Const \"c\" : f32[] = dense<f32[]: 1.5>\n"
                 "  %2 = opset1.Multiply \"b\" (%1, %0) : f32[2,3,4]\n"
                 "  %3 = opset1.Sigmoid \"s\" (%2) : f32[2,3,4]\n"
                 "  %9 = opset1.Multiply \"m\" (%3, %0) : f32[2,3,4]\n"),
            "Parameter(x) Const(m/beta) Swish(m: x, m/beta) Result(y: m)");
  // The factor is no constant, or the argument has other consumers or another function.
  EXPECT_EQ(Body(name,
                 "  %2 = opset1.Multiply \"b\" (%0, %0) : f32[2,3,4]\n"
                 "  %3 = opset1.Sigmoid \"s\" (%2) : f32[2,3,4]\n"
                 "  %9 = opset1.Multiply \"m\" (%0, %3) : f32[2,3,4]\n"),
            "Parameter(x) Multiply(b: x, x) Sigmoid(s: b) Multiply(m: x, s) Result(y: m)");
  EXPECT_EQ(Body(name,
                 "  %1 = opset1.Const \"c\" : f32[] = dense<f32[]: 1.5>\n"
                 "  %2 = opset1.Add \"b\" (%0, %1) : f32[2,3,4]\n"
                 "  %3 = opset1.Sigmoid \"s\" (%2) : f32[2,3,4]\n"
                 "  %9 = opset1.Multiply \"m\" (%0, %3) : f32[2,3,4]\n"),
            "Parameter(x) Const(c) Add(b: x, c) Sigmoid(s: b) Multiply(m: x, s) Result(y: m)");
  // Of another tensor, or read elsewhere.
  EXPECT_EQ(Body(name,
                 "  %1 = opset1.Abs \"a\" (%0) : f32[2,3,4]\n"
                 "  %2 = opset1.Sigmoid \"s\" (%1) : f32[2,3,4]\n"
                 "  %9 = opset1.Multiply \"m\" (%0, %2) : f32[2,3,4]\n"),
            "Parameter(x) Abs(a: x) Sigmoid(s: a) Multiply(m: x, s) Result(y: m)");
  EXPECT_EQ(Body(name,
                 "  %1 = opset1.Sigmoid \"s\" (%0) : f32[2,3,4]\n"
                 "  %2 = opset1.Multiply \"m\" (%0, %1) : f32[2,3,4]\n"
                 "  %9 = opset1.Add \"a\" (%1, %2) : f32[2,3,4]\n"),
            "Parameter(x) Sigmoid(s: x) Multiply(m: x, s) Add(a: s, m) Result(y: a)");
}

TEST_F(BuiltInTest, HSwish) {
  const std::string name = "middle.HSwishFusion";
  const auto hswish = [&](const std::string& three, const std::string& high, const std::string& tail) {
    return Body(name, "  %1 = opset1.Const \"three\" : f32[] = dense<f32[]: " + three +
                          ">\n"
                          "  %2 = opset1.Const \"six\" : f32[] = dense<f32[]: 6.0>\n"
                          "  %3 = opset1.Add \"a\" (%0, %1) : f32[2,3,4]\n"
                          "  %4 = opset1.Clamp \"c\" (%3) {min = 0.0, max = " +
                          high + "} : f32[2,3,4]\n" + tail);
  };
  const std::string last =
      "  %5 = opset1.Multiply \"m\" (%0, %4) : f32[2,3,4]\n"
      "  %9 = opset1.Divide \"d\" (%5, %2) : f32[2,3,4]\n";
  EXPECT_EQ(hswish("3.0", "6.0", last), "Parameter(x) HSwish(d: x) Result(y: d)");
  EXPECT_EQ(hswish("3.0", "6.0",
                   "  %5 = opset1.Divide \"d\" (%4, %2) : f32[2,3,4]\n"
                   "  %9 = opset1.Multiply \"m\" (%5, %0) : f32[2,3,4]\n"),
            "Parameter(x) HSwish(m: x) Result(y: m)");
  EXPECT_EQ(hswish("3.0", "6.0",
                   "  %5 = opset1.Const \"k\" : f32[] = dense<f32[]: 0.16666667>\n"
                   "  %6 = opset1.Multiply \"s\" (%5, %4) : f32[2,3,4]\n"
                   "  %9 = opset1.Multiply \"m\" (%6, %0) : f32[2,3,4]\n"),
            "Parameter(x) HSwish(m: x) Result(y: m)");
  EXPECT_NE(hswish("3.0", "6.0",
                   "  %5 = opset1.Const \"k\" : f32[] = dense<f32[]: 0.1666>\n"
                   "  %6 = opset1.Multiply \"s\" (%4, %5) : f32[2,3,4]\n"
                   "  %9 = opset1.Multiply \"m\" (%6, %0) : f32[2,3,4]\n")
                .find("Clamp"),
            std::string::npos);
  EXPECT_NE(hswish("2.0", "6.0", last).find("Clamp"), std::string::npos);
  EXPECT_NE(hswish("3.0", "5.0", last).find("Clamp"), std::string::npos);
  EXPECT_NE(hswish("3.0", "6.0",
                   "  %5 = opset1.Multiply \"m\" (%0, %4) : f32[2,3,4]\n"
                   "  %9 = opset1.Divide \"d\" (%2, %5) : f32[2,3,4]\n")
                .find("Clamp"),
            std::string::npos);
}

std::string L2Norm(const std::string& axes, const std::string& exponent, const std::string& keep) {
  return "  %1 = opset1.Const \"two\" : f32[] = dense<f32[]: 2.0>\n"
         "  %2 = opset1.Power \"q\" (%0, %1) : f32[2,3,4]\n"
         "  %3 = opset1.Const \"axes\" : " +
         axes +
         "\n"
         "  %4 = opset1.ReduceSum \"sum\" (%2, %3) {keep_dims = " +
         keep +
         "} : f32[?,?,?]\n"
         "  %5 = opset1.Const \"eps\" : f32[] = dense<f32[]: 0.5>\n"
         "  %6 = opset1.Maximum \"max\" (%4, %5) : f32[?,?,?]\n"
         "  %7 = opset1.Const \"half\" : f32[] = dense<f32[]: " +
         exponent +
         ">\n"
         "  %8 = opset1.Power \"root\" (%6, %7) : f32[?,?,?]\n"
         "  %9 = opset1.Multiply \"m\" (%0, %8) : f32[2,3,4]\n";
}

TEST_F(BuiltInTest, L2NormToNorm) {
  const std::string name = "middle.L2NormToNorm";
  const std::string fused = "Parameter(x) Const(axes) NormalizeL2(m: x, axes) Result(y: m)";
  EXPECT_EQ(Body(name, L2Norm("i64[1] = dense<i64[1]: 1>", "-0.5", "true")), fused);
  EXPECT_EQ(Body(name, L2Norm("i64[2] = dense<i64[2]: -1, 1>", "-0.5", "true")), fused);
  EXPECT_NE(Body(name, L2Norm("i64[1] = dense<i64[1]: 0>", "-0.5", "true")), fused);
  EXPECT_NE(Body(name, L2Norm("i64[1] = dense<i64[1]: 2>", "-0.5", "true")), fused);
  EXPECT_NE(Body(name, L2Norm("i64[1] = dense<i64[1]: 1>", "-1.0", "true")), fused);
}

TEST_F(BuiltInTest, DivisionByNorm) {
  const auto divided = [](const std::string& bound) {
    return "  %1 = opset1.Const \"axes\" : i64[1] = dense<i64[1]: 2>\n"
           "  %2 = opset4.ReduceL2 \"norm\" (%0, %1) {keep_dims = true} : f32[?,?,?]\n" +
           bound + "  %9 = opset1.Divide \"d\" (%0, %4) : f32[2,3,4]\n";
  };
  const auto clamped = [](const std::string& limits) {
    return "  %4 = opset1.Clamp \"bound\" (%2) {" + limits + "} : f32[?,?,?]\n";
  };
  const auto larger = [](const std::string& than) {
    return "  %3 = opset1.Const \"eps\" : f32[] = dense<f32[]: " + than +
           ">\n  %4 = opset1.Maximum \"bound\" (%3, %2) : f32[?,?,?]\n";
  };
  const std::string fused = "Parameter(x) Const(axes) NormalizeL2(d: x, axes) Result(y: d)";
  EXPECT_EQ(Body("middle.DivisionByClampedNorm", divided(clamped("min = 1e-12, max = 1e39"))), fused);
  const std::string kept =
      "Parameter(x) Const(axes) ReduceL2(norm: x, axes) Clamp(bound: norm) Divide(d: x, bound) Result(y: d)";
  EXPECT_EQ(Body("middle.DivisionByClampedNorm", divided(clamped("min = 1e-12, max = 9.0"))), kept);
  EXPECT_EQ(Body("middle.DivisionByClampedNorm", divided(clamped("min = 0.0, max = 1e39"))), kept);
  // A norm that another node reads remains.
  EXPECT_EQ(Body("middle.DivisionByClampedNorm",
                 divided(clamped("min = 1e-12, max = 1e39")) + "  opset1.Result \"n\" (%2)\n")
                .find("NormalizeL2"),
            std::string::npos);
  EXPECT_EQ(Body("middle.DivisionByLargerNorm", divided(larger("0.5"))), fused);
  EXPECT_EQ(Body("middle.DivisionByLargerNorm", divided(larger("-0.5"))),
            "Parameter(x) Const(axes) ReduceL2(norm: x, axes) Const(eps) Maximum(bound: eps, norm) "
            "Divide(d: x, bound) Result(y: d)");
}

TEST_F(BuiltInTest, Softplus) {
  const auto softplus = [&](const std::string& one) {
    return After("front.SoftplusFusion",
                 "  %0 = nnef.external \"x\" {shape = [2,3], dtype = \"scalar\"} : f32[2,3]\n"
                 "  %1 = nnef.exp \"e\" (%0) : f32[2,3]\n"
                 "  %2 = opset1.Const \"one\" : f32[] = dense<f32[]: " +
                     one +
                     ">\n"
                     "  %3 = nnef.add \"a\" (%1, %2) : f32[2,3]\n"
                     "  %4 = nnef.log \"l\" (%3) : f32[2,3]\n"
                     "  opset1.Result \"y\" (%4)\n",
                 Side::kBeforeLowering);
  };
  EXPECT_EQ(softplus("1.0"), "external(x) softplus(l: x) Result(y: l)");
  EXPECT_EQ(softplus("2.0"), "external(x) exp(e: x) Const(one) add(a: e, one) log(l: a) Result(y: l)");
}

// ---- back ----

std::string Shuffle(const std::string& pads) {
  return R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [1,4,2,2]} : f32[1,4,2,2]
  %1 = opset1.ReLU "relu" (%0) : f32[1,4,2,2]
  %2 = opset1.Const "five" : i64[5] = dense<i64[5]: 1, 2, 2, 2, 2>
  %3 = opset1.Reshape "r1" (%1, %2) {special_zero = false} : f32[1,2,2,2,2]
  %4 = opset1.Const "order" : i64[5] = dense<i64[5]: 0, 2, 1, 3, 4>
  %5 = opset1.Transpose "t" (%3, %4) : f32[1,2,2,2,2]
  %6 = opset1.Const "four" : i64[4] = dense<i64[4]: 1, 4, 2, 2>
  %7 = opset1.Reshape "r2" (%5, %6) {special_zero = false} : f32[1,4,2,2]
  %8 = opset1.Parameter "w" {element_type = f32, shape = [1,4,1,1]} : f32[1,4,1,1]
  %9 = opset1.Convolution "c" (%7, %8) {strides = [1, 1], dilations = [1, 1], pads_begin = )" +
         pads + R"(, pads_end = [0, 0]} : f32[1,1,?,?]
  opset1.Result "y" (%9)
)";
}

TEST_F(BuiltInTest, ReLUsMoveBehindAShuffle) {
  const std::string name = "back.ShufflenetReLUReorder";
  EXPECT_FALSE(StandardTransformations().Find(name)->enabled);
  EXPECT_EQ(After(name, Shuffle("[1, 0]")),
            "Parameter(x) Const(five) Reshape(r1: x, five) Const(order) Transpose(t: r1, order) Const(four) "
            "Reshape(r2: t, four) ReLU(relu: r2) Parameter(w) Convolution(c: relu, w) Result(y: c)");
  EXPECT_NE(After(name, Shuffle("[0, 0]")).find("Reshape(r1: relu, five)"), std::string::npos);
}

TEST_F(BuiltInTest, WhatNobodyNeedsIsRemoved) {
  EXPECT_EQ(Body("middle.CheckForCycle",
                 "  %1 = opset1.Const \"k\" : f32[] = dense<f32[]: 1.0>\n"
                 "  %2 = opset1.Parameter \"p\" {element_type = f32, shape = [2]} : f32[2]\n"
                 "  %3 = opset1.Add \"dead\" (%0, %1) : f32[2,3,4]\n"
                 "  %9 = opset1.Sin \"s\" (%0) : f32[2,3,4]\n"),
            "Parameter(x) Parameter(p) Sin(s: x) Result(y: s)");
}

}  // namespace
}  // namespace nnefc::transform
