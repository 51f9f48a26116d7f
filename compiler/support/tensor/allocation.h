#pragma once

#include <cstddef>

namespace nnefc {

// Of elements that vector instructions read, in bytes: a line of the cache.
inline constexpr size_t kTensorAlignment = 64;

// Memory at a multiple of kTensorAlignment, in large pages where it fills many; null if it
// is short. Freed by std::free.
void* AllocateAligned(size_t size);

}  // namespace nnefc
