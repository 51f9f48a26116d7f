// Convolutions and matmuls of i32 values with constants, as exporters write dynamically quantized matmuls.
// Values that fit into 16 bits use the microkernels (simd/dot2_microkernel.h), others scalar code; all sums
// are modulo 2^32.
#pragma once

#include <memory>

#include "runtime/kernels/implementation.h"

namespace nnefc::runtime::fast::int8 {

// Prepare a Convolution with one or two spatial axes, or a MatMul with one right matrix. Constants must fit
// into 16 bits.
kernels::Reason IntegerConvolutionApplies(const kernels::KernelRequest& request);
kernels::KernelOrReason MakeIntegerConvolution(const kernels::KernelRequest& request);
kernels::Reason IntegerMatmulApplies(const kernels::KernelRequest& request);
kernels::KernelOrReason MakeIntegerMatmul(const kernels::KernelRequest& request);

// Creates the packing of their constants; null for other layouts.
std::shared_ptr<const kernels::Kernel> MakeIntegerReorder(ElementType type, const tensor::Layout& from,
                                                          const tensor::Layout& to);

}  // namespace nnefc::runtime::fast::int8
