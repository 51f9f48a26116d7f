#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/ops/windows/resolved_window.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc::runtime::kernels {

// An NNEF window (R 4.3) along any number of axes, with automatic padding resolved.
struct NnefWindow : ir::ops::ResolvedWindow {
  std::string_view border;  // border mode of the node
  int64_t volume = 1;       // number of elements of the window
};

// Reads `border`, `padding`, `stride` and `dilation` of a node. Its window has the extents `size` and slides
// over a tensor with the spatial extents `upscaled`: the input, or the output of a transposed operation.
// Returns nothing if the volume or the padding overflows.
std::optional<NnefWindow> ReadNnefWindow(const ir::Node& node, llvm::ArrayRef<int64_t> size,
                                         llvm::ArrayRef<int64_t> upscaled);

// R 4.3, border modes: returns the element position used for position `at` of an axis, or nothing if the
// value does not come from an element.
std::optional<int64_t> BorderPosition(int64_t at, int64_t extent, std::string_view border);

}  // namespace nnefc::runtime::kernels
