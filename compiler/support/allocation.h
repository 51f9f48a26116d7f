#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace nnefc {

// Of elements that vector instructions read, in bytes: a line of the cache.
inline constexpr size_t kTensorAlignment = 64;

// Pages in which a processor finds numbers at once: with those of 4 KiB it spends a good part of its time on
// finding them, and fetches none before it is asked for behind the end of one. 5 to 10 % of the time of
// products by weights.
inline constexpr size_t kLargePage = size_t{2} << 20;

// Of so many bytes from the beginning of a large page on, those that are worth such pages: all, but for a
// last page that they fill by less than half, since it would be there as a whole.
constexpr size_t WorthLargePages(size_t size) {
  return (size + kLargePage / 2) / kLargePage * kLargePage;
}

// Memory at a multiple of kTensorAlignment, in large pages where it is worth them; null if it is short. Freed
// by std::free.
void* AllocateAligned(size_t size);

// The same for a container of many small items.
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
