#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/support/allocation.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc::runtime {

// Alignment of every value in the arena: a cache line, a vector register.
inline constexpr size_t kArenaAlignment = kTensorAlignment;

// Some bytes of a value, and when they are needed.
struct ArenaPart {
  size_t offset = 0;
  size_t bytes = 0;
  int64_t first = 0;
  int64_t last = 0;
};

// A value that needs `bytes` from step `first` to step `last`, both included; where it has parts, these alone
// at their steps, which lie within the others.
struct ArenaRequest {
  size_t bytes = 0;
  int64_t first = 0;
  int64_t last = 0;
  std::vector<ArenaPart> parts = {};
};

// Where each request lies in one allocation of `size` bytes.
struct ArenaPlan {
  std::vector<size_t> offsets;
  size_t size = 0;
};

// Places the requests so that what is needed at the same step does not overlap, the better of two ways: in
// order of `first`, by whole values, and, of some thousands, by size, where what lies behind the last part of
// a value may lie outside. Nothing if the sum does not fit size_t.
std::optional<ArenaPlan> PlanArena(llvm::ArrayRef<ArenaRequest> requests);

// An allocation, uninitialised.
class Arena {
 public:
  Arena() = default;
  // Aligned to kArenaAlignment; nothing if memory is short.
  static std::optional<Arena> Allocate(size_t size);
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;
  ~Arena();

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace nnefc::runtime
