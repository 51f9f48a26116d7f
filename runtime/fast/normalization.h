// BatchNormInference if not folded into the preceding filter.
#pragma once

#include "runtime/kernels/kernel.h"
#include "runtime/kernels/reason.h"

namespace nnefc::runtime::fast {

// The condition of kernels that do not keep to the order of the formula: finite parameters.
kernels::Reason BatchNormApplies(const kernels::KernelRequest& request);

}  // namespace nnefc::runtime::fast
