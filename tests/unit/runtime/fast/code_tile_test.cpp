// Sums of products of codes in tiles, against loops over all of them in integers, and what becomes of the
// sums against the formula in f64.

#include "runtime/fast/lanes/code_tile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace nnefc::runtime {
namespace {

class CodeTileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasLanes()) GTEST_SKIP() << "for AVX2";
  }

  template <typename Number>
  std::vector<Number> Draw(int64_t count, int least, int most) {
    std::uniform_int_distribution<int> uniform(least, most);
    std::vector<Number> numbers(static_cast<size_t>(count));
    for (Number& number : numbers) number = static_cast<Number>(uniform(random_));
    return numbers;
  }

  std::mt19937 random_{7};
};

TEST_F(CodeTileTest, SumsAreThoseOfIntegers) {
  constexpr int64_t kRow = 600, kStrips = 2;
  // The farthest numbers among them: of 255 and of 0 less a zero of 255.
  const std::vector<int16_t> numbers = Draw<int16_t>(4 * kRow, -255, 255);
  for (int64_t pairs : {1, 2, 7, 16, 33}) {
    const std::vector<int8_t> weights = Draw<int8_t>(kStrips * pairs * 2 * kBlockColumns, -128, 127);
    const std::vector<int32_t> strips = {0, kRow}, seen = Draw<int32_t>(kMostCodePixels, 0, 500);
    for (int64_t pixels = 1; pixels <= TileRows(); ++pixels) {
      std::vector<int32_t> sums(static_cast<size_t>(pixels * kBlockColumns));
      RunCodeTile(pixels, {.numbers = numbers.data(),
                           .seen = seen.data(),
                           .strips = strips.data(),
                           .strip_count = kStrips,
                           .pairs = pairs,
                           .weights = weights.data(),
                           .sums = sums.data()});
      for (int64_t at = 0; at < pixels * kBlockColumns; ++at) {
        const int64_t pixel = at / kBlockColumns, output = at % kBlockColumns;
        int64_t expected = 0;
        for (int64_t i = 0; i < kStrips * pairs * 2; ++i) {
          const int64_t strip = i / (2 * pairs), term = i % (2 * pairs);
          const int64_t place = seen[static_cast<size_t>(pixel)] + strips[static_cast<size_t>(strip)] + term;
          const int64_t weight = (i / 2 * kBlockColumns + output) * 2 + i % 2;
          expected += int64_t{numbers[static_cast<size_t>(place)]} * weights[static_cast<size_t>(weight)];
        }
        EXPECT_EQ(sums[static_cast<size_t>(at)], expected)
            << pixels << " pixels, " << pairs << " pairs, " << at;
      }
    }
  }
}

TEST_F(CodeTileTest, ChannelsByThemselves) {
  constexpr int64_t kPixels = 7;
  for (int64_t tap_count : {int64_t{1}, int64_t{9}, kMostDepthwiseTaps}) {
    const std::vector<float> numbers = Draw<float>(2000, 200, 255);
    const std::vector<float> weights = Draw<float>(tap_count * kBlockColumns, -128, -100);
    const std::vector<int32_t> seen = Draw<int32_t>(kPixels, 0, 900);
    const std::vector<int32_t> taps = Draw<int32_t>(tap_count, 0, 900);
    std::vector<int32_t> sums(kPixels * kBlockColumns);
    RunDepthwiseCodes({.numbers = numbers.data(),
                       .seen = seen.data(),
                       .count = kPixels,
                       .taps = taps.data(),
                       .tap_count = tap_count,
                       .weights = weights.data(),
                       .sums = sums.data()});
    for (size_t at = 0; at < sums.size(); ++at) {
      const size_t pixel = at / kBlockColumns, channel = at % kBlockColumns;
      int32_t expected = 0;
      for (size_t tap = 0; tap < taps.size(); ++tap)
        expected += static_cast<int32_t>(numbers[static_cast<size_t>(seen[pixel] + taps[tap]) + channel]) *
                    static_cast<int32_t>(weights[tap * kBlockColumns + channel]);
      EXPECT_EQ(sums[at], expected) << at;
    }
  }
}

// A row of the image's, or one of the border.
struct SeenRows {
  const std::vector<uint8_t>& codes;
  int64_t inputs, channels, missing;  // which row of the window is of the border; -1: none

  int NumberAt(int64_t row, int64_t column, int64_t channel, int zero) const {
    if (row == missing || column < 0 || column >= inputs) return 0;
    return codes[static_cast<size_t>((row * inputs + column) * channels + channel)] - zero;
  }
};

