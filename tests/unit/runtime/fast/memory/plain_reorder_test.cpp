// Copies between two orders of axes, against the place that a format defines for each element.

#include "runtime/fast/memory/plain_reorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "runtime/fast/simd/dispatch.h"
#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime::fast::memory {
namespace {

class PlainReorderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!simd::HasSimd()) GTEST_SKIP() << "for AVX2";
  }

  static void Check(const Shape& dims, const AxisOrder& from_order, const AxisOrder& to_order, int threads) {
    const BlockedFormat from = OrderedFormat(dims, from_order), to = OrderedFormat(dims, to_order);
    const std::shared_ptr<const kernels::Kernel> kernel = MakePlainReorder(from, to);
    const bool is_same = from == to;
    if (kernel == nullptr) {
      EXPECT_TRUE(is_same || IsOneRun(from, to)) << ToString(dims);
      return;
    }
    const auto volume = static_cast<size_t>(*Volume(dims));
    std::vector<float> source(volume), expected(volume), found(volume, -1);
    Shape index(dims.size(), 0);
    for (size_t i = 0; i < volume; ++i) {
      int64_t rest = static_cast<int64_t>(i), at_from = 0, at_to = 0;
      for (size_t axis = dims.size(); axis-- > 0; rest /= dims[axis]) {
        at_from += rest % dims[axis] * from.strides[axis];
        at_to += rest % dims[axis] * to.strides[axis];
      }
      source[static_cast<size_t>(at_from)] = static_cast<float>(i);
      expected[static_cast<size_t>(at_to)] = static_cast<float>(i);
    }
    const tensor::TensorView input(ElementType::kF32, dims,
                                   reinterpret_cast<const std::byte*>(source.data()));
    const tensor::MutableTensorView output(ElementType::kF32, dims,
                                           reinterpret_cast<std::byte*>(found.data()));
    const tensor::TensorView* inputs[] = {&input};
    const tensor::MutableTensorView* outputs[] = {&output};
    const tensor::ThreadScope scope(threads);
    ASSERT_TRUE(kernel->Run({.inputs = inputs, .outputs = outputs}).ok());
    ASSERT_EQ(found, expected) << ToString(dims);
  }

  // Returns whether both formats have the same order of all axes with more than one element.
  static bool IsOneRun(const BlockedFormat& from, const BlockedFormat& to) {
    for (size_t axis = 0; axis < from.shape().size(); ++axis) {
      if (from.extents[axis] > 1 && from.strides[axis] != to.strides[axis]) return false;
    }
    return true;
  }
};

TEST_F(PlainReorderTest, AllOrdersOfAxes) {
  for (const Shape& dims : {Shape{3, 5}, Shape{2, 17, 4}, Shape{16, 1, 33}, Shape{1, 3, 6, 7},
                            Shape{2, 20, 3, 5}, Shape{2, 1, 1, 70}, Shape{1, 1, 1}, Shape{3, 2, 4, 5, 2}}) {
    AxisOrder rows(dims.size());
    std::iota(rows.begin(), rows.end(), 0);
    AxisOrder order = rows;
    int count = 0;
    do {
      Check(dims, rows, order, ++count % 3 + 1);
      Check(dims, order, rows, ++count % 3 + 1);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

// Matrices that are divided into parts, with few and with many rows.
TEST_F(PlainReorderTest, LargeMatrices) {
  for (const Shape& dims : {Shape{63, 200}, Shape{64, 64}, Shape{65, 129}, Shape{3, 5000}, Shape{5000, 3},
                            Shape{7, 4097}, Shape{1000, 64}}) {
    for (const int threads : {1, 3}) Check(dims, {0, 1}, {1, 0}, threads);
  }
}

// Long rows of the result that are whole pages apart, next to others.
TEST_F(PlainReorderTest, RowsThatArePagesApart) {
  for (const int64_t columns : {2, 3, 4, 5, 8, 9, 63, 64, 65}) {
    for (const int64_t rows : {1023, 1024, 1025, 2048, 3072}) Check({rows, columns}, {0, 1}, {1, 0}, 2);
  }
}

TEST_F(PlainReorderTest, OtherFormatsAreRefused) {
  const Shape dims = {2, 20, 3, 5};
  const BlockedFormat rows = RowMajorFormat(dims), pixels = ChannelsLastFormat(dims, StorageType::kF32);
  EXPECT_NE(MakePlainReorder(rows, pixels), nullptr);
  EXPECT_EQ(MakePlainReorder(rows, rows), nullptr);
  EXPECT_EQ(MakePlainReorder(rows, ChannelBlockedFormat(dims)), nullptr);
  EXPECT_EQ(MakePlainReorder(ChannelBlockedFormat(dims), rows), nullptr);
  EXPECT_EQ(MakePlainReorder(rows, ChannelsLastFormat(dims, StorageType::kBf16)), nullptr);
  EXPECT_EQ(MakePlainReorder(RowMajorFormat(dims, StorageType::kU8), pixels), nullptr);
  EXPECT_EQ(MakePlainReorder(RowMajorFormat(Shape{2, 3, 20, 5}), pixels), nullptr);
  BlockedFormat with_sums = pixels;
  with_sums.sum_axes = 1;
  EXPECT_EQ(MakePlainReorder(rows, with_sums), nullptr);
  EXPECT_EQ(MakePlainReorder(with_sums, rows), nullptr);
  // No axis is contiguous.
  EXPECT_EQ(MakePlainReorder(StridedFormat(dims, {600, 30, 10, 2}, StorageType::kF32), pixels), nullptr);
}

}  // namespace
}  // namespace nnefc::runtime::fast::memory
