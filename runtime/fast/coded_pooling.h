#pragma once

#include <optional>

#include "runtime/fast/dnnl_layout.h"
#include "runtime/kernels/kernel.h"
#include "runtime/kernels/window.h"

namespace nnefc::runtime {

// Maxima of images in codes of 8 bits, with channels behind the pixels: larger codes are of larger numbers.
// Nothing of windows of three axes. Each window sees a pixel.
std::optional<PreparedKernel> MakeCodedMaxPool(const KernelRequest& request, const Window& window,
                                               const DnnCodes& codes);

// Means over all pixels of images with their channels behind the pixels, as rows of numbers.
std::optional<PreparedKernel> MakeCodedMean(const KernelRequest& request, const DnnCodes& codes);

}  // namespace nnefc::runtime
