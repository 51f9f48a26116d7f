#pragma once

#include "runtime/kernels/kernel.h"

namespace nnefc::runtime::fast::conv {

// Lets the kernel of a convolution without groups or matrix product with constant weights read and write
// subnormal numbers as 0, since they can make it ten times slower. Samples of the data and of the weights
// must both have a number of at least 1e-10 in each run, so that each term changes by less than 1e-17 of the
// largest product. Does nothing for other operations, and for other precisions than f32.
void FlushSubnormals(const kernels::KernelRequest& request, kernels::PreparedKernel& prepared);

}  // namespace nnefc::runtime::fast::conv
