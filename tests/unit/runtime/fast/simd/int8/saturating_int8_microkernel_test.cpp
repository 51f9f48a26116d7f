// Clamped quantized values and their rests, which are the values again, and dot products of both, against
// loops in integers.

#include "runtime/fast/simd/int8/saturating_int8_microkernel.h"

#include <cstring>

#include "tests/unit/runtime/fast/simd/simd_test.h"

namespace nnefc::runtime::fast::simd {
namespace {

constexpr int64_t kRestBlock = kBlockColumns;

class SaturatingInt8Test : public SimdTest {
 protected:
  static std::array<uint8_t, kQuad> BytesOf(const Residual& rest) {
    std::array<uint8_t, kQuad> bytes;
    std::memcpy(bytes.data(), &rest.bytes, sizeof(rest.bytes));
    return bytes;
  }

  // Checks that clamped codes and rests are the codes, and that there are no more rests than need be.
  void Check(const GuardedArray<uint8_t>& codes, int base) {
    constexpr int64_t kFirst = 11;
    const auto [above_count, below_count] = CountRests(codes, base);
    GuardedArray<uint8_t> clamped = Array<uint8_t>(codes.size(), 7);
    GuardedArray<Residual> above = Array<Residual>(above_count), below = Array<Residual>(below_count);
    Residuals rests{.above = above.data(), .below = below.data(), .most = std::max(above_count, below_count)};
    Of(ClampValues)({.codes = codes.data(),
                     .count = codes.size(),
                     .base = base,
                     .out = clamped.data(),
                     .first_quad = kFirst},
                    rests);
    ASSERT_EQ(rests.above_count, above_count) << "base " << base << ", " << codes.size() << " codes";
    ASSERT_EQ(rests.below_count, below_count) << "base " << base << ", " << codes.size() << " codes";
    EXPECT_FALSE(rests.are_too_many());
    std::vector<int> again(clamped.begin(), clamped.end());
    for (const auto& [list, sign] : {std::pair(&above, 1), {&below, -1}}) {
      int32_t last_quad = 0;
      for (const Residual& rest : *list) {
        ASSERT_GE(rest.quad, last_quad);
        last_quad = rest.quad;
        const std::array<uint8_t, kQuad> bytes = BytesOf(rest);
        for (size_t i = 0; i < kQuad; ++i) {
          ASSERT_LE(bytes[i / 2 * 2] + bytes[i / 2 * 2 + 1], kMaxPairSum);
          again[static_cast<size_t>((rest.quad - kFirst) * kQuad) + i] += sign * bytes[i];
        }
      }
    }
    for (int64_t i = 0; i < codes.size(); ++i) {
      ASSERT_EQ(again[static_cast<size_t>(i)] + base, codes[i])
          << i << " of " << codes.size() << ", base " << base;
      ASSERT_LE(clamped[i / 2 * 2] + clamped[i / 2 * 2 + 1], kMaxPairSum);
    }
  }

  // A rest above of each four of which two have too much, and one below, or two where two miss too much.
  static std::pair<int64_t, int64_t> CountRests(const GuardedArray<uint8_t>& codes, int base) {
    int64_t above = 0, below = 0;
    for (int64_t at = 0; at < codes.size(); at += kQuad) {
      bool has_above = false, has_below = false, has_two_below = false;
      for (int64_t i = at; i < at + kQuad; i += 2) {
        const int first = codes[i] - base, second = codes[i + 1] - base;
        has_above |= std::max(first, 0) + std::max(second, 0) > 256;
        has_below |= first < 0 || second < 0;
        has_two_below |= std::max(-first, 0) + std::max(-second, 0) > 256;
      }
      above += has_above ? 1 : 0;
      below += has_two_below ? 2 : has_below ? 1 : 0;
    }
    return {above, below};
  }
};

// All pairs of values, each at both places of a four.
TEST_P(SaturatingInt8Test, EachPair) {
  GuardedArray<uint8_t> codes = Array<uint8_t>(2 * kQuad * 256 * 256);
  for (int64_t i = 0; i < codes.size() / kQuad; ++i) {
    const auto first = static_cast<uint8_t>(i / 2 / 256), second = static_cast<uint8_t>(i / 2 % 256);
    std::fill_n(codes.data() + i * kQuad, kQuad, static_cast<uint8_t>(60));
    codes[i * kQuad + i % 2 * 2] = first;
    codes[i * kQuad + i % 2 * 2 + 1] = second;
  }
  for (int base : {0, 1, 60, 128, 254, 255}) Check(codes, base);
}

TEST_P(SaturatingInt8Test, EachCount) {
  for (int64_t count = 0; count <= 200; count += kQuad) {
    for (int base : {0, 90, 255}) Check(Draw<uint8_t>(count, 0, 255), base);
  }
}

TEST_P(SaturatingInt8Test, TooManyRestsAreNotWritten) {
  for (int base : {0, 255}) {
    const GuardedArray<uint8_t> codes = Array<uint8_t>(256, base == 0 ? uint8_t{255} : uint8_t{0});
    const int64_t count = base == 0 ? 64 : 128;  // below the base, two of each four
    for (int64_t most : {int64_t{0}, int64_t{5}, count - 1, count}) {
      GuardedArray<uint8_t> clamped = Array<uint8_t>(256);
      GuardedArray<Residual> list = Array<Residual>(std::min(count, most + 1)), none = Array<Residual>(0);
      Residuals rests{.above = base == 0 ? list.data() : none.data(),
                      .below = base == 0 ? none.data() : list.data(),
                      .most = most};
      Of(ClampValues)(
          {.codes = codes.data(), .count = 256, .base = base, .out = clamped.data(), .first_quad = 0}, rests);
      EXPECT_EQ(rests.are_too_many(), most < count) << most;
      EXPECT_EQ(base == 0 ? rests.above_count : rests.below_count, std::min(count, most + 1));
    }
  }
}

class ClampedTileTest : public SimdTest {
 protected:
  // The products of what pixels see and weights in fours, in 64 bits.
  template <typename Number>
  static int64_t SumOf(const Dot4Tile<Number>& tile, int64_t pixel, int64_t output) {
    int64_t sum = 0;
    for (int64_t i = 0; i < tile.strip_count * tile.quads * kQuad; ++i) {
      const int64_t strip = i / (tile.quads * kQuad), term = i % (tile.quads * kQuad);
      sum += int64_t{tile.numbers[tile.seen[pixel] + tile.strips[strip] + term]} *
             tile.weights[(i / kQuad * kBlockColumns + output) * kQuad + i % kQuad];
    }
    return sum;
  }

