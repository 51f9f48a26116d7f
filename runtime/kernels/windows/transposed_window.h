#pragma once

#include "runtime/kernels/windows/window.h"

namespace nnefc::runtime::kernels {

// Returns the window of a transposed convolution, whose `input` is the result and whose `output` is the data.
// Where the node has an input for the extents of its result, they imply the padding and the attributes are
// void. Otherwise `auto_pad` other than "explicit" is no padding.
Window MakeTransposedWindow(const ir::Node& node, llvm::ArrayRef<int64_t> result,
                            llvm::ArrayRef<int64_t> data, llvm::ArrayRef<int64_t> size);

}  // namespace nnefc::runtime::kernels
