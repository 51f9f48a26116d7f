// MatMul, with weights in a layout chosen at planning time if the right side is a constant matrix.
#pragma once

#include "runtime/fast/gemm/inner_product_shape.h"
#include "runtime/fast/int8/int8_convolution.h"
#include "runtime/kernels/kernel.h"
#include "runtime/kernels/reason.h"

namespace nnefc::runtime {

// Describes x times a constant matrix or its transpose. All axes of x but the last are rows.
OrReason<InnerProduct> ConstantProductOf(const KernelRequest& request);
// The same for a matrix whose elements are packed, not read in compressed form.
OrReason<InnerProduct> PackedProductOf(const KernelRequest& request);
// Returns the quantization of a matmul.
OrReason<Int8Step> Int8MatmulStepOf(const KernelRequest& given);

}  // namespace nnefc::runtime
