// Depthwise convolution with register-tiled microkernels on nChw16c images.
#pragma once

#include "runtime/kernels/implementation.h"

namespace nnefc::runtime::fast::conv {

// Returns an empty reason if the implementation supports the request: a GroupConvolution with one input and
// one output per group.
kernels::Reason DepthwiseApplies(const kernels::KernelRequest& request);
// Returns the number of parts of the lines (result rows) of each plane (a channel block of an image). Threads
// divide the lines of a large image, like preceding and following matmuls; they divide planes otherwise, and
// lines only if there are too few planes.
int64_t DepthwiseLineParts(int64_t images, int64_t planes, int64_t lines, int64_t columns, int threads);
// Creates its kernel.
kernels::KernelOrReason MakeDepthwise(const kernels::KernelRequest& request);

}  // namespace nnefc::runtime::fast::conv
