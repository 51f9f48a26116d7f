// Sums of products of quantized images and weights in fours, of saturating and VNNI microkernels, against
// loops over all pixels and taps in integers.

#include "runtime/fast/int8/dot4_gemm.h"
#include "runtime/fast/processor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "runtime/fast/simd/int8/saturating_int8_microkernel.h"

namespace nnefc::runtime::fast::int8 {
namespace {

constexpr int64_t kBlock = simd::kBlockColumns;

class QuadSumsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!simd::HasSimd()) GTEST_SKIP() << "for AVX2";
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
  std::vector<uint8_t> DrawValues(int64_t count, int middle, int often) {
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

  // `in_place`: of rows, whole tiles of sums go to the result at once.
  void Check(const Int8ConvolutionShape& form, int often, bool has_vnni = false, bool in_place = false) {
    ASSERT_TRUE(Dot4Gemm::Suits(form, has_vnni));
    const Int8Grid grid{.row_parts = 2, .tile_parts = 1};
    const Dot4Gemm quads(form, grid, has_vnni);
    const int64_t tiles = (form.outputs + kBlock - 1) / kBlock, taps = form.rows.size * form.columns.size;
    std::vector<uint8_t> image = DrawValues(form.in_size(), form.zero, often);
    // Where no window sees them, zeros: so that all rests are seen, by as many windows as may be.
    for (int64_t pixel = 0; pixel < form.rows.input * form.columns.input; ++pixel) {
      if (!IsSeen(form.rows, pixel / form.columns.input) || !IsSeen(form.columns, pixel % form.columns.input))
        std::fill_n(image.begin() + pixel * form.channels, form.channels, static_cast<uint8_t>(form.zero));
    }
    const std::vector<int8_t> weights = Draw<int8_t>(tiles * taps * form.channels * kBlock, -128, 127);
    std::vector<int32_t> less_weights(static_cast<size_t>(tiles * kBlock));
    for (int64_t i = 0; i < static_cast<int64_t>(weights.size()); ++i) {
      const int64_t of_tile = taps * form.channels * kBlock;
      less_weights[static_cast<size_t>(i / of_tile * kBlock + i / simd::kQuad % kBlock)] -=
          weights[static_cast<size_t>(i)];
    }
    std::vector<std::byte> scratch(static_cast<size_t>(quads.scratch_bytes()));
    int64_t sums_seen = 0;
    std::vector<int32_t> out(static_cast<size_t>(form.out_pixels() * form.outputs));
    for (int64_t part = 0; part < grid.row_parts; ++part) {
      const simd::IndexRange rows = simd::IndexRange{0, form.rows.output}.Part(grid.row_parts, part);
      const Dot4Gemm::Part call{.rows = rows,
                                .tiles = {0, tiles},
                                .weights = weights.data(),
                                .less_weights = form.zero == 0 ? nullptr : less_weights.data(),
                                .scratch = scratch.data(),
                                .out = in_place ? out.data() + rows.begin * form.outputs : nullptr,
                                .direct_tiles = in_place ? form.outputs / kBlock : 0};
      was_stored_ = quads.SumQuantized(
          call, image.data(), form.zero,
          [&](int64_t tile, const simd::IndexRange& pixels, const int32_t* sums) {
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

  static bool IsSeen(const kernels::WindowAxis& axis, int64_t place) {
    for (int64_t at = 0; at < axis.output * axis.size; ++at) {
      if (at / axis.size * axis.stride - axis.before + at % axis.size * axis.dilation == place) return true;
    }
    return false;
  }

  static int64_t Expected(const Int8ConvolutionShape& form, const std::vector<uint8_t>& image,
                          const int8_t* weights, int64_t pixel, int64_t output) {
    const kernels::WindowAxis &rows = form.rows, &columns = form.columns;
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
        sum += int64_t{code - form.zero} *
               weights[(term / simd::kQuad * kBlock + output) * simd::kQuad + term % simd::kQuad];
      }
    }
    return sum;
  }

  bool was_stored_ = false;
  std::mt19937 random_{7};
};

TEST_F(QuadSumsTest, ImagesAndRows) {
  for (int zero : {0, 60, 131, 255}) {
    for (int often : {1, 30, 1000}) {
      const Int8ConvolutionShape row_form{.images = 1,
                                          .channels = 68,
                                          .outputs = 85,
                                          .padded_channels = 68,
                                          .rows = {.input = 131, .output = 131},
                                          .columns = {},
                                          .zero = zero,
                                          .threads = 1};
      Check(row_form, often);
      EXPECT_EQ(was_stored_, often > 1) << zero;
      Int8ConvolutionShape image_form{.images = 1,
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
        const Int8ConvolutionShape form{.images = 1,
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
      const Int8ConvolutionShape form{
          .images = 1,
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
        return kernels::WindowAxis{.input = input,
                                   .output = (input + 1 - (2 * dilation + 1)) / stride + 1,
                                   .size = 3,
                                   .stride = stride,
                                   .dilation = dilation,
                                   .before = 1};
      };
      const Int8ConvolutionShape form{.images = 1,
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

// Other numbers of channels than multiples of four take VNNI, and windows of one pixel or, for fewer
// channels, of several columns.
TEST(QuadSumsOfChannelsTest, PartsOfGroups) {
  const auto reason = [](int64_t channels, int64_t rows, int64_t columns, bool has_vnni) {
    const auto axis = [](int64_t size) {
      return kernels::WindowAxis{.input = 9, .output = 10 - size, .size = size};
    };
    const Int8ConvolutionShape form{.images = 1,
                                    .channels = channels,
                                    .outputs = 64,
                                    .padded_channels = channels,
                                    .rows = axis(rows),
                                    .columns = axis(columns),
                                    .zero = 3,
                                    .threads = 1};
    const std::string found = Dot4Gemm::Applies(form, has_vnni).ToString();
    if (has_vnni) {
      EXPECT_EQ(Dot4Gemm::Suits(form, true), found.empty()) << channels << " " << rows << " " << columns;
    }
    return found;
  };
  EXPECT_EQ(reason(8, 3, 3, true), "");
  EXPECT_EQ(reason(6, 1, 1, true), "");
  EXPECT_EQ(reason(3, 1, 3, true), "");
  EXPECT_EQ(reason(3, 3, 3, true), "");
  EXPECT_EQ(reason(6, 1, 1, false), "6 channels, not a multiple of 4");
  EXPECT_EQ(reason(3, 1, 3, false), "3 channels, not a multiple of 4");
  EXPECT_EQ(reason(6, 3, 1, true), "6 channels, not a multiple of 4");
  EXPECT_EQ(reason(3, 3, 1, true), "3 channels, not a multiple of 4");
  EXPECT_EQ(reason(6, 1, 3, true), "6 channels, not a multiple of 4");
  EXPECT_EQ(reason(6, 3, 3, true), "6 channels, not a multiple of 4");
}

}  // namespace
}  // namespace nnefc::runtime::fast::int8
