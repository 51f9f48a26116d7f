// Grouped convolutions in tiles of pixels against loops over taps and channels.

#include "runtime/fast/simd/conv/grouped_convolution_microkernel.h"

#include "tests/unit/runtime/fast/simd/sparse_input.h"

namespace nnefc::runtime::fast::simd {
namespace {

class GroupedTileTest : public SimdTest {
 protected:
  struct Case {
    GroupWidth width = GroupWidth::kRegisters;
    int64_t pixels = 1, stride = 1, first = 0, terms = 0, rows = 2;
    uint32_t inside = ~0U;
    bool has_bias = false, has_start = false;
    Limits limits = {};
    float special = 0;  // a number that is read, if it is not 0
  };

  void Check(const Case& given) {
    const int64_t in_row = 40 * kBlockColumns, in_block = 5 * in_row + kBlockColumns;
    const int64_t width = given.width == GroupWidth::kFour    ? 4
                          : given.width == GroupWidth::kEight ? 8
                                                              : lanes();
    const int64_t taps = given.rows * given.terms * kGroupedColumns;
    // The channel that an output adds by a term: that of its own group, if groups are narrower than vectors.
    const auto channel_of = [&](int64_t term, int64_t lane) {
      return given.first + term + (given.width == GroupWidth::kRegisters ? 0 : lane / width * width);
    };
    const auto offset_of = [&](int64_t tap, int64_t pixel, int64_t lane) {
      const int64_t row = tap / kGroupedColumns / given.terms;
      const int64_t channel = channel_of(tap / kGroupedColumns % given.terms, lane);
      const int64_t seen = pixel * given.stride + tap % kGroupedColumns;
      return row * in_row + channel / kBlockColumns * in_block + seen * kBlockColumns +
             channel % kBlockColumns;
    };
    const auto sees = [&](int64_t tap, int64_t pixel) {
      return (given.inside >> (pixel * given.stride + tap % kGroupedColumns) & 1) != 0;
    };
    const auto for_each = [&](const auto& use) {
      for (int64_t i = 0; i < taps * given.pixels * lanes(); ++i) {
        const int64_t lane = i % lanes(), pixel = i / lanes() % given.pixels,
                      tap = i / lanes() / given.pixels;
        if (sees(tap, pixel)) use(offset_of(tap, pixel, lane));
      }
    };
    SparseInput in(edge(), for_each, [&] { return static_cast<float>(DrawOne(-9, 9)); });
    if (given.special != 0) {
      int64_t last_seen = -1;
      for_each([&](int64_t offset) { last_seen = std::max(last_seen, offset); });
      if (last_seen >= 0) in.Set(last_seen, given.special);
    }
    const GuardedArray<float> weights = DrawIntegers(taps * lanes()), bias = DrawIntegers(lanes());
    const int64_t out_size = (given.pixels - 1) * kBlockColumns + lanes();
    const GuardedArray<float> start = DrawIntegers(out_size);
    GuardedArray<float> out = Untouched(out_size);
    Of(RunGroupedMicrokernel)(given.width, given.pixels, given.stride,
                              {.in = in.data(),
                               .in_block = in_block,
                               .in_row = in_row,
                               .inside = given.inside,
                               .first = given.first,
                               .terms = given.terms,
                               .rows = given.rows,
                               .weights = weights.data(),
                               .bias = given.has_bias ? bias.data() : nullptr,
                               .start = given.has_start ? start.data() : nullptr,
                               .out = out.data(),
                               .limits = given.limits});
    for (int64_t at = 0; at < out_size; ++at) {
      const int64_t pixel = at / kBlockColumns, lane = at % kBlockColumns;
      double expected = kUntouched;
      if (lane < lanes()) {
        double sum = (given.has_bias ? double{bias[lane]} : 0) + (given.has_start ? double{start[at]} : 0);
        for (int64_t tap = 0; tap < taps; ++tap) {
          if (sees(tap, pixel))
            sum += double{in.At(offset_of(tap, pixel, lane))} * weights[tap * lanes() + lane];
        }
        expected = Limited(given.limits, sum);
      }
      ASSERT_TRUE(IsNear(out[at], expected, 0))
          << given.pixels << " pixels, stride " << given.stride << ", " << given.terms << " terms, inside "
          << given.inside << ": " << at;
    }
  }

  // Each width of groups, with the terms and the first channels that it allows.
  template <typename Run>
  void ForWidths(const Run& run) {
    for (int64_t first = 0; first <= 2 * kBlockColumns; first += lanes()) {
      for (int64_t registers : {1, 2, 3}) run(Case{.first = first, .terms = registers * lanes()});
      run(Case{.width = GroupWidth::kFour, .first = first, .terms = 4});
      if (lanes() >= 8) run(Case{.width = GroupWidth::kEight, .first = first, .terms = 8});
    }
  }
};

TEST_P(GroupedTileTest, EachNumberOfPixels) {
  ForWidths([&](Case given) {
    for (given.stride = 1; given.stride <= 2; ++given.stride) {
      for (given.pixels = 1; given.pixels <= kGroupedPixels; ++given.pixels) {
        if (given.first > 0 && given.pixels % 5 != 1) continue;
        Check(given);
      }
    }
  });
}

TEST_P(GroupedTileTest, PixelsOfTheBorder) {
  for (GroupWidth width : {GroupWidth::kRegisters, GroupWidth::kFour, GroupWidth::kEight}) {
    const int64_t terms = width == GroupWidth::kRegisters ? lanes() : width == GroupWidth::kFour ? 4 : 8;
    if (terms > lanes()) continue;
    for (int64_t stride : {1, 2}) {
      for (int64_t pixels : {int64_t{1}, int64_t{2}, int64_t{5}, kGroupedPixels}) {
        const int64_t inputs = (pixels - 1) * stride + kGroupedColumns;
        const uint32_t all = (1U << inputs) - 1;
        for (uint32_t inside : {all & ~1U, all & ~3U, all >> 1, all >> 2, 0U, 0x2AAAAAAU & all})
          Check({.width = width, .pixels = pixels, .stride = stride, .terms = terms, .inside = inside});
      }
    }
  }
}

TEST_P(GroupedTileTest, WhatSumsBeginWithAndLimits) {
  ForWidths([&](Case given) {
    for (const Limits& limits : AllLimits(-40, 55)) {
      for (int64_t i = 0; i < 4; ++i) {
        given.pixels = 2 + i;
        given.rows = i;
        given.has_bias = i % 2 == 1;
        given.has_start = i / 2 == 1;
        given.limits = limits;
        Check(given);
      }
    }
  });
}

TEST_P(GroupedTileTest, Specials) {
  ForWidths([&](Case given) {
    given.pixels = 3;
    for (float special : {kNan, kInfinity, -kInfinity}) {
      given.special = special;
      for (const Limits& limits : AllLimits(-40, 55)) {
        given.limits = limits;
        Check(given);
      }
    }
  });
}

NNEFC_INSTANTIATE_LANE_TESTS(GroupedTileTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
