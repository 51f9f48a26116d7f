// Transposed convolution without overlapping windows (such as 2x2 or 2x2x2 with stride 2) as GEMM with one
// weight matrix per window position, on nChw16c images.
#pragma once

#include <optional>

#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// Prepares a ConvolutionBackpropData with a constant filter. Returns nothing for overlapping windows,
// unsupported post-ops, or if vector kernels are unavailable.
std::optional<PreparedKernel> MakeCol2imDeconvolution(const KernelRequest& request);
// Returns whether it has few outputs and no post-ops.
bool IsFewOutputDeconvolution(const KernelRequest& request);

}  // namespace nnefc::runtime
