// Max and average pooling of f32 images in nChw16c layout, vectorised along the channel block.
#pragma once

#include <optional>

#include "runtime/kernels/kernel.h"
#include "runtime/kernels/window.h"

namespace nnefc::runtime {

enum class PoolingKind : uint8_t {
  kMaximum,
  kAverageExcludingPadding,  // divides by the number of window elements inside the input
  kAverageIncludingPadding,  // includes the padding
};

// Pools input 0, reordered to nChw16c first if it is row-major and large enough. Returns nothing for other
// layouts or if vector kernels are unavailable.
std::optional<PreparedKernel> MakeBlockedPooling(const KernelRequest& request, PoolingKind pooled,
                                                 const Window& window);

}  // namespace nnefc::runtime
