// The bf16 matmul of a matrix [rows, inputs] with a constant one, split into chunks of the inputs: oneDNN's
// AMX kernels become slower for large K, by half from 3,000 inputs on.
#pragma once

#include "runtime/onednn/weighted/inner_product.h"

namespace nnefc::runtime::onednn {

// The reason why a request is not supported (empty if it is), the cost, and the kernel with post-ops.
kernels::Reason SplitKApplies(const kernels::KernelRequest& request, const fast::gemm::InnerProduct& shape);
kernels::Cost SplitKCost(const kernels::KernelRequest& request, const fast::gemm::InnerProduct& shape);
kernels::KernelOrReason MakeSplitKMatmul(const kernels::KernelRequest& request, const OneDnnPostOps& posts,
                                         const fast::gemm::InnerProduct& shape);

}  // namespace nnefc::runtime::onednn
