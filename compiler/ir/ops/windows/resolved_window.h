#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/ir/ops/opset/dims.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::ir::ops {

// A sliding window whose padding is known, with one list item for each axis that it slides along.
struct ResolvedWindow {
  std::vector<int64_t> size = {};
  std::vector<int64_t> stride = {};
  std::vector<int64_t> dilation = {};
  std::vector<int64_t> pad_begin = {};  // negative items crop
  std::vector<int64_t> pad_end = {};

  size_t rank() const { return size.size(); }
  // Returns the extent that the window covers.
  int64_t reach(size_t axis) const { return (size[axis] - 1) * dilation[axis] + 1; }
  bool IsTrivial(size_t axis) const {
    return size[axis] == 1 && stride[axis] == 1 && pad_begin[axis] == 0 && pad_end[axis] == 0;
  }
  bool IsPadded() const {
    const auto is_padding = [](int64_t pad) { return pad != 0; };
    return llvm::any_of(pad_begin, is_padding) || llvm::any_of(pad_end, is_padding);
  }
  bool IsDilated() const {
    for (size_t i = 0; i < rank(); ++i) {
      if (size[i] > 1 && dilation[i] > 1) return true;
    }
    return false;
  }
  // Returns the number of elements, at most the largest integer.
  int64_t Volume() const {
    int64_t volume = 1;
    for (int64_t extent : size) volume = opset::SaturatingMultiply(volume, extent);
    return volume;
  }
};

}  // namespace nnefc::ir::ops
