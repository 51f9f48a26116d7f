#include "compiler/ir/ops/windows/resized_axis.h"

#include <gtest/gtest.h>

namespace nnefc::ir::ops {
namespace {

// Covers coordinates below, at and above the half between two positions.
TEST(NearestPositionTest, RoundsByItsMode) {
  struct Row {
    const char* mode;
    float coordinate;
    int64_t position;
  };
  for (const Row& row : {
           Row{"round_prefer_ceil", 1.49f, 1},
           {"round_prefer_ceil", 1.5f, 2},
           {"round_prefer_ceil", 1.51f, 2},
           {"round_prefer_ceil", 0.49999997f, 0},  // the f32 below a half; its sum with 0.5 is 1
           {"round_prefer_ceil", -0.5f, 0},
           {"round_prefer_ceil", -0.50000006f, -1},
           {"round_prefer_ceil", 8388609.0f, 8388609},  // its sum with 0.5 is the even 8388610
           {"round_prefer_floor", 1.49f, 1},
           {"round_prefer_floor", 1.5f, 1},
           {"round_prefer_floor", 1.51f, 2},
           {"round_prefer_floor", -0.5f, -1},
           {"floor", 1.99f, 1},
           {"floor", 2.0f, 2},
           {"floor", -0.25f, -1},
           {"ceil", 1.01f, 2},
           {"ceil", 1.0f, 1},
           {"ceil", -0.25f, 0},
       })
    EXPECT_EQ(NearestPosition(row.mode, row.coordinate, 2), row.position)
        << row.mode << " " << row.coordinate;
}

TEST(NearestPositionTest, RoundsUpByTheSimpleModeWhereExtentsShrink) {
  EXPECT_EQ(NearestPosition("simple", 1.25f, 0.99), 2);
  EXPECT_EQ(NearestPosition("simple", 1.25f, 1), 1);
  EXPECT_EQ(NearestPosition("simple", 1.25f, 1.01), 1);
}

TEST(OriginalCoordinateTest, FollowsTheFormulaOfEachMode) {
  const ResizedAxis doubled{.input = 3, .output = 6, .scale = 2};
  EXPECT_EQ(OriginalCoordinate("half_pixel", 0, doubled), -0.25f);
  EXPECT_EQ(OriginalCoordinate("half_pixel", 5, doubled), 2.25f);
  EXPECT_EQ(OriginalCoordinate("pytorch_half_pixel", 5, doubled), 2.25f);
  EXPECT_EQ(OriginalCoordinate("asymmetric", 5, doubled), 2.5f);
  EXPECT_EQ(OriginalCoordinate("tf_half_pixel_for_nn", 5, doubled), 2.75f);
  EXPECT_EQ(OriginalCoordinate("align_corners", 0, doubled), 0.0f);
  EXPECT_EQ(OriginalCoordinate("align_corners", 5, doubled), 2.0f);
}

TEST(OriginalCoordinateTest, HasSpecialCasesForAnExtentOfOne) {
  const ResizedAxis one{.input = 3, .output = 1, .scale = 1.0 / 3};
  EXPECT_EQ(OriginalCoordinate("pytorch_half_pixel", 0, one), 0.0f);
  EXPECT_EQ(OriginalCoordinate("align_corners", 0, one), 0.0f);
  EXPECT_EQ(OriginalCoordinate("half_pixel", 0, one), 1.0f);
  const ResizedAxis two{.input = 3, .output = 2, .scale = 2.0 / 3};
  EXPECT_EQ(OriginalCoordinate("pytorch_half_pixel", 0, two), 0.25f);
  EXPECT_EQ(OriginalCoordinate("align_corners", 1, two), 2.0f);
}

}  // namespace
}  // namespace nnefc::ir::ops
