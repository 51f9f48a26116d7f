// MatMul, with weights in a layout chosen at planning time if the right side is a constant matrix.
#pragma once

#include "runtime/fast/gemm/inner_product_shape.h"
#include "runtime/fast/int8/int8_convolution.h"
#include "runtime/kernels/kernel.h"
#include "runtime/kernels/reason.h"

namespace nnefc::runtime::fast {

// Describes x times a constant matrix or its transpose. All axes of x but the last are rows.
kernels::OrReason<gemm::InnerProduct> ConstantProductOf(const kernels::KernelRequest& request);
// The same for a matrix whose elements are packed, not read in compressed form.
kernels::OrReason<gemm::InnerProduct> PackedProductOf(const kernels::KernelRequest& request);
// Returns the quantization of a matmul.
kernels::OrReason<int8::Int8Step> Int8MatmulStepOf(const kernels::KernelRequest& given);

}  // namespace nnefc::runtime::fast
