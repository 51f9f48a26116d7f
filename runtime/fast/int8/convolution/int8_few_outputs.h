// int8 convolution of few outputs with f32 results, with VNNI.
#pragma once

#include "runtime/fast/int8/convolution/convolution_shape.h"
#include "runtime/fast/int8/convolution/int8_convolution.h"

namespace nnefc::runtime::fast::int8 {

// Returns an empty reason if the shape is supported. Requires VNNI.
kernels::Reason FewOutputDotsApply(const Int8ConvolutionShape& form);
// Returns whether it is faster than a kernel that computes a block of outputs for each pixel.
bool IsFasterThanBlocks(const Int8ConvolutionShape& form);
kernels::KernelOrReason MakeInt8FewOutputs(const kernels::KernelRequest& given, const Int8Step& step,
                                           const Int8ConvolutionShape& form);

}  // namespace nnefc::runtime::fast::int8
