#pragma once

#include <memory>

#include "runtime/fast/onednn.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// Copies elements of f32 that are dense in some order of the axes to where one axis lies in blocks, zeros
// behind its last element, or back: filters as tiles of registers take them, images to channels in blocks.
// Null for other layouts, and where the processor has no lanes.
std::shared_ptr<const Kernel> MakeBlockReorder(const dnnl::memory::desc& from, const dnnl::memory::desc& to);

}  // namespace nnefc::runtime
