// Max and average pooling of f32 images in nChw16c layout, vectorised along the channel block.
#pragma once

#include "runtime/kernels/implementation.h"
#include "runtime/kernels/windows/window.h"

namespace nnefc::runtime::fast::pointwise {

// The operation on the elements of a window.
enum class PoolingKind : uint8_t {
  kMaximum,
  kAverageExcludingPadding,  // divides by the number of window elements inside the input
  kAverageIncludingPadding,  // includes the padding
};

// The implementation that pools input 0, reordered to nChw16c first if it is row-major: the reason why a
// request is not supported (empty if it is), the cost, and the kernel.
kernels::Reason BlockedPoolingApplies(const kernels::KernelRequest& request, PoolingKind pooled,
                                      const kernels::Window& window);
kernels::Cost BlockedPoolingCost(const kernels::KernelRequest& request);
kernels::PreparedKernel MakeBlockedPooling(const kernels::KernelRequest& request, PoolingKind pooled,
                                           const kernels::Window& window);

}  // namespace nnefc::runtime::fast::pointwise