  // Offsets of pixels and strips, and as many numbers as they reach.
  template <typename Number>
  struct Seen {
    GuardedArray<int32_t> seen, strips;
    GuardedArray<Number> numbers;
  };
  template <typename Number>
  Seen<Number> DrawReceptiveField(int64_t pixels, int64_t strips, int64_t quads, int least, int most) {
    Seen<Number> drawn{Draw<int32_t>(pixels, 0, 60), Array<int32_t>(strips), Array<Number>(0)};
    int64_t end = 0;
    for (int64_t i = 0; i < strips; ++i) drawn.strips[i] = static_cast<int32_t>(i * (quads * kQuad + 6));
    for (int32_t& offset : drawn.seen) {
      offset *= 2;
      if (strips > 0 && quads > 0) end = std::max(end, offset + drawn.strips[strips - 1] + quads * kQuad);
    }
    drawn.numbers = Draw<Number>(end, least, most);
    return drawn;
  }
  GuardedArray<int8_t> DrawWeights(int64_t size) {
    GuardedArray<int8_t> weights = Draw<int8_t>(size, -128, 127);
    for (int64_t i = 0; i < size; i += 3) weights[i] = i % 2 == 0 ? -128 : 127;
    return weights;
  }

  template <typename Number>
  static Dot4Tile<Number> TileOf(const Seen<Number>& drawn, int64_t quads,
                                 const GuardedArray<int8_t>& weights, GuardedArray<int32_t>& sums) {
    return {.numbers = drawn.numbers.data(),
            .seen = drawn.seen.data(),
            .strips = drawn.strips.data(),
            .strip_count = drawn.strips.size(),
            .quads = quads,
            .weights = weights.data(),
            .sums = sums.data()};
  }

