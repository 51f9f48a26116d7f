// Interleaved pixels and depthwise dot products of four of them against loops over pixels and taps.

#include "runtime/fast/simd/int8/dot4_depthwise_microkernel.h"

#include "tests/unit/runtime/fast/simd/int8/vnni_test.h"

namespace nnefc::runtime::fast::simd {
namespace {

class PixelQuadsTest : public SimdTest {
 protected:
  struct Case {
    int64_t inputs, first, quads, channels = kBlockColumns;
    bool is_border = false;
  };

  void Check(const Case& given) {
    const int64_t stride = given.channels + (given.channels < kBlockColumns ? 0 : 5);
    const int64_t size = given.inputs == 0 ? 0 : (given.inputs - 1) * stride + given.channels;
    const GuardedArray<uint8_t> pixels = Draw<uint8_t>(size, 0, 255),
                                border = Draw<uint8_t>(kBlockColumns, 0, 255);
    GuardedArray<uint8_t> out = Array<uint8_t>(given.quads * kQuadWeights, 77);
    Of(InterleavePixels)({.pixels = given.is_border ? nullptr : pixels.data(),
                          .inputs = given.inputs,
                          .stride = stride,
                          .channels = given.channels,
                          .first = given.first,
                          .border = border.data(),
                          .quads = given.quads,
                          .out = out.data()});
    for (int64_t at = 0; at < out.size(); ++at) {
      const int64_t channel = at % kQuadWeights / kQuad;
      if (channel >= given.channels) continue;
      const int64_t pixel = given.first + 2 * (at / kQuadWeights) + at % kQuad;
      const bool is_inside = !given.is_border && pixel >= 0 && pixel < given.inputs;
      ASSERT_EQ(out[at], is_inside ? pixels[pixel * stride + channel] : border[channel])
          << given.inputs << " pixels of " << given.channels << " channels from " << given.first << ": "
          << at;
    }
  }
};

TEST_P(PixelQuadsTest, PixelsAndBorders) {
  for (int64_t inputs : {0, 1, 2, 3, 4, 5, 8, 9, 12, 15}) {
    for (int64_t first = -5; first <= 5; ++first) {
      for (int64_t quads : {0, 1, 2, 3, 4, 9}) {
        for (bool is_border : {false, true})
          Check({.inputs = inputs, .first = first, .quads = quads, .is_border = is_border});
      }
    }
  }
}

TEST_P(PixelQuadsTest, PartialBlocksOfChannels) {
  for (int64_t channels = 1; channels <= kBlockColumns; ++channels) {
    for (int64_t inputs : {1, 4, 7, 13})
      Check({.inputs = inputs, .first = -1, .quads = inputs / 2 + 1, .channels = channels});
  }
}

class WidenedPixelsTest : public SimdTest {};

TEST_P(WidenedPixelsTest, EachNumberOfChannels) {
  constexpr int kZero = 100;
  constexpr float kScale = 0x1p-3F;
  for (int64_t channels = 1; channels <= kBlockColumns; ++channels) {
    for (int64_t count : {0, 1, 2, 9}) {
      for (int64_t gap : {0, 3}) {
        const int64_t stride = channels + gap, size = count == 0 ? 0 : (count - 1) * stride + channels;
        const GuardedArray<uint8_t> pixels = Draw<uint8_t>(size, 0, 255);
        GuardedArray<float> out = Untouched(count * kBlockColumns);
        Of(WidenPixels)({.pixels = pixels.data(),
                         .count = count,
                         .stride = stride,
                         .channels = channels,
                         .zero = kZero,
                         .scale = kScale,
                         .out = out.data()});
        for (int64_t i = 0; i < out.size(); ++i) {
          const int64_t channel = i % kBlockColumns;
          if (channel >= channels) {
            ASSERT_TRUE(std::isfinite(out[i])) << i;
            continue;
          }
          const int number = pixels[i / kBlockColumns * stride + channel];
          ASSERT_EQ(out[i], kScale * static_cast<float>(number - kZero)) << channels << " channels: " << i;
        }
      }
    }
  }
}

class Dot4DepthwiseTest : public VnniTest {
 protected:
  struct Case {
    int64_t pixels = 1, stride = 1, rows = 1, quads = 1, channels = kBlockColumns;
    bool has_codes = false, has_others = false, is_limited = true;
  };

