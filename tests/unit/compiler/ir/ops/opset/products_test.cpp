// The number of multiply-adds of operations that compute dot products: the product of all extents that a
// naive loop would run over.

#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/ops/opset/shape_cases.h"

namespace nnefc::ir::ops::opset {
namespace {

double Products(const char* set, const char* op, AttributeMap attributes, const std::vector<Shape>& inputs,
                const std::vector<Shape>& outputs) {
  Graph graph(&Opsets());
  std::vector<OutputPort> ports;
  ports.reserve(inputs.size());
  for (const Shape& shape : inputs)
    ports.push_back(
        {AddParameter(graph, "x", ElementType::kF32, PartialShape(llvm::ArrayRef<int64_t>(shape))), 0});
  const NodeId node =
      AddNode(graph, set, op, {.name = "n", .inputs = ports, .attributes = std::move(attributes)});
  return graph.node(node).info().products(graph.node(node), inputs, outputs);
}

AttributeMap With(std::initializer_list<std::pair<const char*, Attribute>> values) {
  AttributeMap attributes;
  for (const auto& [name, value] : values) attributes.Set(name, value);
  return attributes;
}

TEST(OpsetProducts, OfMatrices) {
  EXPECT_EQ(Products("opset1", "MatMul", {}, {{2, 3}, {3, 5}}, {{2, 5}}), 2 * 3 * 5);
  EXPECT_EQ(Products("opset1", "MatMul", With({{"transpose_a", true}}), {{3, 2}, {3, 5}}, {{2, 5}}),
            2 * 3 * 5);
  EXPECT_EQ(Products("opset1", "MatMul", With({{"transpose_b", true}}), {{2, 3}, {5, 3}}, {{2, 5}}),
            2 * 3 * 5);
  EXPECT_EQ(Products("opset1", "MatMul", With({{"transpose_a", true}}), {{3}, {3, 5}}, {{5}}), 3 * 5);
  EXPECT_EQ(Products("opset1", "MatMul", {}, {{7, 2, 3}, {3, 5}}, {{7, 2, 5}}), 7 * 2 * 3 * 5);
}

// Queries [L, E] with keys [S, E], then scores [L, S] with values [S, V].
TEST(OpsetProducts, OfAttention) {
  EXPECT_EQ(
      Products("opset13", "ScaledDotProductAttention", {}, {{2, 3, 4}, {2, 5, 4}, {2, 5, 6}}, {{2, 3, 6}}),
      2 * (3 * 5 * 4 + 3 * 5 * 6));
}

TEST(OpsetProducts, OfLabels) {
  const auto einsum = [](const char* equation, const std::vector<Shape>& inputs, const Shape& output) {
    return Products("opset7", "Einsum", With({{"equation", equation}}), inputs, {output});
  };
  EXPECT_EQ(einsum("ij,jk->ik", {{2, 3}, {3, 5}}, {2, 5}), 2 * 3 * 5);
  EXPECT_EQ(einsum("ij,kj->", {{2, 3}, {5, 3}}, {}), 2 * 3 * 5);
  EXPECT_EQ(einsum("a...j,j...->a...", {{2, 7, 3}, {3, 7}}, {2, 7}), 2 * 7 * 3);
  EXPECT_EQ(einsum("...ij,...jk->...ik", {{2, 7, 3, 4}, {2, 7, 4, 5}}, {2, 7, 3, 5}), 2 * 7 * 3 * 4 * 5);
  EXPECT_EQ(einsum("...ji,...jk->...ik", {{2, 7, 3, 4}, {2, 7, 3, 5}}, {2, 7, 4, 5}), 2 * 7 * 3 * 4 * 5);
  EXPECT_EQ(einsum("i...,...->i...", {{3, 2, 7}, {2, 7}}, {3, 2, 7}), 3 * 2 * 7);
  // An ellipsis without axes has nothing to count, in the result or not.
  EXPECT_EQ(einsum("...i->i", {{3}}, {3}), 3);
  EXPECT_EQ(einsum("...ij->i", {{3, 5}}, {3}), 3 * 5);
  EXPECT_EQ(einsum("...ij,j...->...i", {{3, 5}, {5}}, {3}), 3 * 5);
  // Axes at `...` are counted also where they are summed, once for all inputs.
  EXPECT_EQ(einsum("...ij,j...->i", {{2, 7, 3, 5}, {5, 2, 7}}, {3}), 2 * 7 * 3 * 5);
  EXPECT_EQ(einsum("...i,...i->i", {{1, 7, 3}, {2, 1, 3}}, {3}), 2 * 7 * 3);
  EXPECT_EQ(einsum("...i,...i->", {{4, 2, 3}, {2, 3}}, {}), 4 * 2 * 3);
  EXPECT_EQ(einsum("...i,...i->", {{2, 3}, {4, 2, 3}}, {}), 4 * 2 * 3);
  // An extent of 1 broadcasts to the other one, which may be 0.
  EXPECT_EQ(einsum("ij,jk->ik", {{2, 1}, {3, 5}}, {2, 5}), 2 * 3 * 5);
  EXPECT_EQ(einsum("ij,jk->ik", {{2, 3}, {1, 5}}, {2, 5}), 2 * 3 * 5);
  EXPECT_EQ(einsum("ij,jk->ik", {{2, 1}, {0, 5}}, {2, 5}), 0);
  EXPECT_EQ(einsum("...i,...i->i", {{1, 3}, {0, 3}}, {3}), 0);
  // Nothing is counted for an equation that cannot be read, or with another number of operands.
  EXPECT_EQ(einsum("ij,jk", {{2, 3}, {3, 5}}, {2, 5}), 2 * 3 * 5);
  EXPECT_EQ(einsum("ij,j1->i", {{2, 3}, {3, 5}}, {2}), 0);
  EXPECT_EQ(einsum("ij->ij", {{2, 3}, {3, 5}}, {2, 3}), 0);
  EXPECT_EQ(einsum("ij,jk,kl->il", {{2, 3}, {3, 5}}, {2, 5}), 0);
}

// Filters [outputs, inputs / groups, kernel..], each element for each position.
TEST(OpsetProducts, OfConvolutions) {
  EXPECT_EQ(Products("opset1", "Convolution", {}, {{2, 3, 8, 8}, {4, 3, 3, 2}}, {{2, 4, 6, 7}}),
            2 * 4 * 6 * 7 * 3 * 3 * 2);
  EXPECT_EQ(Products("opset1", "DeformableConvolution", {}, {{2, 4, 8, 8}, {2, 12, 6, 7}, {6, 4, 3, 2}},
                     {{2, 6, 6, 7}}),
            2 * 6 * 6 * 7 * 4 * 3 * 2);
  EXPECT_EQ(Products("opset1", "GroupConvolution", {}, {{2, 6, 8, 8}, {2, 4, 3, 3, 2}}, {{2, 8, 6, 7}}),
            2 * 8 * 6 * 7 * 3 * 3 * 2);
}

// All elements of W and R for each step.
TEST(OpsetProducts, OfRecurrentCells) {
  const double weights = 8 * 3 + 8 * 2;
  EXPECT_EQ(Products("opset4", "LSTMCell", {}, {{4, 3}, {4, 2}, {4, 2}, {8, 3}, {8, 2}, {8}}, {{4, 2}}),
            4 * weights);
  EXPECT_EQ(Products("opset4", "LSTMCell", {}, {{4, 3}, {4, 2}, {4, 2}, {8, 5}, {8}}, {{4, 2}}), 4 * weights);
  EXPECT_EQ(Products("opset5", "LSTMSequence", {},
                     {{4, 7, 3}, {4, 1, 2}, {4, 1, 2}, {4}, {1, 8, 3}, {1, 8, 2}, {1, 8}}, {{4, 1, 7, 2}}),
            4 * 7 * weights);
  EXPECT_EQ(Products("opset3", "GRUCell", {}, {{4, 3}, {4, 2}, {6, 3}, {6, 2}, {6}}, {{4, 2}}),
            4 * (6 * 3 + 6 * 2));
  EXPECT_EQ(Products("opset5", "GRUSequence", {}, {{4, 7, 3}, {4, 1, 2}, {4}, {1, 6, 3}, {1, 6, 2}, {1, 6}},
                     {{4, 1, 7, 2}}),
            4 * 7 * (6 * 3 + 6 * 2));
  EXPECT_EQ(Products("opset1", "RNNCell", {}, {{4, 3}, {4, 2}, {2, 3}, {2, 2}, {2}}, {{4, 2}}),
            4 * (2 * 3 + 2 * 2));
}

}  // namespace
}  // namespace nnefc::ir::ops::opset
