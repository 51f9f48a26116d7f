// Winograd convolution with 3x3 filters on nChw16c images. Groups of tiles are transformed, multiplied by the
// transformed filter with GEMM microkernels, and transformed back while they are cached.
#pragma once

#include <optional>

#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// Prepares a Convolution. Returns nothing if it or the precision excludes Winograd, direct convolution is as
// fast, vector kernels are unavailable, or a post-op is unsupported.
std::optional<PreparedKernel> MakeWinograd(const KernelRequest& request);

}  // namespace nnefc::runtime
