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

// Returns the packed filter layout: groups of inputs by kBlockColumns outputs, tap by tap within an output
// tile. If `has_sums`, the negated weight sums of the outputs follow all tiles.
tensor::Layout FilterOfTiles(llvm::ArrayRef<int64_t> filter, size_t output_axis, int64_t inputs_together,
                             bool has_sums, memory::BlockedLayout::Form form);
// Returns the depthwise filter layout: kBlockColumns channels per tap.
tensor::Layout DepthwiseFilter(llvm::ArrayRef<int64_t> filter, memory::BlockedLayout::Form form);

}  // namespace nnefc::runtime::fast::int8
