// Convolutions of few outputs in tiles of pixels against loops over taps.

#include "runtime/fast/simd/conv/few_output_convolution_microkernel.h"

#include "tests/unit/runtime/fast/simd/sparse_input.h"

namespace nnefc::runtime::fast::simd {
namespace {

class PlaneTileTest : public SimdTest {
 protected:
  struct Case {
    int64_t outputs = 1, pixels = 16, channels = 2, rows = 2, columns = 3, in_column = 1;
    Limits limits = {};
    float special = 0;  // the last number of the input, if it is not 0
  };

  void Check(const Case& given) {
    const int64_t in_row = 5 + given.pixels, in_channel = 4 * in_row + 1, out_plane = given.pixels + 3;
    const int64_t taps = given.channels * given.rows * given.columns;
    const auto offset_of = [&](int64_t tap, int64_t pixel) {
      const int64_t channel = tap / (given.rows * given.columns), row = tap / given.columns % given.rows;
      return channel * in_channel + row * in_row + tap % given.columns * given.in_column + pixel;
    };
    SparseInput in(
        edge(),
        [&](const auto& use) {
          for (int64_t i = 0; i < taps * given.pixels; ++i)
            use(offset_of(i / given.pixels, i % given.pixels));
        },
        [&] { return static_cast<float>(DrawOne(-9, 9)); });
    if (given.special != 0) in.Set(offset_of(taps - 1, given.pixels - 1), given.special);
    const GuardedArray<float> weights = DrawIntegers(taps * given.outputs);
    GuardedArray<float> out = DrawIntegers((given.outputs - 1) * out_plane + given.pixels);
    const std::vector<float> before(out.begin(), out.end());
    Of(RunFewOutputMicrokernel)(given.outputs, {.in = in.data(),
                                                .channels = given.channels,
                                                .in_channel = in_channel,
                                                .rows = given.rows,
                                                .columns = given.columns,
                                                .in_row = in_row,
                                                .in_column = given.in_column,
                                                .weights = weights.data(),
                                                .out = out.data(),
                                                .out_plane = out_plane,
                                                .pixels = given.pixels,
                                                .limits = given.limits});
    for (int64_t at = 0; at < out.size(); ++at) {
      const int64_t output = at / out_plane, pixel = at % out_plane;
      double expected = before[static_cast<size_t>(at)];
      if (pixel < given.pixels) {
        for (int64_t tap = 0; tap < taps; ++tap)
          expected += double{in.At(offset_of(tap, pixel))} * weights[tap * given.outputs + output];
        expected = Limited(given.limits, expected);
      }
      ASSERT_TRUE(IsNear(out[at], expected, 0))
          << given.outputs << " outputs, " << given.pixels << " pixels: " << at;
    }
  }
};

TEST_P(PlaneTileTest, EachNumberOfOutputsAndPixels) {
  for (int64_t outputs = 1; outputs <= kMaxFewOutputs; ++outputs) {
    for (int64_t blocks = 0; blocks <= 18; ++blocks)
      Check({.outputs = outputs, .pixels = blocks * kBlockColumns});
  }
}

TEST_P(PlaneTileTest, WindowsAndLimits) {
  for (int64_t outputs = 1; outputs <= kMaxFewOutputs; ++outputs) {
    for (const Limits& limits : AllLimits(-30, 45)) {
      for (int64_t channels : {0, 1, 3}) {
        for (int64_t rows : {1, 3}) {
          for (int64_t columns : {1, 2}) {
            for (int64_t in_column : {1, 2}) {
              Check({.outputs = outputs,
                     .pixels = 48,
                     .channels = channels,
                     .rows = rows,
                     .columns = columns,
                     .in_column = in_column,
                     .limits = limits});
            }
          }
        }
      }
    }
  }
}

TEST_P(PlaneTileTest, Specials) {
  for (int64_t outputs = 1; outputs <= kMaxFewOutputs; ++outputs) {
    for (float special : {kNan, kInfinity, -kInfinity}) {
      for (const Limits& limits : AllLimits(-30, 45))
        Check({.outputs = outputs, .limits = limits, .special = special});
    }
  }
}

NNEFC_INSTANTIATE_LANE_TESTS(PlaneTileTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
