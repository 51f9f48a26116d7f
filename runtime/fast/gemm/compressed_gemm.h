#pragma once

#include "runtime/fast/gemm/inner_product_shape.h"
#include "runtime/kernels/implementation.h"

namespace nnefc::runtime::fast::gemm {

// The implementation for a small number of rows times a constant compressed matrix, decompressed while it is
// read, because such matmuls are memory-bound: the reason why a request is not supported (empty if it is),
// and the kernel.
kernels::Reason CompressedGemmApplies(const kernels::KernelRequest& request, const InnerProduct& shape);
kernels::KernelOrReason MakeCompressedGemm(const kernels::KernelRequest& request, const InnerProduct& shape);

}  // namespace nnefc::runtime::fast::gemm
