#include "compiler/ir/algorithms/verify.h"

#include "compiler/ir/algorithms/infer.h"
#include "gtest/gtest.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace nnefc::ir {
namespace {

// x -> ReLU -> result, inferred; each test breaks one property.
class VerifyInferredTest : public ::testing::Test {
 protected:
  VerifyInferredTest() {
    x_ = AddParameter(graph_, "x", ElementType::kF32, PartialShape{2, 3});
    relu_ = AddNode(graph_, "opset1", "ReLU", {.name = "y", .inputs = OutputPort{x_, 0}});
    AddResult(graph_, "y", {relu_, 0});
    Emitter emitter;
    EXPECT_TRUE(InferGraph(graph_, emitter));
  }

  void ExpectValid() { EXPECT_EQ(VerifyInferred(graph_), std::vector<std::string>()); }
  // Each violation includes the text at the same index of the list.
  void ExpectViolations(const std::vector<std::string>& texts) {
    const std::vector<std::string> violations = VerifyInferred(graph_);
    ASSERT_EQ(violations.size(), texts.size());
    for (size_t i = 0; i < texts.size(); ++i)
      EXPECT_NE(violations[i].find(texts[i]), std::string::npos) << violations[i];
  }

  // Adds an If that hands `x` to both bodies and infers the graph; `fill` adds the nodes of a body.
  NodeId AddIf(llvm::function_ref<void(Graph& body, NodeId parameter)> fill) {
    const NodeId condition = AddParameter(graph_, "condition", ElementType::kBoolean, PartialShape{1});
    const OutputPort inputs[] = {{condition, 0}, {x_, 0}};
    const NodeId branch = AddNode(graph_, "opset8", "If", {.name = "i", .inputs = inputs});
    for (const char* role : {"then_body", "else_body"}) {
      Body body{.role = role, .graph = std::make_unique<Graph>(&registry_, role)};
      fill(*body.graph, AddParameter(*body.graph, "p", ElementType::kF32, PartialShape{2, 3}));
      body.inputs.push_back({.external = 1, .internal = 0});
      body.outputs.push_back({.external = 0, .internal = 0});
      graph_.AddBody(branch, std::move(body));
    }
    AddResult(graph_, "i", {branch, 0});
    Emitter emitter;
    EXPECT_TRUE(InferGraph(graph_, emitter));
    return branch;
  }