TEST_F(CodeTileTest, RowsOfChannelsByThemselves) {
  constexpr int64_t kChannels = 24, kTaps = 3, kFirst = 5;
  const std::vector<int8_t> filter = Draw<int8_t>(kTaps * kTaps * kBlockColumns, -128, 127);
  const std::vector<float> weights(filter.begin(), filter.end());
  const std::vector<float> scales(kBlockColumns, 0x1p-9F), bias(kBlockColumns, 60000);
  for (int64_t inputs : {1, 2, 3, 4, 7, 8, 13}) {
    const std::vector<uint8_t> codes = Draw<uint8_t>(kTaps * inputs * kChannels, 0, 255);
    for (int64_t at = 0; at < 24; ++at) {
      const int64_t stride = at % 2 + 1, before = at / 2 % 2, missing = at / 4 % 3 - 1;
      const int zero = at / 12 == 0 ? 0 : 131;
      const int64_t outputs = (inputs + before + 1 - kTaps) / stride + 1;
      if (inputs + before + 1 < kTaps) continue;
      const SeenRows seen{codes, inputs, kChannels, missing};
      const std::vector<uint8_t> border(kBlockColumns, static_cast<uint8_t>(zero));
      DepthwiseCodeRow row{.rows = {},
                           .pixel_strides = {},
                           .inputs = inputs,
                           .before = before,
                           .stride = stride,
                           .zero = zero,
                           .weights = weights.data()};
      for (int64_t tap = 0; tap < kTaps; ++tap) {
        const bool is_border = tap == missing;
        row.rows[tap] = is_border ? border.data() : codes.data() + tap * inputs * kChannels + kFirst;
        row.pixel_strides[tap] = is_border ? 0 : kChannels;
      }
      std::vector<uint8_t> out(static_cast<size_t>(outputs * kChannels), 77);
      StoreDepthwiseCodes(row, {.sums = nullptr,
                                .pixels = outputs,
                                .channels = kBlockColumns,
                                .scales = scales.data(),
                                .bias = bias.data(),
                                .low = 3,
                                .high = 250,
                                .is_limited = at % 3 != 0,
                                .out = out.data(),
                                .stride = kChannels});
      for (int64_t pixel = 0; pixel < outputs; ++pixel) {
        for (int64_t channel = 0; channel < kChannels; ++channel) {
          int64_t sum = 0;
          for (int64_t tap = 0; tap < kTaps * kTaps && channel < kBlockColumns; ++tap)
            sum += int64_t{seen.NumberAt(tap / kTaps, pixel * stride - before + tap % kTaps, kFirst + channel,
                                         zero)} *
                   filter[static_cast<size_t>(tap * kBlockColumns + channel)];
          const double x = (static_cast<double>(sum) + 60000) / 512;
          const bool is_limited = at % 3 != 0 || zero != 0;
          const double code =
              std::nearbyint(is_limited ? std::clamp(x, 3.0, 250.0) : std::clamp(x, 0.0, 255.0));
          EXPECT_EQ(out[static_cast<size_t>(pixel * kChannels + channel)],
                    channel < kBlockColumns ? code : 77)
              << inputs << " inputs, case " << at << ", pixel " << pixel << ", channel " << channel;
        }
      }
    }
  }
}

TEST_F(CodeTileTest, CodesAreRoundedAndLimited) {
  constexpr int64_t kPixels = 4, kStride = 40;
  std::vector<int32_t> sums = Draw<int32_t>(kPixels * kBlockColumns, -9000, 9000);
  for (size_t at = 0; at < sums.size(); at += 5) sums[at] *= 100000;
  const std::vector<float> scales(kBlockColumns, 0x1p-4F), bias(kBlockColumns, 800);
  const std::vector<uint8_t> others = Draw<uint8_t>(kPixels * kStride, 0, 255);
  for (int64_t channels : {16, 5}) {
    for (const auto& [has_others, is_limited] : {std::pair(false, true), {false, false}, {true, true}}) {
      std::vector<uint8_t> out = others;
      StoreCodeResults({.sums = sums.data(),
                        .pixels = kPixels,
                        .channels = channels,
                        .scales = scales.data(),
                        .bias = bias.data(),
                        .low = is_limited ? 10.0F : 0.0F,
                        .high = is_limited ? 240.0F : 255.0F,
                        .is_limited = is_limited,
                        .out = out.data(),
                        .stride = kStride,
                        .has_others = has_others,
                        .factor = 0.5F,
                        .offset = 3,
                        .other_factor = 0.25F,
                        .other_zero = 100});
      for (size_t at = 0; at < out.size(); ++at) {
        const size_t pixel = at / kStride, channel = at % kStride;
        double code = others[at];
        if (static_cast<int64_t>(channel) < channels) {
          const double x = (sums[pixel * kBlockColumns + channel] + 800.0) / 16;
          const double rounded =
              std::nearbyint(is_limited ? std::clamp(x, 10.0, 240.0) : std::clamp(x, 0.0, 255.0));
          const double sum = 0.5 * rounded + 3 + 0.25 * (others[at] - 100.0);
          code = has_others ? std::nearbyint(std::clamp(sum, 0.0, 255.0)) : rounded;
        }
        EXPECT_EQ(out[at], code) << at;
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime
