#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/support/allocation.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc::runtime::tensor {

// The alignment of all values in the arena: a cache line or 512-bit vector.
inline constexpr size_t kArenaAlignment = kTensorAlignment;

// A byte range of a value, with the first and last step that need it.
struct ArenaPart {
  size_t offset = 0;
  size_t bytes = 0;
  int64_t first = 0;
  int64_t last = 0;
};

// A value that is live from step `first` to step `last`, inclusive. If `parts` is not empty, only these byte
// ranges are live, each during its own steps within that interval.
struct ArenaRequest {
  size_t bytes = 0;
  int64_t first = 0;
  int64_t last = 0;
  std::vector<ArenaPart> parts = {};
};

// The offset of each request in one allocation of `size` bytes.
struct ArenaPlan {
  std::vector<size_t> offsets;
  size_t size = 0;
};

// Assigns offsets so that ranges live at the same step do not overlap. Returns the smaller of two plans:
// whole values in order of `first`, and, for up to 2000 requests, parts by decreasing size. With parts, bytes
// that no part needs may lie past the end of the arena. Returns nothing if the total size overflows size_t.
std::optional<ArenaPlan> PlanArena(llvm::ArrayRef<ArenaRequest> requests);

// An uninitialised allocation.
class Arena {
 public:
  Arena() = default;
  // Allocates memory aligned to kArenaAlignment. Returns nothing on failure.
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

}  // namespace nnefc::runtime::tensor
