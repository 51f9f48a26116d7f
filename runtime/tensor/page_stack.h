#pragma once

#include <cstddef>
#include <memory>

namespace nnefc::runtime::tensor {

// A bump allocator for memory with the lifetime of a plan. Allocations are contiguous in zero pages that the
// system provides on first write. Only slabs are rounded up to pages, and large pages reduce TLB misses.
class PageStack {
 public:
  // An allocation and its owner.
  struct Piece {
    std::byte* data = nullptr;
    std::shared_ptr<const void> owner = nullptr;
  };
  // Returns zeroed memory aligned to kTensorAlignment, or null on failure.
  Piece Take(size_t size);
  // Requests large pages for the range allocated so far. Call it before the memory is written.
  void UseLargePages();

 private:
  class Slab;

  std::shared_ptr<Slab> slab_;
  size_t used_ = 0;   // bytes used in the slab
  size_t large_ = 0;  // bytes at the start of the slab with large pages requested
};

}  // namespace nnefc::runtime::tensor
