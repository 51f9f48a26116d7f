#pragma once

#include "runtime/fast/gemm/inner_product_shape.h"
#include "runtime/kernels/implementation.h"

namespace nnefc::runtime {

// The matmul of a small number of rows with a constant compressed matrix, decompressed while it is read,
// because such matmuls are memory-bound.
Reason CompressedGemmApplies(const KernelRequest& request, const InnerProduct& shape);
KernelOrReason MakeCompressedGemm(const KernelRequest& request, const InnerProduct& shape);

}  // namespace nnefc::runtime
