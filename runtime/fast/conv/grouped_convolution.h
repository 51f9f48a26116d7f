// Grouped convolution with register-tiled microkernels on nChw16c images.
#pragma once

#include "runtime/kernels/implementation.h"

namespace nnefc::runtime::fast::conv {

// Prepares a GroupConvolution with windows of three columns, and groups that fill vectors.
kernels::Reason GroupedApplies(const kernels::KernelRequest& request);
// Relative to direct convolution.
kernels::Cost GroupedCost(const kernels::KernelRequest& request);
kernels::KernelOrReason MakeGroupedConvolution(const kernels::KernelRequest& request);

}  // namespace nnefc::runtime::fast::conv
