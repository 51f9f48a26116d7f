// oneDNN's matmuls with a constant matrix. Columns of the result are its last axis, or channels.
#pragma once

#include "runtime/fast/gemm/inner_product_shape.h"
#include "runtime/fast/int8/int8_convolution.h"
#include "runtime/kernels/implementation.h"
#include "runtime/onednn/post_ops.h"

namespace nnefc::runtime {

Cost OneDnnMatmulCost(const KernelRequest& request, const InnerProduct& shape);
KernelOrReason MakeOneDnnMatmul(const KernelRequest& request, const OneDnnPostOps& posts,
                                const InnerProduct& shape);
Cost OneDnnInnerProductCost(const KernelRequest& request, const InnerProduct& shape);
KernelOrReason MakeOneDnnInnerProduct(const KernelRequest& request, const OneDnnPostOps& posts,
                                      const InnerProduct& shape);

// The int8 matmul with i32 accumulators and an f32 epilogue. Requires a quantized input.
KernelOrReason MakeOneDnnInt8Matmul(const KernelRequest& given, const Int8Step& step,
                                    const InnerProduct& shape);

}  // namespace nnefc::runtime
