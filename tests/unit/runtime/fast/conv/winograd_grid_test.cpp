// The order of Winograd tiles against loops over images, rows and columns.

#include "runtime/fast/conv/winograd/winograd_grid.h"

#include <gtest/gtest.h>

namespace nnefc::runtime::fast::conv {
namespace {

TEST(WinogradGridTest, TilesOfImages) {
  for (int64_t extent = 1; extent <= 9; ++extent) {
    const WinogradGrid grid = WinogradGrid::Of(3, {.output = extent}, {.output = extent + 4});
    EXPECT_EQ(grid.rows, (extent + 3) / 4) << extent;
    EXPECT_EQ(grid.columns, (extent + 7) / 4) << extent;
    EXPECT_EQ(grid.tiles(), 3 * grid.rows * grid.columns);
  }
}

TEST(WinogradGridTest, EachSpanInRows) {
  const WinogradGrid grid{.images = 2, .rows = 3, .columns = 4};
  for (int64_t begin = 0; begin <= grid.tiles(); ++begin) {
    for (int64_t end = begin; end <= grid.tiles(); ++end) {
      int64_t next = begin;
      grid.ForRows({begin, end},
                   [&](int64_t image, int64_t row, int64_t column, int64_t count, int64_t index) {
                     EXPECT_EQ(index, next - begin);
                     EXPECT_EQ((image * grid.rows + row) * grid.columns + column, next);
                     EXPECT_LT(row, grid.rows);
                     EXPECT_LT(image, grid.images);
                     EXPECT_GE(count, 1);
                     EXPECT_LE(column + count, grid.columns);
                     next += count;
                     // A row is cut only where the span ends.
                     EXPECT_TRUE(column + count == grid.columns || next == end) << begin << " to " << end;
                   });
      EXPECT_EQ(next, end);
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::fast::conv
