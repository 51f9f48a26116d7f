#include "compiler/ir/ops/opset/iterations.h"

#include "compiler/ir/ops/opset/control_flow.h"
#include "gtest/gtest.h"

namespace nnefc::ir {
namespace {

std::optional<int64_t> Count(PartRange range, int64_t extent) {
  std::string reason;
  const auto count = CountIterations(range, extent, &reason);
  EXPECT_NE(count.has_value(), !reason.empty());
  return count;
}

TEST(Iterations, CoverTheWholeAxisBothWays) {
  EXPECT_EQ(Count({0, -1, 1, 1}, 4), 4);
  EXPECT_EQ(Count({-1, 0, -1, 1}, 4), 4);
  EXPECT_EQ(Count({0, -1, 2, 2}, 4), 2);
  EXPECT_EQ(Count({-1, 0, -2, 2}, 4), 2);
  EXPECT_EQ(Count({0, -1, 4, 4}, 4), 1);
}

TEST(Iterations, AreHalfOpen) {
  EXPECT_EQ(Count({0, 6, 1, 1}, 6), 6);
  EXPECT_EQ(Count({0, 5, 1, 1}, 6), 5);
  EXPECT_EQ(Count({-3, -1, 1, 1}, 6), 2);
  EXPECT_EQ(Count({5, 0, -1, 1}, 6), 5);
  EXPECT_EQ(Count({0, 38, 2, 2}, 40), 19);
}

TEST(Iterations, RefuseWhatDoesNotDivide) {
  EXPECT_FALSE(Count({0, 39, 2, 2}, 40));
  EXPECT_FALSE(Count({0, -1, 2, 2}, 7));
  EXPECT_FALSE(Count({0, -1, 2, 2}, 5));
  EXPECT_FALSE(Count({0, -1, 2, 1}, 6));
  EXPECT_FALSE(Count({0, -1, 1, 2}, 6));
  EXPECT_FALSE(Count({0, -1, 0, 0}, 6));
  EXPECT_FALSE(Count({0, -1, 0, 1}, 6));
  EXPECT_FALSE(Count({0, -1, 1, 1}, 0));
  EXPECT_FALSE(Count({0, -1, -1, 1}, 6));
  EXPECT_FALSE(Count({0, 7, 1, 1}, 6));
  EXPECT_FALSE(Count({-9, -1, 1, 1}, 6));
  EXPECT_FALSE(Count({2, 2, 1, 1}, 6));
  EXPECT_FALSE(Count({INT64_MIN, INT64_MAX, INT64_MIN, INT64_MIN}, INT64_MAX));
  EXPECT_FALSE(Count({0, -1, INT64_MAX, INT64_MAX}, 6));
}

TEST(Iterations, CutAscendingPartsInEitherOrder) {
  EXPECT_EQ(PartOffset({0, -1, 2, 2}, 6, 0), 0);
  EXPECT_EQ(PartOffset({0, -1, 2, 2}, 6, 2), 4);
  EXPECT_EQ(PartOffset({-1, 0, -2, 2}, 6, 0), 4);
  EXPECT_EQ(PartOffset({-1, 0, -2, 2}, 6, 2), 0);
  EXPECT_EQ(PartOffset({2, -1, 1, 1}, 6, 0), 2);
  EXPECT_EQ(PartOffset({5, 0, -1, 1}, 6, 0), 4);
}

TEST(ShapeUnion, HoldsBothBranches) {
  EXPECT_EQ(ShapeUnion({1, 2}, {1, 2}), PartialShape({1, 2}));
  EXPECT_EQ(ShapeUnion({1, 2}, {1, 8}), PartialShape({Dim(1), Dim(2, 8)}));
  EXPECT_EQ(ShapeUnion(PartialShape({Dim(1), Dim()}), {1, 8}), PartialShape({Dim(1), Dim()}));
  EXPECT_EQ(ShapeUnion({1, 2}, {1, 2, 3}), PartialShape());
  EXPECT_EQ(ShapeUnion(PartialShape(), {1}), PartialShape());
  const PartialShape scalar = PartialShape::OfRank(0);
  EXPECT_EQ(ShapeUnion(scalar, scalar), scalar);
  EXPECT_EQ(ShapeUnion(scalar, {1}), PartialShape({1}));
  EXPECT_EQ(ShapeUnion({3}, scalar), PartialShape({Dim()}));
  EXPECT_EQ(ShapeUnion(scalar, {1, 1}), PartialShape());
}

}  // namespace
}  // namespace nnefc::ir
