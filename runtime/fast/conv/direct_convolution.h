// Direct convolution with register-tiled microkernels: of nChw16c images, and of row-major ones with few
// channels.
#pragma once

#include <optional>

#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// Returns whether direct convolution is the best choice for a Convolution or GroupConvolution. With few
// outputs most of a channel block is wasted, and a filter that is not constant is packed in each run.
bool IsForDirectConvolution(const KernelRequest& request);

// Returns nothing if groups are not multiples of the channel block, if vector kernels are unavailable, or for
// an unsupported post-op.
std::optional<PreparedKernel> MakeDirectConvolution(const KernelRequest& request, bool is_grouped);

// Returns the packed layout of filters [outputs, inputs, rows, columns]: [output
// tile][rows][columns][inputs][outputs of a tile].
Layout BlockedFilterLayout(llvm::ArrayRef<int64_t> filter);

}  // namespace nnefc::runtime
