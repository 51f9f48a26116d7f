// oneDNN's matmuls with a constant matrix. Columns of the result are its last axis, or channels.
#pragma once

#include "runtime/fast/gemm/inner_product_shape.h"
#include "runtime/fast/int8/convolution/int8_convolution.h"
#include "runtime/kernels/implementation.h"
#include "runtime/onednn/post_ops.h"

namespace nnefc::runtime::onednn {

// Matmuls of the given sizes by oneDNN's matmul primitive: the cost, and the kernel with post-ops.
kernels::Cost OneDnnMatmulCost(const kernels::KernelRequest& request, const fast::gemm::InnerProduct& shape);
kernels::KernelOrReason MakeOneDnnMatmul(const kernels::KernelRequest& request, const OneDnnPostOps& posts,
                                         const fast::gemm::InnerProduct& shape);
// The same by oneDNN's inner-product primitive.
kernels::Cost OneDnnInnerProductCost(const kernels::KernelRequest& request,
                                     const fast::gemm::InnerProduct& shape);
kernels::KernelOrReason MakeOneDnnInnerProduct(const kernels::KernelRequest& request,
                                               const OneDnnPostOps& posts,
                                               const fast::gemm::InnerProduct& shape);

// The int8 matmul with i32 accumulators and an f32 epilogue. Requires a quantized input.
kernels::KernelOrReason MakeOneDnnInt8Matmul(const kernels::KernelRequest& given,
                                             const fast::int8::Int8Step& step,
                                             const fast::gemm::InnerProduct& shape);

}  // namespace nnefc::runtime::onednn
