// Arrays of exact size between guard pages.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

namespace nnefc::runtime::fast::simd {

// The end of an array that adjoins a page without access.
enum class GuardedEdge : uint8_t { kBegin, kEnd };

// `size` numbers between two pages without access. An access beyond the guarded edge stops the program; a
// write beyond the other edge changes guard bytes, which the destructor checks.
template <typename Number>
class GuardedArray {
  static_assert(std::is_trivially_copyable_v<Number>);

 public:
  GuardedArray(int64_t size, GuardedEdge edge, Number value = {}) : size_(size) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t bytes = static_cast<size_t>(size) * sizeof(Number);
    room_bytes_ = std::max<size_t>((bytes + page - 1) / page, 1) * page;
    map_bytes_ = room_bytes_ + 2 * page;
    void* const map = mmap(nullptr, map_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) std::abort();
    map_ = static_cast<unsigned char*>(map);
    room_ = map_ + page;
    if (mprotect(room_, room_bytes_, PROT_READ | PROT_WRITE) != 0) std::abort();
    std::memset(room_, kGuard, room_bytes_);
    data_ = reinterpret_cast<Number*>(edge == GuardedEdge::kBegin ? room_ : room_ + room_bytes_ - bytes);
    std::fill_n(data_, size, value);
  }
  GuardedArray(GuardedArray&& other) noexcept { Swap(other); }
  GuardedArray& operator=(GuardedArray&& other) noexcept {
    Swap(other);
    return *this;
  }
  ~GuardedArray() {
    if (map_ == nullptr) return;
    const auto* const begin = reinterpret_cast<const unsigned char*>(data_);
    const auto* const end = reinterpret_cast<const unsigned char*>(data_ + size_);
    const auto is_guard = [](unsigned char byte) { return byte == kGuard; };
    EXPECT_TRUE(std::all_of(static_cast<const unsigned char*>(room_), begin, is_guard))
        << "write before the array";
    EXPECT_TRUE(std::all_of(end, static_cast<const unsigned char*>(room_ + room_bytes_), is_guard))
        << "write after the array";
    munmap(map_, map_bytes_);
  }

  int64_t size() const { return size_; }
  Number* data() { return data_; }
  const Number* data() const { return data_; }
  Number* begin() { return data_; }
  Number* end() { return data_ + size_; }
  const Number* begin() const { return data_; }
  const Number* end() const { return data_ + size_; }
  Number& operator[](int64_t index) { return data_[index]; }
  const Number& operator[](int64_t index) const { return data_[index]; }

 private:
  static constexpr unsigned char kGuard = 0xA5;

  void Swap(GuardedArray& other) {
    std::swap(size_, other.size_);
    std::swap(room_bytes_, other.room_bytes_);
    std::swap(map_bytes_, other.map_bytes_);
    std::swap(map_, other.map_);
    std::swap(room_, other.room_);
    std::swap(data_, other.data_);
  }

  int64_t size_ = 0;
  size_t room_bytes_ = 0, map_bytes_ = 0;
  unsigned char *map_ = nullptr, *room_ = nullptr;
  Number* data_ = nullptr;
};

}  // namespace nnefc::runtime::fast::simd