  OpRegistry registry_{&StandardOps()};
  Graph graph_{&registry_, "g"};
  NodeId x_, relu_;
};

TEST_F(VerifyInferredTest, HoldsForAnInferredGraph) {
  ExpectValid();
}

TEST_F(VerifyInferredTest, APreciserShapeIsNoContradiction) {
  graph_.SetOutputType({x_, 0}, ElementType::kF32, PartialShape{Dim(), Dim(3)});
  ExpectValid();
}

TEST_F(VerifyInferredTest, TellsAnotherShape) {
  graph_.SetOutputType({relu_, 0}, ElementType::kF32, PartialShape{2, 4});
  ExpectViolations({"output 0 of `opset1.ReLU` \"y\" is f32[2,4]; the inferred one is f32[2,3]"});
}

TEST_F(VerifyInferredTest, TellsAnotherType) {
  graph_.SetOutputType({relu_, 0}, ElementType::kI64, PartialShape{2, 3});
  ExpectViolations({"is i64[2,3]; the inferred one is f32[2,3]"});
}

TEST_F(VerifyInferredTest, TellsAnotherValue) {
  const NodeId shape = AddNode(graph_, "opset1", "ShapeOf", {.name = "s", .inputs = OutputPort{x_, 0}});
  AddResult(graph_, "s", {shape, 0});
  Emitter emitter;
  ASSERT_TRUE(InferGraph(graph_, emitter));
  ExpectValid();
  graph_.SetOutputValue({shape, 0}, TensorValue::FromInts({2}, {2, 5}));
  ExpectViolations({"the value of output 0 of `opset1.ShapeOf` \"s\" differs from the inferred one"});
  // A value of another shape is reported by its shape alone.
  graph_.SetOutputType({shape, 0}, ElementType::kI64, PartialShape{3});
  graph_.SetOutputValue({shape, 0}, TensorValue::FromInts({3}, {2, 3, 1}));
  ExpectViolations({"output 0 of `opset1.ShapeOf` \"s\" is i64[3]; the inferred one is i64[2]"});
}

// Nothing is inferred in a graph of wrong structure.
TEST_F(VerifyInferredTest, TellsOfWrongStructureAlone) {
  graph_.AddInput(relu_, {x_, 0});
  ExpectViolations({"`opset1.ReLU` \"y\" has 2 inputs; expected 1"});
}

// A value may be known that inference does not compute.
TEST_F(VerifyInferredTest, AKnownValueIsNoContradiction) {
  graph_.SetOutputValue({relu_, 0}, TensorValue::FromFloats({2, 3}, {0, 1, 2, 3, 4, 5}));
  ExpectValid();
}

// A value may be forgotten that inference computes.
TEST_F(VerifyInferredTest, AForgottenValueIsNoContradiction) {
  const NodeId shape = AddNode(graph_, "opset1", "ShapeOf", {.name = "s", .inputs = OutputPort{x_, 0}});
  AddResult(graph_, "s", {shape, 0});
  Emitter emitter;
  ASSERT_TRUE(InferGraph(graph_, emitter));
  ASSERT_TRUE(graph_.node(shape).output().value);
  graph_.SetOutputValue({shape, 0}, std::nullopt);
  ExpectValid();
}

TEST_F(VerifyInferredTest, TellsABrokenRule) {
  const NodeId clamp = AddNode(graph_, "opset1", "Clamp", {.name = "c", .inputs = OutputPort{x_, 0}});
  graph_.SetOutputType({clamp, 0}, ElementType::kF32, PartialShape{2, 3});
  AddResult(graph_, "c", {clamp, 0});
  ExpectViolations({"breaks a rule of its operation: `Clamp` lacks"});
}

TEST_F(VerifyInferredTest, UnknownTypesAndShapesAgreeWithAny) {
  for (const auto& [type, shape] : std::initializer_list<std::pair<ElementType, PartialShape>>{
           {ElementType::kDynamic, PartialShape{2, 3}},
           {ElementType::kF32, PartialShape()},
           {ElementType::kF32, PartialShape::OfRank(2)},
           {ElementType::kF32, PartialShape{Dim(0, 2), Dim(3, 9)}},
           {ElementType::kDynamic, PartialShape()}}) {
    graph_.SetOutputType({relu_, 0}, type, shape);
    ExpectValid();
    graph_.SetOutputType({relu_, 0}, ElementType::kF32, PartialShape{2, 3});
    graph_.SetOutputType({x_, 0}, type, shape);
    ExpectValid();
    graph_.SetOutputType({x_, 0}, ElementType::kF32, PartialShape{2, 3});
  }
  for (const auto& [type, shape] : std::initializer_list<std::pair<ElementType, PartialShape>>{
           {ElementType::kF16, PartialShape{2, 3}},
           {ElementType::kF32, PartialShape{2}},
           {ElementType::kF32, PartialShape{2, 3, 1}},
           {ElementType::kF32, PartialShape{3, 3}},
           {ElementType::kF32, PartialShape{2, 2}},
           {ElementType::kF32, PartialShape{Dim(2), Dim(4, 9)}},
           {ElementType::kF32, PartialShape{Dim(0, 1), Dim(3)}}}) {
    graph_.SetOutputType({relu_, 0}, type, shape);
    ExpectViolations({"output 0 of `opset1.ReLU` \"y\" is "});
  }
}

// Values of more than 4096 elements are not compared.
TEST_F(VerifyInferredTest, ComparesSmallValues) {
  for (const int64_t count : {1, 4096, 4097}) {
    Graph graph(&registry_, "g");
    const OutputPort inputs[] = {
        {AddConst(graph, TensorValue::FromInts({count}, std::vector<int64_t>(count, 5)), "c"), 0},
        {AddConst(graph, TensorValue::FromInts({2}, {1, -1}), "shape"), 0}};
    const NodeId reshape = AddNode(graph, "opset1", "Reshape", {.name = "r", .inputs = inputs});
    graph.SetAttribute(reshape, "special_zero", true);
    AddResult(graph, "r", {reshape, 0});
    Emitter emitter;
    ASSERT_TRUE(InferGraph(graph, emitter));
    EXPECT_EQ(VerifyInferred(graph).size(), 0u);
    ASSERT_TRUE(graph.output({reshape, 0}).value.has_value()) << count;
    std::vector<int64_t> others(static_cast<size_t>(count), 5);
    others.back() = 6;
    graph.SetOutputValue({reshape, 0}, TensorValue::FromInts({1, count}, others));
    EXPECT_EQ(VerifyInferred(graph).size(), count <= 4096 ? 1u : 0u) << count;
  }
}

// A known condition of one element selects a branch.
TEST_F(VerifyInferredTest, UntakenBranches) {
  const auto untaken = [&](std::string_view set, std::string_view type,
                           std::optional<TensorValue> condition) {
    Graph graph(&registry_, "g");
    llvm::SmallVector<OutputPort, 1> inputs;
    if (condition) inputs.push_back({AddConst(graph, *condition, "c"), 0});
    const NodeId node = AddNode(graph, set, type, {.name = "n", .inputs = inputs});
    Body branch;
    std::string roles;
    for (const char* role : {"then_body", "else_body"}) {
      branch.role = role;
      if (IsUntaken(graph, graph.node(node), branch)) roles += role;
    }
    if (condition) {
      graph.SetOutputValue(inputs[0], std::nullopt);
      branch.role = "then_body";
      EXPECT_FALSE(IsUntaken(graph, graph.node(node), branch));
    }
    return roles;
  };
  const TensorValue yes = TensorValue::FromInts({1}, {1}), no = TensorValue::FromInts({}, {0});
  EXPECT_EQ(untaken("opset8", "If", yes), "else_body");
  EXPECT_EQ(untaken("opset8", "If", no), "then_body");
  EXPECT_EQ(untaken("opset8", "If", TensorValue::FromInts({1}, {-1})), "else_body");
  EXPECT_EQ(untaken("opset8", "If", TensorValue::FromInts({2}, {1, 1})), "");
  EXPECT_EQ(untaken("opset8", "If", TensorValue::FromInts({0}, {})), "");
  EXPECT_EQ(untaken("opset8", "If", std::nullopt), "");
  EXPECT_EQ(untaken("opset1", "ReLU", yes), "");
}

TEST_F(VerifyInferredTest, TellsRepeatedNames) {
  AddResult(graph_, "y", {x_, 0});
  AddParameter(graph_, "x", ElementType::kF32, PartialShape{1});
  EXPECT_EQ(VerifyInferred(graph_, PortNames::kAny), std::vector<std::string>());
  ExpectViolations({"two parameters are called \"x\"", "two results are called \"y\""});
}

TEST_F(VerifyInferredTest, TellsABodyThatTakesAnotherType) {
  const NodeId branch = AddIf([](Graph& body, NodeId parameter) { AddResult(body, "r", {parameter, 0}); });
  ExpectValid();
  Graph& inner = *graph_.body(branch, 1).graph;
  inner.SetOutputType({inner.parameters()[0], 0}, ElementType::kI64, PartialShape{2, 3});
  ExpectViolations(
      {"hands f32[2,3] to parameter 0 of else_body, which is i64[2,3]", "result 0 of else_body is i64[2,3]"});
}

TEST_F(VerifyInferredTest, TellsAnotherTypeInABody) {
  const NodeId branch = AddIf([](Graph& body, NodeId parameter) {
    const NodeId relu = AddNode(body, "opset1", "ReLU", {.name = "a", .inputs = OutputPort{parameter, 0}});
    AddNode(body, "opset1", "Abs", {.name = "b", .inputs = OutputPort{relu, 0}});
    AddResult(body, "r", {relu, 0});
  });
  ExpectValid();
  // `b` is no result, so that the port map agrees.
  Graph& inner = *graph_.body(branch, 1).graph;
  for (NodeId id : inner.nodes()) {
    if (inner.node(id).name() == "b") inner.SetOutputType({id, 0}, ElementType::kF32, PartialShape{2, 4});
  }
  ExpectViolations({"else_body of `opset8.If` \"i\": output 0 of `opset1.Abs` \"b\" is f32[2,4]"});
}

// The input at index 0 is compared as well.
TEST_F(VerifyInferredTest, FirstInputOfABody) {
  const NodeId branch = AddIf([](Graph& body, NodeId parameter) { AddResult(body, "r", {parameter, 0}); });
  Graph& inner = *graph_.body(branch, 1).graph;
  const NodeId flag = AddParameter(inner, "flag", ElementType::kF32, PartialShape{1});
  graph_.body(branch, 1).inputs.push_back({.external = 0, .internal = 1});
  ExpectViolations({"hands boolean[1] to parameter 1 of else_body, which is f32[1]"});
  inner.SetOutputType({flag, 0}, ElementType::kBoolean, PartialShape{1});
  ExpectValid();
}

// The first of several mistakes is named.
TEST_F(VerifyInferredTest, FirstMistakeOfANode) {
  const NodeId alpha = AddParameter(graph_, "alpha", ElementType::kF32, PartialShape{1});
  const NodeId beta = AddParameter(graph_, "beta", ElementType::kF32, PartialShape{1});
  const OutputPort inputs[] = {{x_, 0}, {alpha, 0}, {beta, 0}};
  const NodeId node = AddNode(graph_, "opset1", "HardSigmoid", {.name = "h", .inputs = inputs});
  AddResult(graph_, "h", {node, 0});
  const std::vector<std::string> violations = VerifyInferred(graph_);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_NE(violations[0].find("`alpha`"), std::string::npos) << violations[0];
}

// What follows a mistake has no type, and reports nothing.
TEST_F(VerifyInferredTest, ResultsAfterAMistake) {
  const NodeId y = AddParameter(graph_, "other", ElementType::kF32, PartialShape{7, 5});
  const OutputPort inputs[] = {{x_, 0}, {y, 0}};
  const NodeId sum = AddNode(graph_, "opset1", "Add", {.name = "sum", .inputs = inputs});
  AttributeMap attributes;
  attributes.Set("destination_type", ElementType::kI64);
  const NodeId convert = AddNode(graph_, "opset1", "Convert",
                                 {.name = "c", .inputs = OutputPort{sum, 0}, .attributes = attributes});
  const NodeId after = AddNode(graph_, "opset1", "ShapeOf", {.name = "s", .inputs = OutputPort{convert, 0}});
  const NodeId fine = AddNode(graph_, "opset1", "ShapeOf", {.name = "f", .inputs = OutputPort{y, 0}});
  Emitter emitter;
  EXPECT_FALSE(InferGraph(graph_, emitter));
  EXPECT_EQ(emitter.diagnostics().size(), 1u);
  for (const NodeId id : {sum, convert, after}) {
    EXPECT_EQ(graph_.node(id).output().type, ElementType::kDynamic);
    EXPECT_FALSE(graph_.node(id).output().shape.rank_known());
  }
  EXPECT_EQ(graph_.node(fine).output().type, ElementType::kI64);
}

}  // namespace
}  // namespace nnefc::ir
