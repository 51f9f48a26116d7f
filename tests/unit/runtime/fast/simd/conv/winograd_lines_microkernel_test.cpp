// Tiles of Winograd convolutions along lines of 2 to 5 taps, against sums over the taps in f64.

#include "tests/unit/runtime/fast/simd/conv/winograd_test.h"

namespace nnefc::runtime::fast::simd {
namespace {

// A block of channels of rows of pixels, and a filter of each channel by itself: products of a tile are lanes
// times lanes.
class WinogradLineTest : public SimdTest {
 protected:
  static constexpr int64_t kCount = 3, kInputs = 3;
  // Numbers are below 1, sums of five products below 5; transforms multiply rounding errors by less than 60.
  static constexpr double kTolerance = 5 * 60 * kRounding;

  void DrawCase(int64_t taps, int64_t pixel_stride) {
    count_ = taps;
    sizes_.pixel_stride = pixel_stride;
    taps_ = DrawReals(kInputs * taps * kTileColumns);
    image_ = DrawReals(sizes_.size());
  }
  int64_t results() const { return WinogradResultsOf(count_); }

  // The products of tiles with the filters of input `input_` and of one of the two blocks of outputs.
  GuardedArray<float> ProductsAt(int64_t row, int64_t column, int64_t count = kCount) {
    const int64_t stride = count * kBlockColumns;
    GuardedArray<float> products = Array(kWinogradExtent * stride);
    Of(TransformImageLines)(sizes_.TilesAt(image_.data(), row, column, results(), count, products.data()));
    const int64_t filter_stride = kInputs * kTileColumns + 7;
    GuardedArray<float> filter = Array((kWinogradExtent - 1) * filter_stride + kInputs * kTileColumns);
    Of(TransformFilterLines)({.taps = taps_.data() + (is_reversed_ ? (count_ - 1) * kTileColumns : 0),
                              .count = count_,
                              .tap_row = 0,
                              .tap_column = is_reversed_ ? -kTileColumns : kTileColumns,
                              .input_stride = count_ * kTileColumns,
                              .inputs = kInputs,
                              .out = filter.data(),
                              .stride = filter_stride});
    for (int64_t i = 0; i < products.size(); ++i)
      products[i] *= filter[i / stride * filter_stride + input_ * kTileColumns + block_ * kBlockColumns +
                            i % kBlockColumns];
    return products;
  }

  double Expected(int64_t row, int64_t column, int64_t lane) const {
    double sum = 0;
    for (int64_t tap = 0; tap < count_; ++tap) {
      const int64_t x = column + tap;
      if (!sizes_.Contains(row, x)) continue;
      const int64_t place = is_reversed_ ? count_ - 1 - tap : tap;
      const int64_t filter = (input_ * count_ + place) * kTileColumns + block_ * kBlockColumns;
      sum +=
          double{image_[row * sizes_.row_stride() + x * sizes_.pixel_stride + lane]} * taps_[filter + lane];
    }
    return sum;
  }

  void CheckAt(int64_t row, int64_t column) {
    const GuardedArray<float> products = ProductsAt(row, column);
    GuardedArray<float> out = Untouched(kCount * results() * kBlockColumns);
    Of(TransformResultLines)({.products = products.data(),
                              .stride = kCount * kBlockColumns,
                              .count = kCount,
                              .out = out.data(),
                              .row_stride = 0,
                              .rows = 1,
                              .columns = kCount * results(),
                              .results = results()});
    for (int64_t i = 0; i < out.size(); ++i)
      ASSERT_TRUE(IsNear(out[i], Expected(row, column + i / kBlockColumns, i % kBlockColumns), kTolerance))
          << count_ << " taps at " << row << " " << column << ": " << i;
  }

  WinogradImage sizes_ = {.rows = 2, .columns = 17};
  int64_t count_ = 0, input_ = 0, block_ = 0;
  bool is_reversed_ = false;
  GuardedArray<float> image_ = Array(0), taps_ = Array(0);
};

TEST_P(WinogradLineTest, ResultsAreSumsOverTheTaps) {
  for (int64_t taps = kMinLineTaps; taps <= kMaxLineTaps; ++taps) {
    for (const int64_t pixel_stride : {16, 32, 35}) {
      DrawCase(taps, pixel_stride);
      for (int64_t row = -1; row <= sizes_.rows; ++row) {
        for (int64_t column = -16; column <= sizes_.columns + 1; ++column) CheckAt(row, column);
      }
    }
  }
}

TEST_P(WinogradLineTest, InputsAndBlocksOfFilters) {
  for (int64_t taps = kMinLineTaps; taps <= kMaxLineTaps; ++taps) {
    DrawCase(taps, kBlockColumns);
    for (input_ = 0; input_ < kInputs; ++input_) {
      for (block_ = 0; block_ < 2; ++block_) {
        for (const bool is_reversed : {false, true}) {
          is_reversed_ = is_reversed;
          CheckAt(0, 1);
        }
      }
    }
  }
}

// Results begin and end where the output does, and have the elements that they begin with and their limits.
TEST_P(WinogradLineTest, ResultsOfTheOutput) {
  for (int64_t taps = kMinLineTaps; taps <= kMaxLineTaps; ++taps) {
    DrawCase(taps, kBlockColumns);
    const GuardedArray<float> products = ProductsAt(0, 0), bias = DrawReals(kBlockColumns);
    for (int64_t columns = 1; columns <= kCount * results() + 1; ++columns) {
      for (const Limits& limits : AllLimits(-0.5F, 1)) {
        for (const auto& [has_bias, has_start, gap, first] :
             {std::tuple{false, false, 0, 0}, {true, false, 4, 1}, {false, true, 4, 0}, {true, true, 0, 1}}) {
          if (first >= columns) continue;
          const int64_t count = std::min(kCount, (columns + results() - 1) / results());
          const int64_t written = std::min(columns, kCount * results()) - first;
          const int64_t pixel_stride = kBlockColumns + gap;
          const GuardedArray<float> start = DrawReals((written - 1) * pixel_stride + kBlockColumns);
          GuardedArray<float> out = Untouched(start.size());
          Of(TransformResultLines)({.products = products.data(),
                                    .stride = kCount * kBlockColumns,
                                    .count = count,
                                    .bias = has_bias ? bias.data() : nullptr,
                                    .start = has_start ? start.data() : nullptr,
                                    .out = out.data(),
                                    .row_stride = 0,
                                    .pixel_stride = pixel_stride,
                                    .rows = 1,
                                    .columns = columns,
                                    .first_column = first,
                                    .results = results(),
                                    .limits = limits});
          for (int64_t i = 0; i < out.size(); ++i) {
            const int64_t lane = i % pixel_stride;
            const double sum = lane < kBlockColumns
                                   ? Expected(0, first + i / pixel_stride, lane) +
                                         (has_bias ? bias[lane] : 0) + (has_start ? start[i] : 0)
                                   : kUntouched;
            ASSERT_TRUE(IsNear(out[i], lane < kBlockColumns ? Limited(limits, sum) : sum, kTolerance))
                << taps << " taps, " << columns << " columns: " << i;
          }
        }
      }
    }
  }
}

NNEFC_INSTANTIATE_LANE_TESTS(WinogradLineTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
