// Removal of NNEF nodes that compute nothing.

#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform {
namespace {

constexpr const char* kExternal =
    "  %x = nnef.external \"x\" {shape = [2,3], dtype = \"scalar\"} : f32[2,3] as [\"x\"]\n";

class ErasersTest : public TransformTest {
 protected:
  // Returns the graph after one transformation, or the first message.
  std::string After(const std::string& name, const std::string& body, std::string* warning = nullptr) {
    const TransformationList list = StandardTransformations();
    const auto graph = Parse(Numbered(kExternal + body), list.Find("front.NoOpEraser")->ExampleOperations());
    if (graph == nullptr) return "no graph";
    const std::string message = Run(list, *graph, Side::kBeforeLowering, {.only = {name}});
    if (warning != nullptr) {
      *warning = message;
    } else if (!message.empty()) {
      return message;
    }
    return Brief(*graph);
  }
  std::string WithoutNoOps(const std::string& body, std::string* warning = nullptr) {
    return After("front.NoOpEraser", body, warning);
  }
  std::string WithoutConstants(const std::string& body) { return After("front.StandaloneConstEraser", body); }
};

// ---- NoOpEraser ----

TEST_F(ErasersTest, ConsumersOfANoOpReadItsInput) {
  EXPECT_EQ(WithoutNoOps("  %n = nnef.NoOp \"n\" (%x) : f32[2,3]\n"
                         "  %r = nnef.relu \"r\" (%n) : f32[2,3]\n"
                         "  %a = nnef.add \"a\" (%n, %r) : f32[2,3]\n"
                         "  opset1.Result \"y\" (%a)\n"),
            "external(x) relu(r: x) add(a: x, r) Result(y: a)");
  // One after the other.
  EXPECT_EQ(WithoutNoOps("  %m = nnef.NoOp \"m\" (%x) : f32[2,3]\n"
                         "  %n = nnef.NoOp \"n\" (%m) : f32[2,3]\n"
                         "  %r = nnef.relu \"r\" (%n) : f32[2,3]\n"
                         "  opset1.Result \"y\" (%r)\n"),
            "external(x) relu(r: x) Result(y: r)");
  // Without consumers.
  EXPECT_EQ(WithoutNoOps("  %n = nnef.NoOp \"n\" (%x) : f32[2,3]\n"
                         "  %r = nnef.relu \"r\" (%x) : f32[2,3]\n"
                         "  opset1.Result \"y\" (%r)\n"),
            "external(x) relu(r: x) Result(y: r)");
}

// A NoOp with one input that has no output, or two, has no value to pass on.
TEST_F(ErasersTest, NoOpsWithOtherOutputs) {
  for (const int outputs : {0, 2}) {
    ir::OpRegistry registry(&ir::StandardOps());
    registry.Add({.set = std::string(ir::kNnefSet),
                  .name = "NoOp",
                  .section = {},
                  .inputs = {{.name = "x"}},
                  .outputs = outputs == 0 ? std::vector<std::string>{} : std::vector<std::string>{"y", "z"}});
    ir::Graph graph(&registry);
    const ir::OutputPort x = {ir::AddParameter(graph, "x", ElementType::kF32, {2, 3}), 0};
    const ir::NodeId noop =
        ir::AddNode(graph, ir::kNnefSet, "NoOp", {.name = "n", .inputs = x, .num_outputs = outputs});
    ir::AddResult(graph, "w", x);
    for (int i = 0; i < outputs; ++i) {
      graph.SetOutputType({noop, i}, ElementType::kF32, {2, 3});
      ir::AddResult(graph, "r" + std::to_string(i), {noop, i});
    }
    const std::string message =
        Run(StandardTransformations(), graph, Side::kBeforeLowering, {.only = {"front.NoOpEraser"}});
    EXPECT_EQ(message.empty(), outputs == 0) << message;
    EXPECT_EQ(message.find("failed"), std::string::npos) << message;
    EXPECT_EQ(Brief(graph), "Parameter(x) Result(w: x)") << outputs;
  }
}

// A result keeps its own tensor and name.
TEST_F(ErasersTest, NoOpsOfResults) {
  EXPECT_EQ(WithoutNoOps("  %r = nnef.relu \"r\" (%x) : f32[2,3]\n"
                         "  %n = nnef.NoOp \"n\" (%r) : f32[2,3]\n"
                         "  opset1.Result \"y\" (%n)\n"),
            "external(x) relu(r: x) Result(y: r)");
  EXPECT_EQ(WithoutNoOps("  %n = nnef.NoOp \"n\" (%x) : f32[2,3]\n"
                         "  opset1.Result \"y\" (%n)\n"),
            "external(x) copy(n: x) Result(y: n)");
  EXPECT_EQ(WithoutNoOps("  %r = nnef.relu \"r\" (%x) : f32[2,3]\n"
                         "  %n = nnef.NoOp \"n\" (%r) : f32[2,3]\n"
                         "  opset1.Result \"y\" (%n)\n"
                         "  opset1.Result \"z\" (%r)\n"),
            "external(x) relu(r: x) copy(n: r) Result(y: n) Result(z: r)");
}

TEST_F(ErasersTest, NoOpsWithoutAValueAreRemovedWithTheirResults) {
  const std::string relu = "  %r = nnef.relu \"r\" (%x) : f32[2,3]\n";
  std::string warning;
  for (const char* inputs : {"", "%x, %r"}) {
    const std::string no_op = fmt::format("  %n = nnef.NoOp \"n\" ({}) : f32[2,3]\n", inputs);
    EXPECT_EQ(
        WithoutNoOps(relu + no_op + "  opset1.Result \"y\" (%r)\n  opset1.Result \"z\" (%n)\n", &warning),
        "external(x) relu(r: x) Result(y: r)");
    EXPECT_EQ(warning,
              "transform.notice: transformation `nnefc::transform::front::NoOpEraser`: the result `z` is "
              "removed: the NoOp `n` has no value");
    EXPECT_EQ(WithoutNoOps(relu + no_op + "  opset1.Result \"y\" (%r)\n"),
              "external(x) relu(r: x) Result(y: r)");
  }
  // The last result.
  WithoutNoOps("  %n = nnef.NoOp \"n\" () : f32[2,3]\n  opset1.Result \"z\" (%n)\n", &warning);
  EXPECT_EQ(
      warning,
      "transform.notice: transformation `nnefc::transform::front::NoOpEraser`: the result `z` is removed: "
      "the NoOp `n` has no value");
  EXPECT_EQ(context_.emitter.diagnostics().size(), 0u);
}

TEST_F(ErasersTest, OtherNodesAreNoNoOps) {
  // An operation reads the value of two inputs.
  EXPECT_EQ(WithoutNoOps("  %n = nnef.NoOp \"n\" (%x, %x) : f32[2,3]\n"
                         "  %r = nnef.relu \"r\" (%n) : f32[2,3]\n"
                         "  opset1.Result \"y\" (%r)\n"),
            "external(x) NoOp(n: x, x) relu(r: n) Result(y: r)");
  EXPECT_EQ(WithoutNoOps("  %c = nnef.copy \"c\" (%x) : f32[2,3]\n"
                         "  %r = nnef.relu \"r\" (%c) : f32[2,3]\n"
                         "  opset1.Result \"y\" (%r)\n"),
            "external(x) copy(c: x) relu(r: c) Result(y: r)");
  registry_.Add({.set = "acme", .name = "NoOp", .section = {}, .inputs = {{.name = "x"}}, .outputs = {"y"}});
  EXPECT_EQ(WithoutNoOps("  %n = acme.NoOp \"n\" (%x) : f32[2,3]\n"
                         "  %r = nnef.relu \"r\" (%n) : f32[2,3]\n"
                         "  opset1.Result \"y\" (%r)\n"),
            "external(x) NoOp(n: x) relu(r: n) Result(y: r)");
}

// ---- StandaloneConstEraser ----

TEST_F(ErasersTest, ConstantsThatNothingReadsAreRemoved) {
  EXPECT_EQ(WithoutConstants(
                "  %k = nnef.constant \"k\" {shape = [1], value = [2.0], dtype = \"scalar\"} : f32[1]\n"
                "  %l = opset1.Const \"l\" : f32[] = dense<f32[]: 1.0>\n"
                "  %r = nnef.relu \"r\" (%x) : f32[2,3]\n"
                "  opset1.Result \"y\" (%r)\n"),
            "external(x) relu(r: x) Result(y: r)");
}

TEST_F(ErasersTest, OtherConstantsAndVariablesRemain) {
  // An operation reads it; a result reads it; a variable.
  EXPECT_EQ(WithoutConstants(
                "  %k = nnef.constant \"k\" {shape = [1], value = [2.0], dtype = \"scalar\"} : f32[1]\n"
                "  %l = opset1.Const \"l\" : f32[] = dense<f32[]: 1.0>\n"
                "  %v = nnef.variable \"v\" {shape = [1], label = \"v\", dtype = \"scalar\"} : f32[1]\n"
                "  %a = nnef.add \"a\" (%x, %k) : f32[2,3]\n"
                "  opset1.Result \"y\" (%a)\n"
                "  opset1.Result \"z\" (%l)\n"),
            "external(x) constant(k) Const(l) variable(v) add(a: x, k) Result(y: a) Result(z: l)");
}

TEST_F(ErasersTest, ConstantsOfBodiesThatNothingReadsAreRemoved) {
  const auto body = [](const std::string& role, const std::string& more) {
    return fmt::format(R"(    "{0}" input 1 -> 0 output 0 -> 0 graph "{0}" {{
      %0 = opset1.Parameter "a" {{element_type = f32, shape = [2]}} : f32[2]
      {1}opset1.Result "" (%0)
    }}
)",
                       role, more);
  };
  const auto graph = Parse(R"(  %0 = opset1.Parameter "c" {element_type = boolean, shape = []} : boolean[]
  %1 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %2 = opset8.If "if" (%0, %1) : f32[2] bodies {
)" + body("then_body", "%1 = opset1.Const \"k\" : f32[] = dense<f32[]: 1.0>\n      ") +
                           body("else_body", "") + "  }\n  opset1.Result \"y\" (%2)\n");
  ASSERT_NE(graph, nullptr);
  EXPECT_EQ(Run(StandardTransformations(), *graph, Side::kBeforeLowering,
                {.only = {"front.StandaloneConstEraser"}}),
            "");
  for (ir::NodeId id : graph->nodes()) {
    for (const ir::Body& changed : graph->node(id).bodies())
      EXPECT_EQ(Brief(*changed.graph), "Parameter(a) Result(: a)");
  }
}

}  // namespace
}  // namespace nnefc::transform
