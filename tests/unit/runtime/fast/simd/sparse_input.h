// Inputs of convolution microkernels that consist of the elements that the definition reads, and no others.
#pragma once

#include <algorithm>
#include <limits>

#include "tests/unit/runtime/fast/simd/simd_test.h"

namespace nnefc::runtime::fast::simd {

// Elements by their offsets from a pointer, which may be outside of the array: the array begins with the
// first element that is read and ends with the last one. Elements between them that are not read are NaN.
class SparseInput {
 public:
  const float* data() const { return numbers_.data() - begin_; }
  float At(int64_t offset) const { return numbers_[offset - begin_]; }
  void Set(int64_t offset, float value) { numbers_[offset - begin_] = value; }

  // `for_each(use)` calls `use(offset)` for each element that is read, `draw()` returns its value.
  template <typename ForEach, typename Draw>
  SparseInput(GuardedEdge edge, const ForEach& for_each, const Draw& draw) : numbers_(0, edge) {
    int64_t begin = std::numeric_limits<int64_t>::max(), end = std::numeric_limits<int64_t>::min();
    for_each([&](int64_t offset) {
      begin = std::min(begin, offset);
      end = std::max(end, offset + 1);
    });
    if (begin >= end) begin = end = 0;
    begin_ = begin;
    numbers_ = GuardedArray<float>(end - begin, edge, kNan);
    for_each([&](int64_t offset) { numbers_[offset - begin_] = draw(); });
  }

 private:
  int64_t begin_ = 0;
  GuardedArray<float> numbers_;
};

}  // namespace nnefc::runtime::fast::simd
