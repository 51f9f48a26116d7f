// Grouped convolution with register-tiled microkernels on nChw16c images.
#pragma once

#include <optional>

#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// Prepares a GroupConvolution. Returns nothing if groups do not fill vectors, the filter is not three pixels
// wide, vector kernels are unavailable, or a post-op is unsupported.
std::optional<PreparedKernel> MakeGroupedConvolution(const KernelRequest& request);

}  // namespace nnefc::runtime