  void Check(const Case& given) {
    const int64_t groups = given.stride == 1 ? (given.pixels + 1) / 2 : given.pixels;
    const int64_t row_quads = groups + 2 * (given.quads - 1), taps = given.quads * kQuad;
    // Each row, as pixels from which the groups are made.
    std::vector<GuardedArray<uint8_t>> pixels, rows;
    std::vector<const uint8_t*> addresses;
    for (int64_t row = 0; row < given.rows; ++row) {
      pixels.push_back(Draw<uint8_t>((2 * row_quads + 2) * kBlockColumns, 0, 255));
      for (int64_t i = 0; i < pixels.back().size(); i += 3) pixels.back()[i] = 255;
      rows.push_back(Array<uint8_t>(row_quads * kQuadWeights));
      for (int64_t i = 0; i < rows.back().size(); ++i)
        rows.back()[i] =
            pixels.back()[(2 * (i / kQuadWeights) + i % kQuad) * kBlockColumns + i % kQuadWeights / kQuad];
      addresses.push_back(rows.back().data());
    }
    GuardedArray<int8_t> weights = Draw<int8_t>(given.rows * given.quads * kQuadWeights, -128, 127);
    for (int64_t i = 0; i < weights.size(); ++i) {
      if (i % 5 == 0) weights[i] = i % 2 == 0 ? -128 : 127;
      const bool is_last = i / kQuadWeights % given.quads == given.quads - 1 && i % kQuad == kQuad - 1;
      if (given.stride == 1 && is_last) weights[i] = 0;
    }
    const GuardedArray<int32_t> start = Draw<int32_t>(kBlockColumns, -1000, 1000);
    GuardedArray<int32_t> sums = Array<int32_t>(given.has_codes ? 0 : given.pixels * kBlockColumns, 77);
    const int64_t out_stride = given.channels + 9;
    GuardedArray<uint8_t> out = Draw<uint8_t>((given.pixels - 1) * out_stride + given.channels, 0, 255);
    const std::vector<uint8_t> others(out.begin(), out.end());
    const GuardedArray<float> scales = Array(kBlockColumns, 0x1p-9F);
    const GuardedArray<float> bias = Draw(kBlockColumns, 50000, 90000);
    const double low = given.is_limited ? 20 : 0, high = given.is_limited ? 230 : 255;
    RequantizedResults results =
        LimitedResults(scales.data(), bias.data(), out.data(), out_stride, given.has_others);
    results.pixels = given.pixels;
    results.channels = given.channels;
    results.low = static_cast<float>(low);
    results.high = static_cast<float>(high);
    results.is_limited = given.is_limited;
    Of(RunDot4Depthwise)({.rows = addresses.data(),
                          .row_count = given.rows,
                          .quads = given.quads,
                          .weights = weights.data(),
                          .start = start.data(),
                          .stride = given.stride,
                          .pixels = given.pixels,
                          .sums = sums.data(),
                          .codes = given.has_codes ? &results : nullptr});
    std::vector<uint8_t> expected_codes = others;
    for (int64_t i = 0; i < given.pixels * given.channels; ++i) {
      const int64_t pixel = i / given.channels, channel = i % given.channels;
      int64_t sum = start[channel];
      for (int64_t term = 0; term < given.rows * taps; ++term) {
        const int64_t row = term / taps, tap = term % taps, from = pixel * given.stride + tap;
        // The last tap of stride 1 has the weight 0, and may be after the pixels.
        const int64_t weight =
            weights[(row * given.quads + tap / kQuad) * kQuadWeights + channel * kQuad + tap % kQuad];
        if (weight != 0) sum += weight * pixels[static_cast<size_t>(row)][from * kBlockColumns + channel];
      }
      if (!given.has_codes) {
        ASSERT_EQ(sums[pixel * kBlockColumns + channel], sum)
            << given.pixels << " pixels, " << given.quads << " quads, stride " << given.stride << ": " << i;
        continue;
      }
      const double x =
          std::nearbyint(std::clamp((static_cast<double>(sum) + bias[channel]) / 512, low, high));
      const auto at = static_cast<size_t>(pixel * out_stride + channel);
      const double with_others =
          std::nearbyint(std::clamp(0.5 * x + 3 + 0.25 * (others[at] - 100.0), 0.0, 255.0));
      expected_codes[at] = static_cast<uint8_t>(given.has_others ? with_others : x);
    }
    for (int64_t at = 0; at < out.size(); ++at)
      ASSERT_EQ(out[at], expected_codes[static_cast<size_t>(at)])
          << given.pixels << " pixels of " << given.channels << " channels, stride " << given.stride << ": "
          << at;
  }
};

TEST_P(Dot4DepthwiseTest, EachNumberOfPixels) {
  for (int64_t pixels = 1; pixels <= 40; ++pixels) {
    for (int64_t stride : {1, 2}) {
      for (int64_t rows : {0, 1, 3}) {
        for (int64_t quads : {1, 2, 3})
          Check({.pixels = pixels, .stride = stride, .rows = rows, .quads = quads});
      }
    }
  }
}

TEST_P(Dot4DepthwiseTest, QuantizedResults) {
  for (int64_t pixels : {1, 2, 7, 8, 12, 13, 24, 25, 49}) {
    for (int64_t stride : {1, 2}) {
      for (int64_t channels : {1, 8, 15, 16}) {
        for (bool has_others : {false, true}) {
          for (bool is_limited : {false, true})
            Check({.pixels = pixels,
                   .stride = stride,
                   .rows = 3,
                   .channels = channels,
                   .has_codes = true,
                   .has_others = has_others,
                   .is_limited = is_limited});
        }
      }
    }
  }
}

NNEFC_INSTANTIATE_LANE_TESTS(PixelQuadsTest);
NNEFC_INSTANTIATE_LANE_TESTS(WidenedPixelsTest);
NNEFC_INSTANTIATE_LANE_TESTS(Dot4DepthwiseTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
