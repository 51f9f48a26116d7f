// Transposed convolutions whose windows lie side by side (a window of 2x2 or 2x2x2 in steps of 2, say): a
// product of the pixels with a matrix for each place of the window, in tiles of registers, of images with
// their channels in blocks.
#pragma once

#include <optional>

#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// Of a ConvolutionBackpropData with a constant filter; nothing where windows overlap, the processor has no
// lanes or one of the posts has no translation.
std::optional<PreparedKernel> MakeSpreadProduct(const KernelRequest& request);
// Whether it is one of few outputs, which nothing follows in its step.
bool IsSpreadOfFew(const KernelRequest& request);

}  // namespace nnefc::runtime
