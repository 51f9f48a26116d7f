#pragma once

#include <memory>

#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// Creates a kernel that packs a quantized filter according to `form` in the layout `target`, including
// compensation sums. Returns null for unknown layouts.
std::shared_ptr<const ConstantKernel> MakeFilterPacking(llvm::ArrayRef<int64_t> shape,
                                                        const BlockedLayout::Form& form,
                                                        const BlockedFormat& target);

}  // namespace nnefc::runtime
