#pragma once

#include <memory>

#include "llvm/ADT/SmallVector.h"
#include "runtime/fast/memory/blocked_format.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime::fast::memory {

// An axis of a reorder, or several contiguous ones, with strides on both sides.
struct ReorderLoop {
  int64_t extent, from, to;
};
// Removes axes of extent 1, and merges axes that are contiguous on both sides.
llvm::SmallVector<ReorderLoop, 4> JoinedLoops(llvm::SmallVector<ReorderLoop, 4> loops);

// Copies f32 elements to another order of their axes. Each side has a contiguous axis; returns null if it has
// none, if the axes are in the same order, and if vector kernels are unavailable.
std::shared_ptr<const kernels::Kernel> MakePlainReorder(const llvm::SmallVector<ReorderLoop, 4>& axes);
// The same between layouts without blocks or padding, such as row-major and NHWC.
std::shared_ptr<const kernels::Kernel> MakePlainReorder(const BlockedFormat& from, const BlockedFormat& to);

}  // namespace nnefc::runtime::fast::memory
