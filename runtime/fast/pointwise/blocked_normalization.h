// Normalizations of nChw16c images.
#pragma once

#include <optional>

#include "runtime/fast/pointwise/row_moments.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// Prepares a BatchNormInference with constant parameters. Returns nothing for other layouts, if vector
// kernels are unavailable, or for an unsupported post-op.
std::optional<PreparedKernel> MakeBlockedBatchNorm(const KernelRequest& request);

// Prepares an MVN over all pixels of each channel. Returns nothing for other layouts or if vector kernels are
// unavailable.
std::optional<PreparedKernel> MakeBlockedMvn(const KernelRequest& request, const MvnFactor& factor);

}  // namespace nnefc::runtime
