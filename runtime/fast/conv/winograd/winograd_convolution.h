// Winograd convolution and transposed convolution on nChw16c images, with squares of 2x2 or 3x3 taps and with
// lines of 2 to 5 taps along one axis. A transposed convolution has as many taps for each phase of its
// stride. Groups of tiles are transformed, multiplied by the transformed filter with GEMM microkernels, and
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

// Likewise for a ConvolutionBackpropData.
kernels::Reason TransposedWinogradApplies(const kernels::KernelRequest& request);
kernels::Cost TransposedWinogradCost(const kernels::KernelRequest& request);
kernels::KernelOrReason MakeTransposedWinograd(const kernels::KernelRequest& request);

}  // namespace nnefc::runtime::fast::conv
