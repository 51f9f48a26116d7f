// Depthwise convolution with register-tiled microkernels on nChw16c images.
#pragma once

#include <optional>

#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// Prepares a depthwise GroupConvolution. Returns nothing for other convolutions, if vector kernels are
// unavailable, or for an unsupported post-op.
std::optional<PreparedKernel> MakeDepthwise(const KernelRequest& request);

}  // namespace nnefc::runtime
