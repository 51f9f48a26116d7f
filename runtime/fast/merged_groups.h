#pragma once

#include <cstdint>
#include <memory>

#include "runtime/fast/dnnl_layout.h"

namespace nnefc::runtime {

// Several groups of a convolution as one, whose filter has zeros where inputs of a group meet outputs of
// another. Tiles of AMX multiply 32 inputs by 16 outputs at a time: narrow groups leave most of them empty,
// and oneDNN multiplies those without tiles.

// How many groups are best merged in one, 1: they are better left alone.
int64_t GroupsToMerge(int64_t groups, int64_t inputs_of_group, int64_t outputs_of_group);

// The extents of a filter [groups, outputs, inputs, spatial..] of which so many groups are merged: without
// the axis of groups where one is left.
Shape MergedFilter(llvm::ArrayRef<int64_t> filter, int64_t merged);

// From such a row-major filter to the order of `target`, with zeros between. Null where oneDNN has no
// reorder.
std::shared_ptr<const Kernel> MakeMergedFilterReorder(llvm::ArrayRef<int64_t> filter, int64_t merged,
                                                      const dnnl::memory::desc& target);

}  // namespace nnefc::runtime
