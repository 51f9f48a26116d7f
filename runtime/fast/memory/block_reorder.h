#pragma once

#include <memory>

#include "runtime/kernels/kernel.h"
#include "runtime/onednn/onednn.h"

namespace nnefc::runtime {

// Reorders dense f32 elements in any axis order to a layout with one blocked, zero-padded axis, or back
// (filters to packed layouts, images to nChw16c). Returns null for other layouts and if vector kernels are
// unavailable.
std::shared_ptr<const Kernel> MakeBlockReorder(const dnnl::memory::desc& from, const dnnl::memory::desc& to);

}  // namespace nnefc::runtime
