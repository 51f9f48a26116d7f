// The order that passes share: the changes that adapt it, and those that replace it.

#include "compiler/ir/node_order.h"

#include "gtest/gtest.h"

namespace nnefc::ir {
namespace {

class NodeOrderTest : public ::testing::Test {
 protected:
  NodeOrderTest() {
    x_ = AddParameter(graph_, "x", ElementType::kF32, {2});
    a_ = Unary("a", {x_, 0});
    b_ = Unary("b", {a_, 0});
    AddResult(graph_, "y", {b_, 0});
  }

  NodeId Unary(const std::string& name, OutputPort input) {
    return AddNode(graph_, "opset1", "Abs", {.name = name, .inputs = input});
  }
  NodeId Constant(const std::string& name) {
    return AddConst(graph_, TensorValue::FromFloats({2}, {1, 2}), name);
  }
  std::string Names(NodeOrder& order) const {
    const std::vector<NodeId>* nodes = order.Of(graph_);
    if (nodes == nullptr) return "a cycle";
    std::string names;
    for (NodeId id : *nodes) names += (names.empty() ? "" : " ") + graph_.node(id).name();
    return names;
  }

  Graph graph_{&StandardOps()};
  NodeId x_, a_, b_;
};

TEST_F(NodeOrderTest, StartsWithTheOrderOfTheGraph) {
  NodeOrder order;
  EXPECT_EQ(Names(order), "x a b y");
  EXPECT_EQ(Names(order), "x a b y");
}

// A known order is not computed again: this one is another valid order.
TEST_F(NodeOrderTest, AKnownOrderRemains) {
  const NodeId c = Unary("c", {x_, 0});
  const NodeId y = graph_.results()[0];
  NodeOrder order(graph_, {x_, c, a_, b_, y});
  EXPECT_EQ(Names(order), "x c a b y");
  order.Reset();
  EXPECT_EQ(Names(order), "x a b y c");
}

TEST_F(NodeOrderTest, ErasedNodesAreOmitted) {
  const NodeId c = Unary("c", {x_, 0});
  NodeOrder order(graph_, {x_, c, a_, b_, graph_.results()[0]});
  graph_.Erase(c);
  EXPECT_EQ(Names(order), "x a b y");
}

TEST_F(NodeOrderTest, NewNodesWithoutInputsComeFirst) {
  const NodeId c = Unary("c", {x_, 0});
  NodeOrder order(graph_, {x_, c, a_, b_, graph_.results()[0]});
  Constant("k");
  Constant("l");
  EXPECT_EQ(Names(order), "k l x c a b y");
  // An erased one in exchange for a new one: the number of nodes is equal.
  graph_.Erase(c);
  Constant("m");
  EXPECT_EQ(Names(order), "m k l x a b y");
}

TEST_F(NodeOrderTest, NewNodesWithInputsReplaceTheOrder) {
  const NodeId c = Unary("c", {x_, 0});
  NodeOrder order(graph_, {x_, c, a_, b_, graph_.results()[0]});
  const NodeId d = Unary("d", {x_, 0});
  EXPECT_EQ(Names(order), "x a b y c d");
  // One that was erased since does not.
  NodeOrder other(graph_, {x_, d, c, a_, b_, graph_.results()[0]});
  graph_.Erase(Unary("e", {x_, 0}));
  EXPECT_EQ(Names(other), "x d c a b y");
}

TEST_F(NodeOrderTest, ACycleHasNoOrder) {
  NodeOrder order;
  graph_.SetInput(a_, 0, {b_, 0});
  EXPECT_EQ(Names(order), "a cycle");
  EXPECT_EQ(Names(order), "a cycle");
  graph_.SetInput(a_, 0, {x_, 0});
  EXPECT_EQ(Names(order), "x a b y");
}

}  // namespace
}  // namespace nnefc::ir
