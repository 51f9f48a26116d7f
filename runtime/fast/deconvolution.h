#pragma once

#include "runtime/kernels/kernel.h"
#include "runtime/kernels/reason.h"

namespace nnefc::runtime::fast {

// The requests of the tables of transposed convolutions, by precision.
kernels::Reason DeconvolutionServesF32(const kernels::KernelRequest& request);
kernels::Reason DeconvolutionServesBf16(const kernels::KernelRequest& request);

}  // namespace nnefc::runtime::fast
