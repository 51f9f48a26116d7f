// Implementations of matmuls with a constant matrix. Columns of the result are axis `channel_axis`.
#pragma once

#include "runtime/fast/gemm/inner_product_shape.h"
#include "runtime/kernels/implementation.h"

namespace nnefc::runtime {

// One row times a constant matrix [outputs, inputs] in place, without packing.
Reason GemvApplies(const KernelRequest& request, const InnerProduct& shape);
Cost GemvCost(const KernelRequest& request, const InnerProduct& shape);
KernelOrReason MakeGemv(const KernelRequest& request, const InnerProduct& shape, int64_t channel_axis);

}  // namespace nnefc::runtime
