// Winograd convolution with 3x3 filters on nChw16c images. Groups of tiles are transformed, multiplied by the
// transformed filter with GEMM microkernels, and transformed back while they are cached.
#pragma once

#include "runtime/kernels/implementation.h"

namespace nnefc::runtime {

// Prepares a Convolution.
Reason WinogradApplies(const KernelRequest& request);
// Relative to direct convolution.
Cost WinogradCost(const KernelRequest& request);
KernelOrReason MakeWinograd(const KernelRequest& request);

}  // namespace nnefc::runtime
