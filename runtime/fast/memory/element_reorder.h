#pragma once

#include <memory>

#include "runtime/fast/memory/blocked_format.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime::fast::memory {

// Reorders f32 or bf16 elements between any blocked formats of equal extents, one element after the other:
// for layouts that no faster kernel supports, such as packed weights where oneDNN is missing. Returns null
// for other types and formats.
std::shared_ptr<const kernels::Kernel> MakeElementReorder(const BlockedFormat& from, const BlockedFormat& to);

}  // namespace nnefc::runtime::fast::memory
