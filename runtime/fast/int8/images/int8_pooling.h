#pragma once

#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/kernels/implementation.h"
#include "runtime/kernels/windows/window.h"

namespace nnefc::runtime::fast::int8 {

// Creates the kernel of max pooling of int8 NHWC images; quantized values preserve the order. Each window
// must contain at least one pixel.
kernels::KernelOrReason MakeInt8MaxPool(const kernels::KernelRequest& request, const kernels::Window& window,
                                        const memory::ValueQuantization& codes);

// Create the kernels of global pooling of int8 NHWC images, with f32 rows as result.
kernels::KernelOrReason MakeInt8AveragePool(const kernels::KernelRequest& request,
                                            const memory::ValueQuantization& codes);
kernels::KernelOrReason MakeInt8GlobalMaxPool(const kernels::KernelRequest& request,
                                              const memory::ValueQuantization& codes);

}  // namespace nnefc::runtime::fast::int8
