#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "compiler/ir/graph.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc::runtime {

// A window that slides along one spatial axis: it reads input positions
// i * stride + k * dilation - before for 0 <= k < size.
struct WindowAxis {
  int64_t input = 1;
  int64_t output = 1;
  int64_t size = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t before = 0;  // padding
  int64_t after = 0;

  int64_t reach() const { return (size - 1) * dilation + 1; }
};

// The spatial axes of a convolution or pooling, always three: missing leading
// ones have extent 1.
using Window = std::array<WindowAxis, 3>;

// Reads `strides`, `dilations`, `pads_begin`, `pads_end` and `auto_pad` of a
// node whose spatial extents are known. For a transposed convolution `input`
// is the result's extents and `output` the data's.
Window MakeWindow(const ir::Node& node, llvm::ArrayRef<int64_t> input, llvm::ArrayRef<int64_t> output,
                  llvm::ArrayRef<int64_t> size);

}  // namespace nnefc::runtime
