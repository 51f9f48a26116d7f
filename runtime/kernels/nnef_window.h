#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc::runtime {

// A window of NNEF (R 4.3) along any number of axes; automatic padding has been
// computed.
struct NnefWindow {
  std::vector<int64_t> size, stride, dilation, before;
  std::string_view border;  // of the node
  int64_t volume = 1;
};

// Reads `border`, `padding`, `stride` and `dilation` of a node whose window has
// the extents `size` and slides along `upscaled`; nothing if its volume or its
// padding overflows.
std::optional<NnefWindow> ReadNnefWindow(const ir::Node& node, llvm::ArrayRef<int64_t> size,
                                         llvm::ArrayRef<int64_t> upscaled);

// R 4.3, border modes: the element that stands for position `at` of an axis;
// nothing for one whose value is not an element's.
std::optional<int64_t> BorderSource(int64_t at, int64_t extent, std::string_view border);

}  // namespace nnefc::runtime
