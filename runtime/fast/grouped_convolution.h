// Convolutions of groups of channels in tiles of registers, of images with their channels in blocks.
#pragma once

#include <optional>

#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// Of a GroupConvolution; nothing where its groups do not fill registers, its windows are not three pixels
// wide, the processor has none of our loops or one of the posts has no translation.
std::optional<PreparedKernel> MakeGroupedConvolution(const KernelRequest& request);

}  // namespace nnefc::runtime
