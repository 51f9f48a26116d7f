// Depthwise convolutions of quantized images with f32 filters, as in networks whose exporter did not find the
// filters to quantize. They are computed in f32, without steps that convert images and results.
#pragma once

#include "runtime/kernels/implementation.h"

namespace nnefc::runtime::fast::int8 {

// Whether the table of this implementation serves a request: the images are quantized, the filter is not.
kernels::Reason ServesMixedDepthwise(const kernels::KernelRequest& given);
// The implementation. Results are f32 images in nChw16c, or quantized ones in NHWC.
kernels::Reason MixedDepthwiseApplies(const kernels::KernelRequest& given);
kernels::KernelOrReason MakeMixedDepthwise(const kernels::KernelRequest& given);
// The implementation for quantized filters, whose numbers stay f32, where the window moves along rows.
kernels::Reason MixedDepthwiseRowsApply(const kernels::KernelRequest& given);
kernels::Cost MixedDepthwiseRowsCost(const kernels::KernelRequest& given);
kernels::KernelOrReason MakeMixedDepthwiseRows(const kernels::KernelRequest& given);

}  // namespace nnefc::runtime::fast::int8
