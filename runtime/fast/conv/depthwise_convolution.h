// Depthwise convolution with register-tiled microkernels on nChw16c images.
#pragma once

#include "runtime/kernels/implementation.h"

namespace nnefc::runtime::fast::conv {

// Returns an empty reason if the implementation supports the request: a GroupConvolution with one input and
// one output per group.
kernels::Reason DepthwiseApplies(const kernels::KernelRequest& request);
// Creates its kernel.
kernels::KernelOrReason MakeDepthwise(const kernels::KernelRequest& request);

}  // namespace nnefc::runtime::fast::conv
