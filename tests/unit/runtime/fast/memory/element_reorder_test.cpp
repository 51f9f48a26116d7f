// Copies between formats with blocks of several axes, against formulas of the places.

#include "runtime/fast/memory/element_reorder.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "compiler/support/tensor/element_visitor.h"

namespace nnefc::runtime::fast::memory {
namespace {

constexpr int64_t kMatrixRows = 3, kMatrixColumns = 5;

// The last axis of blocks is innermost.
BlockedFormat FormatOfTwoBlocks(StorageType type, BlockedFormat::Block outer, BlockedFormat::Block inner) {
  BlockedFormat format = RowMajorFormat({kMatrixRows, kMatrixColumns}, type);
  format.padded_extents = {4, 8};
  format.strides = {8, 16};
  format.num_blocks = 2;
  format.blocks[0] = outer;
  format.blocks[1] = inner;
  return format;
}

template <typename From, typename To>
std::vector<To> ReorderedElements(const BlockedFormat& from, const BlockedFormat& to,
                                  const std::vector<From>& data) {
  std::vector<To> result(to.byte_size() / sizeof(To), To(77.0F));
  const std::shared_ptr<const kernels::Kernel> kernel = MakeElementReorder(from, to);
  EXPECT_NE(kernel, nullptr);
  if (kernel == nullptr) return result;
  auto* bytes = reinterpret_cast<std::byte*>(const_cast<From*>(data.data()));
  const tensor::TensorView input(ElementType::kF32, {kMatrixRows, kMatrixColumns}, bytes);
  const tensor::MutableTensorView output(ElementType::kF32, {kMatrixRows, kMatrixColumns},
                                         reinterpret_cast<std::byte*>(result.data()));
  const tensor::TensorView* inputs[] = {&input};
  const tensor::MutableTensorView* outputs[] = {&output};
  EXPECT_TRUE(kernel->Run({.inputs = inputs, .outputs = outputs}).ok());
  return result;
}

TEST(ElementReorderTest, FillsBlocksOfBothAxesAndBack) {
  std::vector<float> matrix(kMatrixRows * kMatrixColumns);
  std::iota(matrix.begin(), matrix.end(), 1.0F);
  const BlockedFormat rows = RowMajorFormat({kMatrixRows, kMatrixColumns});
  const BlockedFormat panels = FormatOfTwoBlocks(StorageType::kF32, {0, 2}, {1, 4});
  const BlockedFormat pairs = FormatOfTwoBlocks(StorageType::kBf16, {1, 4}, {0, 2});
  std::vector<float> of_panels(32, 0), of_pairs(32, 0);
  for (int64_t i = 0; i < kMatrixRows; ++i) {
    for (int64_t j = 0; j < kMatrixColumns; ++j) {
      const float number = matrix[static_cast<size_t>(i * kMatrixColumns + j)];
      of_panels[static_cast<size_t>(i / 2 * 8 + j / 4 * 16 + i % 2 * 4 + j % 4)] = number;
      of_pairs[static_cast<size_t>(i / 2 * 8 + j / 4 * 16 + j % 4 * 2 + i % 2)] = number;
    }
  }
  EXPECT_EQ((ReorderedElements<float, float>(rows, panels, matrix)), of_panels);
  EXPECT_EQ((ReorderedElements<float, float>(panels, rows, of_panels)), matrix);
  const std::vector<BFloat> rounded = ReorderedElements<float, BFloat>(rows, pairs, matrix);
  EXPECT_EQ(std::vector<float>(rounded.begin(), rounded.end()), of_pairs);
  EXPECT_EQ((ReorderedElements<BFloat, float>(pairs, rows, rounded)), matrix);
}

TEST(ElementReorderTest, RefusesOtherTypesExtentsAndSums) {
  const BlockedFormat rows = RowMajorFormat({kMatrixRows, kMatrixColumns});
  BlockedFormat sums = rows;
  sums.sum_axes = 1;
  for (const BlockedFormat& other : {RowMajorFormat({kMatrixRows, kMatrixColumns}, StorageType::kU8),
                                     RowMajorFormat({kMatrixRows, kMatrixColumns + 1}),
                                     AnyFormat({kMatrixRows, kMatrixColumns}), BlockedFormat(), sums}) {
    EXPECT_EQ(MakeElementReorder(rows, other), nullptr);
    EXPECT_EQ(MakeElementReorder(other, rows), nullptr);
  }
}

}  // namespace
}  // namespace nnefc::runtime::fast::memory
