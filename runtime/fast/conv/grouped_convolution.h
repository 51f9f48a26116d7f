// Grouped convolution with register-tiled microkernels on nChw16c images.
#pragma once

#include "runtime/kernels/implementation.h"

namespace nnefc::runtime::fast::conv {

// Returns an empty reason if the implementation supports the request: a GroupConvolution with windows of
// three columns, and groups that fill vectors.
kernels::Reason GroupedApplies(const kernels::KernelRequest& request);
// Returns its cost relative to direct convolution.
kernels::Cost GroupedCost(const kernels::KernelRequest& request);
// Creates its kernel.
kernels::KernelOrReason MakeGroupedConvolution(const kernels::KernelRequest& request);

}  // namespace nnefc::runtime::fast::conv
