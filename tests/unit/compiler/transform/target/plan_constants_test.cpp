// target.EvaluateConstants: the values that become constants of a plan, and those that do not.

#include "compiler/transform/pipeline/target_pipeline.h"
#include "llvm/ADT/STLExtras.h"
#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform::target {
namespace {

constexpr const char* kEvaluateConstants = "target.EvaluateConstants";
constexpr const char* kPlanInput =
    "  %0 = opset1.Parameter \"x\" {element_type = f32, shape = [2,3]} : f32[2,3]\n";

// Computes functions of f32 tensors, the absolute values of i64 tensors, and broadcast zeros.
std::optional<std::vector<TensorValue>> EvaluateMore(const ir::Node& node, llvm::ArrayRef<ir::Output> known,
                                                     llvm::ArrayRef<TensorValue> inputs) {
  if (node.type() == "Broadcast") {
    const Shape shape = known[0].shape.known_extents();
    return std::vector{
        TensorValue::FromFloats(shape, std::vector<float>(static_cast<size_t>(*Volume(shape)), 0))};
  }
  if (inputs[0].type() != ElementType::kI64) return EvaluateFunction(node, known, inputs);
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < inputs[0].volume(); ++i) numbers.push_back(std::abs(inputs[0].ElementAsInt(i)));
  return std::vector{TensorValue::FromInts(inputs[0].shape(), numbers)};
}

class PlanConstantsTest : public TransformTest {
 protected:
  // Returns the nodes of a graph after the transformation, without constants.
  std::string After(const std::string& text) {
    graph_ = Parse(text);
    if (graph_ == nullptr) return "no graph";
    const TransformationList list = StandardTransformations();
    EXPECT_EQ(Run(list, *graph_, Side::kTarget, {.only = {kEvaluateConstants}, .evaluate = EvaluateMore}),
              "");
    return Brief(*graph_);
  }
  // Returns the value of an input of the first node of an operation; nothing if it is not constant.
  std::optional<std::vector<double>> InputOf(const std::string& type, int32_t input) const {
    for (ir::NodeId id : graph_->nodes()) {
      const ir::Node& node = graph_->node(id);
      if (node.type() != type) continue;
      const ir::Node& source = graph_->node(node.input(input).node);
      if (!source.Is(ir::OpRole::kConst)) return std::nullopt;
      std::vector<double> numbers;
      for (int64_t i = 0; i < source.output().value->volume(); ++i)
        numbers.push_back(source.output().value->ElementAsDouble(i));
      return numbers;
    }
    return std::nullopt;
  }

  std::unique_ptr<ir::Graph> graph_;
};

TEST_F(PlanConstantsTest, OperationsOnConstantsBecomeConstants) {
  EXPECT_EQ(After(std::string(kPlanInput) + R"(  %1 = opset1.Const "c" : f32[3] = dense<f32[3]: 4, 10, 16>
  %2 = opset1.Sqrt "s" (%1) : f32[3]
  %3 = opset1.Floor "f" (%2) : f32[3]
  %4 = opset1.Add "a" (%0, %3) : f32[2,3]
  opset1.Result "y" (%4)
)"),
            "Parameter(x) Const(f) Add(a: x, f) Result(y: a)");
  EXPECT_EQ(InputOf("Add", 1), (std::vector<double>{2, 3, 4}));
}

// Also a constant result, and a quantization, which the middle phase preserves.
TEST_F(PlanConstantsTest, ResultsAndQuantizationsBecomeConstants) {
  EXPECT_EQ(After(R"(  %0 = opset1.Const "c" : f32[2] = dense<f32[2]: 0.4, 300>
  %1 = opset1.Const "low" : f32[] = dense<f32[]: 0>
  %2 = opset1.Const "high" : f32[] = dense<f32[]: 255>
  %3 = opset1.FakeQuantize "q" (%0, %1, %2, %1, %2) {levels = 256} : f32[2]
  opset1.Result "y" (%3)
)"),
            "Const(q) Result(y: q)");
  EXPECT_EQ(InputOf("Result", 0), (std::vector<double>{0, 255}));
}

TEST_F(PlanConstantsTest, KnownShapesBecomeConstants) {
  const std::string shape_of = R"(  %1 = opset3.ShapeOf "s" (%0) {output_type = i64} : i64[2]
  %2 = opset1.Const "v" : f32[] = dense<f32[]: 0>
  %3 = opset3.Broadcast "b" (%2, %1) {mode = "numpy"} : f32[...]
  %4 = opset1.Add "a" (%0, %3) : f32[...]
  opset1.Result "y" (%4)
)";
  EXPECT_EQ(After(kPlanInput + shape_of), "Parameter(x) Const(b) Add(a: x, b) Result(y: a)");
  EXPECT_EQ(InputOf("Add", 1), std::vector<double>(6, 0));
  EXPECT_EQ(
      After("  %0 = opset1.Parameter \"x\" {element_type = f32, shape = [?,3]} : f32[?,3]\n" + shape_of),
      "Parameter(x) ShapeOf(s: x) Const(v) Broadcast(b: v, s) Add(a: x, b) Result(y: a)");
}

