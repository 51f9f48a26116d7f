// Normalizations of nChw16c images, and of quantized NHWC images.
#pragma once

#include "runtime/fast/pointwise/row_moments.h"
#include "runtime/kernels/implementation.h"

namespace nnefc::runtime::fast::pointwise {

// Creates the kernel of a BatchNormInference with constant parameters.
kernels::KernelOrReason MakeBlockedBatchNorm(const kernels::KernelRequest& request);

// Creates the kernel of an MVN over all pixels of each channel.
// `factor` multiplies the distances from the mean.
kernels::KernelOrReason MakeBlockedMvn(const kernels::KernelRequest& request, const MvnFactor& factor);
// The same for quantized images in NHWC, with f32 results in nChw16c.
kernels::KernelOrReason MakeQuantizedMvn(const kernels::KernelRequest& request, const MvnFactor& factor);

}  // namespace nnefc::runtime::fast::pointwise
