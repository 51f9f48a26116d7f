// The positions that windows read, compared with every position of small windows.

#include "compiler/ir/ops/windows/sliding_window_shape.h"
#include "gtest/gtest.h"

namespace nnefc::ir::ops {
namespace {

// The extremes of the integral values of (i + p - j * d) / s.
std::string Expected(const WindowAxis& axis, int64_t before, int64_t upscaled) {
  std::optional<int64_t> first, last;
  for (int64_t i = 0; i < upscaled; ++i) {
    for (int64_t j = 0; j < axis.size; ++j) {
      const int64_t scaled = i + before - j * axis.dilation;
      if (scaled % axis.stride != 0) continue;
      const int64_t x = scaled / axis.stride;
      first = std::min(first.value_or(x), x);
      last = std::max(last.value_or(x), x);
    }
  }
  return first ? fmt::format("{} to {}", *first, *last) : "none";
}

TEST(WindowReadsTest, HoldAllPositions) {
  for (int64_t size = 1; size <= 4; ++size) {
    for (int64_t stride = 1; stride <= 5; ++stride) {
      for (int64_t dilation = 1; dilation <= 6; ++dilation) {
        for (int64_t before = -3; before <= 4; ++before) {
          for (int64_t upscaled = 1; upscaled <= 6; ++upscaled) {
            const WindowAxis axis{.size = size, .stride = stride, .dilation = dilation};
            const std::optional<WindowReads> reads = UpscalingReads(axis, before, upscaled);
            const std::string text = reads ? fmt::format("{} to {}", static_cast<int64_t>(reads->first),
                                                         static_cast<int64_t>(reads->last))
                                           : "none";
            EXPECT_EQ(text, Expected(axis, before, upscaled))
                << size << " by " << stride << " dilated " << dilation << " from " << before << " of "
                << upscaled;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::ir::ops
