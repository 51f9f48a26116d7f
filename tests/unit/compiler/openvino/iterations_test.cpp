#include "compiler/ir/ops/opset/control_flow/iterations.h"

#include "compiler/ir/ops/opset/dims.h"
#include "gtest/gtest.h"

namespace nnefc::openvino {

using ir::Dim;
using ir::PartialShape;
using ir::ops::opset::PartOffset;
using ir::ops::opset::ShapeUnion;

namespace {

std::optional<int64_t> Count(ir::ops::opset::PartRange range, int64_t extent) {
  std::string reason;
  const auto count = ir::ops::opset::CountIterations(range, extent, &reason);
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

// The offsets that a range selects, counted one by one, for all small ranges.
TEST(Iterations, AgreeWithTheDefinition) {
  for (int64_t extent = 0; extent <= 4; ++extent) {
    for (int64_t start = -6; start <= 6; ++start) {
      for (int64_t end = -6; end <= 6; ++end) {
        for (int64_t stride = -5; stride <= 5; ++stride) {
          // A bound below zero counts from the end of the axis.
          const int64_t from = start < 0 ? extent + 1 + start : start, to = end < 0 ? extent + 1 + end : end;
          std::vector<int64_t> offsets;
          if (stride > 0) {
            for (int64_t at = from; at + stride <= to; at += stride) offsets.push_back(at);
          } else if (stride < 0) {
            for (int64_t at = from; at + stride >= to; at += stride) offsets.push_back(at + stride);
          }
          const bool fills =
              !offsets.empty() && (stride > 0 ? offsets.back() + stride : offsets.back()) == to;
          const bool is_cut = fills && from >= 0 && from <= extent && to >= 0 && to <= extent;
          for (int64_t part = 0; part <= 5; ++part) {
            const ir::ops::opset::PartRange range = {start, end, stride, part};
            const std::optional<int64_t> count = Count(range, extent);
            ASSERT_EQ(count.has_value(), is_cut && part == std::abs(stride))
                << start << " " << end << " " << stride << " " << part << " of " << extent;
            if (!count) continue;
            ASSERT_EQ(*count, static_cast<int64_t>(offsets.size()));
            for (int64_t k = 0; k < *count; ++k)
              ASSERT_EQ(PartOffset(range, extent, k), offsets[static_cast<size_t>(k)]);
          }
        }
      }
    }
  }
}

// Numbers whose sums fit 64 bits; each one beyond the limit is rejected.
TEST(Iterations, FarNumbers) {
  constexpr int64_t kFar = int64_t{1} << 62;
  EXPECT_EQ(Count({0, -1, 1, 1}, kFar), kFar);
  EXPECT_EQ(Count({0, kFar, kFar, kFar}, kFar), 1);
  EXPECT_EQ(Count({kFar, 0, -kFar, kFar}, kFar), 1);
  EXPECT_FALSE(Count({0, -1, 1, 1}, kFar + 1));
  EXPECT_FALSE(Count({0, -1, kFar + 1, kFar + 1}, kFar));
  EXPECT_FALSE(Count({-1, 0, -kFar - 1, kFar + 1}, kFar));
  for (int64_t far : {kFar + 1, -kFar - 1, INT64_MAX, INT64_MIN}) {
    EXPECT_FALSE(Count({far, -1, 1, 1}, 6));
    EXPECT_FALSE(Count({0, far, 1, 1}, 6));
    EXPECT_FALSE(Count({far, -1, 1, 1}, INT64_MAX));
  }
}

// Numbers whose sums do not fit 64 bits are reported as such, and are not counted inclusively.
TEST(Iterations, NumbersThatAreTooFar) {
  constexpr int64_t kFar = int64_t{1} << 62;
  for (int64_t far : {kFar + 1, -kFar - 1, INT64_MAX, INT64_MIN}) {
    for (const ir::ops::opset::PartRange& range :
         std::initializer_list<ir::ops::opset::PartRange>{{far, -1, 1, 1}, {0, far, 1, 1}, {0, -1, far, 1}}) {
      std::string reason;
      EXPECT_FALSE(ir::ops::opset::CountIterations(range, 6, &reason));
      EXPECT_EQ(reason, "start, end, stride or extent is out of range");
    }
    EXPECT_FALSE(ir::ops::opset::CountIterationsInclusive({far, -1, 1, 1}, 6));
    EXPECT_FALSE(ir::ops::opset::CountIterationsInclusive({0, far, 1, 1}, 6));
  }
  EXPECT_FALSE(ir::ops::opset::CountIterationsInclusive({0, -1, 1, 1}, kFar + 1));
  EXPECT_FALSE(ir::ops::opset::CountIterationsInclusive({0, -1, 1, 0}, 6));
  EXPECT_FALSE(ir::ops::opset::CountIterationsInclusive({0, -1, 1, -1}, 6));
  // Both bounds are included: 0 to 5, 5 to 0, 1 to 4 and 2.
  EXPECT_EQ(ir::ops::opset::CountIterationsInclusive({0, -1, 1, 1}, 6), 6);
  EXPECT_EQ(ir::ops::opset::CountIterationsInclusive({-1, 0, -1, 1}, 6), 6);
  EXPECT_EQ(ir::ops::opset::CountIterationsInclusive({1, 4, 1, 2}, 6), 2);
  EXPECT_EQ(ir::ops::opset::CountIterationsInclusive({2, 2, 1, 1}, 6), 1);
}

TEST(ShapeUnion, HoldsBothBranches) {
  // Either branch may have the lower extent, and either may be open.
  EXPECT_EQ(ShapeUnion({5, 8}, {7, 2}), PartialShape({Dim(5, 7), Dim(2, 8)}));
  EXPECT_EQ(ShapeUnion({1, 8}, PartialShape({Dim(1), Dim()})), PartialShape({Dim(1), Dim()}));
  EXPECT_EQ(ShapeUnion(PartialShape({Dim(5)}), PartialShape({Dim(2, 8)})), PartialShape({Dim()}));
  EXPECT_EQ(ShapeUnion(PartialShape({Dim(2, 8)}), PartialShape({Dim(5)})), PartialShape({Dim()}));
  EXPECT_EQ(ShapeUnion(PartialShape({Dim(2, 8)}), PartialShape({Dim(2, 8)})), PartialShape({Dim(2, 8)}));
  EXPECT_EQ(ShapeUnion({1, 2, 3}, {1, 2}), PartialShape());
  EXPECT_EQ(ShapeUnion({1}, PartialShape()), PartialShape());

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
}  // namespace nnefc::openvino
