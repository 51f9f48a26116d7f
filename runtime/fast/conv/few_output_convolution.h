// Direct convolution for few outputs that do not fill a channel block: vectors of row pixels, multiplied by
// one weight per output (simd/few_output_convolution_microkernel.h). The receptive field of several rows is
// copied to a core's cache, one padded plane per channel; results are row-major.
#pragma once

#include <optional>

#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// Prepares a Convolution with one or two spatial axes. Borders are multiplied as zeros, so the caller must
// exclude infinite filters. Returns nothing for many outputs, few pixels, large dilations, unsupported
// post-ops, or if vector kernels are unavailable.
std::optional<PreparedKernel> MakeFewOutputConvolution(const KernelRequest& request);

}  // namespace nnefc::runtime
