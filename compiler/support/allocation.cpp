#include "compiler/support/allocation.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

namespace nnefc {

void* AllocateAligned(size_t size) {
  // With pages of 4 KiB a processor spends a good part of its time on finding those of
  // large weights: 5 % of that of transformers.
  constexpr size_t kLargePage = size_t{2} << 20;
  const bool is_large = size >= 2 * kLargePage;
  const size_t alignment = is_large ? kLargePage : kTensorAlignment;
  if (size > SIZE_MAX - alignment) return nullptr;
  const size_t rounded = (size + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
  void* data = std::aligned_alloc(alignment, rounded);
  // A large page at the end would be there as a whole.
  if (data != nullptr && is_large) (void)::madvise(data, rounded / kLargePage * kLargePage, MADV_HUGEPAGE);
  return data;
}

}  // namespace nnefc
