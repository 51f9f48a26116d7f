#pragma once

#include "runtime/kernels/kernel.h"
#include "runtime/kernels/reason.h"

namespace nnefc::runtime {

// The requests of the tables of transposed convolutions, by precision.
Reason DeconvolutionServesF32(const KernelRequest& request);
Reason DeconvolutionServesBf16(const KernelRequest& request);

}  // namespace nnefc::runtime
