// Depthwise convolution of nChw16c images in whole rows, for small square windows.
#pragma once

#include "runtime/kernels/implementation.h"
#include "runtime/kernels/windows/window.h"

namespace nnefc::runtime::fast::conv {

// Returns an empty reason if simd/conv/depthwise_rows_microkernel.h has a window with these axes.
kernels::Reason HasRowsMicrokernel(const kernels::WindowAxis& rows, const kernels::WindowAxis& columns);
// Returns an empty reason if the implementation supports the request: a GroupConvolution of two spatial axes
// with one input and one output per group, and such a window.
kernels::Reason DepthwiseRowsApply(const kernels::KernelRequest& request);
// Returns whether at least a quarter of the rows of taps are in the border. The kernel multiplies them.
bool HasLargeBorder(const kernels::KernelRequest& request);
// Creates its kernel. Borders are multiplied as zeros, so the caller must exclude infinite filters.
kernels::KernelOrReason MakeDepthwiseRows(const kernels::KernelRequest& request);

}  // namespace nnefc::runtime::fast::conv
