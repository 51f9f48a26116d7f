#pragma once

#include "runtime/fast/inner_product.h"

namespace nnefc::runtime {

// The product of few rows with a constant matrix of compressed floats, which are
// unpacked as they are read: such products take as long as their weights take to come
// from memory. Nothing for more rows, and where weights are not compressed.
std::optional<PreparedKernel> MakeCompressedProduct(const KernelRequest& request, const InnerProduct& shape);
// True if that would take the product without what follows it.
bool IsForCompressedProduct(const KernelRequest& request, const InnerProduct& shape);

}  // namespace nnefc::runtime
