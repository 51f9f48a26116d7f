// Tiles of Winograd's way against sums over the taps in f64.

#include "runtime/fast/lanes/winograd_tile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/fast/lanes/lanes.h"
#include "tests/unit/runtime/fast/random_numbers.h"

namespace nnefc::runtime {
namespace {

// A block of channels of an image, and a filter of each by itself: input i of the filter has to do with
// channel i and output i alone, so that products of a tile are lanes times lanes.
class TileTest : public ::testing::Test {
 protected:
  static constexpr int64_t kRows = 9, kColumns = 11, kCount = 2;

  void SetUp() override {
    if (!HasLanes()) GTEST_SKIP() << "for AVX2";
  }

  // The products of `kCount` tiles, of which the first begins at a pixel that may lie in the border.
  std::vector<float> ProductsAt(int64_t row, int64_t column) const {
    constexpr int64_t kStride = kCount * kBlockColumns;
    std::vector<float> products(kWinogradProducts * kStride);
    TransformImage({.image = image_.data(),
                    .row_stride = kColumns * kBlockColumns,
                    .rows = kRows,
                    .columns = kColumns,
                    .row = row,
                    .column = column,
                    .count = kCount,
                    .out = products.data(),
                    .stride = kStride});
    std::vector<float> filter(kWinogradExtent * kTileColumns);
    for (int64_t y = 0; y < kWinogradExtent; ++y) {
      TransformFilter(
          {.taps = taps_.data(), .inputs = 1, .row = y, .out = filter.data(), .stride = kTileColumns});
      for (int64_t x = 0; x < kWinogradExtent; ++x) {
        for (int64_t i = 0; i < kStride; ++i)
          products[static_cast<size_t>((y * kWinogradExtent + x) * kStride + i)] *=
              filter[static_cast<size_t>(x * kTileColumns + i % kBlockColumns)];
      }
    }
    return products;
  }

  double Expected(int64_t row, int64_t column, int64_t lane) const {
    double sum = 0;
    for (int64_t y = 0; y < kWinogradTaps; ++y) {
      for (int64_t x = 0; x < kWinogradTaps; ++x) {
        const int64_t at_row = row + y, at_column = column + x;
        if (at_row < 0 || at_row >= kRows || at_column < 0 || at_column >= kColumns) continue;
        const float pixel =
            image_[static_cast<size_t>((at_row * kColumns + at_column) * kBlockColumns + lane)];
        sum += double{pixel} * taps_[static_cast<size_t>((y * kWinogradTaps + x) * kTileColumns + lane)];
      }
    }
    return sum;
  }

  std::vector<float> image_ = RandomNumbers(kRows * kColumns * kBlockColumns, 1);
  std::vector<float> taps_ = RandomNumbers(kWinogradTaps * kWinogradTaps * kTileColumns, 2);
};

TEST_F(TileTest, ResultsAreSumsOverTheTaps) {
  constexpr int64_t kWidth = kCount * kWinogradResults;
  for (int64_t row = -3; row <= kRows; ++row) {
    for (int64_t column = -3; column <= kColumns; ++column) {
      const std::vector<float> products = ProductsAt(row, column);
      std::vector<float> out(kWinogradResults * kWidth * kBlockColumns);
      TransformResult({.products = products.data(),
                       .stride = kCount * kBlockColumns,
                       .count = kCount,
                       .out = out.data(),
                       .row_stride = kWidth * kBlockColumns,
                       .rows = kWinogradResults,
                       .columns = kWidth});
      for (int64_t y = 0; y < kWinogradResults; ++y) {
        for (int64_t x = 0; x < kWidth; ++x) {
          for (int64_t lane = 0; lane < kBlockColumns; ++lane)
            ASSERT_NEAR(out[static_cast<size_t>((y * kWidth + x) * kBlockColumns + lane)],
                        Expected(row + y, column + x, lane), 1e-5)
                << row << " " << column << ": " << y << " " << x << " " << lane;
        }
      }
    }
  }
}

// No more is written than there is of the result, and what it begins with and its limits hold.
TEST_F(TileTest, ResultsEndWhereTheResultEnds) {
  constexpr float kUntouched = 77;
  const std::vector<float> products = ProductsAt(0, 0), bias = RandomNumbers(kBlockColumns, 3);
  for (int64_t rows = 1; rows <= kWinogradResults; ++rows) {
    for (int64_t columns = 1; columns <= kCount * kWinogradResults; ++columns) {
      const int64_t count = (columns + kWinogradResults - 1) / kWinogradResults;
      const std::vector<float> start = RandomNumbers(rows * columns * kBlockColumns, 4);
      std::vector<float> out(static_cast<size_t>((rows * columns + 4) * kBlockColumns), kUntouched);
      TransformResult({.products = products.data(),
                       .stride = kCount * kBlockColumns,
                       .count = count,
                       .bias = bias.data(),
                       .start = start.data(),
                       .out = out.data(),
                       .row_stride = columns * kBlockColumns,
                       .rows = rows,
                       .columns = columns,
                       .limits = {.has_most = true, .has_least = true, .most = 1, .least = -0.5F}});
      for (int64_t i = 0; i < rows * columns * kBlockColumns; ++i) {
        const int64_t pixel = i / kBlockColumns, lane = i % kBlockColumns;
        const double sum = Expected(pixel / columns, pixel % columns, lane) +
                           bias[static_cast<size_t>(lane)] + start[static_cast<size_t>(i)];
        ASSERT_NEAR(out[static_cast<size_t>(i)], std::clamp(sum, -0.5, 1.0), 1e-5) << rows << " " << columns;
      }
      for (size_t i = static_cast<size_t>(rows * columns * kBlockColumns); i < out.size(); ++i)
        ASSERT_EQ(out[i], kUntouched) << rows << " " << columns;
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime
