#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace nnefc {

// The alignment, in bytes, of elements that vector instructions read: one cache line.
inline constexpr size_t kTensorAlignment = 64;

// The size of a huge page (2 MiB). With 4 KiB pages, TLB misses and a prefetcher that stops at each page
// boundary cost 5 to 10 % of the time of matrix multiplications by weights.
inline constexpr size_t kLargePage = size_t{2} << 20;

// Returns the part of an allocation of `size` bytes that is worth huge pages, in bytes: `size` rounded to
// whole huge pages. A last page that would be less than half full is excluded, since it would be resident as
// a whole.
constexpr size_t WorthLargePages(size_t size) {
  return (size + kLargePage / 2) / kLargePage * kLargePage;
}

// Allocates memory aligned to kTensorAlignment, in huge pages where worthwhile. Returns null if memory is
// short. The caller releases it with std::free.
void* AllocateAligned(size_t size);

// An allocator over AllocateAligned, for containers of numerous small items.
template <typename T>
struct AlignedAllocator {
  using value_type = T;

  AlignedAllocator() = default;
  template <typename Other>
  AlignedAllocator(const AlignedAllocator<Other>&) {}

  T* allocate(size_t count) {
    void* data = count <= SIZE_MAX / sizeof(T) ? AllocateAligned(count * sizeof(T)) : nullptr;
    if (data == nullptr) throw std::bad_alloc();
    return static_cast<T*>(data);
  }
  void deallocate(T* data, size_t /*count*/) { std::free(data); }
  friend bool operator==(AlignedAllocator, AlignedAllocator) { return true; }
};

}  // namespace nnefc
