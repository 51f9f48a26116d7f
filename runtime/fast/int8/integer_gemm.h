// Convolutions and matmuls of i32 values with constants, as exporters write dynamically quantized matmuls.
// Values that fit into 16 bits use the microkernels (simd/dot2_microkernel.h), others scalar code; all sums
// are modulo 2^32.
#pragma once

#include <memory>
#include <optional>

#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// Prepares a Convolution with one or two spatial axes, or a MatMul with one right matrix. Returns nothing for
// others, for constants that do not fit into 16 bits, or if vector kernels are unavailable.
std::optional<PreparedKernel> MakeIntegerConvolution(const KernelRequest& request);
std::optional<PreparedKernel> MakeIntegerMatmul(const KernelRequest& request);

// Creates the packing of their constants; null for other layouts.
std::shared_ptr<const Kernel> MakeIntegerReorder(ElementType type, const Layout& from, const Layout& to);

}  // namespace nnefc::runtime
