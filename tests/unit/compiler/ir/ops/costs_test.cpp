#include "compiler/ir/ops/costs.h"

#include "compiler/ir/algorithms/infer.h"
#include "gtest/gtest.h"

namespace nnefc::ir::ops {
namespace {

// Elements of less than a byte are packed; the last byte may be filled in part.
TEST(Costs, BytesOfPackedElements) {
  struct Row {
    ElementType type;
    int64_t count, bytes;
  };
  for (const Row& row : std::initializer_list<Row>{{ElementType::kU4, 0, 0},
                                                   {ElementType::kU4, 1, 1},
                                                   {ElementType::kU4, 2, 1},
                                                   {ElementType::kU4, 3, 2},
                                                   {ElementType::kI4, 4, 2},
                                                   {ElementType::kU1, 1, 1},
                                                   {ElementType::kU1, 7, 1},
                                                   {ElementType::kU1, 8, 1},
                                                   {ElementType::kU1, 9, 2},
                                                   {ElementType::kU8, 3, 3},
                                                   {ElementType::kF16, 3, 6},
                                                   {ElementType::kF64, 3, 24}}) {
    Graph graph(&StandardOps(), "g");
    const NodeId x = AddParameter(graph, "x", row.type, PartialShape{row.count});
    const OutputPort inputs[] = {{x, 0}, {AddConst(graph, TensorValue::FromInts({1}, {0}), "axis"), 0}};
    const NodeId node = AddNode(graph, "opset1", "Unsqueeze", {.name = "u", .inputs = inputs});
    AddResult(graph, "y", {node, 0});
    Emitter emitter;
    ASSERT_TRUE(InferGraph(graph, emitter));
    const std::optional<GraphCosts> costs = FindCosts(graph);
    ASSERT_TRUE(costs.has_value());
    EXPECT_EQ(costs->output_bytes, row.bytes) << Name(row.type) << ' ' << row.count;
  }
}

}  // namespace
}  // namespace nnefc::ir::ops
