// Max and average pooling of f32 images in nChw16c layout, vectorised along the channel block.
#pragma once

#include "runtime/kernels/implementation.h"
#include "runtime/kernels/window.h"

namespace nnefc::runtime {

enum class PoolingKind : uint8_t {
  kMaximum,
  kAverageExcludingPadding,  // divides by the number of window elements inside the input
  kAverageIncludingPadding,  // includes the padding
};

// Pool input 0, reordered to nChw16c first if it is row-major.
Reason BlockedPoolingApplies(const KernelRequest& request, PoolingKind pooled, const Window& window);
Cost BlockedPoolingCost(const KernelRequest& request);
PreparedKernel MakeBlockedPooling(const KernelRequest& request, PoolingKind pooled, const Window& window);

}  // namespace nnefc::runtime
