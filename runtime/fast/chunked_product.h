#pragma once

#include "runtime/fast/inner_product.h"

namespace nnefc::runtime {

// The product of a matrix [rows, inputs] with a constant one in bf16, of a chunk of the inputs after the
// other: oneDNN's products in tiles of AMX are slower the more inputs there are, by a half from 3,000 on.
// Nothing where there are few inputs, or no tiles.
std::optional<PreparedKernel> MakeChunkedProduct(const KernelRequest& request, const DnnPostOps& posts,
                                                 const InnerProduct& shape);

}  // namespace nnefc::runtime
