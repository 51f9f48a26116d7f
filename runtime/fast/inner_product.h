// Implementations of matmuls with a constant matrix. Columns of the result are axis `channel_axis`.
#pragma once

#include "runtime/fast/gemm/inner_product_shape.h"
#include "runtime/fast/int8/int8_convolution.h"
#include "runtime/fast/post_ops.h"
#include "runtime/kernels/implementation.h"
#include "runtime/onednn/dnnl_kernel.h"

namespace nnefc::runtime {

// One row times a constant matrix [outputs, inputs] in place, without packing.
Reason GemvApplies(const KernelRequest& request, const InnerProduct& shape);
Cost GemvCost(const KernelRequest& request, const InnerProduct& shape);
KernelOrReason MakeGemv(const KernelRequest& request, const InnerProduct& shape, int64_t channel_axis);

// oneDNN's matmul and inner product.
Cost DnnMatmulCost(const KernelRequest& request, const InnerProduct& shape);
KernelOrReason MakeDnnMatmul(const KernelRequest& request, const DnnPostOps& posts,
                             const InnerProduct& shape);
Cost DnnInnerProductCost(const KernelRequest& request, const InnerProduct& shape);
KernelOrReason MakeDnnInnerProduct(const KernelRequest& request, const DnnPostOps& posts,
                                   const InnerProduct& shape);

// oneDNN's int8 matmul with i32 accumulators and an f32 epilogue. Requires a quantized input.
KernelOrReason MakeDnnInt8Matmul(const KernelRequest& given, const Int8Step& step, const InnerProduct& shape);
// Returns the quantization of a matmul.
OrReason<Int8Step> Int8MatmulStepOf(const KernelRequest& given);

}  // namespace nnefc::runtime
