// The memory of int8 convolutions by transforms of tiles.

#include "runtime/fast/int8/convolution/int8_winograd.h"

#include <gtest/gtest.h>

#include "runtime/fast/simd/conv/winograd_microkernel.h"
#include "runtime/fast/simd/dispatch.h"

namespace nnefc::runtime::fast::int8 {
namespace {

// A transform of the filter is worth four panels of tiles, even if these exceed the cache.
TEST(Int8WinogradTest, TilesOfAGroup) {
  if (!simd::HasSimd()) GTEST_SKIP() << "for AVX2";
  constexpr int64_t kChannels = int64_t{1} << 16;
  const int64_t tiles_of_group = 4 * simd::TileRows();
  const auto axis = [](int64_t tiles) {
    const int64_t places = tiles * simd::kWinogradResults;
    return kernels::WindowAxis{.input = places, .output = places, .size = 3, .before = 1, .after = 1};
  };
  const Int8ConvolutionShape form{.images = 1,
                                  .channels = kChannels,
                                  .outputs = 16,
                                  .padded_channels = kChannels,
                                  .rows = axis(1),
                                  .columns = axis(2 * tiles_of_group),
                                  .zero = 0,
                                  .threads = 1};
  const Int8Winograd kernel(form, Int8Epilogue({.outputs = 16,
                                                .pixels = form.out_pixels(),
                                                .is_blocked = false,
                                                .scales = std::vector<float>(16, 1.0F)},
                                               {}));
  const auto of_tile = static_cast<double>(simd::kWinogradProducts * kChannels * 2);
  const double groups =
      static_cast<double>(kernel.scratch_bytes()) / of_tile / static_cast<double>(tiles_of_group);
  EXPECT_GE(groups, 1);
  EXPECT_LT(groups, 1.5);
}

}  // namespace
}  // namespace nnefc::runtime::fast::int8
