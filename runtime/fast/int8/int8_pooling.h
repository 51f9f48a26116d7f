#pragma once

#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/kernels/implementation.h"
#include "runtime/kernels/window.h"

namespace nnefc::runtime {

// Prepares max pooling of int8 NHWC images; quantized values preserve the order. Each window must contain at
// least one pixel.
KernelOrReason MakeInt8MaxPool(const KernelRequest& request, const Window& window,
                               const ValueQuantization& codes);

// Prepares global average pooling of int8 NHWC images, with f32 rows as result.
KernelOrReason MakeInt8AveragePool(const KernelRequest& request, const ValueQuantization& codes);

}  // namespace nnefc::runtime
