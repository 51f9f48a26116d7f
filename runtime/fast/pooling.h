// MaxPool and AvgPool, and the equivalent ReduceMean and ReduceMax over all pixels of blocked channels.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/fast/pointwise/blocked_pooling.h"
#include "runtime/kernels/kernel.h"
#include "runtime/kernels/reason.h"
#include "runtime/kernels/window.h"

namespace nnefc::runtime::fast {

pointwise::PoolingKind PoolingKindOf(const kernels::KernelRequest& request);
kernels::Window PoolingWindowOf(const kernels::KernelRequest& request);

// The window of a pooling by spatial axis.
struct PoolingDims {
  std::vector<int64_t> strides, kernel, before, after;
};
// Returns nothing for dilated windows, and for averages of windows that end after the padding.
kernels::OrReason<PoolingDims> PoolingDimsOf(const kernels::KernelRequest& request);

// The condition of maxima of quantized values.
kernels::Reason Int8MaxApplies(const kernels::KernelRequest& request);
// Returns the reason if a reduction does not have all pixels of each channel.
kernels::Reason ReducesPixels(const kernels::KernelRequest& request);

}  // namespace nnefc::runtime::fast
