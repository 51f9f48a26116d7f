#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "compiler/ir/graph.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc::runtime::kernels {

// A sliding window along one spatial axis. It reads input positions i * stride + k * dilation - before for 0
// <= k < size.
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

// The spatial axes of a convolution or pooling: always three, with extent 1 for missing leading axes.
using Window = std::array<WindowAxis, 3>;

// Reads `strides`, `dilations`, `pads_begin`, `pads_end` and `auto_pad` of a node with known spatial extents.
// For a transposed convolution `input` holds the extents of the result and `output` those of the data.
Window MakeWindow(const ir::Node& node, llvm::ArrayRef<int64_t> input, llvm::ArrayRef<int64_t> output,
                  llvm::ArrayRef<int64_t> size);

}  // namespace nnefc::runtime::kernels
