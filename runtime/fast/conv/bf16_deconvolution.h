#pragma once

#include "runtime/kernels/implementation.h"

namespace nnefc::runtime::fast::conv {

// Transposed convolution of f32 nChw16c images with a constant filter, multiplied in bf16 with f32 sums. The
// matrix multiplication of each tap adds to the pixels of the result that it contributes to.
kernels::Reason Bf16DeconvolutionApplies(const kernels::KernelRequest& request);
kernels::Cost Bf16DeconvolutionCost(const kernels::KernelRequest& request);
kernels::KernelOrReason MakeBf16Deconvolution(const kernels::KernelRequest& request);

}  // namespace nnefc::runtime::fast::conv
