#include "compiler/ir/algorithms/copy.h"

#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/algorithms/verify.h"
#include "compiler/ir/text/text.h"
#include "gtest/gtest.h"

namespace nnefc::ir {
namespace {

// if (c) x else relu(x), with every property that a node can have.
class CopyTest : public ::testing::Test {
 protected:
  CopyTest() {
    RegisterStandardOps(registry_);
    c_ = AddParameter(graph_, "c", ElementType::kBoolean, PartialShape{1});
    x_ = AddParameter(graph_, "x", ElementType::kF32, PartialShape{2, 3});
    const OutputPort inputs[] = {{c_, 0}, {x_, 0}};
    if_ = AddNode(graph_, "opset8", "If", {.name = "choice", .inputs = inputs});
    graph_.AddBody(if_, MakeBody("then_body", false));
    graph_.AddBody(if_, MakeBody("else_body", true));
    Emitter emitter;
    EXPECT_TRUE(InferNode(graph_, if_, emitter));
    graph_.SetRtInfo(if_, "fused", "a");
    graph_.SetRtInfo("version", "b");
    graph_.SetOutputNames({if_, 0}, {"y", "z"});
    const NodeId shape = AddNode(graph_, "opset1", "ShapeOf", {.name = "s", .inputs = OutputPort{if_, 0}});
    EXPECT_TRUE(InferNode(graph_, shape, emitter));
    AddResult(graph_, "s", {shape, 0});
    AddResult(graph_, "y", {if_, 0});
  }

  Body MakeBody(std::string role, bool has_relu) const {
    Body body{.role = std::move(role), .graph = std::make_unique<Graph>(&registry_, "body")};
    const NodeId x = AddParameter(*body.graph, "x", ElementType::kF32, PartialShape{2, 3});
    OutputPort value{x, 0};
    if (has_relu) value = {AddNode(*body.graph, "opset1", "ReLU", {.name = "r", .inputs = value}), 0};
    AddResult(*body.graph, "y", value);
    body.inputs = {{.external = 1, .internal = 0, .axis = std::nullopt}};
    body.outputs = {{.external = 0, .internal = 0, .axis = std::nullopt}};
    return body;
  }

