// Implementations of matmuls with a constant matrix. Columns of the result are axis `channel_axis`.
#pragma once

#include "runtime/fast/gemm/inner_product_shape.h"
#include "runtime/kernels/implementation.h"

namespace nnefc::runtime::fast {

// The implementation for one row times a constant matrix [outputs, inputs] in place, without packing: the
// reason why a request is not supported (empty if it is), the cost, and the kernel.
kernels::Reason GemvApplies(const kernels::KernelRequest& request, const gemm::InnerProduct& shape);
kernels::Cost GemvCost(const kernels::KernelRequest& request, const gemm::InnerProduct& shape);
kernels::KernelOrReason MakeGemv(const kernels::KernelRequest& request, const gemm::InnerProduct& shape,
                                 int64_t channel_axis);

}  // namespace nnefc::runtime::fast
