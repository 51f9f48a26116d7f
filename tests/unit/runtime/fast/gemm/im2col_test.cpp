// Matrices of what windows see against loops over pixels, taps and channels.

#include "runtime/fast/gemm/im2col.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/runtime/fast/random_numbers.h"

namespace nnefc::runtime::fast::gemm {

using kernels::WindowAxis;
using simd::kBlockColumns;

namespace {

void CheckGathered(int64_t images, int64_t blocks, const WindowAxis& rows, const WindowAxis& columns) {
  const Im2col windows(images, blocks * kBlockColumns, rows, columns);
  const int64_t taps = rows.size * columns.size, pixels = rows.output * columns.output;
  ASSERT_EQ(windows.pixels(), pixels);
  ASSERT_EQ(windows.terms(), taps * blocks * kBlockColumns);
  ASSERT_EQ(windows.floats(), images * pixels * taps * blocks * kBlockColumns);
  const std::vector<float> in =
      RandomNumbers(images * blocks * rows.input * columns.input * kBlockColumns, 1);
  std::vector<float> to(static_cast<size_t>(windows.floats()) + kBlockColumns, 77);
  windows.Gather(in.data(), to.data());
  for (int64_t i = 0; i < windows.floats(); ++i) {
    // [images][taps][blocks][pixels][channels of a block]
    const int64_t channel = i % kBlockColumns, pixel = i / kBlockColumns % pixels;
    const int64_t block = i / kBlockColumns / pixels % blocks,
                  tap = i / kBlockColumns / pixels / blocks % taps;
    const int64_t image = i / kBlockColumns / pixels / blocks / taps;
    const int64_t row =
        pixel / columns.output * rows.stride - rows.before + tap / columns.size * rows.dilation;
    const int64_t column =
        pixel % columns.output * columns.stride - columns.before + tap % columns.size * columns.dilation;
    float expected = 0;
    if (row >= 0 && row < rows.input && column >= 0 && column < columns.input)
      expected = in[static_cast<size_t>(
          (((image * blocks + block) * rows.input + row) * columns.input + column) * kBlockColumns +
          channel)];
    ASSERT_EQ(to[static_cast<size_t>(i)], expected)
        << "pixel " << pixel << ", tap " << tap << ", block " << block;
  }
  for (size_t i = to.size() - kBlockColumns; i < to.size(); ++i) ASSERT_EQ(to[i], 77);
}

TEST(GatheredWindowsTest, StridesDilationsAndBorders) {
  for (const WindowAxis& rows :
       {WindowAxis{.input = 3, .output = 3}, WindowAxis{.input = 3, .output = 3, .size = 3, .before = 1},
        WindowAxis{.input = 5, .output = 2, .size = 2, .stride = 2},
        WindowAxis{.input = 2, .output = 6, .size = 2, .dilation = 2, .before = 3}}) {
    for (const WindowAxis& columns :
         {WindowAxis{.input = 4, .output = 4}, WindowAxis{.input = 4, .output = 4, .size = 3, .before = 1},
          WindowAxis{.input = 7, .output = 3, .size = 3, .stride = 2},
          WindowAxis{.input = 3, .output = 9, .size = 3, .dilation = 2, .before = 5},
          WindowAxis{.input = 2, .output = 1, .size = 5, .before = 2}}) {
      for (int64_t images : {1, 2}) {
        for (int64_t blocks : {1, 3}) CheckGathered(images, blocks, rows, columns);
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::fast::gemm
