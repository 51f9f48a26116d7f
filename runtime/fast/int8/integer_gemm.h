// Convolutions and matmuls of i32 values with constants, as exporters write dynamically quantized matmuls.
// Values that fit into 16 bits use the microkernels (simd/dot2_microkernel.h), others scalar code; all sums
// are modulo 2^32.
#pragma once

#include <memory>

#include "runtime/kernels/implementation.h"

namespace nnefc::runtime::fast::int8 {

// The conditions of the kernels; each returns an empty reason if its kernel supports the request. A
// Convolution has one or two spatial axes, a MatMul one right matrix, and constants fit into 16 bits.
kernels::Reason IntegerConvolutionApplies(const kernels::KernelRequest& request);
kernels::Reason IntegerMatmulApplies(const kernels::KernelRequest& request);
// Create the kernels, or return the reason why a request is not supported.
kernels::KernelOrReason MakeIntegerConvolution(const kernels::KernelRequest& request);
kernels::KernelOrReason MakeIntegerMatmul(const kernels::KernelRequest& request);

}  // namespace nnefc::runtime::fast::int8