  OpRegistry registry_;
  Graph graph_{&registry_, "g"};
  NodeId c_, x_, if_;
};

TEST_F(CopyTest, ACloneSaysTheSame) {
  const std::unique_ptr<Graph> clone = Clone(graph_);
  EXPECT_EQ(PrintGraph(*clone), PrintGraph(graph_));
  EXPECT_EQ(clone->rt_info(), graph_.rt_info());
  EXPECT_EQ(VerifyInferred(*clone), std::vector<std::string>());
  const OutputPort shape = clone->node(clone->results()[0]).input(0);
  ASSERT_TRUE(clone->output(shape).value.has_value());
  EXPECT_EQ(clone->output(shape).value->ElementAsInt(1), 3);
}

TEST_F(CopyTest, AChangeOfACloneLeavesTheGraphAlone) {
  const std::string before = PrintGraph(graph_);
  const std::unique_ptr<Graph> clone = Clone(graph_);
  for (NodeId id : clone->nodes()) {
    if (clone->node(id).bodies().empty()) continue;
    Graph& body = *clone->body(id, 1).graph;
    body.SetName(body.results()[0], "other");
    clone->SetName(id, "other");
  }
  EXPECT_NE(PrintGraph(*clone), before);
  EXPECT_EQ(PrintGraph(graph_), before);
}

// Variables are assigned in the order of the sinks.
TEST_F(CopyTest, ACloneHasTheOrderOfTheSinks) {
  std::vector<NodeId> sinks;
  for (const char* name : {"a", "b", "c"}) {
    AttributeMap attributes;
    attributes.Set("variable_id", name);
    sinks.push_back(AddNode(graph_, "opset6", "Assign",
                            {.name = name, .inputs = OutputPort{x_, 0}, .attributes = attributes}));
  }
  const NodeId order[] = {sinks[2], sinks[0], sinks[1]};
  graph_.OrderSinks(order);
  const std::unique_ptr<Graph> clone = Clone(graph_);
  std::string names;
  for (NodeId id : clone->sinks()) names += clone->node(id).name();
  EXPECT_EQ(names, "cab");
}

TEST_F(CopyTest, ANodeIsCopiedOnOtherInputs) {
  const NodeId other = AddParameter(graph_, "other", ElementType::kF32, PartialShape{2, 3});
  const OutputPort inputs[] = {{c_, 0}, {other, 0}};
  const Node& bare = graph_.node(CopyNode(graph_, graph_.node(if_), inputs, Bodies::kLeave));
  EXPECT_EQ(bare.input(1).node, other);
  EXPECT_EQ(bare.name(), "choice");
  EXPECT_EQ(bare.rt_info(), graph_.node(if_).rt_info());
  EXPECT_EQ(bare.output().names, (std::vector<std::string>{"y", "z"}));
  EXPECT_EQ(bare.output().shape, (PartialShape{2, 3}));
  EXPECT_TRUE(bare.bodies().empty());
  const Node& whole = graph_.node(CopyNode(graph_, graph_.node(if_), inputs));
  ASSERT_EQ(whole.bodies().size(), 2u);
  EXPECT_EQ(whole.bodies()[1].graph->num_nodes(), 3u);
}

TEST_F(CopyTest, ACopierKnowsWhatStandsForWhat) {
  Graph target(&registry_, "target");
  NodeCopier copier(target);
  const NodeId x = AddParameter(target, "given", ElementType::kF32, PartialShape{2, 3});
  copier.Map({x_, 0}, {x, 0});
  copier.Map({c_, 0}, {AddParameter(target, "c", ElementType::kBoolean, PartialShape{1}), 0});
  EXPECT_FALSE(copier.Mapped({if_, 0}).valid());
  const NodeId copy = copier.Copy(graph_.node(if_));
  EXPECT_EQ(copier.Mapped({if_, 0}), (OutputPort{copy, 0}));
  EXPECT_EQ(target.node(copy).input(1), (OutputPort{x, 0}));
}

// A copy with as many inputs has the same segments.
TEST_F(CopyTest, SegmentsOfInputs) {
  const OutputPort inputs[] = {{x_, 0}, {x_, 0}};
  const int32_t segments[] = {2, 0, 0};
  const NodeId node =
      AddNode(graph_, kNnefSet, "conv", {.name = "n", .inputs = inputs, .segments = segments});
  const NodeId copy = CopyNode(graph_, graph_.node(node), inputs);
  EXPECT_EQ(graph_.node(copy).segments(), llvm::ArrayRef<int32_t>(segments));
  const NodeId shorter = CopyNode(graph_, graph_.node(node), OutputPort{x_, 0});
  EXPECT_TRUE(graph_.node(shorter).segments().empty());
  EXPECT_EQ(graph_.node(shorter).segment(0).size(), 1u);
}

TEST_F(CopyTest, InfersApartWhatWouldBe) {
  const NodeId axes = AddConst(graph_, TensorValue::FromInts({1}, {0}), "axes");
  const OutputPort inputs[] = {{x_, 0}, {axes, 0}};
  Emitter emitter;
  const InferredNode added =
      AddInferred(graph_, "opset1", "Unsqueeze", {.name = "u", .inputs = inputs}, emitter);
  ASSERT_TRUE(added.inferred);
  EXPECT_EQ(graph_.output({added.id, 0}).shape, (PartialShape{1, 2, 3}));
  Output vector{.type = ElementType::kI64, .shape = PartialShape{5}, .names = {}, .value = std::nullopt};
  const std::string before = PrintGraph(graph_);
  const auto outputs =
      InferApart(graph_.node(added.id), {&vector, &graph_.output(OutputPort{axes, 0})}, emitter);
  ASSERT_TRUE(outputs.has_value());
  EXPECT_EQ(outputs->front().shape, (PartialShape{1, 5}));
  EXPECT_EQ(outputs->front().type, ElementType::kI64);
  EXPECT_EQ(PrintGraph(graph_), before);
  // An axis out of range for tensors of rank 1 and 2.
  Output far{.type = ElementType::kI64, .shape = PartialShape{1}, .names = {}, .value = std::nullopt};
  far.value = TensorValue::FromInts({1}, {4});
  EXPECT_FALSE(InferApart(graph_.node(added.id), {&vector, &far}, emitter).has_value());
  EXPECT_EQ(emitter.diagnostics().size(), 1u);
}

}  // namespace
}  // namespace nnefc::ir
