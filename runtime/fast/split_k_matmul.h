#pragma once

#include "runtime/fast/inner_product.h"

namespace nnefc::runtime {

// The bf16 matmul of a matrix [rows, inputs] with a constant one, split into chunks of the inputs: oneDNN's
// AMX kernels become slower for large K, by half from 3,000 inputs on. Returns nothing for few inputs or
// without AMX.
std::optional<PreparedKernel> MakeSplitKMatmul(const KernelRequest& request, const DnnPostOps& posts,
                                               const InnerProduct& shape);

}  // namespace nnefc::runtime
