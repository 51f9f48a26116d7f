// Dot products of quantized values in tiles against loops over all of them in integers, and their results
// against the formula in f64.

#include "runtime/fast/simd/int8/dot2_microkernel.h"

#include "tests/unit/runtime/fast/simd/simd_test.h"

namespace nnefc::runtime::fast::simd {
namespace {

class CodeTileTest : public SimdTest {
 protected:
  template <typename Number, typename Widen>
  void CheckWidened(const Widen& widen, int64_t count, int64_t rows, int64_t gap, int zero) {
    const int64_t stride = count + gap, out_stride = count + 2 * gap;
    const auto size_of = [&](int64_t row_stride) { return rows == 0 ? 0 : (rows - 1) * row_stride + count; };
    const GuardedArray<uint8_t> codes = Draw<uint8_t>(size_of(stride), 0, 255);
    GuardedArray<Number> out = Array<Number>(size_of(out_stride), 777);
    widen({.codes = codes.data(),
           .count = count,
           .zero = zero,
           .out = out.data(),
           .rows = rows,
           .stride = stride,
           .out_stride = out_stride});
    for (int64_t at = 0; at < out.size(); ++at) {
      const int64_t i = at % out_stride;
      ASSERT_EQ(out[at], static_cast<Number>(i < count ? codes[at / out_stride * stride + i] - zero : 777))
          << rows << " rows of " << count << ": " << at;
    }
  }

  // Zero points by channel, for rows of kBlockColumns values and of fewer.
  void CheckWidenedByChannel(int64_t count) {
    constexpr int64_t kRows = 3, kStride = kBlockColumns + 5;
    const GuardedArray<uint8_t> codes = Draw<uint8_t>((kRows - 1) * kStride + count, 0, 255);
    const GuardedArray<int32_t> zeros = Draw<int32_t>(kBlockColumns, 0, 255);
    GuardedArray<float> out = Array<float>((kRows - 1) * kBlockColumns + count, 777);
    Of(WidenToFloats)({.codes = codes.data(),
                       .count = count,
                       .zero = 0,
                       .zeros = zeros.data(),
                       .out = out.data(),
                       .rows = kRows,
                       .stride = kStride,
                       .out_stride = kBlockColumns});
    for (int64_t row = 0; row < kRows; ++row) {
      for (int64_t i = 0; i < count; ++i)
        ASSERT_EQ(out[row * kBlockColumns + i], static_cast<float>(codes[row * kStride + i] - zeros[i]));
    }
  }

