#include "compiler/ir/graph.h"

#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/algorithms/verify.h"
#include "gtest/gtest.h"

namespace nnefc::ir {
namespace {

class GraphTest : public ::testing::Test {
 protected:
  OutputPort Add(const char* op, std::vector<OutputPort> inputs) {
    return {AddNode(graph_, "nnef", op, {.name = op, .inputs = inputs}), 0};
  }
  OutputPort Input(PartialShape shape = PartialShape{2, 3}) {
    return {AddParameter(graph_, "x", ElementType::kF32, std::move(shape)), 0};
  }
  void ExpectValid() { EXPECT_EQ(Verify(graph_), std::vector<std::string>()); }

  OpRegistry registry_{&StandardOps()};
  Graph graph_{&registry_, "g"};
};

TEST_F(GraphTest, UsesFollowInputs) {
  const OutputPort x = Input();
  const OutputPort sum = Add("add", {x, x});
  const OutputPort neg = Add("neg", {x});
  EXPECT_EQ(graph_.node(x.node).uses().size(), 3u);
  graph_.SetInput(sum.node, 0, neg);
  EXPECT_EQ(graph_.node(x.node).uses().size(), 2u);
  ASSERT_EQ(graph_.node(neg.node).uses().size(), 1u);
  EXPECT_EQ(graph_.node(neg.node).uses()[0], (InputPort{sum.node, 0}));
  graph_.SetInput(sum.node, 0, neg);  // to itself
  ExpectValid();
}

TEST_F(GraphTest, ReplaceAllUses) {
  const OutputPort x = Input();
  const OutputPort relu = Add("relu", {x});
  const OutputPort sum = Add("add", {relu, relu});
  AddResult(graph_, "y", relu);
  graph_.ReplaceAllUses(relu, x);
  EXPECT_TRUE(graph_.node(relu.node).uses().empty());
  EXPECT_EQ(graph_.node(sum.node).input(1), x);
  graph_.ReplaceAllUses(x, x);
  EXPECT_EQ(graph_.node(x.node).uses().size(), 4u);
  graph_.Erase(relu.node);
  EXPECT_FALSE(graph_.Contains(relu.node));
  EXPECT_FALSE(graph_.Contains(NodeId()));
  EXPECT_FALSE(graph_.Contains(NodeId(1 << 30)));
  EXPECT_FALSE(graph_.Contains(NodeId(static_cast<int32_t>(graph_.node_bound()))));
  EXPECT_EQ(graph_.num_nodes(), 3u);
  ExpectValid();
}

TEST_F(GraphTest, EraseDeadNodesKeepsParametersResultsAndSinks) {
  const OutputPort x = Input();
  const OutputPort used = Add("relu", {x});
  const OutputPort dead = Add("neg", {x});
  Add("sqr", {dead});
  const OutputPort unused = Input();
  AddResult(graph_, "y", used);
  const OutputPort sink = Add("exp", {x});
  graph_.AddToSinks(sink.node);
  graph_.AddToSinks(sink.node);
  graph_.EraseDeadNodes();
  EXPECT_FALSE(graph_.Contains(dead.node));
  EXPECT_TRUE(graph_.Contains(unused.node));
  EXPECT_TRUE(graph_.Contains(sink.node));
  EXPECT_EQ(graph_.sinks().size(), 1u);
  EXPECT_EQ(graph_.num_nodes(), 5u);
  ExpectValid();
}

// Sinks are listed once, in the order in which they are added.
TEST_F(GraphTest, SinksAreListedOnce) {
  const OutputPort x = Input();
  const NodeId first = Add("neg", {x}).node, second = Add("exp", {x}).node;
  for (const NodeId sink : {first, second, second, first}) graph_.AddToSinks(sink);
  EXPECT_EQ(graph_.sinks().vec(), (std::vector<NodeId>{first, second}));
}

TEST_F(GraphTest, EraseLeavesTheLists) {
  const OutputPort x = Input();
  const NodeId result = AddResult(graph_, "y", x);
  graph_.Erase(result);
  EXPECT_TRUE(graph_.results().empty());
  graph_.Erase(x.node);
  EXPECT_TRUE(graph_.parameters().empty());
  EXPECT_EQ(graph_.num_nodes(), 0u);
}

TEST_F(GraphTest, TopologicalOrderKeepsInsertionOrderWherePossible) {
  const OutputPort x = Input();
  const OutputPort a = Add("neg", {x});
  const OutputPort b = Add("exp", {x});
  const OutputPort c = Add("add", {a, b});
  EXPECT_EQ(*TopologicalOrder(graph_), (std::vector<NodeId>{x.node, a.node, b.node, c.node}));
  graph_.SetInput(a.node, 0, b);
  EXPECT_EQ(*TopologicalOrder(graph_), (std::vector<NodeId>{x.node, b.node, a.node, c.node}));
  graph_.SetInput(b.node, 0, c);
  EXPECT_FALSE(TopologicalOrder(graph_).has_value());
  EXPECT_EQ(Verify(graph_), std::vector<std::string>{"the graph has a cycle"});
}

TEST_F(GraphTest, DeadCyclesAreErased) {
  const OutputPort x = Input();
  const OutputPort a = Add("neg", {x});
  const OutputPort b = Add("exp", {a});
  graph_.SetInput(a.node, 0, b);
  graph_.EraseDeadNodes();
  EXPECT_EQ(graph_.num_nodes(), 1u);
  ExpectValid();
}

TEST_F(GraphTest, Segments) {
  const OutputPort x = Input();
  const OutputPort inputs[] = {x, x, x};
  const int32_t segments[] = {1, 1, 1};
  const NodeId conv = AddNode(graph_, "nnef", "conv", {.inputs = inputs, .segments = segments});
  EXPECT_EQ(graph_.node(conv).segment(2).size(), 1u);
  const OutputPort two[] = {x, x};
  const NodeId without = AddNode(graph_, "nnef", "conv", {.inputs = two});
  EXPECT_TRUE(graph_.node(without).segment(2).empty());
  const NodeId concat = AddNode(graph_, "nnef", "concat", {.inputs = inputs});
  EXPECT_EQ(graph_.node(concat).segment(0).size(), 3u);
  ExpectValid();
}

TEST_F(GraphTest, ContainsItsNodes) {
  const OutputPort first = Input(), second = Input();
  EXPECT_TRUE(graph_.Contains(first.node) && graph_.Contains(second.node));
  for (const NodeId other : {NodeId(), NodeId(-1), NodeId(2), NodeId(100)})
    EXPECT_FALSE(graph_.Contains(other));
  graph_.Erase(second.node);
  EXPECT_TRUE(graph_.Contains(first.node) && !graph_.Contains(second.node));
}

// The results of a node are unknown if the type of an input is. This follows from another mistake.
TEST_F(GraphTest, ResultsOfUnknownInputsAreUnknown) {
  const OutputPort x = {AddParameter(graph_, "x", ElementType::kDynamic, PartialShape{2, 3}), 0};
  for (const OutputPort node : {Add("neg", {x}), Add("add", {Input(), x})}) {
    graph_.SetOutputType(node, ElementType::kF32, PartialShape{2, 3});
    Emitter emitter;
    EXPECT_FALSE(InferNode(graph_, node.node, emitter));
    EXPECT_TRUE(emitter.diagnostics().empty());
    EXPECT_EQ(graph_.output(node).type, ElementType::kDynamic);
    EXPECT_FALSE(graph_.output(node).shape.rank_known());
  }
}

// A shape function that throws fails with a message.
TEST_F(GraphTest, ShapeFunctionsThatThrow) {
  const std::string before = "the shape function of `Throws`, which a plug-in brings, failed: ";
  for (const bool is_exception : {true, false}) {
    OpRegistry registry(&StandardOps());
    const auto fail = [](bool is_standard) {
      if (is_standard) throw std::runtime_error("no rank");
      throw 7;
    };
    registry.Add({.set = "acme", .name = "Throws", .outputs = {"y"}, .infer = [=](InferContext& context) {
                    context.SetOutput(0, ElementType::kF32, PartialShape{2});
                    fail(is_exception);
                  }});
    Graph graph(&registry, "g");
    Emitter emitter;
    const InferredNode node = AddInferred(graph, "acme", "Throws", {.name = "n"}, emitter);
    EXPECT_FALSE(node.inferred);
    ASSERT_EQ(emitter.diagnostics().size(), 1u);
    EXPECT_EQ(emitter.diagnostics()[0].message,
              before + (is_exception ? "no rank" : "it threw something other than a std::exception"));
    EXPECT_EQ(graph.node(node.id).output().type, ElementType::kDynamic);
  }
}

// A port without an index is the first one.
TEST_F(GraphTest, FirstPorts) {
  const OutputPort x = Input();
  EXPECT_EQ(OutputPort{x.node}, x);
  const OutputPort neg = Add("neg", {x});
  EXPECT_EQ(graph_.node(x.node).uses()[0], InputPort{neg.node});
}

TEST_F(GraphTest, VerifyTellsWrongArity) {
  const OutputPort x = Input();
  Add("add", {x});
  Add("neg", {x, x});
  EXPECT_EQ(Verify(graph_), (std::vector<std::string>{"`nnef.add` \"add\" has 0 inputs for `y`; expected 1",
                                                      "`nnef.neg` \"neg\" has 2 inputs; expected 1"}));
}

TEST_F(GraphTest, VerifyTellsWrongLists) {
  const OutputPort x = Input();
  graph_.AddToParameters(x.node);
  AddNode(graph_, "opset1", "Result", {.name = "r", .inputs = x, .num_outputs = 0});
  EXPECT_EQ(Verify(graph_),
            (std::vector<std::string>{"`opset1.Parameter` \"x\" is listed twice among the parameters",
                                      "`opset1.Result` \"r\" is not listed among the results"}));
}

TEST_F(GraphTest, VerifyTellsWrongValues) {
  const NodeId constant = AddConst(graph_, TensorValue::Scalar(1), "c");
  ExpectValid();
  graph_.SetOutputType({constant, 0}, ElementType::kF32, PartialShape{1});
  EXPECT_EQ(Verify(graph_).size(), 1u);
}

TEST_F(GraphTest, VerifyTellsWrongPortMaps) {
  const OutputPort x = Input();
  const NodeId node = AddNode(graph_, "nnef", "relu", {.name = "n", .inputs = x});
  Body body{.role = "body", .graph = std::make_unique<Graph>(&registry_, "inner")};
  const NodeId inner = AddParameter(*body.graph, "p", ElementType::kF32, PartialShape{2});
  AddResult(*body.graph, "r", {inner, 0});
  body.inputs.push_back({.external = 0, .internal = 0});
  body.outputs.push_back({.external = 0, .internal = 0});
  graph_.AddBody(node, std::move(body));
  ExpectValid();
  graph_.body(node, 0).inputs[0].internal = 1;
  EXPECT_EQ(Verify(graph_), (std::vector<std::string>{
                                "body of `nnef.relu` \"n\": the port map has a wrong input 0 -> 1",
                                "body of `nnef.relu` \"n\": parameter 0 is fed 0 times; expected once"}));
  graph_.body(node, 0).inputs[0] = {.external = 0, .internal = 0, .axis = 1, .stride = 2, .part_size = 1};
  EXPECT_EQ(Verify(graph_).size(), 2u);
  graph_.body(node, 0).inputs[0] = {.external = 0, .internal = 0, .axis = 1, .stride = -2, .part_size = 2};
  ExpectValid();
  graph_.body(node, 0).back_edges.push_back({.result = 0, .parameter = 0});
  EXPECT_EQ(Verify(graph_).size(), 1u);
}

// A chain of 300,000 operations that all read one constant: building, sorting,
// rewiring and erasing take time and memory in proportion.
TEST_F(GraphTest, LargeGraph) {
  constexpr int kCount = 300'000;
  const OutputPort constant{AddConst(graph_, TensorValue::Scalar(1), "c"), 0};
  OutputPort value = Input();
  const OutputPort input = value;
  for (int i = 0; i < kCount; ++i) value = Add("add", {value, constant});
  EXPECT_EQ(TopologicalOrder(graph_)->size(), static_cast<size_t>(kCount) + 2);
  Emitter emitter;
  EXPECT_TRUE(InferGraph(graph_, emitter));
  EXPECT_EQ(graph_.output(value).shape, (PartialShape{2, 3}));
  for (NodeId id : graph_.nodes()) {
    if (graph_.node(id).type() == "add") graph_.SetInput(id, 1, input);
  }
  EXPECT_TRUE(graph_.node(constant.node).uses().empty());
  graph_.ReplaceAllUses(input, constant);
  ExpectValid();
  graph_.EraseDeadNodes();
  EXPECT_EQ(graph_.num_nodes(), 1u);
}

TEST_F(GraphTest, AMistakeIsToldOnce) {
  const OutputPort x = Input();
  const OutputPort y = Input(PartialShape{4});
  const OutputPort wrong = Add("add", {x, y});
  const OutputPort after = Add("neg", {wrong});
  const OutputPort last = Add("mul", {after, x});
  Emitter emitter;
  EXPECT_FALSE(InferGraph(graph_, emitter));
  EXPECT_EQ(emitter.error_count(), 1u);
  EXPECT_EQ(graph_.output(last).type, ElementType::kDynamic);
  EXPECT_FALSE(graph_.output(last).shape.rank_known());
}

// The known values of results end with a mistake before them.
TEST_F(GraphTest, AMistakeForgetsValues) {
  const OutputPort x = Input();
  const OutputPort sum = Add("add", {x, Input()});
  const OutputPort shape{AddNode(graph_, "opset1", "ShapeOf", {.name = "s", .inputs = sum}), 0};
  Emitter emitter;
  EXPECT_TRUE(InferGraph(graph_, emitter));
  EXPECT_TRUE(graph_.output(shape).value.has_value());
  graph_.SetInput(sum.node, 1, Input(PartialShape{4}));
  EXPECT_FALSE(InferGraph(graph_, emitter));
  EXPECT_FALSE(graph_.output(shape).value.has_value());
}

// The outputs of an operation without a shape function are as declared, even after a mistake.
TEST_F(GraphTest, DeclaredOutputsStay) {
  registry_.Add({.set = "acme", .name = "F", .inputs = {{.name = "a"}}, .outputs = {"b"}});
  const OutputPort x = Input();
  const OutputPort wrong = Add("add", {x, Input(PartialShape{4})});
  const OutputPort declared = {AddNode(graph_, "acme", "F", {.name = "f", .inputs = wrong}), 0};
  graph_.SetOutputType(declared, ElementType::kF32, PartialShape{5});
  const OutputPort after = Add("neg", {declared});
  Add("mul", {after, x});
  Emitter emitter;
  EXPECT_FALSE(InferGraph(graph_, emitter));
  EXPECT_EQ(emitter.error_count(), 2u);  // of `add` and `mul`
  for (const OutputPort port : {declared, after}) {
    EXPECT_EQ(graph_.output(port).type, ElementType::kF32);
    EXPECT_EQ(graph_.output(port).shape, PartialShape{5});
  }
}

TEST(OpRegistryTest, FindsTheNewest) {
  OpRegistry registry;
  const OpId first = registry.Add({.set = "opset1", .name = "MaxPool"});
  const OpId second = registry.Add({.set = "opset8", .name = "MaxPool"});
  EXPECT_EQ(registry.Find("opset1", "MaxPool"), first);
  EXPECT_EQ(registry.FindNewest("MaxPool"), second);
  EXPECT_FALSE(registry.Find("opset2", "MaxPool").valid());
  EXPECT_FALSE(registry.FindNewest("MinPool").valid());
}

// A set and a name are separate, however they are spelt.
TEST(OpRegistryTest, SetsAndNames) {
  OpRegistry registry;
  const OpId first = registry.Add({.set = "acme", .name = "xPool"});
  EXPECT_FALSE(registry.Find("acmex", "Pool").valid());
  const OpId second = registry.Add({.set = "acmex", .name = "Pool"});
  EXPECT_EQ(registry.Find("acme", "xPool"), first);
  EXPECT_EQ(registry.Find("acmex", "Pool"), second);
}

// A table does not have the operations that are added to its registry later.
TEST(OpRegistryTest, TablesOfOperations) {
  OpRegistry registry;
  const InferFunction infer = [](InferContext&) {};
  const OpId pool = registry.Add({.set = "acme", .name = "Pool", .infer = infer});
  const OpTable<int> table(registry, "acme", {{"Pool", 7}});
  const OpId later = registry.Add({.set = "acme", .name = "Later", .infer = infer});
  ASSERT_NE(table.Find(pool), nullptr);
  EXPECT_EQ(*table.Find(pool), 7);
  EXPECT_EQ(table.Find(later), nullptr);
  EXPECT_EQ(table.Find(OpId()), nullptr);
}

// Several registries share a base, each with its own operations.
TEST(OpRegistryTest, BeginsWithABase) {
  OpRegistry base;
  const OpId pool = base.Add({.set = "opset1", .name = "MaxPool"});
  OpRegistry first(&base), second(&base);
  const OpId newer = first.Add({.set = "opset8", .name = "MaxPool"});
  const OpId mine = second.Add({.set = "mine", .name = "Op"});
  EXPECT_EQ(newer, mine);  // ids of one registry are invalid in another
  EXPECT_EQ(first.Find("opset1", "MaxPool"), pool);
  EXPECT_EQ(first.FindNewest("MaxPool"), newer);
  EXPECT_EQ(second.FindNewest("MaxPool"), pool);
  EXPECT_EQ(&second.Info(pool), &base.Info(pool));
  EXPECT_EQ(second.Info(mine).name, "Op");
  EXPECT_FALSE(first.Find("mine", "Op").valid());
  EXPECT_FALSE(base.FindNewest("Op").valid());
  EXPECT_EQ(base.size(), 1u);
  EXPECT_EQ(second.size(), 2u);
  const OpRegistry third(&second);
  EXPECT_EQ(third.Find("mine", "Op"), mine);
  EXPECT_EQ(third.Find("opset1", "MaxPool"), pool);
}

}  // namespace
}  // namespace nnefc::ir
