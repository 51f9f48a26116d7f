#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "compiler/support/tensor/tensor_value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime {

// Walks N tensors of one shape in step, row by row. Axes that lie behind one
// another in all of them are merged, so that a row is as long as it can be.
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
  }

  // The strides of all tensors along a row.
  const Offsets& row_strides() const { return strides_.back(); }

  // Calls `row(offsets, length)` for every row, or for parts of long rows, on
  // all threads; offsets are in elements.
  template <typename Row>
  void Run(Row&& row) const {
    const int64_t length = extents_.back();
    int64_t rows = 1;
    for (size_t axis = 0; axis + 1 < extents_.size(); ++axis) rows *= extents_[axis];
    if (rows == 0 || length == 0) return;
    const int64_t parts = (length + kPart - 1) / kPart;
    ParallelFor(rows * parts, std::min(length, kPart), [&](int64_t task) {
      const int64_t begin = task % parts * kPart;
      Offsets offsets = RowOffsets(task / parts);
      for (size_t i = 0; i < N; ++i) offsets[i] += begin * row_strides()[i];
      row(offsets, std::min(kPart, length - begin));
    });
  }

 private:
  static constexpr int64_t kPart = 16384;

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

  Offsets RowOffsets(int64_t row) const {
    Offsets offsets{};
    for (size_t axis = extents_.size() - 1; axis-- > 0;) {
      const int64_t index = row % extents_[axis];
      row /= extents_[axis];
      for (size_t i = 0; i < N; ++i) offsets[i] += index * strides_[axis][i];
    }
    return offsets;
  }

  llvm::SmallVector<int64_t, 6> extents_;
  llvm::SmallVector<Offsets, 6> strides_;
};

}  // namespace nnefc::runtime
