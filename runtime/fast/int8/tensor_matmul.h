// Matmuls of two quantized tensors (ir::ops::QuantizedOperands), as in attention. Sums are exact.
#pragma once

#include "runtime/kernels/implementation.h"

namespace nnefc::runtime::fast::int8 {

// Returns the reason if a MatMul is not one of two quantized tensors of at least two axes.
kernels::Reason MultipliesQuantizedTensors(const kernels::KernelRequest& request);
// Returns the reason if the kernel does not support such a request.
kernels::Reason TensorMatmulApplies(const kernels::KernelRequest& request);
// Creates the kernel. Operands are u8 if their producers store them so; others are quantized in the step.
kernels::KernelOrReason MakeTensorMatmul(const kernels::KernelRequest& request);

}  // namespace nnefc::runtime::fast::int8
