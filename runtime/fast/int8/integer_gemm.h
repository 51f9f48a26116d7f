// Convolutions and matmuls of i32 values with constants, as exporters write dynamically quantized matmuls.
// Values that fit into 16 bits use the microkernels (simd/dot2_microkernel.h), others scalar code; all sums
// are modulo 2^32.
#pragma once

#include <memory>

#include "runtime/kernels/implementation.h"

namespace nnefc::runtime {

// Prepare a Convolution with one or two spatial axes, or a MatMul with one right matrix. Constants must fit
// into 16 bits.
Reason IntegerConvolutionApplies(const KernelRequest& request);
KernelOrReason MakeIntegerConvolution(const KernelRequest& request);
Reason IntegerMatmulApplies(const KernelRequest& request);
KernelOrReason MakeIntegerMatmul(const KernelRequest& request);

// Creates the packing of their constants; null for other layouts.
std::shared_ptr<const Kernel> MakeIntegerReorder(ElementType type, const Layout& from, const Layout& to);

}  // namespace nnefc::runtime
