// Tiles of Winograd convolutions against sums over the taps in f64.

#include "tests/unit/runtime/fast/simd/conv/winograd_test.h"

namespace nnefc::runtime::fast::simd {
namespace {

// A block of channels of an image, and a filter of each channel by itself: products of a tile are lanes times
// lanes. Taps are those of one block of two, at `first_tap`.
class WinogradTileTest : public SimdTest {
 protected:
  static constexpr int64_t kRows = 9, kColumns = 11, kCount = 2, kWidth = kCount * kWinogradResults;
  // Numbers are below 1, sums of nine products below 9; transforms multiply rounding errors by less than 20.
  static constexpr double kTolerance = 9 * 20 * kRounding;

  void SetUp() override {
    SimdTest::SetUp();
    if (IsSkipped()) return;
    taps_ = DrawReals(kInputs * kWinogradTaps * kWinogradTaps * kTileColumns);
    SetPixelStride(kBlockColumns);
  }
  void SetPixelStride(int64_t pixel_stride) {
    sizes_.pixel_stride = pixel_stride;
    image_ = DrawReals(sizes_.size());
  }

  // The filter of input `input` and one of the two blocks.
  float TapOf(int64_t tap, int64_t lane) const {
    return taps_[(input_ * kWinogradTaps * kWinogradTaps + tap) * kTileColumns + block_ * kBlockColumns +
                 lane];
  }

  // The products of `kCount` tiles, of which the first begins at a pixel that may be in the border.
  GuardedArray<float> ProductsAt(int64_t row, int64_t column, int64_t count = kCount) {
    const int64_t stride = count * kBlockColumns;
    GuardedArray<float> products = Array(kWinogradProducts * stride);
    Of(TransformImage)(sizes_.TilesAt(image_.data(), row, column, kWinogradResults, count, products.data()));
    const int64_t filter_stride = kInputs * kTileColumns + 7;
    GuardedArray<float> filter = Array((kWinogradExtent - 1) * filter_stride + kInputs * kTileColumns);
    for (int64_t y = 0; y < kWinogradExtent; ++y) {
      Of(TransformFilter)(
          {.taps = taps_.data(), .inputs = kInputs, .row = y, .out = filter.data(), .stride = filter_stride});
      for (int64_t x = 0; x < kWinogradExtent; ++x) {
        for (int64_t i = 0; i < stride; ++i)
          products[(y * kWinogradExtent + x) * stride + i] *=
              filter[x * filter_stride + input_ * kTileColumns + block_ * kBlockColumns + i % kBlockColumns];
      }
    }
    return products;
  }

  double Expected(int64_t row, int64_t column, int64_t lane) const {
    double sum = 0;
    for (int64_t tap = 0; tap < kWinogradTaps * kWinogradTaps; ++tap) {
      const int64_t y = row + tap / kWinogradTaps, x = column + tap % kWinogradTaps;
      if (!sizes_.Contains(y, x)) continue;
      sum += double{image_[y * sizes_.row_stride() + x * sizes_.pixel_stride + lane]} * TapOf(tap, lane);
    }
    return sum;
  }

  void CheckAt(int64_t row, int64_t column) {
    const GuardedArray<float> products = ProductsAt(row, column);
    GuardedArray<float> out = Untouched(kWinogradResults * kWidth * kBlockColumns);
    Of(TransformResult)({.products = products.data(),
                         .stride = kCount * kBlockColumns,
                         .count = kCount,
                         .out = out.data(),
                         .row_stride = kWidth * kBlockColumns,
                         .rows = kWinogradResults,
                         .columns = kWidth});
    for (int64_t i = 0; i < out.size(); ++i) {
      const int64_t y = i / kBlockColumns / kWidth, x = i / kBlockColumns % kWidth;
      ASSERT_TRUE(IsNear(out[i], Expected(row + y, column + x, i % kBlockColumns), kTolerance))
          << row << " " << column << ": " << y << " " << x << " " << i % kBlockColumns;
    }
  }

