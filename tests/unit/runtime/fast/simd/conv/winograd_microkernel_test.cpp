// Tiles of Winograd convolutions against sums over the taps in f64.

#include "runtime/fast/simd/index_range.h"
#include "tests/unit/runtime/fast/simd/conv/winograd_test.h"

namespace nnefc::runtime::fast::simd {
namespace {

// The places of the taps of a square, in tiles of outputs.
struct TapPlaces {
  int64_t first, row, column, input;
};

// A block of channels of an image, and a filter of each channel by itself: products of a tile are lanes times
// lanes. Taps are those of one block of two.
class WinogradTileTest : public SimdTest {
 protected:
  static constexpr int64_t kRows = 9, kColumns = 11, kCount = 2;
  // Numbers are below 1, sums of nine products below 9; transforms multiply rounding errors by less than 20,
  // or by less than 60 for five results.
  double tolerance() const { return extent_ == 3 ? 9 * 20 * kRounding : 4 * 60 * kRounding; }

  void SetUp() override {
    SimdTest::SetUp();
    if (IsSkipped()) return;
    SetSquare(kWinogradTaps);
    SetPixelStride(kBlockColumns);
  }
  void SetSquare(int64_t extent) { SetTaps(extent, {0, extent, 1, extent * extent}); }
  // Every second tap of each axis in the opposite order, as in a transposed convolution.
  void SetPhase(int64_t extent, int64_t row, int64_t column) {
    const int64_t line = 2 * extent, last = 2 * (extent - 1);
    SetTaps(extent, {(last + row) * line + last + column, -2 * line, -2, line * line});
  }
  void SetTaps(int64_t extent, const TapPlaces& places) {
    extent_ = extent;
    places_ = places;
    taps_ = DrawReals(kInputs * places.input * kTileColumns);
  }
  int64_t results() const { return WinogradResultsOf(extent_); }
  int64_t width() const { return kCount * results(); }
  void SetPixelStride(int64_t pixel_stride) {
    sizes_.pixel_stride = pixel_stride;
    image_ = DrawReals(sizes_.size());
  }

  // The filter of input `input` and one of the two blocks.
  float TapOf(int64_t tap, int64_t lane) const {
    const int64_t place =
        input_ * places_.input + places_.first + tap / extent_ * places_.row + tap % extent_ * places_.column;
    return taps_[place * kTileColumns + block_ * kBlockColumns + lane];
  }

