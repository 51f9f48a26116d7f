#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace nnefc {

// Of elements that vector instructions read, in bytes: a line of the cache.
inline constexpr size_t kTensorAlignment = 64;

// Memory at a multiple of kTensorAlignment, in large pages where it fills many; null if it
// is short. Freed by std::free.
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