  template <typename Weight, typename Run>
  void CheckSums(const Run& run, int64_t pixels, int64_t strips, int64_t pairs, int number_bound) {
    GuardedArray<int32_t> seen = Draw<int32_t>(pixels, 0, 60), offsets = Array<int32_t>(strips);
    int64_t end = 0;
    for (int64_t i = 0; i < strips; ++i) offsets[i] = static_cast<int32_t>(i * (2 * pairs + 5));
    for (int32_t offset : seen) {
      if (strips > 0 && pairs > 0) end = std::max(end, offset + offsets[strips - 1] + 2 * pairs);
    }
    GuardedArray<int16_t> numbers = Draw<int16_t>(end, -number_bound, number_bound);
    constexpr int kMinWeight = std::numeric_limits<Weight>::min(),
                  kMaxWeight = std::numeric_limits<Weight>::max();
    GuardedArray<Weight> weights = Draw<Weight>(strips * pairs * 2 * kBlockColumns, kMinWeight, kMaxWeight);
    for (int64_t i = 0; i < weights.size(); i += 3) weights[i] = static_cast<Weight>(kMinWeight);
    GuardedArray<int32_t> sums = Array<int32_t>(pixels * kBlockColumns);
    run(pixels, {.numbers = numbers.data(),
                 .seen = seen.data(),
                 .strips = offsets.data(),
                 .strip_count = strips,
                 .pairs = pairs,
                 .weights = weights.data(),
                 .sums = sums.data()});
    for (int64_t at = 0; at < sums.size(); ++at) {
      const int64_t pixel = at / kBlockColumns, output = at % kBlockColumns;
      int64_t expected = 0;
      for (int64_t i = 0; i < strips * pairs * 2; ++i) {
        const int64_t place = seen[pixel] + offsets[i / (2 * pairs)] + i % (2 * pairs);
        expected += int64_t{numbers[place]} * weights[(i / 2 * kBlockColumns + output) * 2 + i % 2];
      }
      ASSERT_EQ(sums[at], static_cast<int32_t>(static_cast<uint32_t>(expected)))
          << pixels << " pixels, " << strips << " strips, " << pairs << " pairs: " << at;
    }
  }
};

TEST_P(CodeTileTest, ZeroPointsByChannel) {
  for (int64_t count = 1; count <= kBlockColumns; ++count) CheckWidenedByChannel(count);
}

TEST_P(CodeTileTest, WidenedCodes) {
  for (int64_t count : {0, 1, 15, 16, 17, 32, 33}) {
    for (int64_t rows : {0, 1, 3}) {
      for (int64_t gap : {0, 5}) {
        for (int zero : {0, 1, 128, 255}) {
          CheckWidened<int16_t>(Of(WidenToInt16), count, rows, gap, zero);
          CheckWidened<float>(Of(WidenToFloats), count, rows, gap, zero);
        }
      }
    }
  }
}

TEST_P(CodeTileTest, SumsAreThoseOfIntegers) {
  for (int64_t pixels = 1; pixels <= tile_rows(); ++pixels) {
    for (int64_t pairs : {0, 1, 2, 3, 7, 16}) {
      for (int64_t strips : {0, 1, 3}) {
        // The farthest numbers among them: of 255 and of 0 less a zero of 255.
        CheckSums<int8_t>(Of(RunInt8Dot2Microkernel), pixels, strips, pairs, 255);
        CheckSums<int16_t>(Of(RunInt16Dot2Microkernel), pixels, strips, pairs, 255);
      }
    }
  }
}

// Products of any numbers of 16 bits exceed 32 bits: the sums keep their residues.
TEST_P(CodeTileTest, SumsModulo) {
  for (int64_t pairs : {1, 2, 9}) CheckSums<int16_t>(Of(RunInt16Dot2Microkernel), 5, 2, pairs, 32767);
  GuardedArray<int16_t> least = Array<int16_t>(2 * kBlockColumns, -32768);
  GuardedArray<int32_t> zero = Array<int32_t>(1), sums = Array<int32_t>(kBlockColumns);
  Of(RunInt16Dot2Microkernel)(1, {.numbers = least.data(),
                                  .seen = zero.data(),
                                  .strips = zero.data(),
                                  .strip_count = 1,
                                  .pairs = 1,
                                  .weights = least.data(),
                                  .sums = sums.data()});
  for (int32_t sum : sums) EXPECT_EQ(sum, std::numeric_limits<int32_t>::min());
}

TEST_P(CodeTileTest, ChannelsByThemselves) {
  for (int64_t count = 0; count <= 9; ++count) {
    for (int64_t tap_count : {int64_t{0}, int64_t{1}, int64_t{9}, kMaxDepthwiseTaps}) {
      const GuardedArray<int32_t> seen = Draw<int32_t>(count, 0, 900),
                                  taps = Draw<int32_t>(tap_count, 0, 900);
      int32_t last_seen = 0, last_tap = 0;
      for (int32_t offset : seen) last_seen = std::max(last_seen, offset);
      for (int32_t offset : taps) last_tap = std::max(last_tap, offset);
      const GuardedArray<float> numbers = Draw(last_seen + last_tap + kBlockColumns, 200, 255);
      const GuardedArray<float> weights = Draw(tap_count * kBlockColumns, -128, -100);
      GuardedArray<int32_t> sums = Array<int32_t>(count * kBlockColumns);
      Of(RunQuantizedDepthwise)({.numbers = numbers.data(),
                                 .seen = seen.data(),
                                 .count = count,
                                 .taps = taps.data(),
                                 .tap_count = tap_count,
                                 .weights = weights.data(),
                                 .sums = sums.data()});
      for (int64_t at = 0; at < sums.size(); ++at) {
        int64_t expected = 0;
        for (int64_t tap = 0; tap < tap_count; ++tap)
          expected +=
              static_cast<int64_t>(numbers[seen[at / kBlockColumns] + taps[tap] + at % kBlockColumns]) *
              static_cast<int64_t>(weights[tap * kBlockColumns + at % kBlockColumns]);
        ASSERT_EQ(sums[at], expected) << count << " pixels, " << tap_count << " taps: " << at;
      }
    }
  }
}

class CodeResultsTest : public SimdTest {
 protected:
  // Scales are powers of two, so that halves between two codes are exact.
  static float ScaleOf(int64_t channel) { return std::ldexp(1.0F, -1 - static_cast<int>(channel % 3)); }
  GuardedArray<float> Scales() {
    GuardedArray<float> scales = Array(kBlockColumns);
    for (int64_t c = 0; c < kBlockColumns; ++c) scales[c] = ScaleOf(c);
    return scales;
  }

  // Returns the even one of two integers that are as near.
  static double Rounded(double x) { return std::nearbyint(x); }

