#pragma once

#include <cstdint>
#include <memory>

#include "runtime/fast/memory/blocked_format.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime::onednn {

// Merging of convolution groups: the merged filter has zeros between inputs and outputs of different groups.
// AMX tiles multiply 32 inputs by 16 outputs; narrow groups leave most of them empty, and oneDNN does not use
// AMX for them.

// Returns the best number of groups to merge, or 1 for no merging.
int64_t GroupsToMerge(int64_t groups, int64_t inputs_of_group, int64_t outputs_of_group);

// Returns the extents of a filter [groups, outputs, inputs, spatial..] after merging, without the group axis
// if one group remains.
Shape MergedFilter(llvm::ArrayRef<int64_t> filter, int64_t merged);

// Creates a reorder of such a row-major filter to `target`, with zeros between groups. Returns null if oneDNN
// has no reorder.
std::shared_ptr<const kernels::Kernel> MakeMergedFilterReorder(llvm::ArrayRef<int64_t> filter, int64_t merged,
                                                               const fast::memory::BlockedFormat& target);

}  // namespace nnefc::runtime::onednn
