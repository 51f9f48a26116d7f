// Direct convolution with register-tiled microkernels: of nChw16c images, and of row-major ones with few
// channels.
#pragma once

#include "runtime/kernels/implementation.h"

namespace nnefc::runtime {

// Prepare a Convolution or a GroupConvolution.
Reason DirectApplies(const KernelRequest& request, bool is_grouped);
KernelOrReason MakeDirectConvolution(const KernelRequest& request, bool is_grouped);

// Returns the packed layout of filters [outputs, inputs, rows, columns]: [output
// tile][rows][columns][inputs][outputs of a tile].
Layout BlockedFilterLayout(llvm::ArrayRef<int64_t> filter);

}  // namespace nnefc::runtime
