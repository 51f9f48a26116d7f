// Depthwise convolution with register-tiled microkernels on nChw16c images.
#pragma once

#include "runtime/kernels/implementation.h"

namespace nnefc::runtime {

// Prepares a GroupConvolution with one input and one output per group.
Reason DepthwiseApplies(const KernelRequest& request);
KernelOrReason MakeDepthwise(const KernelRequest& request);

}  // namespace nnefc::runtime
