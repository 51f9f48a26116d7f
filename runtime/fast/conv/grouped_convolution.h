// Grouped convolution with register-tiled microkernels on nChw16c images.
#pragma once

#include "runtime/kernels/implementation.h"

namespace nnefc::runtime {

// Prepares a GroupConvolution with windows of three columns, and groups that fill vectors.
Reason GroupedApplies(const KernelRequest& request);
// Relative to direct convolution.
Cost GroupedCost(const KernelRequest& request);
KernelOrReason MakeGroupedConvolution(const KernelRequest& request);

}  // namespace nnefc::runtime
