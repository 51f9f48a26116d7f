// The bf16 matmul of a matrix [rows, inputs] with a constant one, split into chunks of the inputs: oneDNN's
// AMX kernels become slower for large K, by half from 3,000 inputs on.
#pragma once

#include "runtime/onednn/inner_product.h"

namespace nnefc::runtime {

Reason SplitKApplies(const KernelRequest& request, const InnerProduct& shape);
Cost SplitKCost(const KernelRequest& request, const InnerProduct& shape);
KernelOrReason MakeSplitKMatmul(const KernelRequest& request, const OneDnnPostOps& posts,
                                const InnerProduct& shape);

}  // namespace nnefc::runtime
