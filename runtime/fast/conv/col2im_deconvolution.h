// Transposed convolution without overlapping windows (such as 2x2 or 2x2x2 with stride 2) as GEMM with one
// weight matrix per window position, on nChw16c images.
#pragma once

#include "runtime/kernels/implementation.h"

namespace nnefc::runtime::fast::conv {

// Prepare a ConvolutionBackpropData with a constant filter.
kernels::Reason Col2imApplies(const kernels::KernelRequest& request);
kernels::KernelOrReason MakeCol2imDeconvolution(const kernels::KernelRequest& request);
// The same for results with few channels.
kernels::Reason FewOutputCol2imApplies(const kernels::KernelRequest& request);
kernels::KernelOrReason MakeFewOutputCol2im(const kernels::KernelRequest& request);

}  // namespace nnefc::runtime::fast::conv
