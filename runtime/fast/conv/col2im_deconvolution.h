// Transposed convolution without overlapping windows (such as 2x2 or 2x2x2 with stride 2) as GEMM with one
// weight matrix per window position, on nChw16c images.
#pragma once

#include "runtime/kernels/implementation.h"

namespace nnefc::runtime::fast::conv {

// Returns an empty reason if the implementation supports the request: a ConvolutionBackpropData with a
// constant filter.
kernels::Reason Col2imApplies(const kernels::KernelRequest& request);
// Creates its kernel.
kernels::KernelOrReason MakeCol2imDeconvolution(const kernels::KernelRequest& request);
// The same for results with few channels.
kernels::Reason FewOutputCol2imApplies(const kernels::KernelRequest& request);
kernels::KernelOrReason MakeFewOutputCol2im(const kernels::KernelRequest& request);

}  // namespace nnefc::runtime::fast::conv