  void CheckClamped(int64_t pixels, int64_t strips, int64_t quads, int start_bound) {
    Seen<uint8_t> drawn = DrawReceptiveField<uint8_t>(pixels, strips, quads, 0, 255);
    // Two together are at most kMaxPairSum, in any shares, and often that.
    for (int64_t i = 0; i + 1 < drawn.numbers.size(); i += 2)
      drawn.numbers[i + 1] = static_cast<uint8_t>(std::min(255, kMaxPairSum - drawn.numbers[i]));
    const GuardedArray<int8_t> weights = DrawWeights(strips * quads * kQuadWeights);
    const GuardedArray<int32_t> start = Draw<int32_t>(kBlockColumns, -start_bound, start_bound);
    GuardedArray<int32_t> sums = Array<int32_t>(pixels * kBlockColumns);
    const Dot4Tile<uint8_t> tile = TileOf(drawn, quads, weights, sums);
    Of(RunSaturatingMicrokernel)(pixels, tile, start.data());
    for (int64_t at = 0; at < sums.size(); ++at) {
      const int64_t expected =
          start[at % kBlockColumns] + SumOf(tile, at / kBlockColumns, at % kBlockColumns);
      ASSERT_EQ(sums[at], static_cast<int32_t>(static_cast<uint32_t>(expected)))
          << pixels << " pixels, " << strips << " strips, " << quads << " quads: " << at;
    }
  }
};

TEST_P(ClampedTileTest, SumsAreThoseOfIntegers) {
  for (int64_t pixels = 1; pixels <= tile_rows(); ++pixels) {
    for (int64_t quads : {0, 1, 2, 3, 4, 7, 33}) {
      for (int64_t strips : {0, 1, 2, 3}) CheckClamped(pixels, strips, quads, 1000);
    }
  }
}

TEST_P(ClampedTileTest, SumsModulo) {
  CheckClamped(3, 2, 20, std::numeric_limits<int32_t>::max());
}

TEST_P(ClampedTileTest, SumsOfNumbersAreThoseOfIntegers) {
  for (int64_t pixels = 0; pixels <= 7; ++pixels) {
    for (int64_t quads : {0, 1, 2, 9}) {
      for (int64_t strips : {0, 1, 3}) {
        const Seen<int16_t> drawn = DrawReceptiveField<int16_t>(pixels, strips, quads, -255, 255);
        const GuardedArray<int8_t> weights = DrawWeights(strips * quads * kQuadWeights);
        GuardedArray<int32_t> sums = Array<int32_t>(pixels * kBlockColumns);
        const Dot4Tile<int16_t> tile = TileOf(drawn, quads, weights, sums);
        Of(RunInt16Dot4Microkernel)(pixels, tile);
        for (int64_t at = 0; at < sums.size(); ++at)
          ASSERT_EQ(sums[at], SumOf(tile, at / kBlockColumns, at % kBlockColumns))
              << pixels << " pixels, " << quads << " quads: " << at;
      }
    }
  }
}

TEST_P(ClampedTileTest, RestsAreAddedOrSubtracted) {
  constexpr int32_t kQuads = 5;
  constexpr int64_t kPixels = 6, kFirst = 40;
  for (int64_t blocks = 1; blocks <= kMaxResidualBlocks; ++blocks) {
    for (bool is_above : {false, true}) {
      for (int64_t count : {0, 1, 9}) {
        const int64_t block_stride = kQuads * kQuadWeights + 3, sums_stride = kPixels * kRestBlock + 5;
        const GuardedArray<int8_t> weights = DrawWeights((blocks - 1) * block_stride + kQuads * kQuadWeights);
        GuardedArray<int32_t> sums =
            Draw<int32_t>((blocks - 1) * sums_stride + kPixels * kRestBlock, -999, 999);
        std::vector<int64_t> expected(sums.begin(), sums.end());
        GuardedArray<ResidualTerm> terms = Array<ResidualTerm>(count);
        for (int64_t i = 0; i < count; ++i) {
          const int32_t quad = i == 1 ? kQuads - 1 : DrawOne(0, kQuads - 1);
          std::array<uint8_t, kQuad> bytes;
          for (size_t byte = 0; byte < kQuad; byte += 2) {
            bytes[byte] = static_cast<uint8_t>(DrawOne(0, 255));
            bytes[byte + 1] = static_cast<uint8_t>(std::min(255, kMaxPairSum - bytes[byte]));
          }
          terms[i] = {.pixel = static_cast<int32_t>(kFirst) + (i == 2 ? 5 : DrawOne(0, kPixels - 1)),
                      .weights = quad * static_cast<int32_t>(kQuadWeights),
                      .bytes = 0};
          std::memcpy(&terms[i].bytes, bytes.data(), sizeof(terms[i].bytes));
          for (int64_t output = 0; output < blocks * kRestBlock; ++output) {
            int64_t sum = 0;
            for (int64_t byte = 0; byte < kQuad; ++byte)
              sum += int64_t{bytes[static_cast<size_t>(byte)]} *
                     weights[output / kRestBlock * block_stride + quad * kQuadWeights +
                             output % kRestBlock * kQuad + byte];
            const int64_t at = output / kRestBlock * sums_stride + (terms[i].pixel - kFirst) * kRestBlock +
                               output % kRestBlock;
            expected[static_cast<size_t>(at)] += is_above ? sum : -sum;
          }
        }
        Of(AddResiduals)({.terms = terms.data(),
                          .count = count,
                          .is_above = is_above,
                          .weights = weights.data(),
                          .first_pixel = kFirst,
                          .sums = sums.data(),
                          .blocks = blocks,
                          .block_stride = block_stride,
                          .sums_stride = sums_stride});
        for (int64_t at = 0; at < sums.size(); ++at)
          ASSERT_EQ(sums[at], expected[static_cast<size_t>(at)])
              << blocks << " blocks, " << count << " rests: " << at;
      }
    }
  }
}

NNEFC_INSTANTIATE_LANE_TESTS(SaturatingInt8Test);
NNEFC_INSTANTIATE_LANE_TESTS(ClampedTileTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
