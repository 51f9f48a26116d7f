// Depthwise convolutions in tiles of pixels against loops over taps.

#include "runtime/fast/simd/conv/depthwise_microkernel.h"

#include "tests/unit/runtime/fast/simd/sparse_input.h"

namespace nnefc::runtime::fast::simd {
namespace {

class DepthwiseTileTest : public SimdTest {
 protected:
  struct Case {
    int64_t pixels = 1, in_pixel = kBlockColumns, slices = 1, rows = 1, columns = 3;
    bool has_bias = false, has_start = false;
    Limits limits = {};
    bool is_border = false;  // some pixels see the border
    float special = 0;       // a number that the last pixel sees, if it is not 0
  };

  void Check(const Case& given) {
    constexpr int64_t kColumn = 2 * kBlockColumns, kRow = 60 * kBlockColumns, kSlice = 4 * kRow;
    const int64_t weights_row = (given.columns + 1) * kBlockColumns,
                  weights_slice = given.rows * weights_row + 7;
    std::vector<uint16_t> seeing;
    const auto all = static_cast<uint16_t>((1U << given.pixels) - 1);
    for (int64_t column = 0; column < given.columns; ++column)
      seeing.push_back(given.is_border ? static_cast<uint16_t>(DrawOne(0, all)) : all);
    // The pixels see at least the last tap.
    if (given.columns > 0 && given.special != 0) seeing.back() = all;
    const auto offset_of = [&](int64_t tap, int64_t pixel) {
      const int64_t slice = tap / (given.rows * given.columns), row = tap / given.columns % given.rows;
      return slice * kSlice + row * kRow + tap % given.columns * kColumn + pixel * given.in_pixel;
    };
    const int64_t taps = given.slices * given.rows * given.columns;
    const auto sees = [&](int64_t tap, int64_t pixel) {
      return (seeing[static_cast<size_t>(tap % given.columns)] >> pixel & 1) != 0;
    };
    SparseInput in(
        edge(),
        [&](const auto& use) {
          for (int64_t i = 0; i < taps * given.pixels * kBlockColumns; ++i) {
            const int64_t tap = i / kBlockColumns / given.pixels, pixel = i / kBlockColumns % given.pixels;
            if (sees(tap, pixel)) use(offset_of(tap, pixel) + i % kBlockColumns);
          }
        },
        [&] { return static_cast<float>(DrawOne(-9, 9)); });
    if (given.special != 0) in.Set(offset_of(taps - 1, given.pixels - 1) + kBlockColumns - 1, given.special);
    const auto weight_at = [&](int64_t tap) {
      const int64_t slice = tap / (given.rows * given.columns), row = tap / given.columns % given.rows;
      return slice * weights_slice + row * weights_row + tap % given.columns * kBlockColumns;
    };
    const GuardedArray<float> weights = DrawIntegers(taps == 0 ? 0 : weight_at(taps - 1) + kBlockColumns);
    const GuardedArray<float> bias = DrawIntegers(kBlockColumns),
                              start = DrawIntegers(given.pixels * kBlockColumns);
    GuardedArray<float> out = Untouched(given.pixels * kBlockColumns);
    Of(RunDepthwiseMicrokernel)(given.pixels, {.in = in.data(),
                                               .in_pixel = given.in_pixel,
                                               .slices = given.slices,
                                               .rows = given.rows,
                                               .columns = given.columns,
                                               .in_slice = kSlice,
                                               .in_row = kRow,
                                               .in_column = kColumn,
                                               .seeing = seeing.data(),
                                               .weights = weights.data(),
                                               .weights_slice = weights_slice,
                                               .weights_row = weights_row,
                                               .bias = given.has_bias ? bias.data() : nullptr,
                                               .start = given.has_start ? start.data() : nullptr,
                                               .out = out.data(),
                                               .limits = given.limits});
    for (int64_t i = 0; i < out.size(); ++i) {
      const int64_t pixel = i / kBlockColumns, c = i % kBlockColumns;
      double sum = (given.has_bias ? double{bias[c]} : 0) + (given.has_start ? double{start[i]} : 0);
      for (int64_t tap = 0; tap < taps; ++tap) {
        if (sees(tap, pixel)) sum += double{in.At(offset_of(tap, pixel) + c)} * weights[weight_at(tap) + c];
      }
      ASSERT_TRUE(IsNear(out[i], Limited(given.limits, sum), 0))
          << given.pixels << " pixels, " << given.in_pixel << " apart: " << i;
    }
  }
};

TEST_P(DepthwiseTileTest, EachNumberOfPixelsAndStride) {
  for (int64_t pixels = 1; pixels <= tile_rows(); ++pixels) {
    for (int64_t in_pixel : {16, 32, 48, 8 * 16}) {
      for (int64_t i = 0; i < 16; ++i)
        Check({.pixels = pixels,
               .in_pixel = in_pixel,
               .slices = i % 2 + 1,
               .rows = i / 2 % 2 + 1,
               .columns = i / 4 % 2 * 2 + 1,
               .is_border = i / 8 == 1});
    }
  }
}

TEST_P(DepthwiseTileTest, WhatSumsBeginWithAndLimits) {
  for (int64_t pixels = 1; pixels <= tile_rows(); ++pixels) {
    for (const Limits& limits : AllLimits(-40, 55)) {
      for (int64_t i = 0; i < 4; ++i)
        Check(
            {.pixels = pixels, .rows = 3, .has_bias = i % 2 == 1, .has_start = i / 2 == 1, .limits = limits});
    }
  }
}

TEST_P(DepthwiseTileTest, NoTaps) {
  Check({.pixels = 2, .slices = 0, .has_bias = true});
  Check({.pixels = 2, .rows = 0, .has_start = true});
  Check({.pixels = 2, .columns = 0});
}

TEST_P(DepthwiseTileTest, Specials) {
  for (bool is_border : {false, true}) {
    for (float special : {kNan, kInfinity, -kInfinity}) {
      for (const Limits& limits : AllLimits(-40, 55))
        Check({.pixels = 5, .limits = limits, .is_border = is_border, .special = special});
    }
  }
}

NNEFC_INSTANTIATE_LANE_TESTS(DepthwiseTileTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
