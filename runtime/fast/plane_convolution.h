// Convolutions of few outputs, which fill no block of channels: pixels of a row in registers, that each
// output multiplies by a number (lanes/plane_tile.h). What windows of some rows see lies in a core's cache, a
// plane for each channel with the border around it; results are row-major.
#pragma once

#include <optional>

#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// Of a Convolution along one or two axes, of which the border is multiplied as zeros: who calls this takes no
// filter of infinities there. Nothing for many outputs, few pixels or taps that are far apart, where the
// processor has no lanes or one of the posts has no translation.
std::optional<PreparedKernel> MakePlaneConvolution(const KernelRequest& request);

}  // namespace nnefc::runtime
