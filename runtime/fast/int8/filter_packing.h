#pragma once

#include <memory>

#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime::fast::int8 {

// Creates a kernel that packs a quantized filter according to `form` in the layout `target`, including
// compensation sums. Returns null for unknown layouts.
std::shared_ptr<const kernels::ConstantKernel> MakeFilterPacking(llvm::ArrayRef<int64_t> shape,
                                                                 const memory::BlockedLayout::Form& form,
                                                                 const memory::BlockedFormat& target);

}  // namespace nnefc::runtime::fast::int8
