#pragma once

#include <optional>

#include "runtime/fast/dnnl_layout.h"
#include "runtime/kernels/kernel.h"
#include "runtime/kernels/window.h"

namespace nnefc::runtime {

// Prepares max pooling of int8 NHWC images; quantized values preserve the order. Returns nothing for three
// spatial axes. Each window must contain at least one pixel.
std::optional<PreparedKernel> MakeCodedMaxPool(const KernelRequest& request, const Window& window,
                                               const DnnCodes& codes);

// Prepares global average pooling of int8 NHWC images, with f32 rows as result.
std::optional<PreparedKernel> MakeCodedMean(const KernelRequest& request, const DnnCodes& codes);

}  // namespace nnefc::runtime
