// Normalizations of images with their channels in blocks.
#pragma once

#include <optional>

#include "runtime/fast/row_moments.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// Of a BatchNormInference with parameters that are constants; nothing where the images lie otherwise, the
// processor has no lanes, or one of the posts has no translation.
std::optional<PreparedKernel> MakeBlockedBatchNorm(const KernelRequest& request);

// Of an MVN over all pixels of each channel; nothing where the images lie otherwise or the processor has no
// lanes.
std::optional<PreparedKernel> MakeBlockedMvn(const KernelRequest& request, const MvnFactor& factor);

}  // namespace nnefc::runtime
