#pragma once

#include "runtime/fast/gemm/inner_product_shape.h"
#include "runtime/fast/post_ops.h"
#include "runtime/onednn/dnnl_kernel.h"

namespace nnefc::runtime {

std::optional<PreparedKernel> MakeInnerProduct(const KernelRequest& request, const DnnPostOps& posts,
                                               const InnerProduct& shape);
// Prepares the matmul of one row with a constant matrix [outputs, inputs] in place, without packing. Outputs
// are axis `channel_axis` of the result. Returns nothing for matrices that fit into a core's cache, and for
// unsupported post-ops.
std::optional<PreparedKernel> MakeGemv(const KernelRequest& request, const InnerProduct& shape,
                                       int64_t channel_axis);
// Prepares the int8 matmul with i32 accumulators and an f32 epilogue. Returns nothing if the input is not
// quantized.
std::optional<PreparedKernel> MakeInt8InnerProduct(const KernelRequest& given, const InnerProduct& shape);

}  // namespace nnefc::runtime