  // The products of `kCount` tiles, of which the first begins at a pixel that may be in the border.
  GuardedArray<float> ProductsAt(int64_t row, int64_t column, int64_t count = kCount) {
    const int64_t stride = count * kBlockColumns;
    GuardedArray<float> products = Array(kWinogradProducts * stride);
    Of(TransformImage)(sizes_.TilesAt(image_.data(), row, column, results(), count, products.data()));
    const int64_t filter_stride = kInputs * kTileColumns + 7;
    GuardedArray<float> filter = Array((kWinogradExtent - 1) * filter_stride + kInputs * kTileColumns);
    for (int64_t y = 0; y < kWinogradExtent; ++y) {
      Of(TransformFilter)({.taps = taps_.data() + places_.first * kTileColumns,
                           .count = extent_,
                           .tap_row = places_.row * kTileColumns,
                           .tap_column = places_.column * kTileColumns,
                           .input_stride = places_.input * kTileColumns,
                           .inputs = kInputs,
                           .row = y,
                           .out = filter.data(),
                           .stride = filter_stride});
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
    for (int64_t tap = 0; tap < extent_ * extent_; ++tap) {
      const int64_t y = row + tap / extent_, x = column + tap % extent_;
      if (!sizes_.Contains(y, x)) continue;
      sum += double{image_[y * sizes_.row_stride() + x * sizes_.pixel_stride + lane]} * TapOf(tap, lane);
    }
    return sum;
  }

  void CheckAt(int64_t row, int64_t column) {
    const GuardedArray<float> products = ProductsAt(row, column);
    GuardedArray<float> out = Untouched(results() * width() * kBlockColumns);
    Of(TransformResult)({.products = products.data(),
                         .stride = kCount * kBlockColumns,
                         .count = kCount,
                         .out = out.data(),
                         .row_stride = width() * kBlockColumns,
                         .rows = results(),
                         .columns = width(),
                         .results = results()});
    for (int64_t i = 0; i < out.size(); ++i) {
      const int64_t y = i / kBlockColumns / width(), x = i / kBlockColumns % width();
      ASSERT_TRUE(IsNear(out[i], Expected(row + y, column + x, i % kBlockColumns), tolerance()))
          << row << " " << column << ": " << y << " " << x << " " << i % kBlockColumns;
    }
  }

  // Computes a range of rows and of columns of the results, which may end after the tiles.
  void CheckPart(const GuardedArray<float>& products, const IndexRange& rows, const IndexRange& columns,
                 const Limits& limits, const float* bias, bool has_start) {
    const int64_t pixel_stride = kBlockColumns + (has_start ? 4 : 0);
    const int64_t row_stride = columns.end * pixel_stride + 3;
    const int64_t written_rows = std::min(rows.end, results()) - rows.begin;
    const int64_t written = std::min(columns.end, width()) - columns.begin;
    const int64_t size = (written_rows - 1) * row_stride + (written - 1) * pixel_stride + kBlockColumns;
    const GuardedArray<float> start = DrawReals(size);
    GuardedArray<float> out = Untouched(size);
    Of(TransformResult)({.products = products.data(),
                         .stride = kCount * kBlockColumns,
                         .count = std::min(kCount, (columns.end + results() - 1) / results()),
                         .bias = bias,
                         .start = has_start ? start.data() : nullptr,
                         .out = out.data(),
                         .row_stride = row_stride,
                         .pixel_stride = pixel_stride,
                         .rows = rows.end,
                         .columns = columns.end,
                         .first_row = rows.begin,
                         .first_column = columns.begin,
                         .results = results(),
                         .limits = limits});
    for (int64_t at = 0; at < size; ++at) {
      const int64_t row = at / row_stride, column = at % row_stride / pixel_stride;
      const int64_t lane = at % row_stride % pixel_stride;
      double expected = kUntouched;
      if (column < written && lane < kBlockColumns) {
        const double sum = Expected(rows.begin + row, columns.begin + column, lane) +
                           (bias != nullptr ? bias[lane] : 0) + (has_start ? start[at] : 0);
        expected = Limited(limits, sum);
      }
      ASSERT_TRUE(IsNear(out[at], expected, tolerance()))
          << extent_ << " taps, rows " << rows.begin << " to " << rows.end << ", columns " << columns.begin
          << " to " << columns.end << ": " << at;
    }
  }

  static constexpr int64_t kInputs = 3;
  int64_t extent_ = 0;
  TapPlaces places_ = {};
  WinogradImage sizes_ = {.rows = kRows, .columns = kColumns};
  int64_t input_ = 0, block_ = 0;
  GuardedArray<float> image_ = Array(0), taps_ = Array(0);
};

TEST_P(WinogradTileTest, ResultsAreSumsOverTheTaps) {
  for (int64_t extent = kMinSquareTaps; extent <= kMaxSquareTaps; ++extent) {
    SetSquare(extent);
    for (int64_t row = -7; row <= kRows + 1; ++row) {
      for (int64_t column = -13; column <= kColumns + 1; ++column) CheckAt(row, column);
    }
  }
}

TEST_P(WinogradTileTest, PixelsApartFromOneAnother) {
  for (const auto& [extent, pixel_stride] : {std::pair(2, 35), {3, 32}, {3, 35}}) {
    SetSquare(extent);
    SetPixelStride(pixel_stride);
    for (int64_t row : {-1, 0, 2, 3, 4}) {
      for (int64_t column : {-1, 0, 1, 2, 7}) CheckAt(row, column);
    }
  }
}

TEST_P(WinogradTileTest, InputsAndBlocksOfFilters) {
  for (int64_t extent = kMinSquareTaps; extent <= kMaxSquareTaps; ++extent) {
    SetSquare(extent);
    for (input_ = 0; input_ < kInputs; ++input_) {
      for (block_ = 0; block_ < 2; ++block_) CheckAt(0, 1);
    }
  }
}

TEST_P(WinogradTileTest, TapsOfPhases) {
  for (int64_t extent = kMinSquareTaps; extent <= kMaxSquareTaps; ++extent) {
    for (int64_t phase = 0; phase < 4; ++phase) {
      SetPhase(extent, phase / 2, phase % 2);
      for (input_ = 0; input_ < kInputs; ++input_) CheckAt(1, 2);
    }
  }
}

TEST_P(WinogradTileTest, NoTiles) {
  const GuardedArray<float> products = ProductsAt(0, 0, 0);
  Of(TransformResult)({.products = products.data(),
                       .stride = 0,
                       .count = 0,
                       .out = nullptr,
                       .row_stride = 0,
                       .rows = results(),
                       .columns = 0,
                       .results = results()});
}

// Results begin and end where the output does, and have the elements that they begin with and their limits.
TEST_P(WinogradTileTest, ResultsOfTheOutput) {
  for (int64_t extent = kMinSquareTaps; extent <= kMaxSquareTaps; ++extent) {
    SetSquare(extent);
    const GuardedArray<float> products = ProductsAt(0, 0), bias = DrawReals(kBlockColumns);
    for (int64_t rows = 1; rows <= results() + 1; ++rows) {
      for (int64_t columns = 1; columns <= width() + 1; ++columns) {
        int64_t i = rows + columns;
        for (const Limits& limits : AllLimits(-0.5F, 1)) {
          for (const auto& [first_row, first_column] : {std::pair(0, 0), {1, 0}, {0, 1}, {1, 1}, {0, 3}}) {
            if (first_row < rows && first_column < columns)
              CheckPart(products, {first_row, rows}, {first_column, columns}, limits,
                        i % 2 == 1 ? bias.data() : nullptr, i / 2 % 2 == 1);
            ++i;
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
  GuardedArray<float> out = Untouched(results() * results() * kBlockColumns);
  Of(TransformResult)({.products = products.data(),
                       .stride = kBlockColumns,
                       .count = 1,
                       .out = out.data(),
                       .row_stride = results() * kBlockColumns,
                       .rows = results(),
                       .columns = results(),
                       .results = results()});
  for (int64_t i = 0; i < out.size(); ++i) {
    const int64_t row = 2 + i / kBlockColumns / results(), column = 2 + i / kBlockColumns % results();
    const double expected = Expected(row, column, i % kBlockColumns);
    if (i % kBlockColumns != 3) {
      ASSERT_TRUE(IsNear(out[i], expected, tolerance())) << i;
    }
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(out[i])) << i;
    }
  }
}

NNEFC_INSTANTIATE_LANE_TESTS(WinogradTileTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