// The consumer of a new constant is inferred before it is folded itself.
TEST_F(PlanConstantsTest, ConsumersAreInferred) {
  EXPECT_EQ(After(std::string(kPlanInput) + R"(  %1 = opset1.Const "c" : i64[2] = dense<i64[2]: -3, 2>
  %2 = opset1.Abs "e" (%1) : i64[2]
  %3 = opset1.Reshape "r" (%0, %2) {special_zero = false} : f32[...]
  %4 = opset3.ShapeOf "s" (%3) {output_type = i64} : i64[2]
  %5 = opset1.Const "v" : f32[] = dense<f32[]: 0>
  %6 = opset3.Broadcast "b" (%5, %4) {mode = "numpy"} : f32[...]
  %7 = opset1.Add "a" (%3, %6) : f32[...]
  opset1.Result "y" (%7)
)"),
            "Parameter(x) Const(e) Reshape(r: x, e) Const(b) Add(a: r, b) Result(y: a)");
  EXPECT_EQ(InputOf("Reshape", 1), (std::vector<double>{3, 2}));
  EXPECT_EQ(graph_->output(graph_->node(graph_->results()[0]).input(0)).shape, (ir::PartialShape{3, 2}));
}

TEST_F(PlanConstantsTest, LargeValuesOfSmallInputsRemain) {
  const auto is_folded = [&](const std::string& elements, const std::string& data) {
    const std::string text = After("  %0 = opset1.Const \"v\" : " + data +
                                   "  %1 = opset1.Const \"n\" : i64[1] = dense<i64[1]: " + elements + ">\n" +
                                   R"(  %2 = opset3.Broadcast "b" (%0, %1) {mode = "numpy"} : f32[...]
  opset1.Result "y" (%2)
)");
    return text == "Const(b) Result(y: b)";
  };
  // 4 MiB, and one element more.
  EXPECT_TRUE(is_folded("1048576", "f32[] = dense<f32[]: 0>\n"));
  EXPECT_FALSE(is_folded("1048577", "f32[] = dense<f32[]: 0>\n"));
}

TEST_F(PlanConstantsTest, OtherNodesRemain) {
  // Random numbers, states, functions that the evaluator does not compute, and values of the run.
  EXPECT_EQ(After(R"(  %0 = opset1.Const "n" : i64[1] = dense<i64[1]: 3>
  %1 = opset1.Const "low" : f32[] = dense<f32[]: 0>
  %2 = opset1.Const "high" : f32[] = dense<f32[]: 1>
  %3 = opset8.RandomUniform "r" (%0, %1, %2) {output_type = f32, global_seed = 0, op_seed = 0} : f32[3]
  opset1.Result "y" (%3)
)"),
            "Const(n) Const(low) Const(high) RandomUniform(r: n, low, high) Result(y: r)");
  EXPECT_EQ(After(R"(  %0 = opset1.Const "c" : f32[1] = dense<f32[1]: 3>
  %1 = opset3.ReadValue "v" (%0) {variable_id = "v"} : f32[1]
  %2 = opset1.Tanh "t" (%0) : f32[1]
  %3 = opset1.Add "a" (%1, %2) : f32[1]
  opset1.Result "y" (%3)
)"),
            "Const(c) ReadValue(v: c) Tanh(t: c) Add(a: v, t) Result(y: a)");
  EXPECT_EQ(After(std::string(kPlanInput) +
                  "  %1 = opset1.Sqrt \"s\" (%0) : f32[2,3]\n  opset1.Result \"y\" (%1)\n"),
            "Parameter(x) Sqrt(s: x) Result(y: s)");
}

// The functions of a plan.
class PlanFunctionsTest : public TransformTest {
 protected:
  void Apply(ir::Graph& graph, const ir::PlanFunctions& functions,
             const Names& names = {kEvaluateConstants}) {
    auto list = std::make_shared<TransformationList>(StandardTransformations());
    Emitter emitter;
    std::optional<Pipeline> pipeline = Pipeline::Make(*list, {}, emitter);
    ASSERT_TRUE(pipeline.has_value());
    EXPECT_TRUE(TargetPipeline(list, *pipeline).Run(names, functions, graph, emitter));
  }
  const std::string text_ =
      std::string(kPlanInput) + R"(  %1 = opset1.Const "c" : f32[3] = dense<f32[3]: 4, 9, 16>
  %2 = opset1.Sqrt "s" (%1) : f32[3]
  %3 = opset1.Abs "b" (%0) : f32[2,3]
  %4 = opset1.Floor "f" (%2) : f32[3]
  %5 = opset1.Add "a" (%3, %4) : f32[2,3]
  opset1.Result "y" (%5)
)";
};

