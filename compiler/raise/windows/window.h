#pragma once

#include <vector>

#include "compiler/ir/ops/windows/resolved_window.h"
#include "compiler/raise/node_raising.h"

namespace nnefc::raise {

// A window that slides over the spatial axes of a tensor.
using Window = ir::ops::ResolvedWindow;

// Reads the attributes of a node whose `input` slides to `output`, both spatial extents. Automatic padding
// becomes that of the extents.
Window ReadWindow(const NodeRaising& n, Integers size, llvm::ArrayRef<int64_t> input,
                  llvm::ArrayRef<int64_t> output);

// Returns the attributes `padding`, `stride` and `dilation` after `leading` axes without a window. Padding
// that equals NNEF's automatic one for these extents is an empty list, as are lists of ones.
ir::AttributeMap WindowAttributes(const Window& window, llvm::ArrayRef<int64_t> input,
                                  llvm::ArrayRef<int64_t> output, size_t leading);

// Returns the extents after the batch and the channels.
Integers Spatial(const nnefc::Shape& shape);

}  // namespace nnefc::raise
