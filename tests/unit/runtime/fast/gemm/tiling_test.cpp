// Windows along an axis, and rows and pixels in tiles, against loops over all places and taps.

#include "runtime/fast/gemm/tiling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "runtime/fast/gemm/row_partitions.h"

namespace nnefc::runtime::fast::gemm {

using kernels::WindowAxis;

namespace {

// Axes of few places: strides, dilations and borders that are none, small, and larger than the window.
std::vector<WindowAxis> SmallAxes() {
  std::vector<WindowAxis> axes;
  for (int64_t input : {1, 2, 5, 20}) {
    for (int64_t size : {1, 2, 3}) {
      for (int64_t stride : {1, 2, 3}) {
        for (int64_t dilation : {1, 2, 4}) {
          for (int64_t before : {0, 1, 3, 9}) {
            for (int64_t after : {0, 2, 9}) {
              WindowAxis axis{.input = input,
                              .size = size,
                              .stride = stride,
                              .dilation = dilation,
                              .before = before,
                              .after = after};
              const int64_t room = input + before + after - axis.reach();
              if (room < 0) continue;
              axis.output = room / stride + 1;
              axes.push_back(axis);
            }
          }
        }
      }
    }
  }
  return axes;
}

bool IsSeen(const WindowAxis& axis, int64_t place, int64_t tap) {
  const int64_t at = place * axis.stride - axis.before + tap * axis.dilation;
  return at >= 0 && at < axis.input;
}

std::string NameOf(const WindowAxis& axis) {
  return "input " + std::to_string(axis.input) + ", size " + std::to_string(axis.size) + ", stride " +
         std::to_string(axis.stride) + ", dilation " + std::to_string(axis.dilation) + ", before " +
         std::to_string(axis.before) + ", output " + std::to_string(axis.output);
}

// `span` is a range of [0, count), of which exactly the members satisfy `sees`.
template <typename Sees>
void ExpectSpan(const simd::IndexRange& span, int64_t count, const Sees& sees, const std::string& name) {
  EXPECT_GE(span.begin, 0) << name;
  EXPECT_LE(span.begin, span.end) << name;
  EXPECT_LE(span.end, count) << name;
  for (int64_t i = 0; i < count; ++i) EXPECT_EQ(span.Has(i), sees(i)) << name << ": " << i;
}

TEST(WindowTilesTest, TapsAndPlacesThatSeeTheInput) {
  for (const WindowAxis& axis : SmallAxes()) {
    for (int64_t place = 0; place < axis.output; ++place) {
      ExpectSpan(
          ValidTaps(axis, place), axis.size, [&](int64_t tap) { return IsSeen(axis, place, tap); },
          NameOf(axis));
    }
    for (int64_t tap = 0; tap < axis.size; ++tap) {
      ExpectSpan(
          ValidOutputs(axis, tap), axis.output, [&](int64_t place) { return IsSeen(axis, place, tap); },
          NameOf(axis));
    }
  }
}

TEST(WindowTilesTest, PlaceSeenByATap) {
  const WindowAxis axis{.input = 9, .output = 4, .size = 3, .stride = 2, .dilation = 3, .before = 1};
  EXPECT_EQ(InputPosition(axis, 0, 0), -1);
  EXPECT_EQ(InputPosition(axis, 1, 0), 1);
  EXPECT_EQ(InputPosition(axis, 0, 1), 2);
  EXPECT_EQ(InputPosition(axis, 3, 2), 11);
}

TEST(WindowTilesTest, WindowsOfAPlaceEach) {
  const WindowAxis same{.input = 5, .output = 5};
  EXPECT_TRUE(IsIdentityWindow(same));
  EXPECT_TRUE(IsIdentityWindow({}));
  for (auto change : {+[](WindowAxis& axis) { axis.size = 2; }, +[](WindowAxis& axis) { axis.stride = 2; },
                      +[](WindowAxis& axis) { axis.before = 1; }, +[](WindowAxis& axis) { axis.input = 6; },
                      +[](WindowAxis& axis) { axis.output = 6; }}) {
    WindowAxis changed = same;
    change(changed);
    EXPECT_FALSE(IsIdentityWindow(changed)) << NameOf(changed);
  }
  WindowAxis apart = same;
  apart.dilation = 3;  // of one tap
  EXPECT_TRUE(IsIdentityWindow(apart));
}

TEST(WindowTilesTest, TilesOfColumns) {
  for (const WindowAxis& axis : SmallAxes()) {
    for (TileWidths widths : {TileWidths::kEqual, TileWidths::kWidest}) {
      const std::vector<TileColumns> tiles = DivideColumns(axis, widths);
      ASSERT_EQ(static_cast<int64_t>(tiles.size()), (axis.output + TilePixels() - 1) / TilePixels());
      int64_t next = 0, narrowest = axis.output, widest = 0;
      for (size_t i = 0; i < tiles.size(); ++i) {
        const TileColumns& tile = tiles[i];
        EXPECT_EQ(tile.places.begin, next) << NameOf(axis);
        next = tile.places.end;
        EXPECT_GE(tile.places.count(), 1);
        EXPECT_LE(tile.places.count(), TilePixels());
        if (widths == TileWidths::kWidest && i + 1 < tiles.size()) {
          EXPECT_EQ(tile.places.count(), TilePixels());
        }
        narrowest = std::min(narrowest, tile.places.count());
        widest = std::max(widest, tile.places.count());
        ASSERT_EQ(static_cast<int64_t>(tile.seeing.size()), tile.taps.count());
        bool sees_first = false, sees_last = false;
        for (int64_t tap = 0; tap < axis.size; ++tap) {
          for (int64_t place = tile.places.begin; place < tile.places.end; ++place) {
            const bool is_inside = tile.taps.Has(tap);
            const int64_t bits = is_inside ? tile.seeing[static_cast<size_t>(tap - tile.taps.begin)] : 0;
            EXPECT_EQ((bits >> (place - tile.places.begin) & 1) != 0, IsSeen(axis, place, tap))
                << NameOf(axis);
            if (is_inside && IsSeen(axis, place, tap)) {
              sees_first |= tap == tile.taps.begin;
              sees_last |= tap == tile.taps.end - 1;
            }
            EXPECT_EQ(bits >> tile.places.count(), 0);
          }
        }
        // No more taps than any place sees by, if all see some.
        bool all_see = true;
        for (int64_t place = tile.places.begin; place < tile.places.end; ++place)
          all_see &= ValidTaps(axis, place).count() > 0;
        EXPECT_TRUE(!all_see || (sees_first && sees_last)) << NameOf(axis);
      }
      EXPECT_EQ(next, axis.output) << NameOf(axis);
      if (widths == TileWidths::kEqual) {
        EXPECT_LE(widest - narrowest, 1) << NameOf(axis);
      }
    }
  }
}

TEST(WindowTilesTest, RowsInPanels) {
  for (int64_t rows = 0; rows <= 20 * simd::TileRows(); ++rows) {
    const TilePanels panels(rows);
    EXPECT_EQ(panels.count(), (rows + simd::TileRows() - 1) / simd::TileRows());
    int64_t next = 0;
    for (int64_t panel = 0; panel < panels.count(); ++panel) {
      EXPECT_EQ(panels.Begin(panel), next) << rows;
      next += panels.RowsOf(panel);
      EXPECT_LE(panels.RowsOf(panel), simd::TileRows()) << rows;
      EXPECT_GE(panels.RowsOf(panel), panels.RowsOf(panels.count() - 1)) << "the longer ones first";
      EXPECT_LE(panels.RowsOf(panel), panels.RowsOf(panels.count() - 1) + 1) << rows;
    }
    EXPECT_EQ(next, rows);
    int64_t next_panel = 0;
    panels.ForEqualPanels([&](int64_t panel, int64_t count) {
      EXPECT_EQ(panel, next_panel);
      next_panel += count;
      EXPECT_GE(count, 1);
      EXPECT_LE(count, 8);
      for (int64_t i = panel; i < panel + count; ++i)
        EXPECT_EQ(panels.RowsOf(i), panels.RowsOf(panel)) << rows;
      // Fewer than 8 only where the next panel is another length, or is none.
      if (count < 8 && next_panel < panels.count()) {
        EXPECT_NE(panels.RowsOf(next_panel), panels.RowsOf(panel)) << rows;
      }
    });
    EXPECT_EQ(next_panel, panels.count());
  }
}

TEST(WindowTilesTest, DividedAndRoundedUp) {
  EXPECT_EQ(tensor::CeilDivide(-5, 3), 0);
  EXPECT_EQ(tensor::CeilDivide(0, 3), 0);
  EXPECT_EQ(tensor::CeilDivide(1, 3), 1);
  EXPECT_EQ(tensor::CeilDivide(3, 3), 1);
  EXPECT_EQ(tensor::CeilDivide(4, 3), 2);
  EXPECT_EQ(tensor::CeilDivide(7, 1), 7);
  EXPECT_EQ(tensor::RoundUp(0, 16), 0);
  EXPECT_EQ(tensor::RoundUp(1, 16), 16);
  EXPECT_EQ(tensor::RoundUp(16, 16), 16);
  EXPECT_EQ(tensor::RoundUp(17, 16), 32);
}

// As many parts as threads, or the largest divisor of them of which each part has 64 rows.
TEST(WindowTilesTest, RowPartsOfThreads) {
  for (int threads = 1; threads <= 12; ++threads) {
    for (int64_t rows = 0; rows < 64 * 13; ++rows) {
      int64_t expected = 1;
      for (int64_t parts = 1; parts <= threads; ++parts) {
        if (threads % parts == 0 && rows >= 64 * parts) expected = parts;
      }
      ASSERT_EQ(RowPartitionsFor(rows, threads), expected) << rows << " rows, " << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::fast::gemm
