#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "compiler/support/tensor/tensor_value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime::tensor {

// A loop over N tensors of the same shape, row by row in unspecified order. Axes that are contiguous in all
// tensors are merged, so that rows are as long as possible.
template <size_t N>
class StridedLoop {
 public:
  using Offsets = std::array<int64_t, N>;

  StridedLoop(llvm::ArrayRef<int64_t> shape, const std::array<llvm::ArrayRef<int64_t>, N>& strides) {
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      Offsets axis_strides;
      for (size_t i = 0; i < N; ++i) axis_strides[i] = strides[i][axis];
      AddAxis(shape[axis], axis_strides);
    }
    if (extents_.empty()) AddAxisUnmerged(1, Offsets{});
    AvoidShortRows();
  }

  // Returns the strides of all tensors along a row.
  const Offsets& row_strides() const { return strides_.back(); }

  // The work on a row, or on a part of a long one. Offsets are in elements.
  using Row = llvm::function_ref<void(const Offsets& offsets, int64_t length)>;

  // Calls `row` for each row, on all threads.
  void Run(Row row) const {
    const int64_t length = extents_.back();
    int64_t rows = 1;
    for (size_t axis = 0; axis + 1 < extents_.size(); ++axis) rows *= extents_[axis];
    if (rows == 0 || length == 0) return;
    if (length > kPart) return RunInParts(rows, row);
    const int64_t together = std::max<int64_t>(1, kPart / length);
    ParallelFor((rows + together - 1) / together, together * length, [&](int64_t task) {
      const int64_t end = std::min(rows, (task + 1) * together);
      Walker walker(*this, task * together);
      for (int64_t i = task * together; i < end; ++i, walker.Next()) row(walker.offsets(), length);
    });
  }

 private:
  static constexpr int64_t kPart = 16384;

  // An iterator over the offsets of the first elements of rows.
  class Walker {
   public:
    Walker(const StridedLoop& loop, int64_t row) : loop_(loop), at_(loop.extents_.size() - 1) {
      for (size_t axis = at_.size(); axis-- > 0;) {
        at_[axis] = row % loop.extents_[axis];
        row /= loop.extents_[axis];
        for (size_t i = 0; i < N; ++i) offsets_[i] += at_[axis] * loop.strides_[axis][i];
      }
    }
    const Offsets& offsets() const { return offsets_; }
    void Next() {
      for (size_t axis = at_.size(); axis-- > 0;) {
        const Offsets& strides = loop_.strides_[axis];
        for (size_t i = 0; i < N; ++i) offsets_[i] += strides[i];
        if (++at_[axis] < loop_.extents_[axis]) return;
        for (size_t i = 0; i < N; ++i) offsets_[i] -= loop_.extents_[axis] * strides[i];
        at_[axis] = 0;
      }
    }

   private:
    const StridedLoop& loop_;
    llvm::SmallVector<int64_t, 6> at_;
    Offsets offsets_{};
  };

  void RunInParts(int64_t rows, Row row) const {
    const int64_t length = extents_.back();
    const int64_t parts = (length + kPart - 1) / kPart;
    ParallelFor(rows * parts, kPart, [&](int64_t task) {
      const int64_t begin = task % parts * kPart;
      Offsets offsets = Walker(*this, task / parts).offsets();
      for (size_t i = 0; i < N; ++i) offsets[i] += begin * row_strides()[i];
      row(offsets, std::min(kPart, length - begin));
    });
  }

  void AddAxis(int64_t extent, const Offsets& strides) {
    if (extent == 1) return;
    if (!extents_.empty()) {
      bool mergeable = true;
      for (size_t i = 0; i < N; ++i) mergeable &= strides_.back()[i] == strides[i] * extent;
      if (mergeable) {
        extents_.back() *= extent;
        strides_.back() = strides;
        return;
      }
    }
    AddAxisUnmerged(extent, strides);
  }

  void AddAxisUnmerged(int64_t extent, const Offsets& strides) {
    extents_.push_back(extent);
    strides_.push_back(strides);
  }

  // Swaps a short innermost axis with the nearest axis that is much longer, because the overhead per row
  // would dominate.
  void AvoidShortRows() {
    constexpr int64_t kShort = 8;
    const size_t last = extents_.size() - 1;
    if (extents_[last] >= kShort) return;
    for (size_t axis = last; axis-- > 0;) {
      if (extents_[axis] < 2 * kShort) continue;
      std::swap(extents_[axis], extents_[last]);
      std::swap(strides_[axis], strides_[last]);
      return;
    }
  }

  llvm::SmallVector<int64_t, 6> extents_;
  llvm::SmallVector<Offsets, 6> strides_;
};

}  // namespace nnefc::runtime::tensor
