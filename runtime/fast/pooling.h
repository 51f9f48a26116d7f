// MaxPool and AvgPool, and the equivalent ReduceMean and ReduceMax over all pixels of blocked channels.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/fast/pointwise/blocked_pooling.h"
#include "runtime/kernels/kernel.h"
#include "runtime/kernels/reason.h"
#include "runtime/kernels/windows/window.h"

namespace nnefc::runtime::fast {

// Returns the kind of a MaxPool, an AvgPool or a reduction over pixels.
pointwise::PoolingKind PoolingKindOf(const kernels::KernelRequest& request);
// Returns the window of a MaxPool or AvgPool, with automatic padding resolved.
kernels::Window PoolingWindowOf(const kernels::KernelRequest& request);

// The window of a pooling by spatial axis.
struct PoolingDims {
  std::vector<int64_t> strides, kernel, before, after;
};
// Returns the window of a MaxPool or AvgPool, or the reason if windows are dilated, or are averages and end
// after the padding.
kernels::OrReason<PoolingDims> PoolingDimsOf(const kernels::KernelRequest& request);

// Returns an empty reason if a MaxPool of quantized values is supported.
kernels::Reason Int8MaxApplies(const kernels::KernelRequest& request);
// Returns the reason if a reduction does not have all pixels of each channel.
kernels::Reason ReducesPixels(const kernels::KernelRequest& request);

}  // namespace nnefc::runtime::fast
