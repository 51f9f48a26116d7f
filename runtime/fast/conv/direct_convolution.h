// Direct convolution with register-tiled microkernels: of nChw16c images, and of row-major ones with few
// channels.
#pragma once

#include "runtime/kernels/implementation.h"

namespace nnefc::runtime::fast::conv {

// Returns an empty reason if the implementation supports the request: a GroupConvolution if `is_grouped`,
// else a Convolution.
kernels::Reason DirectApplies(const kernels::KernelRequest& request, bool is_grouped);
// Creates its kernel.
kernels::KernelOrReason MakeDirectConvolution(const kernels::KernelRequest& request, bool is_grouped);

// Returns the packed layout of filters [outputs, inputs, rows, columns]: [output
// tile][rows][columns][inputs][outputs of a tile].
tensor::Layout BlockedFilterLayout(llvm::ArrayRef<int64_t> filter);

}  // namespace nnefc::runtime::fast::conv
