// Convolutions of each channel by a filter of its own, in tiles of registers, of images with their channels
// in blocks.
#pragma once

#include <optional>

#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// Of a GroupConvolution; nothing where it is another, the processor has no lanes or one of the posts has no
// translation.
std::optional<PreparedKernel> MakeDepthwise(const KernelRequest& request);

}  // namespace nnefc::runtime
