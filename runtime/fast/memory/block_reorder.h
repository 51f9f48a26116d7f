#pragma once

#include <memory>

#include "runtime/fast/memory/blocked_format.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime::fast::memory {

// Reorders dense f32 elements in any axis order to a layout with one blocked, zero-padded axis, or back
// (filters to packed layouts, images to nChw16c). Returns null for other layouts and if vector kernels are
// unavailable.
std::shared_ptr<const kernels::Kernel> MakeBlockReorder(const BlockedFormat& from, const BlockedFormat& to);

}  // namespace nnefc::runtime::fast::memory
