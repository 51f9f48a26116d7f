// SoftMax, and BatchNormInference if not folded into the preceding filter.
#pragma once

#include "runtime/kernels/kernel.h"
#include "runtime/kernels/reason.h"

namespace nnefc::runtime {

Reason SoftmaxApplies(const KernelRequest& request);
// The condition of kernels that do not keep to the order of the formula: finite parameters.
Reason BatchNormApplies(const KernelRequest& request);

}  // namespace nnefc::runtime
