// Winograd convolution on nChw16c images, with 3x3 filters and with lines of 2 to 5 taps along one axis.
// Groups of tiles are transformed, multiplied by the transformed filter with GEMM microkernels, and
// transformed back while they are cached.
#pragma once

#include "runtime/kernels/implementation.h"

namespace nnefc::runtime::fast::conv {

// Returns an empty reason if the implementation supports the request: a Convolution with such a filter.
kernels::Reason WinogradApplies(const kernels::KernelRequest& request);
// Returns its cost relative to direct convolution.
kernels::Cost WinogradCost(const kernels::KernelRequest& request);
// Creates its kernel.
kernels::KernelOrReason MakeWinograd(const kernels::KernelRequest& request);

}  // namespace nnefc::runtime::fast::conv
