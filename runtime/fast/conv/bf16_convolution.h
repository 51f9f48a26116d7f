#pragma once

#include "runtime/kernels/implementation.h"

namespace nnefc::runtime::fast::conv {

// Convolution of f32 nChw16c images with a constant filter, multiplied in bf16 with f32 sums. Rounds the
// patches of consecutive pixels to the rows of a bf16 matrix and multiplies it by the filter in panels.
kernels::Reason Bf16ConvolutionApplies(const kernels::KernelRequest& request);
kernels::Cost Bf16ConvolutionCost(const kernels::KernelRequest& request);
kernels::KernelOrReason MakeBf16Convolution(const kernels::KernelRequest& request);

}  // namespace nnefc::runtime::fast::conv
