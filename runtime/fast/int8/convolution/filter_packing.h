#pragma once

#include <memory>

#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime::fast::int8 {

// Creates a kernel that quantizes a constant f32 filter of that shape by `form.filter_codes` and packs it in
// the layout `target`, including the sums that compensate a zero point. The elements must be multiples of the
// scales. Returns null if `form` has no scales, and for layouts that are not supported.
std::shared_ptr<const kernels::ConstantKernel> MakeFilterPacking(llvm::ArrayRef<int64_t> shape,
                                                                 const memory::BlockedLayout::Form& form,
                                                                 const memory::BlockedFormat& target);

}  // namespace nnefc::runtime::fast::int8
