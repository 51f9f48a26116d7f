// Codes that are clamped and their rests, which are the codes again, and sums of products of both, against
// loops over all of them in integers.

#include "runtime/fast/lanes/clamped_tile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "runtime/fast/quad_sums.h"

namespace nnefc::runtime {
namespace {

constexpr int64_t kBlock = kBlockColumns;

class ClampedTileTest : public ::testing::Test {
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
  // Of which every `often`-th is anything, and the one behind it one of the ends; the others are near the
  // middle.
  std::vector<uint8_t> DrawCodes(int64_t count, int middle, int often) {
    std::vector<uint8_t> codes = Draw<uint8_t>(count, 0, 255);
    for (size_t i = 0; i < codes.size(); ++i) {
      if (Draw<int>(1, 1, often)[0] != 1) {
        codes[i] = static_cast<uint8_t>(std::clamp(middle + Draw<int>(1, -20, 20)[0], 0, 255));
      } else if (i + 1 < codes.size()) {
        codes[++i] = Draw<int>(1, 0, 1)[0] == 0 ? 0 : 255;
      }
    }
    return codes;
  }

  std::mt19937 random_{7};
};

// The products of what pixels see and weights in fours, in 64 bits.
template <typename Number>
int64_t SumOf(const std::vector<Number>& numbers, const QuadTile<Number>& tile, int64_t pixel,
              int64_t output) {
  int64_t sum = 0;
  for (int64_t i = 0; i < tile.strip_count * tile.quads * kQuad; ++i) {
    const int64_t strip = i / (tile.quads * kQuad), term = i % (tile.quads * kQuad);
    const int64_t place = tile.seen[pixel] + tile.strips[strip] + term;
    sum += int64_t{numbers[static_cast<size_t>(place)]} *
           tile.weights[(i / kQuad * kBlock + output) * kQuad + i % kQuad];
  }
  return sum;
}

TEST_F(ClampedTileTest, ClampedCodesAndRestsAreTheCodes) {
  for (int base : {0, 1, 52, 179}) {
    for (int often : {1, 3, 40}) {
      for (int64_t count : {4, 28, 64, 132, 1000}) {
        const std::vector<uint8_t> codes = DrawCodes(count, base + 70, often);
        std::vector<uint8_t> clamped(codes.size());
        std::vector<CodeRest> above(2 * codes.size()), below(2 * codes.size());
        CodeRests rests{.above = above.data(), .below = below.data(), .most = count};
        constexpr int64_t kFirst = 11;
        ClampCodes({.codes = codes.data(),
                    .count = count,
                    .base = base,
                    .out = clamped.data(),
                    .first_quad = kFirst},
                   rests);
        std::vector<int> again(clamped.begin(), clamped.end());
        const auto add = [&](const std::vector<CodeRest>& some, int64_t rest_count, int sign) {
          for (int64_t i = 0; i < rest_count; ++i) {
            const CodeRest& rest = some[static_cast<size_t>(i)];
            if (i > 0) {
              EXPECT_GE(rest.quad, some[static_cast<size_t>(i - 1)].quad);
            }
            EXPECT_NE(rest.bytes, 0U);
            uint8_t bytes[kQuad];
            std::memcpy(bytes, &rest.bytes, sizeof(bytes));
            for (size_t j = 0; j < kQuad; j += 2) EXPECT_LE(bytes[j] + bytes[j + 1], kMostOfTwo);
            for (size_t j = 0; j < kQuad; ++j)
              again[static_cast<size_t>(rest.quad - kFirst) * kQuad + j] += sign * bytes[j];
          }
        };
        add(above, rests.above_count, 1);
        add(below, rests.below_count, -1);
        for (size_t i = 0; i < codes.size(); ++i) {
          EXPECT_EQ(again[i] + base, codes[i]) << i << " of " << count << ", base " << base;
          EXPECT_LE(clamped[i / 2 * 2] + clamped[i / 2 * 2 + 1], kMostOfTwo);
        }
      }
    }
  }
}

TEST_F(ClampedTileTest, TooManyRestsAreNotWritten) {
  constexpr int64_t kMost = 5;
  const std::vector<uint8_t> codes(256, 255);
  std::vector<uint8_t> clamped(codes.size());
  std::vector<CodeRest> above(codes.size(), CodeRest{-1, 0}), below(kMost + 1);
  CodeRests rests{.above = above.data(), .below = below.data(), .most = kMost};
  ClampCodes({.codes = codes.data(), .count = 256, .base = 0, .out = clamped.data(), .first_quad = 0}, rests);
  EXPECT_TRUE(rests.are_too_many());
  for (size_t i = kMost + 1; i < above.size(); ++i) EXPECT_EQ(above[i].quad, -1);
}

TEST_F(ClampedTileTest, SumsAreThoseOfIntegers) {
  constexpr int64_t kRow = 800, kStrips = 2;
  // Two together are at most kMostOfTwo, in any shares, and often that.
  std::vector<uint8_t> numbers = Draw<uint8_t>(4 * kRow, 0, 255);
  for (size_t i = 0; i < numbers.size(); i += 2)
    numbers[i + 1] = static_cast<uint8_t>(std::min(255, kMostOfTwo - numbers[i]));
  for (int64_t quads : {1, 2, 7, 33}) {
    std::vector<int8_t> weights = Draw<int8_t>(kStrips * quads * kQuadWeights, -128, 127);
    for (size_t i = 0; i < weights.size(); i += 3) weights[i] = i % 2 == 0 ? -128 : 127;
    const std::vector<int32_t> strips = {0, kRow}, start = Draw<int32_t>(kBlock, -1000, 1000);
    std::vector<int32_t> seen = Draw<int32_t>(kWideTileRows, 0, 250);
    for (int32_t& place : seen) place *= 2;
    for (int64_t pixels = 1; pixels <= TileRows(); ++pixels) {
      std::vector<int32_t> sums(static_cast<size_t>(pixels * kBlock));
      const QuadTile<uint8_t> tile{.numbers = numbers.data(),
                                   .seen = seen.data(),
                                   .strips = strips.data(),
                                   .strip_count = kStrips,
                                   .quads = quads,
                                   .weights = weights.data(),
                                   .sums = sums.data()};
      RunClampedTile(pixels, tile, start.data());
      for (int64_t at = 0; at < pixels * kBlock; ++at) {
        const int64_t begin = start[static_cast<size_t>(at % kBlock)];
        EXPECT_EQ(sums[static_cast<size_t>(at)], begin + SumOf(numbers, tile, at / kBlock, at % kBlock))
            << pixels << " pixels, " << quads << " quads, " << at;
      }
    }
  }
}

TEST_F(ClampedTileTest, SumsOfNumbersAreThoseOfIntegers) {
  constexpr int64_t kRow = 800, kStrips = 3, kPixels = 7;
  const std::vector<int16_t> numbers = Draw<int16_t>(5 * kRow, -255, 255);
  for (int64_t quads : {1, 2, 9}) {
    const std::vector<int8_t> weights = Draw<int8_t>(kStrips * quads * kQuadWeights, -128, 127);
    const std::vector<int32_t> strips = {0, kRow, 2 * kRow}, seen = Draw<int32_t>(kPixels, 0, 500);
    for (int64_t pixels = 1; pixels <= kPixels; ++pixels) {
      std::vector<int32_t> sums(static_cast<size_t>(pixels * kBlock));
      const QuadTile<int16_t> tile{.numbers = numbers.data(),
                                   .seen = seen.data(),
                                   .strips = strips.data(),
                                   .strip_count = kStrips,
                                   .quads = quads,
                                   .weights = weights.data(),
                                   .sums = sums.data()};
      RunQuadTile(pixels, tile);
      for (int64_t at = 0; at < pixels * kBlock; ++at)
        EXPECT_EQ(sums[static_cast<size_t>(at)], SumOf(numbers, tile, at / kBlock, at % kBlock)) << at;
    }
  }
}

// A form of images, and its sums against those of all pixels and taps.
class QuadSumsTest : public ClampedTileTest {
 protected:
  // `in_place`: of rows, whole tiles of sums go to the result at once.
  void Check(const CodedForm& form, int often, bool has_vnni = false, bool in_place = false) {
    ASSERT_TRUE(QuadSums::Suits(form, has_vnni));
    const CodedGrid grid{.row_parts = 2, .tile_parts = 1};
    const QuadSums quads(form, grid, has_vnni);
    const int64_t tiles = (form.outputs + kBlock - 1) / kBlock, taps = form.rows.size * form.columns.size;
    std::vector<uint8_t> image = DrawCodes(form.in_size(), form.zero, often);
    // Where no window sees them, zeros: so that all rests are seen, by as many windows as may be.
    for (int64_t pixel = 0; pixel < form.rows.input * form.columns.input; ++pixel) {
      if (!IsSeen(form.rows, pixel / form.columns.input) || !IsSeen(form.columns, pixel % form.columns.input))
        std::fill_n(image.begin() + pixel * form.channels, form.channels, static_cast<uint8_t>(form.zero));
    }
    const std::vector<int8_t> weights = Draw<int8_t>(tiles * taps * form.channels * kBlock, -128, 127);
    std::vector<int32_t> less_weights(static_cast<size_t>(tiles * kBlock));
    for (int64_t i = 0; i < static_cast<int64_t>(weights.size()); ++i) {
      const int64_t of_tile = taps * form.channels * kBlock;
      less_weights[static_cast<size_t>(i / of_tile * kBlock + i / kQuad % kBlock)] -=
          weights[static_cast<size_t>(i)];
    }
    std::vector<std::byte> scratch(static_cast<size_t>(quads.scratch_bytes()));
    int64_t sums_seen = 0;
    std::vector<int32_t> out(static_cast<size_t>(form.out_pixels() * form.outputs));
    for (int64_t part = 0; part < grid.row_parts; ++part) {
      const Span rows = Span{0, form.rows.output}.Part(grid.row_parts, part);
      const QuadSums::Part call{.rows = rows,
                                .tiles = {0, tiles},
                                .weights = weights.data(),
                                .less_weights = form.zero == 0 ? nullptr : less_weights.data(),
                                .scratch = scratch.data(),
                                .out = in_place ? out.data() + rows.begin * form.outputs : nullptr};
      was_stored_ = quads.SumCodes(
          call, image.data(), form.zero, [&](int64_t tile, const Span& pixels, const int32_t* sums) {
            for (int64_t at = 0; at < pixels.count() * kBlock; ++at) {
              const int64_t pixel = rows.begin * form.columns.output + pixels.begin + at / kBlock;
              const int8_t* own = weights.data() + tile * taps * form.channels * kBlock;
              EXPECT_EQ(sums[at], Expected(form, image, own, pixel, at % kBlock)) << tile << " " << pixel;
              ++sums_seen;
            }
          });
      if (!was_stored_) return;
    }
    const int64_t columns_in_place = in_place ? form.outputs / kBlock * kBlock : 0;
    EXPECT_EQ(sums_seen, form.out_pixels() * (tiles * kBlock - columns_in_place));
    for (int64_t pixel = 0; pixel < form.out_pixels(); ++pixel) {
      for (int64_t column = 0; column < columns_in_place; ++column) {
        const int8_t* own = weights.data() + column / kBlock * taps * form.channels * kBlock;
        EXPECT_EQ(out[static_cast<size_t>(pixel * form.outputs + column)],
                  Expected(form, image, own, pixel, column % kBlock))
            << pixel << " " << column;
      }
    }
  }

