// Direct convolutions in tiles of pixels against loops over taps and channels.

#include "runtime/fast/simd/conv/direct_convolution_microkernel.h"

#include "tests/unit/runtime/fast/simd/sparse_input.h"

namespace nnefc::runtime::fast::simd {
namespace {

class DirectTileTest : public SimdTest {
 protected:
  struct Case {
    ImageOrder order = ImageOrder::kBlocked;
    int64_t rows = 1, pixels = 1, blocks = 1, in_pixel = kBlockColumns, terms = 5;
    int64_t slices = 1, tap_rows = 2, columns = 3, tiles = 1;
    std::vector<uint16_t> seeing = {};  // empty: random, or all if not `is_border`
    bool is_border = false;
    IndexRange seeing_rows[2] = {{0, 2}, {0, 2}};
    bool has_bias = false, has_start = false;
    Limits limits = {};
    float special = 0;  // a number that is read, if it is not 0
    int64_t next_lines = 0;
  };

  void Check(const Case& given) {
    const bool is_blocked = given.order == ImageOrder::kBlocked;
    const int64_t tile_pixels = given.pixels * given.tiles;
    const int64_t in_row = 70 * given.in_pixel, in_below = in_row + given.in_pixel, in_slice = 7 * in_row;
    const int64_t in_term = 9 * in_slice, in_column = 2 * given.in_pixel;
    const int64_t taps = given.slices * given.tap_rows * given.columns;
    const uint16_t all = static_cast<uint16_t>((1U << given.pixels) - 1);
    std::vector<uint16_t> seeing = given.seeing;
    for (auto column = static_cast<int64_t>(seeing.size()); column < given.columns; ++column)
      seeing.push_back(given.is_border ? static_cast<uint16_t>(DrawOne(0, all)) : all);
    GuardedArray<uint16_t> guarded_seeing = Array<uint16_t>(static_cast<int64_t>(seeing.size()));
    std::copy(seeing.begin(), seeing.end(), guarded_seeing.begin());

    // Whether a pixel of a row sees the image, not its border, by a tap.
    const auto sees = [&](int64_t tap, int64_t row, int64_t pixel) {
      const int64_t tap_row = tap / given.columns % given.tap_rows;
      const bool sees_row = given.rows == 1 ||
                            (tap_row >= given.seeing_rows[row].begin && tap_row < given.seeing_rows[row].end);
      return sees_row && (seeing[static_cast<size_t>(tap % given.columns)] >> pixel % given.pixels & 1) != 0;
    };
    const auto offset_of = [&](int64_t tap, int64_t row, int64_t pixel, int64_t term) {
      const int64_t slice = tap / (given.tap_rows * given.columns),
                    tap_row = tap / given.columns % given.tap_rows;
      const int64_t channel =
          is_blocked ? term / kBlockColumns * in_term + term % kBlockColumns : term * in_term;
      return slice * in_slice + tap_row * in_row + tap % given.columns * in_column + row * in_below +
             pixel * given.in_pixel + channel;
    };
    const auto for_each = [&](const auto& use) {
      for (int64_t i = 0; i < taps * given.rows * tile_pixels * given.terms; ++i) {
        const int64_t term = i % given.terms, at = i / given.terms, pixel = at % tile_pixels;
        const int64_t row = at / tile_pixels % given.rows, tap = at / tile_pixels / given.rows;
        if (sees(tap, row, pixel)) use(offset_of(tap, row, pixel, term));
      }
    };
    int64_t last_seen = 0;
    for_each([&](int64_t offset) { last_seen = std::max(last_seen, offset); });
    SparseInput in(edge(), for_each, [&] { return static_cast<float>(DrawOne(-9, 9)); });
    if (given.special != 0) in.Set(last_seen, given.special);

    // Weights of channels after those of the tap, or of the taps of a row after those of the channel.
    const int64_t weights_step = (is_blocked ? given.terms : given.columns) * kTileColumns;
    const int64_t weights_row = weights_step * (is_blocked ? given.columns : given.terms) + kTileColumns;
    const int64_t weights_slice = weights_row * given.tap_rows + 3;
    const auto weight_at = [&](int64_t tap, int64_t term) {
      const int64_t slice = tap / (given.tap_rows * given.columns),
                    tap_row = tap / given.columns % given.tap_rows;
      const int64_t column = tap % given.columns;
      return slice * weights_slice + tap_row * weights_row +
             (is_blocked ? column * weights_step + term * kTileColumns
                         : term * weights_step + column * kTileColumns);
    };
    const int64_t width = given.blocks * kBlockColumns, count = taps * given.terms;
    GuardedArray<float> weights =
        Array(count == 0 ? 0 : weight_at(taps - 1, given.terms - 1) + kTileColumns, kNan);
    for (int64_t i = 0; i < count * width; ++i)
      weights[weight_at(i / width / given.terms, i / width % given.terms) + i % width] =
          static_cast<float>(DrawOne(-9, 9));

    const int64_t out_pixels = given.rows * tile_pixels, out_block = out_pixels * kBlockColumns + 5;
    const int64_t out_size = (given.blocks - 1) * out_block + out_pixels * kBlockColumns;
    const GuardedArray<float> bias = DrawIntegers(width), start = DrawIntegers(out_size);
    GuardedArray<float> out = Untouched(out_size);
    Of(RunDirectMicrokernel)(given.order, given.rows, given.pixels, given.blocks,
                             {.in = in.data(),
                              .in_pixel = given.in_pixel,
                              .in_below = in_below,
                              .terms = given.terms,
                              .in_term = in_term,
                              .slices = given.slices,
                              .rows = given.tap_rows,
                              .columns = given.columns,
                              .in_slice = in_slice,
                              .in_row = in_row,
                              .in_column = in_column,
                              .seeing = guarded_seeing.data(),
                              .seeing_rows = {given.seeing_rows[0], given.seeing_rows[1]},
                              .weights = weights.data(),
                              .weights_slice = weights_slice,
                              .weights_row = weights_row,
                              .weights_step = weights_step,
                              .bias = given.has_bias ? bias.data() : nullptr,
                              .start = given.has_start ? start.data() : nullptr,
                              .out = out.data(),
                              .out_block = out_block,
                              .limits = given.limits,
                              .next = 64,
                              .next_lines = given.next_lines,
                              .tiles = given.tiles});
    for (int64_t at = 0; at < out_size; ++at) {
      const int64_t block = at / out_block, place = at % out_block;
      double expected = kUntouched;
      if (place < out_pixels * kBlockColumns) {
        const int64_t output = block * kBlockColumns + place % kBlockColumns;
        const int64_t row = place / kBlockColumns / tile_pixels, pixel = place / kBlockColumns % tile_pixels;
        double sum = (given.has_bias ? double{bias[output]} : 0) + (given.has_start ? double{start[at]} : 0);
        for (int64_t tap = 0; tap < taps; ++tap) {
          if (!sees(tap, row, pixel)) continue;
          for (int64_t term = 0; term < given.terms; ++term)
            sum += double{in.At(offset_of(tap, row, pixel, term))} * weights[weight_at(tap, term) + output];
        }
        expected = Limited(given.limits, sum);
      }
      ASSERT_TRUE(IsNear(out[at], expected, 0))
          << given.rows << " rows of " << given.pixels << " pixels " << given.in_pixel << " apart, "
          << given.blocks << " blocks, " << given.terms << " terms, " << given.tiles << " tiles: " << at;
    }
  }
};

TEST_P(DirectTileTest, BlockedImages) {
  for (int64_t rows : {1, 2}) {
    for (int64_t pixels = 1; pixels <= tile_rows() / rows; ++pixels) {
      for (int64_t blocks : {1, 2}) {
        for (int64_t in_pixel : {16, 32, 48}) {
          for (bool is_border : {false, true})
            Check({.rows = rows,
                   .pixels = pixels,
                   .blocks = blocks,
                   .in_pixel = in_pixel,
                   .is_border = is_border});
        }
      }
    }
  }
}

TEST_P(DirectTileTest, ChannelsOfBlockedImages) {
  for (int64_t rows : {1, 2}) {
    for (int64_t terms : {1, 2, 3, 4, 15, 16, 17, 32, 37}) {
      for (int64_t slices : {0, 1, 2}) {
        for (bool is_border : {false, true})
          Check({.rows = rows,
                 .pixels = 3,
                 .blocks = 2,
                 .terms = terms,
                 .slices = slices,
                 .is_border = is_border,
                 .next_lines = 1});
      }
    }
  }
}

// Each row of pixels sees its own rows of taps.
TEST_P(DirectTileTest, RowsOfTapsThatPixelsSee) {
  for (int64_t i = 0; i < 81; ++i) {
    const IndexRange first{i % 3, i / 3 % 3}, second{i / 9 % 3, i / 27};
    if (first.count() < 0 || second.count() < 0) continue;
    for (int64_t in_pixel : {16, 32}) {
      Case given{.rows = 2, .pixels = 2, .in_pixel = in_pixel, .terms = 3};
      given.seeing_rows[0] = first;
      given.seeing_rows[1] = second;
      Check(given);
    }
  }
}

TEST_P(DirectTileTest, RowMajorImages) {
  for (int64_t pixels = 1; pixels <= tile_rows(); ++pixels) {
    for (int64_t blocks : {1, 2}) {
      for (int64_t in_pixel : {1, 2, 3}) {
        for (int64_t tiles : {1, 2, 3}) {
          for (bool has_start : {false, true})
            Check({.order = ImageOrder::kRowMajor,
                   .pixels = pixels,
                   .blocks = blocks,
                   .in_pixel = in_pixel,
                   .terms = 2,
                   .slices = tiles,
                   .tiles = tiles,
                   .has_bias = !has_start,
                   .has_start = has_start});
        }
      }
    }
  }
}

// Columns of taps that some pixels do not see, before and after the others.
TEST_P(DirectTileTest, BordersOfRowMajorImages) {
  constexpr uint16_t kAll = 7, kSome = 5;
  for (int64_t i = 0; i < 25; ++i) {
    const int64_t begin = i % 5, end = i / 5;
    if (begin > end) continue;
    std::vector<uint16_t> seeing;
    for (int64_t column = 0; column < 4; ++column)
      seeing.push_back(column >= begin && column < end ? kAll : kSome);
    for (int64_t blocks : {1, 2}) {
      for (int64_t terms : {0, 1, 3})
        Check({.order = ImageOrder::kRowMajor,
               .pixels = 3,
               .blocks = blocks,
               .in_pixel = 2,
               .terms = terms,
               .slices = 2,
               .columns = 4,
               .seeing = seeing});
    }
  }
}

TEST_P(DirectTileTest, WhatSumsBeginWithAndLimits) {
  for (ImageOrder order : {ImageOrder::kBlocked, ImageOrder::kRowMajor}) {
    for (int64_t blocks : {1, 2}) {
      for (const Limits& limits : AllLimits(-40, 55)) {
        for (int64_t i = 0; i < 4; ++i) {
          for (int64_t rows : {1, 2}) {
            if (rows == 2 && order == ImageOrder::kRowMajor) continue;
            Check({.order = order,
                   .rows = rows,
                   .pixels = 3,
                   .blocks = blocks,
                   .terms = 3,
                   .has_bias = i % 2 == 1,
                   .has_start = i / 2 == 1,
                   .limits = limits});
          }
        }
      }
    }
  }
}

TEST_P(DirectTileTest, Specials) {
  for (ImageOrder order : {ImageOrder::kBlocked, ImageOrder::kRowMajor}) {
    for (bool is_border : {false, true}) {
      for (float special : {kNan, kInfinity, -kInfinity}) {
        for (const Limits& limits : AllLimits(-40, 55))
          Check({.order = order,
                 .pixels = 4,
                 .blocks = 2,
                 .is_border = is_border,
                 .limits = limits,
                 .special = special});
      }
    }
  }
}

NNEFC_INSTANTIATE_LANE_TESTS(DirectTileTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
