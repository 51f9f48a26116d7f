// Direct convolution for few outputs that do not fill a channel block: vectors of row pixels, multiplied by
// one weight per output (simd/few_output_convolution_microkernel.h). The receptive field of several rows is
// copied to a core's cache, one padded plane per channel; results are row-major.
#pragma once

#include "runtime/kernels/implementation.h"

namespace nnefc::runtime::fast::conv {

// Returns an empty reason if the implementation supports the request: a Convolution with one or two spatial
// axes. Borders are multiplied as zeros, so the caller must exclude infinite filters.
kernels::Reason FewOutputsApply(const kernels::KernelRequest& request);
// Returns its cost relative to direct convolution.
kernels::Cost FewOutputsCost(const kernels::KernelRequest& request);
// Creates its kernel.
kernels::KernelOrReason MakeFewOutputConvolution(const kernels::KernelRequest& request);

}  // namespace nnefc::runtime::fast::conv
