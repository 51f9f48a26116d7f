// Dot products of four quantized values by VNNI against loops in integers.

#include "runtime/fast/simd/int8/vnni_microkernel.h"

#include "tests/unit/runtime/fast/simd/int8/vnni_test.h"

namespace nnefc::runtime::fast::simd {
namespace {

class VnniTileTest : public VnniTest {
 protected:
  struct Case {
    int64_t pixels = 1, blocks = 1, strips = 1, quads = 1, pixel_stride = kBlockColumns;
    int start = 1000;  // in [-start, start]
    bool has_codes = false, has_others = false;
    int64_t next_lines = 0;
  };

  int64_t blocks_at_once() const { return set().blocks_per_tile(); }

  void Check(const Case& given) {
    const int64_t strip_codes = given.quads * kQuad,
                  weights_stride = given.strips * given.quads * kQuadWeights + 64;
    GuardedArray<int32_t> seen = Draw<int32_t>(given.pixels, 0, 40), strips = Array<int32_t>(given.strips);
    for (int64_t i = 0; i < given.strips; ++i) strips[i] = static_cast<int32_t>(i * (strip_codes + 5));
    int32_t last_seen = 0;
    for (int32_t offset : seen) last_seen = std::max(last_seen, offset);
    const int64_t codes_end = given.strips == 0 ? 0 : last_seen + strips[given.strips - 1] + strip_codes;
    GuardedArray<uint8_t> codes = Draw<uint8_t>(codes_end, 0, 255);
    for (int64_t i = 0; i < codes.size(); i += 3) codes[i] = 255;
    GuardedArray<int8_t> weights = Draw<int8_t>(
        (given.blocks - 1) * weights_stride + given.strips * given.quads * kQuadWeights, -128, 127);
    for (int64_t i = 0; i < weights.size(); i += 5) weights[i] = i % 2 == 0 ? -128 : 127;
    const int64_t columns = given.blocks * kBlockColumns;
    const GuardedArray<int32_t> start = Draw<int32_t>(columns, -given.start, given.start);
    const int64_t sums_stride = given.pixels * given.pixel_stride + 3;
    GuardedArray<int32_t> sums = Array<int32_t>(
        given.has_codes
            ? 0
            : (given.blocks - 1) * sums_stride + (given.pixels - 1) * given.pixel_stride + kBlockColumns,
        77);

    const int64_t out_stride = columns + 9;
    GuardedArray<uint8_t> out = Draw<uint8_t>((given.pixels - 1) * out_stride + columns, 0, 255);
    const std::vector<uint8_t> others(out.begin(), out.end());
    const GuardedArray<float> scales = Array(columns, 0x1p-9F);
    GuardedArray<float> bias = Draw(columns, 50, 90);
    for (float& number : bias) number *= 1024;
    RequantizedResults results =
        LimitedResults(scales.data(), bias.data(), out.data(), out_stride, given.has_others);
    results.pixels = given.pixels;
    Of(RunVnniMicrokernel)(given.pixels, given.blocks,
                           {.products = {.numbers = codes.data(),
                                         .seen = seen.data(),
                                         .strips = strips.data(),
                                         .strip_count = given.strips,
                                         .quads = given.quads,
                                         .weights = weights.data(),
                                         .sums = sums.data()},
                            .weights_stride = weights_stride,
                            .sums_stride = sums_stride,
                            .start = start.data(),
                            .pixel_stride = given.pixel_stride,
                            .next = weights.data(),
                            .next_lines = given.next_lines,
                            .codes = given.has_codes ? &results : nullptr});

    std::vector<int32_t> expected_sums(static_cast<size_t>(sums.size()), 77);
    std::vector<uint8_t> expected_codes = others;
    for (int64_t i = 0; i < given.pixels * columns; ++i) {
      const int64_t pixel = i / columns, column = i % columns, block = column / kBlockColumns;
      int64_t sum = start[column];
      for (int64_t term = 0; term < given.strips * strip_codes; ++term) {
        const int64_t from = seen[pixel] + strips[term / strip_codes] + term % strip_codes;
        const int64_t weight = block * weights_stride +
                               (term / kQuad * kBlockColumns + column % kBlockColumns) * kQuad + term % kQuad;
        sum += int64_t{codes[from]} * weights[weight];
      }
      if (given.has_codes) {
        const double x =
            std::nearbyint(std::clamp((static_cast<double>(sum) + bias[column]) / 512, 20.0, 230.0));
        const auto at = static_cast<size_t>(pixel * out_stride + column);
        const double with_others =
            std::nearbyint(std::clamp(0.5 * x + 3 + 0.25 * (others[at] - 100.0), 0.0, 255.0));
        expected_codes[at] = static_cast<uint8_t>(given.has_others ? with_others : x);
      } else {
        const int64_t at = block * sums_stride + pixel * given.pixel_stride + column % kBlockColumns;
        expected_sums[static_cast<size_t>(at)] =
            static_cast<int32_t>(static_cast<uint32_t>(sum));  // modulo 2^32
      }
    }
    for (int64_t at = 0; at < sums.size(); ++at)
      ASSERT_EQ(sums[at], expected_sums[static_cast<size_t>(at)])
          << given.pixels << " pixels, " << given.blocks << " blocks, " << given.quads << " quads: " << at;
    for (int64_t at = 0; at < out.size(); ++at)
      ASSERT_EQ(out[at], expected_codes[static_cast<size_t>(at)])
          << given.pixels << " pixels, " << given.blocks << " blocks: " << at;
  }
};

TEST_P(VnniTileTest, EachNumberOfPixelsAndQuads) {
  for (int64_t pixels = 1; pixels <= tile_rows(); ++pixels) {
    for (int64_t blocks = 1; blocks <= blocks_at_once(); ++blocks) {
      for (int64_t quads : {0, 1, 2, 7, 8, 9, 17}) {
        for (int64_t strips : {0, 1, 3})
          Check({.pixels = pixels,
                 .blocks = blocks,
                 .strips = strips,
                 .quads = quads,
                 .pixel_stride = 16 + strips,
                 .next_lines = strips});
      }
    }
  }
}

// Sums that exceed 32 bits keep their residues.
TEST_P(VnniTileTest, SumsModulo) {
  for (int64_t blocks = 1; blocks <= blocks_at_once(); ++blocks)
    Check({.pixels = 4, .blocks = blocks, .quads = 30, .start = std::numeric_limits<int32_t>::max()});
}

TEST_P(VnniTileTest, QuantizedResults) {
  for (int64_t pixels = 1; pixels <= tile_rows(); ++pixels) {
    for (int64_t blocks = 1; blocks <= blocks_at_once(); ++blocks) {
      for (bool has_others : {false, true})
        Check({.pixels = pixels,
               .blocks = blocks,
               .strips = 2,
               .quads = 3,
               .has_codes = true,
               .has_others = has_others});
    }
  }
}

// HSwish of sums against a formula in f64, with channels of parameters that are not finite.
TEST_P(VnniTileTest, HSwishOfSums) {
  for (int64_t pixels = 1; pixels <= tile_rows(); ++pixels) {
    for (int64_t blocks = 1; blocks <= blocks_at_once(); ++blocks) {
      const int64_t columns = blocks * kBlockColumns, stride = columns + 9;
      const GuardedArray<int32_t> seen = Array<int32_t>(pixels), strips = Array<int32_t>(1),
                                  start = Draw<int32_t>(columns, -9000, 9000);
      const GuardedArray<uint8_t> codes = Draw<uint8_t>(kQuad, 0, 255);
      const GuardedArray<int8_t> weights = Draw<int8_t>(blocks * kQuadWeights, -128, 127);
      const GuardedArray<float> gate_scales = Array(columns, 0x1p-12F), gate_bias = Array(columns, 0.5F),
                                bias = DrawIntegers(columns), offsets = Draw(columns, -20, 275);
      GuardedArray<float> scales = Array(columns, 0x1p-6F);
      scales[3] = std::numeric_limits<float>::quiet_NaN();
      scales[5] = std::numeric_limits<float>::infinity();
      GuardedArray<uint8_t> out = Array<uint8_t>((pixels - 1) * stride + columns, 77);
      const HSwishResults results{.gate_scales = gate_scales.data(),
                                  .gate_bias = gate_bias.data(),
                                  .scales = scales.data(),
                                  .bias = bias.data(),
                                  .offsets = offsets.data(),
                                  .out = out.data(),
                                  .stride = stride};
      Of(RunVnniMicrokernel)(pixels, blocks,
                             {.products = {.numbers = codes.data(),
                                           .seen = seen.data(),
                                           .strips = strips.data(),
                                           .strip_count = 1,
                                           .quads = 1,
                                           .weights = weights.data(),
                                           .sums = nullptr},
                              .weights_stride = kQuadWeights,
                              .sums_stride = 0,
                              .start = start.data(),
                              .hard_swish = &results});
      for (int64_t at = 0; at < out.size(); ++at) {
        const int64_t column = at % stride;
        if (column >= columns) {
          ASSERT_EQ(out[at], 77);
          continue;
        }
        double sum = start[column];
        for (int64_t i = 0; i < kQuad; ++i) sum += codes[i] * weights[column * kQuad + i];
        const double gate = std::clamp(sum * 0x1p-12 + 0.5, 0.0, 1.0);
        const double x =
            gate * (sum * double{scales[column]} + double{bias[column]}) + double{offsets[column]};
        const double code = std::isnan(x) ? 0 : std::clamp(std::nearbyint(x), 0.0, 255.0);
        const bool is_tie = std::abs(std::abs(x - std::trunc(x)) - 0.5) < 1e-3;
        ASSERT_LE(std::abs(out[at] - code), is_tie ? 1 : 0)
            << x << ", " << pixels << " pixels, channel " << column;
      }
    }
  }
}

// f32 results in row-major order and in blocks: bias, elements to start from, and limits, to which NaN leads.
TEST_P(VnniTileTest, NumbersOfSums) {
  for (int64_t pixels = 1; pixels <= tile_rows(); ++pixels) {
    for (int64_t blocks = 1; blocks <= blocks_at_once(); ++blocks) {
      for (int given = 0; given < 32; ++given) {
        const bool is_blocked = given % 2 != 0, has_bias = given / 2 % 2 != 0, has_start = given / 4 % 2 != 0;
        const int64_t columns = blocks * kBlockColumns;
        const int64_t stride = is_blocked ? kBlockColumns : columns + 3,
                      block_stride = is_blocked ? pixels * kBlockColumns : kBlockColumns;
        const int64_t size = (blocks - 1) * block_stride + (pixels - 1) * stride + kBlockColumns;
        const GuardedArray<int32_t> seen = Array<int32_t>(pixels), strips = Array<int32_t>(1),
                                    sums = Draw<int32_t>(columns, -9000, 9000);
        const GuardedArray<int8_t> weights = Array<int8_t>(0);
        const GuardedArray<float> scales = Array(columns, 0x1p-6F), bias = DrawIntegers(columns);
        GuardedArray<float> elements = DrawIntegers(size), out = Array(size, 77.0F);
        elements[size - 1] = std::numeric_limits<float>::quiet_NaN();
        const DequantizedResults results{
            .sums = nullptr,
            .pixels = pixels,
            .scales = scales.data(),
            .bias = has_bias ? bias.data() : nullptr,
            .start = has_start ? elements.data() : nullptr,
            .limits = {.has_max = given / 8 % 2 != 0, .has_min = given / 16 != 0, .max = 50, .min = -20},
            .out = out.data(),
            .stride = stride,
            .block_stride = block_stride};
        Of(RunVnniMicrokernel)(pixels, blocks,
                               {.products = {.numbers = nullptr,
                                             .seen = seen.data(),
                                             .strips = strips.data(),
                                             .strip_count = 0,
                                             .quads = 0,
                                             .weights = weights.data(),
                                             .sums = nullptr},
                                .weights_stride = 0,
                                .sums_stride = 0,
                                .start = sums.data(),
                                .numbers = &results});
        std::vector<float> expected(static_cast<size_t>(size), 77);
        for (int64_t i = 0; i < pixels * columns; ++i) {
          const int64_t column = i % columns;
          const int64_t at =
              column / kBlockColumns * block_stride + i / columns * stride + column % kBlockColumns;
          const float x = static_cast<float>(sums[column]) / 64 + (has_bias ? bias[column] : 0) +
                          (has_start ? elements[at] : 0);
          expected[static_cast<size_t>(at)] = results.limits.Of(x);
        }
        for (int64_t at = 0; at < size; ++at) {
          const float one = expected[static_cast<size_t>(at)];
          ASSERT_TRUE(out[at] == one || (std::isnan(out[at]) && std::isnan(one)))
              << out[at] << " instead of " << one << ", " << pixels << " pixels, case " << given << ": "
              << at;
        }
      }
    }
  }
}

NNEFC_INSTANTIATE_LANE_TESTS(VnniTileTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