  void Check(const GuardedArray<int32_t>& sums, int64_t channels, RequantizedResults call) {
    const int64_t pixels = sums.size() / kBlockColumns, stride = channels + 3;
    const GuardedArray<float> scales = Scales(), bias = DrawIntegers(kBlockColumns);
    GuardedArray<uint8_t> out = Draw<uint8_t>(pixels == 0 ? 0 : (pixels - 1) * stride + channels, 0, 255);
    const std::vector<uint8_t> others(out.begin(), out.end());
    call.sums = sums.data();
    call.pixels = pixels;
    call.channels = channels;
    call.scales = scales.data();
    call.bias = bias.data();
    call.out = out.data();
    call.stride = stride;
    Of(StoreRequantized)(call);
    for (int64_t at = 0; at < out.size(); ++at) {
      const int64_t pixel = at / stride, c = at % stride;
      double code = others[static_cast<size_t>(at)];
      if (c < channels) {
        const double x = scales[c] * (double{static_cast<float>(sums[pixel * kBlockColumns + c])} + bias[c]);
        const double own = Rounded(std::clamp<double>(x, call.low, call.high));
        const double sum = call.factor * own + call.offset + call.other_factor * (code - call.other_zero);
        code = call.has_others ? Rounded(std::clamp(sum, 0.0, 255.0)) : own;
      }
      ASSERT_EQ(out[at], code) << pixels << " pixels, " << channels << " channels: " << at;
    }
  }

  static std::vector<RequantizedResults> Kinds() {
    RequantizedResults plain{};
    plain.low = 0;
    plain.high = 255;
    RequantizedResults unlimited = plain, limited = plain, with_others = plain;
    unlimited.is_limited = false;
    limited.low = 10.5F;
    limited.high = 99.5F;
    with_others.low = 3;
    with_others.high = 240;
    with_others.has_others = true;
    with_others.factor = 0.5F;
    with_others.offset = -7;
    with_others.other_factor = 1.25F;
    with_others.other_zero = 100;
    return {plain, unlimited, limited, with_others};
  }
};

TEST_P(CodeResultsTest, PixelsAndChannels) {
  for (const RequantizedResults& kind : Kinds()) {
    for (int64_t pixels : {0, 1, 2, 5, 15, 16, 17, 33}) {
      for (int64_t channels = 1; channels <= kBlockColumns; ++channels)
        Check(Draw<int32_t>(pixels * kBlockColumns, -100, 1500), channels, kind);
    }
  }
}

// Each sum near the codes, at all halves and beyond both ends, and the farthest ones.
TEST_P(CodeResultsTest, TiesAndEnds) {
  for (const RequantizedResults& kind : Kinds()) {
    for (int64_t first : {-60, 400, 900, 1900}) {
      GuardedArray<int32_t> sums = Array<int32_t>(200 * kBlockColumns);
      for (int64_t i = 0; i < sums.size(); ++i) sums[i] = static_cast<int32_t>(first + i / kBlockColumns);
      Check(sums, kBlockColumns, kind);
    }
    GuardedArray<int32_t> sums = Draw<int32_t>(4 * kBlockColumns, -9, 9);
    for (int64_t i = 0; i < sums.size(); i += 2) sums[i] = i % 4 == 0 ? 2000000000 : -2000000000;
    Check(sums, kBlockColumns, kind);
  }
}

TEST_P(CodeResultsTest, NumbersOfSums) {
  for (const Limits& limits : AllLimits(-90, 120)) {
    for (int64_t i = 0; i < 4; ++i) {
      for (int64_t pixels : {0, 1, 2, 5}) {
        const int64_t stride = kBlockColumns + 2,
                      size = pixels == 0 ? 0 : (pixels - 1) * stride + kBlockColumns;
        const GuardedArray<int32_t> sums = Draw<int32_t>(pixels * kBlockColumns, -800, 800);
        const GuardedArray<float> scales = Scales(), bias = DrawIntegers(kBlockColumns),
                                  start = DrawIntegers(size);
        GuardedArray<float> out = Untouched(size);
        Of(StoreDequantized)({.sums = sums.data(),
                              .pixels = pixels,
                              .scales = scales.data(),
                              .bias = i % 2 == 1 ? bias.data() : nullptr,
                              .start = i / 2 == 1 ? start.data() : nullptr,
                              .limits = limits,
                              .out = out.data(),
                              .stride = stride});
        for (int64_t at = 0; at < size; ++at) {
          const int64_t pixel = at / stride, c = at % stride;
          if (c >= kBlockColumns) {
            ASSERT_EQ(out[at], kUntouched);
            continue;
          }
          const double x = double{scales[c]} * sums[pixel * kBlockColumns + c] + (i % 2 == 1 ? bias[c] : 0) +
                           (i / 2 == 1 ? start[at] : 0);
          ASSERT_EQ(out[at], Limited(limits, x)) << pixels << " pixels: " << at;
        }
      }
    }
  }
}

class QuantizedDepthwiseTest : public SimdTest {
 protected:
  static constexpr int64_t kTaps = 3, kChannels = 24;

