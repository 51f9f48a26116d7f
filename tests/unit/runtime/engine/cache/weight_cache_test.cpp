// Constants in the layouts of their kernels: each is prepared once, and faults are reported.

#include "runtime/engine/cache/weight_cache.h"

#include <algorithm>
#include <cstring>

#include "runtime/fast/memory/blocked_layout.h"
#include "tests/unit/runtime/engine/cache/plan_cache_test.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine::cache {
namespace {

// A reorder that copies the bytes of a constant, or fails.
class CopyOrFail final : public kernels::Kernel {
 public:
  explicit CopyOrFail(std::string fault) : fault_(std::move(fault)) {}
  std::string implementation() const override { return "copy"; }
  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    if (!fault_.empty()) return kernels::KernelFault("{}", fault_);
    std::memcpy(run.output().mutable_bytes(), run.input(0).bytes(), run.input(0).byte_size());
    return Success();
  }

 private:
  std::string fault_;
};

using ReorderKernel = std::shared_ptr<const kernels::Kernel>;
ReorderKernel CopyConstant(ElementType /*type*/, llvm::ArrayRef<int64_t> /*shape*/,
                           const tensor::Layout& /*from*/, const tensor::Layout& /*to*/) {
  return std::make_shared<CopyOrFail>("");
}
ReorderKernel FailFirst(ElementType /*type*/, llvm::ArrayRef<int64_t> /*shape*/,
                        const tensor::Layout& /*from*/, const tensor::Layout& /*to*/) {
  return std::make_shared<CopyOrFail>("the first one");
}
ReorderKernel FailSecond(ElementType /*type*/, llvm::ArrayRef<int64_t> /*shape*/,
                         const tensor::Layout& /*from*/, const tensor::Layout& /*to*/) {
  return std::make_shared<CopyOrFail>("the second one");
}

tensor::Layout BlocksOf(int64_t block) {
  return fast::memory::LayoutOf(fast::memory::AxisBlockedFormat({16}, 0, block));
}

// The same elements, shape and layout are one constant.
TEST(WeightCacheTest, ConstantsAreLaidOutOnce) {
  const TensorValue numbers = RandomTensor({16}, 1), others = RandomTensor({16}, 2);
  const TensorValue requests[] = {numbers, numbers, numbers.Reshaped({4, 4}), others};
  const tensor::Layout layouts[] = {BlocksOf(32), BlocksOf(64), BlocksOf(32), BlocksOf(32)};
  WeightCache weights;
  std::vector<std::shared_ptr<const Buffer>> buffers;
  for (int time = 0; time < 2; ++time) {
    for (size_t i = 0; i < std::size(requests); ++i) {
      const auto buffer = weights.Get(requests[i], layouts[i], CopyConstant);
      ASSERT_TRUE(buffer.ok()) << buffer.error().message;
      if (time == 0) {
        EXPECT_EQ(std::count(buffers.begin(), buffers.end(), *buffer), 0) << i;
        buffers.push_back(*buffer);
      } else {
        EXPECT_EQ(*buffer, buffers[i]) << i;
      }
    }
    ASSERT_TRUE(weights.Finish().ok());
  }
  for (size_t i = 0; i < std::size(requests); ++i)
    EXPECT_EQ(std::memcmp(buffers[i]->data(), requests[i].bytes(), requests[i].byte_size()), 0) << i;
}

// Steps that share a constant look for its item once.
TEST_F(PlanCacheTest, SharedConstantsAreFoundOnce) {
  const TensorValue value = RandomTensor({16}, 1);
  for (const int64_t found : {0, 1}) {
    PlanCache kept(folder_ / "cache");
    kept.Open({.low = 1, .high = 0});
    WeightCache weights(&kept);
    for (int step = 0; step < 3; ++step) ASSERT_TRUE(weights.Get(value, BlocksOf(32), CopyConstant).ok());
    ASSERT_TRUE(weights.Finish().ok());
    kept.Save();
    EXPECT_EQ(kept.use().found, found);
    EXPECT_EQ(kept.use().made, 1 - found);
  }
}

// Constants of megabytes are laid out one after another, before small ones.
TEST(WeightCacheTest, LargeConstantsNextToSmallOnes) {
  constexpr int64_t kLarge = int64_t{1} << 20;  // numbers of a size that is split among threads
  WeightCache weights;
  std::vector<std::pair<TensorValue, std::shared_ptr<const Buffer>>> all;
  for (const int64_t extent : {int64_t{16}, kLarge, kLarge - 32, kLarge + 32}) {
    const TensorValue value = RandomTensor({extent, 1}, static_cast<unsigned>(all.size()));
    const tensor::Layout layout = fast::memory::LayoutOf(fast::memory::AxisBlockedFormat({extent, 1}, 1, 2));
    const auto buffer = weights.Get(value, layout, CopyConstant);
    ASSERT_TRUE(buffer.ok()) << buffer.error().message;
    all.emplace_back(value, *buffer);
  }
  ASSERT_TRUE(weights.Finish().ok());
  for (const auto& [value, buffer] : all)
    EXPECT_EQ(std::memcmp(buffer->data(), value.bytes(), value.byte_size()), 0) << value.volume();
}

// The first fault is reported, and failed constants are prepared again.
TEST(WeightCacheTest, FaultsOfReorders) {
  const TensorValue first = RandomTensor({16}, 1), second = RandomTensor({16}, 2);
  WeightCache weights;
  ASSERT_TRUE(weights.Get(first, BlocksOf(32), FailFirst).ok());
  ASSERT_TRUE(weights.Get(second, BlocksOf(32), FailSecond).ok());
  const auto failed = weights.Finish();
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().message, "the first one");
  for (const TensorValue& value : {first, second}) {
    const auto buffer = weights.Get(value, BlocksOf(32), CopyConstant);
    ASSERT_TRUE(buffer.ok()) << buffer.error().message;
    ASSERT_TRUE(weights.Finish().ok());
    EXPECT_EQ(std::memcmp((*buffer)->data(), value.bytes(), value.byte_size()), 0);
  }
  // Constants of megabytes are laid out before others.
  const TensorValue large = RandomTensor({int64_t{1} << 20, 1}, 3);
  const tensor::Layout pairs = fast::memory::LayoutOf(fast::memory::AxisBlockedFormat(large.shape(), 1, 2));
  ASSERT_TRUE(weights.Get(first, BlocksOf(48), FailFirst).ok());
  ASSERT_TRUE(weights.Get(large, pairs, FailSecond).ok());
  const auto failed_again = weights.Finish();
  ASSERT_FALSE(failed_again.ok());
  EXPECT_EQ(failed_again.error().message, "the second one");
  const auto unknown = weights.Get(first, BlocksOf(64), nullptr);
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().message, "a constant cannot be laid out for its kernel");
}

}  // namespace
}  // namespace nnefc::runtime::engine::cache
