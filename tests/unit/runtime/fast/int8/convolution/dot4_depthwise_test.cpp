// The memory of depthwise convolutions with VNNI.

#include "runtime/fast/int8/convolution/dot4_depthwise.h"

#include <gtest/gtest.h>

namespace nnefc::runtime::fast::int8 {
namespace {

// Interleaved rows fill about 20 KiB of the first-level cache with any stride.
TEST(Dot4DepthwiseTest, RowsOfWideImages) {
  constexpr int64_t kChannels = 16, kOutputs = 1000;
  for (const int64_t stride : {1, 2, 3}) {
    for (const int64_t size : {3, 5}) {
      const auto axis = [&](int64_t places) {
        return kernels::WindowAxis{
            .input = (places - 1) * stride + size, .output = places, .size = size, .stride = stride};
      };
      const Int8ConvolutionShape form{.images = 1,
                                      .channels = kChannels,
                                      .outputs = kChannels,
                                      .padded_channels = kChannels,
                                      .rows = axis(4),
                                      .columns = axis(kOutputs),
                                      .zero = 0,
                                      .threads = 1};
      FoldedRequantization folded{
          .scales = std::vector<float>(kChannels, 1.0F), .bias = {}, .limits = {}, .sum = {}};
      const Dot4Depthwise kernel(form,
                                 Int8Epilogue({.outputs = kChannels,
                                               .pixels = form.out_pixels(),
                                               .is_blocked = false,
                                               .scales = folded.scales,
                                               .folded = folded},
                                              {}),
                                 {});
      EXPECT_LE(kernel.scratch_bytes(), size_t{22} << 10) << size << ", stride " << stride;
      EXPECT_GE(kernel.scratch_bytes(), size_t{15} << 10) << size << ", stride " << stride;
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::fast::int8
