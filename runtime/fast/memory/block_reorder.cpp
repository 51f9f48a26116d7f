// Reorders between dense and blocked layouts.

#include "runtime/fast/memory/block_reorder.h"

#include <algorithm>
#include <optional>

#include "llvm/ADT/SmallVector.h"
#include "runtime/fast/memory/plain_reorder.h"
#include "runtime/fast/simd/pointwise/transpose_microkernel.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime::fast::memory {

namespace {

// A copy with one blocked axis on one side.
struct BlockedCopy {
  bool is_to_blocks;
  int64_t block;         // elements per block
  ReorderLoop blocks;    // between blocks
  int64_t count;         // elements of that axis; the last block may be partial
  int64_t plain_stride;  // stride of that axis on the unblocked side
  // The innermost axis of the unblocked side, for transposes with the block; extent 1 if that is the blocked
  // axis itself.
  ReorderLoop columns;
  llvm::SmallVector<ReorderLoop, 4> others;

  int64_t CountOf(int64_t index) const { return std::min(block, count - index * block); }
};

bool IsBlockedF32(const BlockedFormat& format) {
  return format.is_blocked() && format.type == StorageType::kF32 && format.sum_axes == 0;
}

std::optional<BlockedCopy> CopyOf(const BlockedFormat& from, const BlockedFormat& to) {
  if (!IsBlockedF32(from) || !IsBlockedF32(to) || from.rank != to.rank) return std::nullopt;
  if (from.num_blocks + to.num_blocks != 1) return std::nullopt;
  const bool is_to_blocks = to.num_blocks == 1;
  const BlockedFormat& blocked = is_to_blocks ? to : from;
  const BlockedFormat& plain = is_to_blocks ? from : to;
  const auto axis = static_cast<size_t>(blocked.blocks[0].axis);
  const int64_t block = blocked.blocks[0].size;
  constexpr int64_t kMaxSmallBlock = 7;  // filters with few outputs
  const bool fills_registers = block % simd::SimdWidth() == 0;
  if (!fills_registers && (!is_to_blocks || block > kMaxSmallBlock)) return std::nullopt;
  BlockedCopy copy{.is_to_blocks = is_to_blocks,
                   .block = block,
                   .blocks = {(to.extents[axis] + block - 1) / block, from.strides[axis], to.strides[axis]},
                   .count = to.extents[axis],
                   .plain_stride = plain.strides[axis],
                   .columns = {1, 0, 0}};
  (is_to_blocks ? copy.blocks.from : copy.blocks.to) *= block;
  llvm::SmallVector<ReorderLoop, 4> loops;
  for (size_t i = 0; i < to.shape().size(); ++i) {
    if (from.extents[i] != to.extents[i]) return std::nullopt;
    if (i != axis && (from.padded_extents[i] != from.extents[i] || to.padded_extents[i] != to.extents[i]))
      return std::nullopt;
    if (i != axis) loops.push_back({to.extents[i], from.strides[i], to.strides[i]});
  }
  copy.others = JoinedLoops(std::move(loops));
  const auto* columns = std::find_if(copy.others.begin(), copy.others.end(), [&](const ReorderLoop& loop) {
    return (is_to_blocks ? loop.from : loop.to) == 1;
  });
  if (columns != copy.others.end()) {
    copy.columns = *columns;
    copy.others.erase(columns);
  } else if (copy.plain_stride != 1 && to.extents[axis] != 1) {
    return std::nullopt;
  }
  return copy;
}

class BlockReorder final : public kernels::Kernel {
 public:
  explicit BlockReorder(BlockedCopy copy) : copy_(std::move(copy)) {}

  std::string implementation() const override { return "nnefc:blocks"; }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const auto* from = reinterpret_cast<const float*>(run.input(0).bytes());
    auto* to = reinterpret_cast<float*>(run.output().mutable_bytes());
    int64_t tasks = copy_.blocks.extent * Parts();
    for (const ReorderLoop& loop : copy_.others) tasks *= loop.extent;
    tensor::ParallelFor(tasks, copy_.block * std::min(copy_.columns.extent, kColumns), [&](int64_t task) {
      const int64_t part = task % Parts();
      int64_t rest = task / Parts(), of_from = 0, of_to = 0;
      for (size_t i = copy_.others.size(); i-- > 0;) {
        const ReorderLoop& loop = copy_.others[i];
        of_from += rest % loop.extent * loop.from;
        of_to += rest % loop.extent * loop.to;
        rest /= loop.extent;
      }
      of_from += rest * copy_.blocks.from + part * kColumns * copy_.columns.from;
      of_to += rest * copy_.blocks.to + part * kColumns * copy_.columns.to;
      const int64_t columns = std::min(kColumns, copy_.columns.extent - part * kColumns);
      copy_.is_to_blocks ? FillBlocks(from + of_from, to + of_to, rest, columns)
                         : EmptyBlocks(from + of_from, to + of_to, rest, columns);
    });
    return Success();
  }

 private:
  static constexpr int64_t kColumns = 256;  // columns per task
  int64_t Parts() const { return (copy_.columns.extent + kColumns - 1) / kColumns; }

  void FillBlocks(const float* from, float* to, int64_t index, int64_t columns) const {
    const int64_t count = copy_.CountOf(index);
    if (copy_.columns.extent == 1) {
      for (int64_t i = 0; i < count; ++i) to[i] = from[i * copy_.plain_stride];
    } else if (copy_.block % simd::SimdWidth() != 0) {
      // Small blocks, for filters with few outputs.
      for (int64_t column = 0; column < columns; ++column) {
        for (int64_t i = 0; i < count; ++i)
          to[column * copy_.columns.to + i] = from[i * copy_.plain_stride + column * copy_.columns.from];
      }
    } else {
      simd::TransposeMatrix({.from = from,
                             .from_stride = copy_.plain_stride,
                             .to = to,
                             .to_stride = copy_.columns.to,
                             .rows = count,
                             .columns = columns});
    }
    if (count == copy_.block) return;
    for (int64_t column = 0; column < columns; ++column)
      std::fill(to + column * copy_.columns.to + count, to + column * copy_.columns.to + copy_.block, 0.0f);
  }

  void EmptyBlocks(const float* from, float* to, int64_t index, int64_t columns) const {
    const int64_t count = copy_.CountOf(index);
    if (copy_.columns.extent == 1) {
      for (int64_t i = 0; i < count; ++i) to[i * copy_.plain_stride] = from[i];
    } else {
      simd::TransposeMatrix({.from = from,
                             .from_stride = copy_.columns.from,
                             .to = to,
                             .to_stride = copy_.plain_stride,
                             .rows = columns,
                             .columns = count});
    }
  }

  BlockedCopy copy_;
};

}  // namespace

std::shared_ptr<const kernels::Kernel> MakeBlockReorder(const BlockedFormat& from, const BlockedFormat& to) {
  if (!simd::HasSimd()) return nullptr;
  std::optional<BlockedCopy> copy = CopyOf(from, to);
  return copy ? std::make_shared<BlockReorder>(std::move(*copy)) : nullptr;
}

}  // namespace nnefc::runtime::fast::memory