  static bool IsSeen(const WindowAxis& axis, int64_t place) {
    for (int64_t at = 0; at < axis.output * axis.size; ++at) {
      if (at / axis.size * axis.stride - axis.before + at % axis.size * axis.dilation == place) return true;
    }
    return false;
  }

  static int64_t Expected(const CodedForm& form, const std::vector<uint8_t>& image, const int8_t* weights,
                          int64_t pixel, int64_t output) {
    const WindowAxis &rows = form.rows, &columns = form.columns;
    int64_t sum = 0;
    for (int64_t tap = 0; tap < rows.size * columns.size; ++tap) {
      const int64_t row =
          pixel / columns.output * rows.stride - rows.before + tap / columns.size * rows.dilation;
      const int64_t column =
          pixel % columns.output * columns.stride - columns.before + tap % columns.size * columns.dilation;
      if (row < 0 || row >= rows.input || column < 0 || column >= columns.input) continue;
      for (int64_t channel = 0; channel < form.channels; ++channel) {
        const int64_t term = tap * form.channels + channel;
        const int code = image[static_cast<size_t>((row * columns.input + column) * form.channels + channel)];
        sum += int64_t{code - form.zero} * weights[(term / kQuad * kBlock + output) * kQuad + term % kQuad];
      }
    }
    return sum;
  }

