// Rows of depthwise convolutions against loops over taps.

#include "runtime/fast/simd/conv/depthwise_rows_microkernel.h"

#include <type_traits>

#include "tests/unit/runtime/fast/simd/simd_test.h"

namespace nnefc::runtime::fast::simd {
namespace {

class DepthwiseRowsTest : public SimdTest {
 protected:
  struct Case {
    int64_t count = 1, size = 3, stride = 1, before = 1, in_columns = 5, columns = 5;
    int64_t channels = kBlockColumns;
    bool has_bias = true;
    Limits limits = {};
    bool has_nan = false;  // a weight of the last channel
  };
  // Distances beyond the numbers of a pixel and of a row of results.
  static constexpr int64_t kPixelGap = 3, kRowGap = 2;

  template <typename In, typename Out>
  void Check(const SimdFunction<void(const DepthwiseRows<In, Out>&)>& function, const Case& given) {
    constexpr bool kIsQuantized = !std::is_same_v<In, float>, kStoresCodes = !std::is_same_v<Out, float>;
    const int64_t channels = kIsQuantized ? given.channels : kBlockColumns,
                  stored = kStoresCodes ? channels : kBlockColumns;
    const int64_t in_pixel = channels + kPixelGap, out_pixel = stored + kPixelGap,
                  out_row = given.columns * out_pixel + kRowGap;
    const int64_t in_rows = (given.count - 1) * given.stride + given.size;
    std::vector<GuardedArray<In>> rows;
    std::vector<const In*> in;
    for (int64_t row = 0; row < in_rows; ++row) {
      rows.push_back(Draw<In>((given.in_columns - 1) * in_pixel + channels, kIsQuantized ? 0 : -9, 9));
      in.push_back(rows.back().data());
    }
    GuardedArray<float> weights = DrawIntegers(given.size * given.size * kBlockColumns);
    GuardedArray<float> bias = DrawIntegers(kBlockColumns);
    // The channels of padding have no weights.
    for (int64_t i = 0; i < weights.size(); ++i) {
      if (i % kBlockColumns >= channels) weights[i] = 0;
    }
    for (int64_t i = channels; i < kBlockColumns; ++i) bias[i] = 0;
    if (given.has_nan) weights[weights.size() / 2 / kBlockColumns * kBlockColumns + channels - 1] = kNan;
    GuardedArray<float> factors = Array(kBlockColumns), offsets = DrawIntegers(kBlockColumns);
    for (int64_t i = 0; i < kBlockColumns; ++i) factors[i] = i % 2 == 0 ? 0.5F : 0.25F;
    constexpr Out kBefore = 77;
    GuardedArray<Out> out = Array<Out>(
        given.columns == 0 ? 0 : (given.count - 1) * out_row + (given.columns - 1) * out_pixel + stored,
        kBefore);
    constexpr int kZero = 4;
    constexpr float kScale = 2;
    Of(function)({.count = given.count,
                  .size = given.size,
                  .stride = given.stride,
                  .in = in.data(),
                  .in_columns = given.in_columns,
                  .in_pixel = in_pixel,
                  .before = given.before,
                  .columns = given.columns,
                  .channels = channels,
                  .weights = weights.data(),
                  .bias = given.has_bias ? bias.data() : nullptr,
                  .limits = given.limits,
                  .out = out.data(),
                  .out_row = out_row,
                  .out_pixel = out_pixel,
                  .zero = kIsQuantized ? kZero : 0,
                  .scale = kIsQuantized ? kScale : 1,
                  .factors = kStoresCodes ? factors.data() : nullptr,
                  .offsets = kStoresCodes ? offsets.data() : nullptr});
    const auto sum_of = [&](int64_t row, int64_t result, int64_t channel) {
      double sum = given.has_bias ? bias[channel] : 0;
      if (channel >= channels) return sum;
      for (int64_t tap = 0; tap < given.size * given.size; ++tap) {
        const int64_t column = result * given.stride + tap % given.size - given.before;
        if (column < 0 || column >= given.in_columns) continue;
        const auto& line = rows[static_cast<size_t>(row * given.stride + tap / given.size)];
        double number = line[column * in_pixel + channel];
        if (kIsQuantized) number = (number - kZero) * kScale;
        sum += number * weights[tap * kBlockColumns + channel];
      }
      return sum;
    };
    for (int64_t i = 0; i < out.size(); ++i) {
      const int64_t row = i / out_row, result = i % out_row / out_pixel, channel = i % out_row % out_pixel;
      double expected = kBefore;
      if (result < given.columns && channel < stored) {
        expected = Limited(given.limits, sum_of(row, result, channel));
        if (kStoresCodes) {
          expected = std::nearbyint(expected * factors[channel] + offsets[channel]);
          expected = std::isnan(expected) ? 0 : std::clamp(expected, 0.0, 255.0);
        }
      }
      ASSERT_TRUE(IsNear(out[i], expected, 0))
          << "window of " << given.size << ", stride " << given.stride << ", " << given.count << " rows, "
          << given.in_columns << " columns from " << -given.before << " on, " << channels << " channels: row "
          << row << ", " << result << ", channel " << channel;
    }
  }
  void CheckAll(const Case& given) {
    Check(RunDepthwiseRows, given);
    Check(RunDequantizingDepthwiseRows, given);
    Check(RunQuantizedDepthwiseRows, given);
  }
};

TEST_P(DepthwiseRowsTest, SizesAndStridesThatRowsHave) {
  for (int64_t size : {1, 2, 3, 4, 5, 6, 7}) {
    for (int64_t stride : {0, 1, 2, 3})
      EXPECT_EQ(HasDepthwiseRows(size, stride),
                (size == 1 || size == 3 || size == 5) && (stride == 1 || stride == 2));
  }
}

TEST_P(DepthwiseRowsTest, EachNumberOfRows) {
  for (int64_t size : {1, 3, 5}) {
    ASSERT_LE(2 * (Of(DepthwiseRowsTogether)(size) - 1) + size, kMaxDepthwiseInputRows);
    for (int64_t stride : {1, 2}) {
      for (int64_t count = 1; count <= Of(DepthwiseRowsTogether)(size); ++count)
        CheckAll({.count = count, .size = size, .stride = stride});
    }
  }
}

// Windows that begin before, at and after the first column, and end before, at and after the last one.
TEST_P(DepthwiseRowsTest, Borders) {
  for (int64_t size : {1, 3, 5}) {
    for (int64_t stride : {1, 2}) {
      for (int64_t before = -1; before <= size; ++before) {
        for (int64_t in_columns = 1; in_columns <= 7; ++in_columns) {
          for (int64_t columns : {0, 1, 2, 3, 6, 9})
            CheckAll({.count = 2,
                      .size = size,
                      .stride = stride,
                      .before = before,
                      .in_columns = in_columns,
                      .columns = columns});
        }
      }
    }
  }
}

TEST_P(DepthwiseRowsTest, EachNumberOfChannels) {
  for (int64_t channels = 1; channels <= kBlockColumns; ++channels) {
    for (int64_t size : {1, 3, 5}) CheckAll({.count = 2, .size = size, .channels = channels});
  }
}

TEST_P(DepthwiseRowsTest, BiasAndLimits) {
  for (const Limits& limits : AllLimits(-40, 55)) {
    for (bool has_bias : {false, true}) {
      for (bool has_nan : {false, true})
        CheckAll({.count = 2, .channels = 9, .has_bias = has_bias, .limits = limits, .has_nan = has_nan});
    }
  }
}

NNEFC_INSTANTIATE_LANE_TESTS(DepthwiseRowsTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
