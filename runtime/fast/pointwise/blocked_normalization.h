// Normalizations of nChw16c images.
#pragma once

#include "runtime/fast/pointwise/row_moments.h"
#include "runtime/kernels/implementation.h"

namespace nnefc::runtime::fast::pointwise {

// Prepares a BatchNormInference with constant parameters.
kernels::KernelOrReason MakeBlockedBatchNorm(const kernels::KernelRequest& request);

// Prepares an MVN over all pixels of each channel.
kernels::KernelOrReason MakeBlockedMvn(const kernels::KernelRequest& request, const MvnFactor& factor);

}  // namespace nnefc::runtime::fast::pointwise