  bool was_stored_ = false;
};

TEST_F(QuadSumsTest, ImagesAndRows) {
  for (int zero : {0, 60, 131, 255}) {
    for (int often : {1, 30, 1000}) {
      const CodedForm row_form{.images = 1,
                               .channels = 68,
                               .outputs = 85,
                               .padded_channels = 68,
                               .rows = {.input = 131, .output = 131},
                               .columns = {},
                               .zero = zero,
                               .threads = 1};
      Check(row_form, often);
      EXPECT_EQ(was_stored_, often > 1) << zero;
      CodedForm image_form{.images = 1,
                           .channels = 16,
                           .outputs = 20,
                           .padded_channels = 16,
                           .rows = {.input = 9, .output = 5, .size = 3, .stride = 2, .before = 1},
                           .columns = {.input = 7, .output = 7, .size = 3, .before = 1},
                           .zero = zero,
                           .threads = 1};
      Check(image_form, often);
      EXPECT_EQ(was_stored_, often > 1) << zero;
      image_form.columns = {.input = 7, .output = 6, .size = 3, .stride = 1, .dilation = 2, .before = 2};
      Check(image_form, often);
    }
  }
}

// Of any codes, by the instruction that needs none clamped.
TEST_F(QuadSumsTest, OfVnni) {
  if (!HasVnni()) GTEST_SKIP() << "for VNNI";
  for (int zero : {0, 131, 255}) {
    for (int64_t outputs : {5, 16, 48, 85}) {
      for (int64_t rows : {2, 7, 131}) {
        const CodedForm form{.images = 1,
                             .channels = 12,
                             .outputs = outputs,
                             .padded_channels = 12,
                             .rows = {.input = rows, .output = rows},
                             .columns = {},
                             .zero = zero,
                             .threads = 1};
        for (bool in_place : {false, true}) Check(form, 1, true, in_place);
        EXPECT_TRUE(was_stored_);
      }
      const CodedForm form{.images = 1,
                           .channels = 8,
                           .outputs = outputs,
                           .padded_channels = 8,
                           .rows = {.input = 9, .output = 5, .size = 3, .stride = 2, .before = 1},
                           .columns = {.input = 7, .output = 6, .size = 3, .dilation = 2, .before = 2},
                           .zero = zero,
                           .threads = 1};
      Check(form, 1, true);
      EXPECT_TRUE(was_stored_);
    }
  }
}

// As many rests as there may be, each of which several windows see.
TEST_F(QuadSumsTest, RestsOfWindows) {
  for (int64_t stride : {1, 2, 3}) {
    for (int64_t dilation : {1, 2, 3}) {
      const auto axis = [&](int64_t input) {
        return WindowAxis{.input = input,
                          .output = (input + 1 - (2 * dilation + 1)) / stride + 1,
                          .size = 3,
                          .stride = stride,
                          .dilation = dilation,
                          .before = 1};
      };
      const CodedForm form{.images = 1,
                           .channels = 12,
                           .outputs = 16,
                           .padded_channels = 12,
                           .rows = axis(16),
                           .columns = axis(17),
                           .zero = 131,
                           .threads = 1};
      for (int often = 2; often < 36; ++often) Check(form, often);
      EXPECT_TRUE(was_stored_);
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime
