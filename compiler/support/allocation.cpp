// Allocation of aligned memory.

#include "compiler/support/allocation.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace nnefc {

void* AllocateAligned(size_t size) {
  const size_t large = size < SIZE_MAX / 2 ? WorthLargePages(size) : 0;
  const size_t alignment = large > 0 ? kLargePage : kTensorAlignment;
  if (size > SIZE_MAX - alignment) return nullptr;
  const size_t rounded = (size + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
  // std::aligned_alloc requires a size that is a multiple of the alignment.
  void* data = nullptr;
  if (::posix_memalign(&data, alignment, std::max(rounded, large)) != 0) return nullptr;
  if (large > 0) (void)::madvise(data, large, MADV_HUGEPAGE);
  return data;
}

}  // namespace nnefc
