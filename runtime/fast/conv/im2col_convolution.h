// im2col: convolutions whose pixel rows do not fill tiles, or that stride over pixels, as a GEMM with the
// patch matrix.
#pragma once

#include <optional>

#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// Prepares a 2-D Convolution with a constant filter. Returns nothing if direct convolution is as fast
// (conv/direct_convolution.h), or if MakeGemm declines.
std::optional<PreparedKernel> MakeIm2colConvolution(const KernelRequest& request);

}  // namespace nnefc::runtime
