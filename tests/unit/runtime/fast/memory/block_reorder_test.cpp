// Copies to blocks of an axis and back, against the place that a format defines for each element.

#include "runtime/fast/memory/block_reorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "runtime/fast/simd/dispatch.h"
#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime::fast::memory {
namespace {

class BlockReorderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!simd::HasSimd()) GTEST_SKIP() << "for AVX2";
  }

  int64_t Draw(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random_() % static_cast<uint64_t>(most - least + 1));
  }

  // Returns a dense format with a random order of axes, and blocks along `axis`; -1 for none.
  BlockedFormat FormatFor(const Shape& dims, int axis, int64_t block) {
    const size_t rank = dims.size();
    std::vector<size_t> order(rank);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    BlockedFormat format = RowMajorFormat(dims);
    int64_t stride = axis < 0 ? 1 : block;
    if (axis >= 0) SetBlock(format, static_cast<size_t>(axis), block);
    for (size_t i : order) {
      format.strides[i] = stride;
      stride *= static_cast<int>(i) == axis ? (dims[i] + block - 1) / block : dims[i];
    }
    return format;
  }

  static int64_t PlaceOf(const BlockedFormat& format, const Shape& index) {
    int64_t place = 0;
    for (size_t i = 0; i < index.size(); ++i) {
      const bool is_blocked = format.num_blocks == 1 && format.blocks[0].axis == static_cast<int64_t>(i);
      const int64_t block = is_blocked ? format.blocks[0].size : 1;
      place += index[i] / block * format.strides[i] + (is_blocked ? index[i] % block : 0);
    }
    return place;
  }

  void Check(const Shape& dims, const BlockedFormat& from, const BlockedFormat& to) {
    const std::shared_ptr<const kernels::Kernel> kernel = MakeBlockReorder(from, to);
    if (kernel == nullptr) return;
    ++made_;
    const auto floats = [](const BlockedFormat& format) { return format.byte_size() / sizeof(float); };
    std::vector<float> source(floats(from), -1), expected(floats(to), 0), found(floats(to), 77);
    Shape index(dims.size(), 0);
    const int64_t volume = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
    for (int64_t i = 0; i < volume; ++i) {
      int64_t rest = i;
      for (size_t axis = dims.size(); axis-- > 0; rest /= dims[axis]) index[axis] = rest % dims[axis];
      source[static_cast<size_t>(PlaceOf(from, index))] = static_cast<float>(i + 1);
      expected[static_cast<size_t>(PlaceOf(to, index))] = static_cast<float>(i + 1);
    }
    const tensor::TensorView input(ElementType::kF32, dims,
                                   reinterpret_cast<const std::byte*>(source.data()));
    const tensor::MutableTensorView output(ElementType::kF32, dims,
                                           reinterpret_cast<std::byte*>(found.data()));
    const tensor::TensorView* inputs[] = {&input};
    const tensor::MutableTensorView* outputs[] = {&output};
    const tensor::ThreadScope scope(static_cast<int>(Draw(1, 3)));
    ASSERT_TRUE(kernel->Run({.inputs = inputs, .outputs = outputs}).ok());
    ASSERT_EQ(found, expected);
  }

  std::mt19937 random_{7};
  int made_ = 0;
};

TEST_F(BlockReorderTest, EachElementComesToItsPlace) {
  for (int round = 0; round < 1500; ++round) {
    const auto rank = Draw(2, 5);
    Shape dims;
    for (int64_t i = 0; i < rank; ++i)
      dims.push_back(Draw(0, 2) == 0 ? Draw(1, 3) : Draw(1, rank > 3 ? 12 : 70));
    const auto axis = static_cast<int>(Draw(0, rank - 1));
    if (Draw(0, 1) == 0) dims[static_cast<size_t>(axis)] = Draw(1, 70);
    const BlockedFormat plain = FormatFor(dims, -1, 1), blocked = FormatFor(dims, axis, Draw(1, 2) * 16);
    Check(dims, plain, blocked);
    if (!HasFatalFailure()) Check(dims, blocked, plain);
    if (!HasFatalFailure()) Check(dims, plain, FormatFor(dims, axis, Draw(1, 7)));
    if (HasFatalFailure()) FAIL() << blocked.rank << " axes, in blocks " << axis;
  }
  EXPECT_GT(made_, 2000);
}

// Only f32 elements without sums, in formats of this backend.
TEST_F(BlockReorderTest, OtherFormatsAreRefused) {
  if (!simd::HasSimd()) GTEST_SKIP() << "all formats are refused without vectors";
  class PackedFormat final : public BackendFormat {
    size_t byte_size() const override { return 4096; }
    std::string Key() const override { return "packed"; }
  };
  const Shape dims = {32, 20};
  const BlockedFormat plain = RowMajorFormat(dims), blocked = AxisBlockedFormat(dims, 0, 16);
  const auto expect = [&](const BlockedFormat& from, const BlockedFormat& to, bool is_made) {
    EXPECT_EQ(MakeBlockReorder(from, to) != nullptr, is_made);
    EXPECT_EQ(MakeBlockReorder(to, from) != nullptr, is_made);
  };
  expect(plain, blocked, true);
  expect(plain, plain, false);
  expect(blocked, blocked, false);
  // Blocks on both sides, also where their axis has one element.
  for (const Shape& extents : {Shape{32, 32}, Shape{1, 32}, Shape{32, 1}, Shape{1, 1}}) {
    const BlockedFormat rows = AxisBlockedFormat(extents, 0, 16), columns = AxisBlockedFormat(extents, 1, 16);
    expect(rows, columns, false);
    expect(rows, AxisBlockedFormat(extents, 0, 32), false);
  }
  for (const bool is_of_plain : {true, false}) {
    const BlockedFormat& given = is_of_plain ? plain : blocked;
    const BlockedFormat& other = is_of_plain ? blocked : plain;
    BlockedFormat changed = given;
    changed.type = StorageType::kBf16;
    expect(changed, other, false);
    changed = given;
    changed.sum_axes = 1;
    expect(changed, other, false);
    changed = given;
    changed.backend = std::make_shared<PackedFormat>();
    expect(changed, other, false);
  }
}

// A task has some hundred columns.
TEST_F(BlockReorderTest, ManyColumns) {
  const Shape dims = {50, 1000};
  for (int round = 0; round < 6; ++round) {
    const BlockedFormat plain = FormatFor(dims, -1, 1), blocked = FormatFor(dims, round % 2, 32);
    Check(dims, plain, blocked);
    Check(dims, blocked, plain);
  }
  EXPECT_GT(made_, 6);
}

}  // namespace
}  // namespace nnefc::runtime::fast::memory
