// Maxima and means over windows of blocked images against loops over their pixels.

#include "runtime/fast/simd/pointwise/pooling_microkernel.h"

#include "tests/unit/runtime/fast/simd/sparse_input.h"

namespace nnefc::runtime::fast::simd {
namespace {

class PoolingTileTest : public SimdTest {
 protected:
  struct Case {
    PoolingReduction pooled = PoolingReduction::kMaximum;
    int64_t pixels = 1, in_pixel = kBlockColumns, slices = 1, rows = 2, columns = 3, channels = kBlockColumns;
    float counted = 6;
  };

  // `draw` returns the numbers of the input.
  template <typename Draw>
  void Check(const Case& given, double tolerance, const Draw& draw) {
    const bool is_exact = tolerance == 0 && (given.pooled == PoolingReduction::kMaximum || FusesProducts());
    const int64_t in_column = 2 * kBlockColumns, in_row = 40 * kBlockColumns,
                  in_slice = 3 * in_row + kBlockColumns;
    const int64_t taps = given.slices * given.rows * given.columns;
    const auto offset_of = [&](int64_t tap, int64_t pixel, int64_t channel) {
      const int64_t slice = tap / (given.rows * given.columns), row = tap / given.columns % given.rows;
      return slice * in_slice + row * in_row + tap % given.columns * in_column + pixel * given.in_pixel +
             channel;
    };
    const SparseInput in(
        edge(),
        [&](const auto& use) {
          for (int64_t i = 0; i < taps * given.pixels * kBlockColumns; ++i)
            use(offset_of(i / kBlockColumns / given.pixels, i / kBlockColumns % given.pixels,
                          i % kBlockColumns));
        },
        draw);
    GuardedArray<float> out = Untouched(given.pixels * kBlockColumns);
    Of(RunPoolingMicrokernel)(given.pooled, given.pixels,
                              {.in = in.data(),
                               .in_pixel = given.in_pixel,
                               .slices = given.slices,
                               .rows = given.rows,
                               .columns = given.columns,
                               .in_slice = in_slice,
                               .in_row = in_row,
                               .in_column = in_column,
                               .out = out.data(),
                               .counted = given.counted,
                               .channels = given.channels,
                               .next = in.data(),
                               .next_lines = 1});
    for (int64_t i = 0; i < out.size(); ++i) {
      const int64_t channel = i % kBlockColumns;
      double expected = given.pooled == PoolingReduction::kMaximum ? -kInfinity : 0;
      for (int64_t tap = 0; tap < taps; ++tap) {
        const double x = in.At(offset_of(tap, i / kBlockColumns, channel));
        if (given.pooled == PoolingReduction::kMean) expected += x;
        if (given.pooled == PoolingReduction::kMaximum && x > expected) expected = x;
      }
      if (given.pooled == PoolingReduction::kMean)
        expected = given.counted == 0 ? 0 : expected / given.counted;
      if (channel >= given.channels) expected = 0;
      // A mean of exact sums is rounded once: `tolerance` 0 is for equal f32.
      const double error = tolerance == 0 ? std::abs(expected) * 2 * kRounding : tolerance;
      ASSERT_TRUE(is_exact ? IsSame(out[i], expected) : IsNear(out[i], expected, error))
          << given.pixels << " pixels, " << given.channels << " channels: " << i;
    }
  }
  void CheckIntegers(const Case& given) {
    Check(given, 0, [&] {
      const int x = DrawOne(-99, 98);
      return static_cast<float>(x < 0 ? x
                                      : x + 1);  // no zeros, so that no sign of a zero depends on the order
    });
  }
};

TEST_P(PoolingTileTest, WindowsOfEachTile) {
  for (PoolingReduction pooled : {PoolingReduction::kMaximum, PoolingReduction::kMean}) {
    for (int64_t pixels : {int64_t{1}, kPooledPixels4, kPooledPixels8}) {
      for (int64_t in_pixel : {16, 32, 48}) {
        for (int64_t taps = 0; taps < 12; ++taps)
          CheckIntegers({.pooled = pooled,
                         .pixels = pixels,
                         .in_pixel = in_pixel,
                         .slices = taps % 2 + 1,
                         .rows = taps / 2 % 2 + 1,
                         .columns = taps / 4 + 1,
                         .counted = static_cast<float>(taps + 1)});
      }
    }
  }
}

TEST_P(PoolingTileTest, ChannelsThatFillTheBlockAreZeros) {
  for (PoolingReduction pooled : {PoolingReduction::kMaximum, PoolingReduction::kMean}) {
    for (int64_t pixels : {int64_t{1}, kPooledPixels4, kPooledPixels8}) {
      for (int64_t channels = 1; channels <= kBlockColumns; ++channels)
        CheckIntegers({.pooled = pooled, .pixels = pixels, .channels = channels});
    }
  }
}

TEST_P(PoolingTileTest, WindowsWithoutElements) {
  for (int64_t pixels : {int64_t{1}, kPooledPixels4, kPooledPixels8}) {
    CheckIntegers({.pooled = PoolingReduction::kMean, .pixels = pixels, .counted = 0});
    CheckIntegers({.pooled = PoolingReduction::kMean, .pixels = pixels, .rows = 0, .counted = 0});
    CheckIntegers({.pooled = PoolingReduction::kMaximum, .pixels = pixels, .rows = 0});
  }
}

// NaN is passed over by maxima and stays in means; of equal numbers the first is the maximum.
TEST_P(PoolingTileTest, Specials) {
  for (int seed = 0; seed < 40; ++seed) {
    for (PoolingReduction pooled : {PoolingReduction::kMaximum, PoolingReduction::kMean}) {
      const double tolerance = pooled == PoolingReduction::kMaximum ? 0 : 1e-45;
      Check({.pooled = pooled, .pixels = kPooledPixels4, .rows = 1, .columns = 2, .counted = 2}, tolerance,
            [&] {
              return std::array<float, 7>{
                  0.0F, -0.0F, kNan, kInfinity, -kInfinity, kDenormal, 1}[static_cast<size_t>(DrawOne(0, 6))];
            });
    }
  }
}

// Sums of reals: as many roundings as the window has elements.
TEST_P(PoolingTileTest, MeansOfReals) {
  Check({.pooled = PoolingReduction::kMean, .pixels = kPooledPixels8, .rows = 3, .columns = 3, .counted = 9},
        9 * kRounding, [&] { return static_cast<float>(DrawOne(-9999, 9999)) / 9999; });
}

TEST_P(PoolingTileTest, MeansOfAllPixels) {
  for (int64_t pixels : {1, 2, 7, 8, 9, 15, 16, 17, 100}) {
    const GuardedArray<float> in = DrawIntegers(pixels * kBlockColumns);
    GuardedArray<float> out = Untouched(kBlockColumns);
    Of(AveragePixels)(in.data(), pixels, out.data());
    for (int64_t c = 0; c < kBlockColumns; ++c) {
      double sum = 0;
      for (int64_t pixel = 0; pixel < pixels; ++pixel) sum += in[pixel * kBlockColumns + c];
      ASSERT_EQ(out[c], static_cast<float>(sum / static_cast<double>(pixels)))
          << pixels << " pixels, channel " << c;
    }
  }
}

TEST_P(PoolingTileTest, MeansOfSpecialPixels) {
  for (int64_t pixel = 0; pixel < 10; ++pixel) {
    for (float special : {kNan, kInfinity, -kInfinity}) {
      GuardedArray<float> in = DrawIntegers(10 * kBlockColumns), out = Untouched(kBlockColumns);
      in[pixel * kBlockColumns + pixel] = special;
      Of(AveragePixels)(in.data(), 10, out.data());
      for (int64_t c = 0; c < kBlockColumns; ++c) {
        if (c == pixel) {
          EXPECT_TRUE(IsSame(out[c], special));
        } else {
          EXPECT_TRUE(std::isfinite(out[c]));
        }
      }
    }
  }
}

NNEFC_INSTANTIATE_LANE_TESTS(PoolingTileTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
