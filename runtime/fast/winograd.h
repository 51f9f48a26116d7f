// Convolutions by 3x3 filters in fewer multiplications, of images with their channels in blocks: some tiles
// of an image at a time are transformed, multiplied with the transformed filter in tiles of registers and
// transformed back while a core's cache holds them.
#pragma once

#include <optional>

#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// Of a Convolution; nothing where it or the precision does not allow it, the direct way is as fast, the
// processor has no lanes, or one of the posts has no translation.
std::optional<PreparedKernel> MakeWinograd(const KernelRequest& request);

}  // namespace nnefc::runtime