TEST_F(PlanFunctionsTest, EachNodeIsInferredOnceBeforeItIsFolded) {
  const auto graph = Parse(text_);
  std::string inferred;
  ir::NodeOrder order;
  Apply(*graph, {.evaluate = EvaluateMore,
                 .infer =
                     [&](ir::NodeId id) {
                       inferred += graph->node(id).name() + " ";
                       return true;
                     },
                 .order = &order});
  EXPECT_EQ(inferred, "s b f a y ");
  EXPECT_EQ(Brief(*graph), "Parameter(x) Abs(b: x) Const(f) Add(a: b, f) Result(y: a)");
  // The order remains valid: constants precede their consumers.
  std::string names;
  for (ir::NodeId id : *order.Of(*graph)) names += graph->node(id).name() + " ";
  EXPECT_EQ(names, "f x b a y ");
}

TEST_F(PlanFunctionsTest, NothingIsFoldedAfterAnError) {
  const auto graph = Parse(text_);
  std::string inferred;
  Apply(*graph, {.evaluate = EvaluateMore, .infer = [&](ir::NodeId id) {
                   inferred += graph->node(id).name() + " ";
                   return graph->node(id).name() != "b";
                 }});
  EXPECT_EQ(inferred, "s b f a y ");
  EXPECT_EQ(Brief(*graph), "Parameter(x) Abs(b: x) Const(s) Floor(f: s) Add(a: b, f) Result(y: a)");
}

TEST_F(PlanFunctionsTest, ParametersWithValuesAreReplaced) {
  const auto graph = Parse(text_);
  const ir::NodeId x = graph->parameters()[0];
  graph->SetOutputValue({x, 0}, TensorValue::FromFloats({2, 3}, {-1, 2, -3, 4, -5, 6}));
  Apply(*graph, {.evaluate = EvaluateMore});
  EXPECT_EQ(Brief(*graph), "Parameter(x) Const(b) Const(f) Add(a: b, f) Result(y: a)");
}

// Nodes whose results are known are not inferred, and neither are those that only they need.
TEST_F(PlanFunctionsTest, KnownValuesAreReplacedBeforeInference) {
  const auto graph = Parse(text_);
  for (ir::NodeId id : graph->nodes()) {
    if (graph->node(id).name() == "f")
      graph->SetOutputValue({id, 0}, TensorValue::FromFloats({3}, {7, 8, 9}));
  }
  std::string inferred;
  Apply(*graph, {.infer = [&](ir::NodeId id) {
    inferred += graph->node(id).name() + " ";
    return true;
  }});
  EXPECT_EQ(inferred, "b a y ");
  EXPECT_EQ(Brief(*graph), "Parameter(x) Abs(b: x) Const(f) Add(a: b, f) Result(y: a)");
}

// Transformations share the order of a plan until one connects nodes differently.
TEST_F(PlanFunctionsTest, TheOrderIsSharedUntilAChange) {
  const auto names_in = [](const ir::Graph& graph, ir::NodeOrder& order) {
    std::string names;
    for (ir::NodeId id : *order.Of(graph)) names += graph.node(id).name() + " ";
    return names;
  };
  const auto graph = Parse(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [3]} : f32[3]
  %1 = opset1.Const "zero" : f32[] = dense<f32[]: 0>
  %2 = opset1.Const "one" : f32[] = dense<f32[]: 255>
  %3 = opset1.Abs "a" (%0) : f32[3]
  %4 = opset1.FakeQuantize "q" (%3, %1, %2, %1, %2) {levels = 256} : f32[3]
  %5 = opset1.FakeQuantize "r" (%4, %1, %2, %1, %2) {levels = 256} : f32[3]
  %6 = opset1.Add "s" (%0, %5) : f32[3]
  opset1.Result "y" (%6)
)");
  // Another order than that of the graph.
  std::vector<ir::NodeId> nodes = graph->nodes();
  std::swap(nodes[0], nodes[1]);
  ir::NodeOrder order(*graph, nodes);
  Apply(*graph, {.order = &order},
        {"target.ConvertVectorsToMatrices", "target.QuantizeConcatParts", "target.InsertLookupTables",
         "target.FuseChannelPermutations", "target.MarkQuantizedValues"});
  EXPECT_EQ(names_in(*graph, order), "zero x one a q r s y ");
  Apply(*graph, {.order = &order}, {"target.RemoveRepeatedQuantization"});
  EXPECT_EQ(names_in(*graph, order), "x zero one a q s y ");
}

}  // namespace
}  // namespace nnefc::transform::target
