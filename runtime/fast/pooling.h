// MaxPool and AvgPool, and the equivalent ReduceMean and ReduceMax over all pixels of blocked channels.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/fast/pointwise/blocked_pooling.h"
#include "runtime/kernels/kernel.h"
#include "runtime/kernels/reason.h"
#include "runtime/kernels/window.h"

namespace nnefc::runtime {

PoolingKind PoolingKindOf(const KernelRequest& request);
Window PoolingWindowOf(const KernelRequest& request);

// The window of a pooling by spatial axis.
struct PoolingDims {
  std::vector<int64_t> strides, kernel, before, after;
};
// Returns nothing for dilated windows, and for averages of windows that end after the padding.
OrReason<PoolingDims> PoolingDimsOf(const KernelRequest& request);

// The condition of maxima of quantized values.
Reason Int8MaxApplies(const KernelRequest& request);
// Returns the reason if a reduction does not have all pixels of each channel.
Reason ReducesPixels(const KernelRequest& request);

}  // namespace nnefc::runtime