  struct Case {
    int64_t inputs, outputs, stride, before;
    int64_t missing = -1;  // the row of windows that is in the border
    int zero = 0;          // the zero point of the first channel; 0 for all channels
    bool is_limited = true;
  };

  void Check(const Case& given) {
    const GuardedArray<float> weights = Draw(kTaps * kTaps * kBlockColumns, -128, 127);
    GuardedArray<float> bias = Draw(kBlockColumns, 50000, 70000);
    const GuardedArray<float> scales = Array(kBlockColumns, 0x1p-9F);
    GuardedArray<int32_t> zeros = Array<int32_t>(kBlockColumns);
    GuardedArray<uint8_t> border = Array<uint8_t>(kBlockColumns);
    for (int64_t c = 0; given.zero != 0 && c < kBlockColumns; ++c) {
      constexpr int kStep = 17, kCodes = 256;
      zeros[c] = (given.zero + kStep * static_cast<int>(c)) % kCodes;
      border[c] = static_cast<uint8_t>(zeros[c]);
    }
    std::vector<GuardedArray<uint8_t>> rows;
    QuantizedDepthwiseRow row{.rows = {},
                              .pixel_strides = {},
                              .inputs = given.inputs,
                              .before = given.before,
                              .stride = given.stride,
                              .zeros = given.zero == 0 ? nullptr : zeros.data(),
                              .weights = weights.data()};
    for (int64_t tap = 0; tap < kTaps; ++tap) {
      // From the first channel that is read to the last one.
      rows.push_back(Draw<uint8_t>((given.inputs - 1) * kChannels + kBlockColumns, 0, 255));
      row.rows[tap] = tap == given.missing ? border.data() : rows.back().data();
      row.pixel_strides[tap] = tap == given.missing ? 0 : kChannels;
    }
    GuardedArray<uint8_t> out = Array<uint8_t>((given.outputs - 1) * kChannels + kBlockColumns, 77);
    Of(StoreQuantizedDepthwise)(row, {.sums = nullptr,
                                      .pixels = given.outputs,
                                      .channels = kBlockColumns,
                                      .scales = scales.data(),
                                      .bias = bias.data(),
                                      .low = given.is_limited ? 3.0F : 0.0F,
                                      .high = given.is_limited ? 250.0F : 255.0F,
                                      .is_limited = given.is_limited,
                                      .out = out.data(),
                                      .stride = kChannels});
    GuardedArray<int32_t> all_sums = Array<int32_t>(given.outputs * kBlockColumns, 777);
    Of(SumQuantizedDepthwise)(row, given.outputs, all_sums.data());
    for (int64_t at = 0; at < out.size(); ++at) {
      const int64_t pixel = at / kChannels, c = at % kChannels;
      double expected = 77;
      if (c < kBlockColumns) {
        double sum = bias[c];
        for (int64_t tap = 0; tap < kTaps * kTaps; ++tap) {
          const int64_t tap_row = tap / kTaps, column = pixel * given.stride - given.before + tap % kTaps;
          if (tap_row == given.missing || column < 0 || column >= given.inputs) continue;
          sum += double{weights[tap * kBlockColumns + c]} *
                 (rows[static_cast<size_t>(tap_row)][column * kChannels + c] - zeros[c]);
        }
        ASSERT_EQ(all_sums[pixel * kBlockColumns + c], sum - bias[c]);
        const double x = sum / 512;
        expected = std::nearbyint(given.is_limited ? std::clamp(x, 3.0, 250.0) : std::clamp(x, 0.0, 255.0));
      }
      ASSERT_EQ(out[at], expected) << given.inputs << " inputs, " << given.outputs << " outputs, stride "
                                   << given.stride << ", before " << given.before << ": " << at;
    }
  }
};

TEST_P(QuantizedDepthwiseTest, RowsOfPixels) {
  for (int64_t inputs = 1; inputs <= 14; ++inputs) {
    for (int64_t stride : {1, 2}) {
      for (int64_t before : {0, 1, 2}) {
        for (int64_t after : {0, 1, 2}) {
          if (inputs + before + after < kTaps) continue;
          const int64_t outputs = (inputs + before + after - kTaps) / stride + 1;
          for (int zero : {0, 131}) {
            for (bool is_limited : {false, true})
              Check({inputs, outputs, stride, before, (inputs + before) % 4 - 1, zero, is_limited});
          }
        }
      }
    }
  }
}

NNEFC_INSTANTIATE_LANE_TESTS(CodeTileTest);
NNEFC_INSTANTIATE_LANE_TESTS(CodeResultsTest);
NNEFC_INSTANTIATE_LANE_TESTS(QuantizedDepthwiseTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
