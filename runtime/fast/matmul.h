// MatMul, with weights in a layout chosen at planning time if the right side is a constant matrix.
#pragma once

#include "runtime/fast/gemm/inner_product_shape.h"
#include "runtime/fast/int8/convolution/int8_convolution.h"
#include "runtime/kernels/kernel.h"
#include "runtime/kernels/reason.h"

namespace nnefc::runtime::fast {

// Returns the sizes of a MatMul of x and a constant matrix or its transpose, or the reason why the request is
// none. All axes of x but the last are rows.
kernels::OrReason<gemm::InnerProduct> ConstantProductOf(const kernels::KernelRequest& request);
// The same, but the reason also excludes matrices whose elements kernels read in compressed form instead of
// packing them.
kernels::OrReason<gemm::InnerProduct> PackedProductOf(const kernels::KernelRequest& request);
// Returns the quantization of an int8 MatMul with a constant matrix (int8::IsQuantized): of the left operand,
// the matrix and the result. Returns a reason if a sum is fused.
kernels::OrReason<int8::Int8Step> Int8MatmulStepOf(const kernels::KernelRequest& given);

}  // namespace nnefc::runtime::fast
