#pragma once

#include <optional>

#include "runtime/fast/gemm/inner_product_shape.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// Prepares the matmul of a small number of rows with a constant compressed matrix, decompressed while it is
// read, because such matmuls are memory-bound. Returns nothing for more rows or uncompressed weights.
std::optional<PreparedKernel> MakeCompressedGemm(const KernelRequest& request, const InnerProduct& shape);
// Returns true if it would be used for the matmul without post-ops.
bool IsForCompressedGemm(const KernelRequest& request, const InnerProduct& shape);

}  // namespace nnefc::runtime
