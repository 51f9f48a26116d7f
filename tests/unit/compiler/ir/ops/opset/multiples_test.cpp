// Extents that operations divide: an interval must hold a multiple, and its quotients are those of multiples.
// Also extents that Interpolate scales.

#include <limits>

#include "compiler/ir/ops/opset/dims.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/ops/opset/shape_cases.h"

namespace nnefc::ir::ops::opset {
namespace {

std::string InferOf(std::string op, std::string inputs, std::string attributes = "") {
  return InferCase({0, std::move(op), std::move(inputs), std::move(attributes), ""});
}

std::string MistakeOf(std::string op, std::string inputs, std::string attributes = "") {
  std::string message;
  InferCase({0, std::move(op), std::move(inputs), std::move(attributes), ""}, &message);
  return message;
}

constexpr int64_t kMost = Dim::kUnbounded;

std::string ExtentOf(std::optional<Dim> dim) {
  return dim ? ExtentText(*dim) : "none";
}

TEST(OpsetMultiples, QuotientsAreThoseOfMultiples) {
  for (int64_t divisor = 1; divisor <= 4; ++divisor) {
    for (int64_t low = 0; low < 9; ++low) {
      const int64_t first = (low + divisor - 1) / divisor;
      EXPECT_EQ(ExtentOf(DivideExactly(Dim(low, kMost), divisor)), ExtentText(Dim(first, kMost)));
      for (int64_t high = low; high < 13; ++high) {
        std::optional<Dim> expected;
        for (int64_t x = low; x <= high; ++x) {
          if (x % divisor == 0) expected = Dim(expected ? expected->min : x / divisor, x / divisor);
        }
        EXPECT_EQ(ExtentOf(DivideExactly(Dim(low, high), divisor)), ExtentOf(expected))
            << low << " " << high << " " << divisor;
      }
    }
  }
  EXPECT_EQ(ExtentOf(DivideExactly(Dim(kMost - 1), kMost - 1)), "1");
  EXPECT_EQ(ExtentOf(DivideExactly(Dim(1, kMost - 2), kMost - 1)), "none");
}

// OpenVINO's results, where they fit.
TEST(OpsetMultiples, ScalesCountAsSlightlyLarger) {
  EXPECT_EQ(ExtentOf(Rescale(10, 0.7f)), "7");
  EXPECT_EQ(ExtentOf(Rescale(10, 2.3f)), "23");
  EXPECT_EQ(ExtentOf(Rescale(10, 0.49999f)), "4");
  EXPECT_EQ(ExtentOf(Rescale(3, 0.3f)), "0");
  EXPECT_EQ(ExtentOf(Rescale(0, 3)), "0");
  EXPECT_EQ(ExtentOf(Rescale(100, 0.9999999f)), "100");
  EXPECT_EQ(ExtentOf(Rescale(1000000, 2)), "2000001");
  EXPECT_EQ(ExtentOf(Rescale(16777217, 1.1f)), "18454954");
  EXPECT_EQ(ExtentOf(Rescale(16777217, 1)), "16777217");
  EXPECT_EQ(ExtentOf(Rescale(Dim(3, 100000), 2.3f)), "6..230000");
  EXPECT_EQ(ExtentOf(Rescale(Dim(3, kMost), 2.3f)), "6..");
  const int64_t large = int64_t{1} << 62;
  EXPECT_EQ(ExtentOf(Rescale(large, 1)), "4611686018427387904");
  EXPECT_EQ(ExtentOf(Rescale(large, 1.9f)), "8762207723107385344");
  EXPECT_EQ(ExtentOf(Rescale(Dim(1, large), 2)), "2..");
  EXPECT_EQ(ExtentOf(Rescale(large, 2)), "none");
  EXPECT_EQ(ExtentOf(Rescale(Dim(0, 1), std::numeric_limits<float>::infinity())), "none");
}

// Of 5 to 7 elements none is a multiple of 4; of 5 to 8 only 8 is.
TEST(OpsetMultiples, BlocksOfSpaceAndDepth) {
  const std::string blocks = "mode = \"blocks_first\", block_size = 2";
  EXPECT_EQ(InferOf("opset1.DepthToSpace", "f32[1,5..8,3,4]", blocks), "f32[1,2,6,8]");
  EXPECT_EQ(InferOf("opset1.DepthToSpace", "f32[1,4..11,3,4]", blocks), "f32[1,1..2,6,8]");
  EXPECT_EQ(InferOf("opset1.DepthToSpace", "f32[1,5..,3,4]", blocks), "f32[1,2..,6,8]");
  EXPECT_EQ(MistakeOf("opset1.DepthToSpace", "f32[1,5..7,3,4]", blocks),
            "`DepthToSpace` divides the extent 5..7 of axis 1 by 4");
  const std::string fours = "mode = \"blocks_first\", block_size = 4";
  EXPECT_EQ(InferOf("opset1.SpaceToDepth", "f32[1,2,5..8,?]", fours), "f32[1,32,2,?]");
  EXPECT_EQ(MistakeOf("opset1.SpaceToDepth", "f32[1,2,4,5..7]", fours),
            "`SpaceToDepth` divides the extent 5..7 of axis 3 by 4");
  EXPECT_EQ(InferOf("opset1.ShuffleChannels", "f32[1,5..8]", "group = 4"), "f32[1,5..8]");
  EXPECT_EQ(MistakeOf("opset1.ShuffleChannels", "f32[1,5..7]", "group = 4"),
            "`ShuffleChannels` divides the extent 5..7 of axis 1 by 4");
}

TEST(OpsetMultiples, BlocksOfBatches) {
  const std::string no_crops = "; i64[2] = 1 4; i64[2] = 0 0; i64[2] = 0 0";
  EXPECT_EQ(InferOf("opset2.BatchToSpace", "f32[5..8,3]" + no_crops), "f32[2,12]");
  EXPECT_EQ(MistakeOf("opset2.BatchToSpace", "f32[5..7,3]" + no_crops),
            "`BatchToSpace` divides the extent 5..7 of axis 0 by 4");
  const std::string one_pad = "; i64[2] = 1 4; i64[2] = 0 1; i64[2] = 0 0";
  EXPECT_EQ(InferOf("opset2.SpaceToBatch", "f32[3,4..7]" + one_pad), "f32[12,2]");
  EXPECT_EQ(MistakeOf("opset2.SpaceToBatch", "f32[3,4..6]" + one_pad),
            "`SpaceToBatch` divides the extent 5..7 of axis 1 by 4");
}

TEST(OpsetMultiples, ElementsOfAReshape) {
  EXPECT_EQ(InferOf("opset1.Reshape", "f32[5..8]; i64[2] = -1 4"), "f32[2,4]");
  EXPECT_EQ(InferOf("opset1.Reshape", "f32[5..12]; i64[2] = -1 4"), "f32[2..3,4]");
  EXPECT_EQ(InferOf("opset1.Reshape", "f32[..7]; i64[2] = -1 4"), "f32[..1,4]");
  EXPECT_EQ(MistakeOf("opset1.Reshape", "f32[5..7]; i64[2] = -1 4"),
            "`Reshape` divides 5..7 elements by 4 elements");
  EXPECT_EQ(MistakeOf("opset1.Reshape", "f32[3,5..]; i64[2] = -1 0"),
            "`Reshape` divides 15.. elements by 0 elements");
  // An extent that is copied needs no division.
  EXPECT_EQ(InferOf("opset1.Reshape", "f32[5..7,4]; i64[3] = 0 -1 4", "special_zero = true"),
            "f32[5..7,1,4]");
}

TEST(OpsetMultiples, ChannelsInGroups) {
  const std::string groups = "num_groups = 4, epsilon = 0.1";
  EXPECT_EQ(InferOf("opset12.GroupNormalization", "f32[1,5..8,3]; f32[?]; f32[?]", groups), "f32[1,5..8,3]");
  EXPECT_EQ(InferOf("opset12.GroupNormalization", "f32[1,5..7,3]; f32[?]; f32[?]", groups), "opset.extent");
  EXPECT_EQ(InferOf("opset2.ReorgYolo", "f32[1,5..8,5..8,2]", "stride = 2"), "f32[1,20..32,3..4,1]");
  EXPECT_EQ(InferOf("opset2.ReorgYolo", "f32[1,5..7,4,4]", "stride = 2"), "opset.extent");
  EXPECT_EQ(InferOf("opset2.ReorgYolo", "f32[1,..3,4,4]", "stride = 2"), "opset.extent");
}

}  // namespace
}  // namespace nnefc::ir::ops::opset
