// Normalizations of nChw16c images.
#pragma once

#include "runtime/fast/pointwise/row_moments.h"
#include "runtime/kernels/implementation.h"

namespace nnefc::runtime {

// Prepares a BatchNormInference with constant parameters.
KernelOrReason MakeBlockedBatchNorm(const KernelRequest& request);

// Prepares an MVN over all pixels of each channel.
KernelOrReason MakeBlockedMvn(const KernelRequest& request, const MvnFactor& factor);

}  // namespace nnefc::runtime
