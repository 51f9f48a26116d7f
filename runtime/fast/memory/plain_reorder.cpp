// Reorders between layouts without blocks, and Transpose of row-major tensors.

#include "runtime/fast/memory/plain_reorder.h"

#include <algorithm>
#include <array>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "runtime/fast/simd/dispatch.h"
#include "runtime/fast/simd/pointwise/transpose_microkernel.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::memory {

namespace {

using ReorderLoops = llvm::SmallVector<ReorderLoop, 4>;

// Returns the task's part of the outer loops: the offsets on both sides. `index` keeps the rest.
std::pair<int64_t, int64_t> OffsetsOf(const ReorderLoops& loops, int64_t& index) {
  std::pair<int64_t, int64_t> offsets = {0, 0};
  for (const ReorderLoop& loop : llvm::reverse(loops)) {
    offsets.first += index % loop.extent * loop.from;
    offsets.second += index % loop.extent * loop.to;
    index /= loop.extent;
  }
  return offsets;
}

int64_t CountOf(const ReorderLoops& loops) {
  int64_t count = 1;
  for (const ReorderLoop& loop : loops) count *= loop.extent;
  return count;
}

// Transposes matrices: `columns` are contiguous in the source, `rows` in the result.
class TransposedPlanes final : public kernels::Kernel {
 public:
  TransposedPlanes(const ReorderLoop& rows, const ReorderLoop& columns, ReorderLoops others)
      : rows_(rows), columns_(columns), others_(std::move(others)) {}

  std::string implementation() const override { return "nnefc:transpose"; }
  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const auto* from = reinterpret_cast<const float*>(run.input(0).bytes());
    auto* to = reinterpret_cast<float*>(run.output().mutable_bytes());
    // Parts of rows and columns, so that the lines of a part stay in L1 while they are written.
    const int64_t row_parts = tensor::CeilDivide(rows_.extent, EachRows());
    const int64_t column_parts = tensor::CeilDivide(columns_.extent, EachColumns());
    const int64_t elements = std::min(EachRows(), rows_.extent) * std::min(EachColumns(), columns_.extent);
    tensor::ParallelFor(CountOf(others_) * row_parts * column_parts, elements, [&](int64_t task) {
      const int64_t column = task % column_parts * EachColumns(),
                    row = task / column_parts % row_parts * EachRows();
      int64_t index = task / column_parts / row_parts;
      const auto [of_from, of_to] = OffsetsOf(others_, index);
      Transpose({.from = from + of_from + row * rows_.from + column,
                 .from_stride = rows_.from,
                 .to = to + of_to + column * columns_.to + row,
                 .to_stride = columns_.to,
                 .rows = std::min(EachRows(), rows_.extent - row),
                 .columns = std::min(EachColumns(), columns_.extent - column)});
    });
    return Success();
  }

 private:
  static constexpr int64_t kSide = 64, kElements = kSide * kSide;

  // Transposes a part. Long rows of the result that are a multiple of a page apart share sets of the caches,
  // so that stores to them in turn take several times as long as one row after another.
  static void Transpose(const simd::TransposedMatrix& matrix) {
    constexpr int64_t kPage = 4096 / sizeof(float), kFewColumns = 4;
    if (matrix.to_stride % kPage != 0 || matrix.rows < kSide || matrix.columns < kFewColumns)
      return simd::TransposeMatrix(matrix);
    std::array<float, kElements> rows;
    simd::TransposedMatrix part = matrix;
    part.to = rows.data();
    part.to_stride = matrix.rows;
    simd::TransposeMatrix(part);
    for (int64_t row = 0; row < matrix.columns; ++row)
      std::copy_n(rows.data() + row * matrix.rows, matrix.rows, matrix.to + row * matrix.to_stride);
  }
  // A few rows or columns are not divided, and the other ones are in longer parts.
  int64_t EachRows() const { return columns_.extent < kSide ? kElements / columns_.extent : kSide; }
  int64_t EachColumns() const { return rows_.extent < kSide ? kElements / rows_.extent : kSide; }

