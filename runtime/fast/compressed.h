#pragma once

#include "runtime/fast/inner_product.h"

namespace nnefc::runtime {

// Prepares the matmul of a small number of rows with a constant compressed matrix, decompressed while it is
// read, because such matmuls are memory-bound. Returns nothing for more rows or uncompressed weights.
std::optional<PreparedKernel> MakeCompressedProduct(const KernelRequest& request, const InnerProduct& shape);
// Returns true if it would be used for the matmul without post-ops.
bool IsForCompressedProduct(const KernelRequest& request, const InnerProduct& shape);

}  // namespace nnefc::runtime
