// Transposed convolution without overlapping windows (such as 2x2 or 2x2x2 with stride 2) as GEMM with one
// weight matrix per window position, on nChw16c images.
#pragma once

#include "runtime/kernels/implementation.h"

namespace nnefc::runtime {

// Prepare a ConvolutionBackpropData with a constant filter.
Reason Col2imApplies(const KernelRequest& request);
KernelOrReason MakeCol2imDeconvolution(const KernelRequest& request);
// The same for results with few channels.
Reason FewOutputCol2imApplies(const KernelRequest& request);
KernelOrReason MakeFewOutputCol2im(const KernelRequest& request);

}  // namespace nnefc::runtime
