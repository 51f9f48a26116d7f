#include "compiler/ir/verify.h"

#include "compiler/ir/infer.h"
#include "gtest/gtest.h"

namespace nnefc::ir {
namespace {

// x -> ReLU -> result, inferred; each test breaks one property.
class VerifyInferredTest : public ::testing::Test {
 protected:
  VerifyInferredTest() {
    x_ = graph_.AddParameter("x", ElementType::kF32, PartialShape{2, 3});
    relu_ = graph_.AddNode("opset1", "ReLU", {.name = "y", .inputs = OutputPort{x_, 0}});
    graph_.AddResult("y", {relu_, 0});
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
  const NodeId shape = graph_.AddNode("opset1", "ShapeOf", {.name = "s", .inputs = OutputPort{x_, 0}});
  graph_.AddResult("s", {shape, 0});
  Emitter emitter;
  ASSERT_TRUE(InferGraph(graph_, emitter));
  ExpectValid();
  graph_.SetOutputValue({shape, 0}, TensorValue::FromInts({2}, {2, 5}));
  ExpectViolations({"the value of output 0 of `opset1.ShapeOf` \"s\" differs from the inferred one"});
}

TEST_F(VerifyInferredTest, TellsABrokenRule) {
  const NodeId clamp = graph_.AddNode("opset1", "Clamp", {.name = "c", .inputs = OutputPort{x_, 0}});
  graph_.SetOutputType({clamp, 0}, ElementType::kF32, PartialShape{2, 3});
  graph_.AddResult("c", {clamp, 0});
  ExpectViolations({"breaks a rule of its operation: `Clamp` lacks"});
}

TEST_F(VerifyInferredTest, TellsRepeatedNames) {
  graph_.AddResult("y", {x_, 0});
  graph_.AddParameter("x", ElementType::kF32, PartialShape{1});
  ExpectViolations({"two parameters are called \"x\"", "two results are called \"y\""});
}

TEST_F(VerifyInferredTest, TellsABodyThatTakesAnotherType) {
  const NodeId condition = graph_.AddParameter("condition", ElementType::kBoolean, PartialShape{1});
  const OutputPort inputs[] = {{condition, 0}, {x_, 0}};
  const NodeId branch = graph_.AddNode("opset8", "If", {.name = "i", .inputs = inputs});
  for (const char* role : {"then_body", "else_body"}) {
    Body body{.role = role, .graph = std::make_unique<Graph>(&registry_, role)};
    const NodeId inner = body.graph->AddParameter("p", ElementType::kF32, PartialShape{2, 3});
    body.graph->AddResult("r", {inner, 0});
    body.inputs.push_back({.external = 1, .internal = 0});
    body.outputs.push_back({.external = 0, .internal = 0});
    graph_.AddBody(branch, std::move(body));
  }
  graph_.AddResult("i", {branch, 0});
  Emitter emitter;
  ASSERT_TRUE(InferGraph(graph_, emitter));
  ExpectValid();
  Graph& inner = *graph_.body(branch, 1).graph;
  inner.SetOutputType({inner.parameters()[0], 0}, ElementType::kI64, PartialShape{2, 3});
  ExpectViolations(
      {"hands f32[2,3] to parameter 0 of else_body, which is i64[2,3]", "result 0 of else_body is i64[2,3]"});
}

}  // namespace
}  // namespace nnefc::ir
