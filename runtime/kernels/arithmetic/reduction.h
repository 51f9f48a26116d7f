#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "runtime/kernels/attributes.h"
#include "runtime/tensor/tensor_view.h"

namespace nnefc::runtime::kernels {

// The terms of a reduction of a dense tensor. Each result element has one set of terms, with equal
// coordinates on all axes that are not reduced.
class Reduction {
 public:
  Reduction(const tensor::TensorView& input, llvm::ArrayRef<int64_t> axes) {
    std::vector<bool> reduced(static_cast<size_t>(input.rank()), false);
    for (int64_t axis : axes) reduced[static_cast<size_t>(NormalAxis(axis, input.rank()))] = true;
    for (size_t axis = 0; axis < reduced.size(); ++axis) {
      Add(reduced[axis] ? terms_ : kept_, input.shape()[axis], input.strides()[axis]);
    }
    for (const Axis& axis : terms_) num_terms_ *= axis.extent;
  }

  int64_t num_terms() const { return num_terms_; }

  // Returns the offset of the first term of result element `index`.
  int64_t FirstTerm(int64_t index) const {
    int64_t offset = 0;
    for (size_t i = kept_.size(); i-- > 0;) {
      offset += index % kept_[i].extent * kept_[i].stride;
      index /= kept_[i].extent;
    }
    return offset;
  }

  // Calls body(offset from the first term) in row-major order.
  template <typename Body>
  void ForEachTerm(Body&& body) const {
    if (terms_.empty()) return body(int64_t{0});
    if (num_terms_ == 0) return;
    const Axis row = terms_.back();
    llvm::SmallVector<int64_t, 6> index(terms_.size() - 1, 0);
    int64_t start = 0;
    for (;;) {
      for (int64_t i = 0; i < row.extent; ++i) body(start + i * row.stride);
      size_t axis = index.size();
      while (axis-- > 0) {
        start += terms_[axis].stride;
        if (++index[axis] < terms_[axis].extent) break;
        start -= terms_[axis].extent * terms_[axis].stride;
        index[axis] = 0;
      }
      if (axis == static_cast<size_t>(-1)) return;
    }
  }

 private:
  struct Axis {
    int64_t extent;
    int64_t stride;
  };
  using Axes = llvm::SmallVector<Axis, 6>;

  static void Add(Axes& axes, int64_t extent, int64_t stride) {
    if (!axes.empty() && axes.back().stride == stride * extent) {
      axes.back() = {axes.back().extent * extent, stride};
      return;
    }
    axes.push_back({extent, stride});
  }

  Axes kept_;
  Axes terms_;
  int64_t num_terms_ = 1;
};

}  // namespace nnefc::runtime::kernels
