// im2col: convolutions whose pixel rows do not fill tiles, or that stride over pixels, as a GEMM with the
// patch matrix.
#pragma once

#include "runtime/kernels/implementation.h"

namespace nnefc::runtime {

// Prepares a 2-D Convolution with a constant filter. Borders are multiplied as zeros, so the caller must
// exclude infinite filters.
Reason Im2colApplies(const KernelRequest& request);
// Relative to direct convolution.
Cost Im2colCost(const KernelRequest& request);
KernelOrReason MakeIm2colConvolution(const KernelRequest& request);

}  // namespace nnefc::runtime