  ReorderLoop rows_, columns_;
  ReorderLoops others_;
};

// Copies runs that are contiguous on both sides.
class CopiedRuns final : public kernels::Kernel {
 public:
  CopiedRuns(int64_t count, ReorderLoops others) : count_(count), others_(std::move(others)) {}

  std::string implementation() const override { return "nnefc:transpose"; }
  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const auto* from = reinterpret_cast<const float*>(run.input(0).bytes());
    auto* to = reinterpret_cast<float*>(run.output().mutable_bytes());
    const ReorderLoop& last = others_.back();
    const ReorderLoops outer(others_.begin(), others_.end() - 1);
    constexpr int64_t kRuns = 256;  // runs per task
    const int64_t parts = tensor::CeilDivide(last.extent, kRuns);
    tensor::ParallelFor(CountOf(outer) * parts, count_ * std::min(kRuns, last.extent), [&](int64_t task) {
      const int64_t begin = task % parts * kRuns, end = std::min(begin + kRuns, last.extent);
      int64_t index = task / parts;
      const auto [of_from, of_to] = OffsetsOf(outer, index);
      for (int64_t i = begin; i < end; ++i)
        std::copy_n(from + of_from + i * last.from, count_, to + of_to + i * last.to);
    });
    return Success();
  }

 private:
  int64_t count_;
  ReorderLoops others_;
};

}  // namespace

ReorderLoops JoinedLoops(ReorderLoops loops) {
  ReorderLoops joined;
  for (const ReorderLoop& loop : loops) {
    if (loop.extent == 1) continue;
    const bool follows = !joined.empty() && joined.back().from == loop.from * loop.extent &&
                         joined.back().to == loop.to * loop.extent;
    if (follows) {
      joined.back() = {joined.back().extent * loop.extent, loop.from, loop.to};
    } else {
      joined.push_back(loop);
    }
  }
  return joined;
}

std::shared_ptr<const kernels::Kernel> MakePlainReorder(const ReorderLoops& axes) {
  ReorderLoops loops = JoinedLoops(axes);
  if (!simd::HasSimd() || loops.size() < 2) return nullptr;
  const auto take = [&](int64_t ReorderLoop::*stride) -> std::optional<ReorderLoop> {
    auto* const found = llvm::find_if(loops, [&](const ReorderLoop& loop) { return loop.*stride == 1; });
    if (found == loops.end()) return std::nullopt;
    const ReorderLoop loop = *found;
    loops.erase(found);
    return loop;
  };
  const std::optional<ReorderLoop> columns = take(&ReorderLoop::from);
  if (!columns) return nullptr;
  if (columns->to == 1) return std::make_shared<CopiedRuns>(columns->extent, std::move(loops));
  const std::optional<ReorderLoop> rows = take(&ReorderLoop::to);
  return rows ? std::make_shared<TransposedPlanes>(*rows, *columns, std::move(loops)) : nullptr;
}

std::shared_ptr<const kernels::Kernel> MakePlainReorder(const BlockedFormat& from, const BlockedFormat& to) {
  if (from.rank != to.rank || from.shape() != to.shape()) return nullptr;
  for (const BlockedFormat* format : {&from, &to}) {
    const bool is_plain = format->is_blocked() && format->num_blocks == 0 && !IsPadded(*format);
    if (!is_plain || format->type != StorageType::kF32 || format->sum_axes != 0) return nullptr;
  }
  ReorderLoops axes;
  for (size_t axis = 0; axis < from.shape().size(); ++axis)
    axes.push_back({from.extents[axis], from.strides[axis], to.strides[axis]});
  // In the order of the result, so that contiguous axes are adjacent.
  llvm::stable_sort(axes, [](const ReorderLoop& a, const ReorderLoop& b) { return a.to > b.to; });
  return MakePlainReorder(axes);
}

}  // namespace nnefc::runtime::fast::memory
