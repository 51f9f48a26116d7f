// Depthwise convolution with register-tiled microkernels on nChw16c images.
#pragma once

#include "runtime/kernels/implementation.h"

namespace nnefc::runtime::fast::conv {

// Prepares a GroupConvolution with one input and one output per group.
kernels::Reason DepthwiseApplies(const kernels::KernelRequest& request);
kernels::KernelOrReason MakeDepthwise(const kernels::KernelRequest& request);

}  // namespace nnefc::runtime::fast::conv
