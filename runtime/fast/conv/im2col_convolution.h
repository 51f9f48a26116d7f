// im2col: convolutions whose pixel rows do not fill tiles, or that stride over pixels, as a GEMM with the
// patch matrix.
#pragma once

#include "runtime/kernels/implementation.h"

namespace nnefc::runtime::fast::conv {

// Returns an empty reason if the implementation supports the request: a 2-D Convolution with a constant
// filter. Borders are multiplied as zeros, so the caller must exclude infinite filters.
kernels::Reason Im2colApplies(const kernels::KernelRequest& request);
// Returns its cost relative to direct convolution.
kernels::Cost Im2colCost(const kernels::KernelRequest& request);
// Creates its kernel.
kernels::KernelOrReason MakeIm2colConvolution(const kernels::KernelRequest& request);

}  // namespace nnefc::runtime::fast::conv
