// Messages about provisional nodes have the document's names and types.

#include "compiler/ir/wording.h"

#include "compiler/ir/algorithms/infer.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/ops/standard_ops.h"

namespace nnefc::ir::ops {
namespace {

struct Sum {
  Graph graph{&StandardOps(), "g"};
  NodeId node;

  // A mean_reduce of `type` with attributes.
  explicit Sum(ElementType type, const char* attributes) {
    const NodeId x = AddParameter(graph, "x", type, PartialShape{2, 3});
    const OpInfo& row = StandardOps().Info(StandardOps().Find(kNnefSet, "mean_reduce"));
    node = AddNode(
        graph, kNnefSet, "mean_reduce",
        {.name = "y", .inputs = OutputPort{x, 0}, .attributes = CompletedAttributes(row, attributes)});
  }
  std::string Message() {
    Emitter emitter;
    EXPECT_FALSE(ir::InferNode(graph, node, emitter));
    return emitter.diagnostics().empty() ? "" : emitter.diagnostics().front().message;
  }
};

TEST(WordingTest, NamesOfTheDocument) {
  Sum sum(ElementType::kF32, "axes = [0]");
  const Node& node = sum.graph.node(sum.node);
  EXPECT_EQ(ir::OperationName(node), "mean_reduce");
  EXPECT_EQ(ir::ArgumentName(node, "axes"), "axes");
  EXPECT_FALSE(ir::IsProvisional(node));
  ir::SetWording(sum.graph, sum.node, {.operation = "average"});
  EXPECT_EQ(ir::OperationName(node), "average");
  EXPECT_EQ(ir::ArgumentName(node, "axes"), "axes");
  EXPECT_FALSE(ir::IsProvisional(node));
  ir::SetWording(sum.graph, sum.node,
                 {.operation = "avg", .arguments = {{"input", "x"}, {"axes", "dims"}}, .provisional = true});
  EXPECT_EQ(ir::OperationName(node), "avg");
  EXPECT_EQ(ir::ArgumentName(node, "input"), "x");
  EXPECT_EQ(ir::ArgumentName(node, "axes"), "dims");
  EXPECT_EQ(ir::ArgumentName(node, "x"), "x");
  EXPECT_TRUE(ir::IsProvisional(node));
}

// A list of words that ends early names what it has.
TEST(WordingTest, IncompleteWords) {
  Sum sum(ElementType::kF32, "axes = [0]");
  const Node& node = sum.graph.node(sum.node);
  using Words = Attribute::Strings;
  for (const Words& words : {Words{}, Words{"provisional"}}) {
    sum.graph.SetRtInfo(sum.node, "wording", words);
    EXPECT_EQ(ir::OperationName(node), "mean_reduce");
    EXPECT_EQ(ir::ArgumentName(node, "axes"), "axes");
    EXPECT_FALSE(ir::IsProvisional(node));
  }
  sum.graph.SetRtInfo(sum.node, "wording", Words{"ratified", "average", "axes"});
  EXPECT_EQ(ir::OperationName(node), "average");
  EXPECT_EQ(ir::ArgumentName(node, "axes"), "axes");
}

TEST(WordingTest, TypesOfTheDialect) {
  for (const bool is_provisional : {false, true}) {
    const auto message = [&](ElementType type, const char* attributes) {
      Sum sum(type, attributes);
      ir::SetWording(sum.graph, sum.node, {.operation = "avg", .provisional = is_provisional});
      return sum.Message();
    };
    EXPECT_EQ(message(ElementType::kI64, "axes = [0]"),
              is_provisional ? "`input` of `avg` is of type coordinate; expected scalar"
                             : "`input` of `avg` is of type integer; expected scalar");
    EXPECT_EQ(message(ElementType::kF32, "axes = true"), is_provisional
                                                             ? "`axes` of `avg` is not of type extent[]"
                                                             : "`axes` of `avg` is not of type integer[]");
    EXPECT_EQ(message(ElementType::kF32, "axes = [-1]"),
              is_provisional ? "`axes[0]` of `avg` is -1; expected at least 0"
                             : "`axes[0]` of `avg` is -1; expected at least 0 and less than 2");
  }
}

// The kinds of attributes by the dialect of the document.
TEST(WordingTest, KindsOfAttributes) {
  const auto message = [](const char* op, const char* attributes, bool is_provisional) {
    Graph graph(&StandardOps(), "g");
    const NodeId x = AddParameter(graph, "x", ElementType::kF32, PartialShape{2, 3});
    const OpInfo& row = StandardOps().Info(StandardOps().Find(kNnefSet, op));
    const NodeId node = AddNode(
        graph, kNnefSet, op,
        {.name = "y", .inputs = OutputPort{x, 0}, .attributes = CompletedAttributes(row, attributes)});
    ir::SetWording(graph, node, {.operation = op, .provisional = is_provisional});
    Emitter emitter;
    EXPECT_FALSE(ir::InferNode(graph, node, emitter));
    return emitter.diagnostics().empty() ? "" : emitter.diagnostics().front().message;
  };
  EXPECT_EQ(message("pad", "padding = 1", false), "`padding` of `pad` is not of type (integer,integer)[]");
  EXPECT_EQ(message("pad", "padding = 1", true), "`padding` of `pad` is not of type (extent,extent)[]");
  EXPECT_EQ(message("unstack", "axis = true", false), "`axis` of `unstack` is not of type integer");
  EXPECT_EQ(message("unstack", "axis = true", true), "`axis` of `unstack` is not of type extent");
}

}  // namespace
}  // namespace nnefc::ir::ops