  static constexpr int64_t kInputs = 3;
  WinogradImage sizes_ = {.rows = kRows, .columns = kColumns};
  int64_t input_ = 0, block_ = 0;
  GuardedArray<float> image_ = Array(0), taps_ = Array(0);
};

TEST_P(WinogradTileTest, ResultsAreSumsOverTheTaps) {
  for (int64_t row = -7; row <= kRows + 1; ++row) {
    for (int64_t column = -11; column <= kColumns + 1; ++column) CheckAt(row, column);
  }
}

TEST_P(WinogradTileTest, PixelsApartFromOneAnother) {
  for (int64_t pixel_stride : {32, 35}) {
    SetPixelStride(pixel_stride);
    for (int64_t row : {-1, 0, 2, 3, 4}) {
      for (int64_t column : {-1, 0, 1, 2, 7}) CheckAt(row, column);
    }
  }
}

TEST_P(WinogradTileTest, InputsAndBlocksOfFilters) {
  for (input_ = 0; input_ < kInputs; ++input_) {
    for (block_ = 0; block_ < 2; ++block_) CheckAt(0, 1);
  }
}

TEST_P(WinogradTileTest, NoTiles) {
  const GuardedArray<float> products = ProductsAt(0, 0, 0);
  Of(TransformResult)({.products = products.data(),
                       .stride = 0,
                       .count = 0,
                       .out = nullptr,
                       .row_stride = 0,
                       .rows = kWinogradResults,
                       .columns = 0});
}

// Results end where the output ends, and have the elements that they begin with and their limits.
TEST_P(WinogradTileTest, ResultsEndWhereTheOutputEnds) {
  const GuardedArray<float> products = ProductsAt(0, 0), bias = DrawReals(kBlockColumns);
  for (int64_t rows = 1; rows <= kWinogradResults + 1; ++rows) {
    for (int64_t columns = 1; columns <= kWidth + 1; ++columns) {
      for (const Limits& limits : AllLimits(-0.5F, 1)) {
        for (int64_t i = 0; i < 4; ++i) {
          const int64_t count = std::min(kCount, (columns + kWinogradResults - 1) / kWinogradResults);
          const int64_t pixel_stride = kBlockColumns + (i == 3 ? 4 : 0),
                        row_stride = columns * pixel_stride + 3;
          const int64_t written_rows = std::min(rows, kWinogradResults), written = std::min(columns, kWidth);
          const int64_t size = (written_rows - 1) * row_stride + (written - 1) * pixel_stride + kBlockColumns;
          const GuardedArray<float> start = DrawReals(size);
          GuardedArray<float> out = Untouched(size);
          Of(TransformResult)({.products = products.data(),
                               .stride = kCount * kBlockColumns,
                               .count = count,
                               .bias = i % 2 == 1 ? bias.data() : nullptr,
                               .start = i / 2 == 1 ? start.data() : nullptr,
                               .out = out.data(),
                               .row_stride = row_stride,
                               .pixel_stride = pixel_stride,
                               .rows = rows,
                               .columns = columns,
                               .limits = limits});
          for (int64_t at = 0; at < size; ++at) {
            const int64_t row = at / row_stride, column = at % row_stride / pixel_stride;
            const int64_t lane = at % row_stride % pixel_stride;
            double expected = kUntouched;
            if (column < written && lane < kBlockColumns) {
              const double sum =
                  Expected(row, column, lane) + (i % 2 == 1 ? bias[lane] : 0) + (i / 2 == 1 ? start[at] : 0);
              expected = Limited(limits, sum);
            }
            ASSERT_TRUE(IsNear(out[at], expected, kTolerance)) << rows << " x " << columns << ": " << at;
          }
        }
      }
    }
  }
}

// A NaN reaches at least the results that see it.
TEST_P(WinogradTileTest, NanIsSeen) {
  image_[4 * sizes_.row_stride() + 4 * sizes_.pixel_stride + 3] = kNan;
  const GuardedArray<float> products = ProductsAt(2, 2, 1);
  GuardedArray<float> out = Untouched(kWinogradResults * kWinogradResults * kBlockColumns);
  Of(TransformResult)({.products = products.data(),
                       .stride = kBlockColumns,
                       .count = 1,
                       .out = out.data(),
                       .row_stride = kWinogradResults * kBlockColumns,
                       .rows = kWinogradResults,
                       .columns = kWinogradResults});
  for (int64_t i = 0; i < out.size(); ++i) {
    const int64_t row = 2 + i / kBlockColumns / kWinogradResults,
                  column = 2 + i / kBlockColumns % kWinogradResults;
    const double expected = Expected(row, column, i % kBlockColumns);
    if (i % kBlockColumns != 3) {
      ASSERT_TRUE(IsNear(out[i], expected, kTolerance)) << i;
    }
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(out[i])) << i;
    }
  }
}

NNEFC_INSTANTIATE_LANE_TESTS(WinogradTileTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
