// Transposed matrices against loops over their elements, bit for bit.

#include "runtime/fast/simd/pointwise/transpose_microkernel.h"

#include <bit>

#include "tests/unit/runtime/fast/simd/simd_test.h"

namespace nnefc::runtime::fast::simd {
namespace {

using MatrixTransposeTest = SimdTest;

TEST_P(MatrixTransposeTest, RowsBecomeColumns) {
  const std::array<int64_t, 17> kSizes = {0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 23, 24, 32, 33};
  for (int64_t rows : kSizes) {
    for (int64_t columns : kSizes) {
      for (int64_t gap : {0, 1, 5}) {
        if (rows == 0 || columns == 0) {
          Of(TransposeMatrix)({nullptr, columns, nullptr, rows, rows, columns});
          continue;
        }
        const int64_t from_stride = columns + gap, to_stride = rows + 2 * gap;
        GuardedArray<float> from = DrawReals((rows - 1) * from_stride + columns);
        from[0] = kNan;
        from[from.size() - 1] = -0.0F;
        GuardedArray<float> to = Untouched((columns - 1) * to_stride + rows);
        Of(TransposeMatrix)({from.data(), from_stride, to.data(), to_stride, rows, columns});
        for (int64_t i = 0; i < to.size(); ++i) {
          const int64_t row = i % to_stride, column = i / to_stride;
          const float expected = row < rows ? from[row * from_stride + column] : kUntouched;
          ASSERT_EQ(std::bit_cast<uint32_t>(to[i]), std::bit_cast<uint32_t>(expected))
              << rows << " x " << columns << ": " << row << ", " << column;
        }
      }
    }
  }
}

NNEFC_INSTANTIATE_LANE_TESTS(MatrixTransposeTest);

using PartialBlockTest = SimdTest;

TEST_P(PartialBlockTest, ChannelsAreCopiedAndPadded) {
  for (int64_t width = 1; width <= kBlockColumns; ++width) {
    for (int64_t pixels : {0, 1, 2, 5}) {
      for (int64_t gap : {0, 3}) {
        const int64_t stride = width + gap;
        GuardedArray<float> image = DrawReals(pixels == 0 ? 0 : (pixels - 1) * stride + width);
        GuardedArray<float> block = Untouched(pixels * kBlockColumns);
        Of(FillPartialBlock)(image.data(), stride, width, pixels, block.data());
        for (int64_t i = 0; i < block.size(); ++i) {
          const int64_t channel = i % kBlockColumns, pixel = i / kBlockColumns;
          ASSERT_EQ(block[i], channel < width ? image[pixel * stride + channel] : 0)
              << width << " channels: " << pixel << ", " << channel;
        }
        for (int64_t i = 0; i < block.size(); ++i) {
          if (i % kBlockColumns >= width) block[i] = 55;
        }
        GuardedArray<float> back = Untouched(image.size());
        Of(EmptyPartialBlock)(block.data(), width, pixels, back.data(), stride);
        for (int64_t i = 0; i < back.size(); ++i)
          ASSERT_EQ(back[i], i % stride < width ? image[i] : kUntouched) << width << " channels: " << i;
      }
    }
  }
}

NNEFC_INSTANTIATE_LANE_TESTS(PartialBlockTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
