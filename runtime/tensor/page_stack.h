#pragma once

#include <cstddef>
#include <memory>

namespace nnefc::runtime {

// Memory of what lives as long as a plan does: pieces behind one another, in pages that the system gives
// where they are first written. Nothing is rounded up to pages but the whole, which large ones make fast to
// find.
class PageStack {
 public:
  // A piece and what keeps it alive.
  struct Piece {
    std::byte* data = nullptr;
    std::shared_ptr<const void> owner = nullptr;
  };
  // Zeros, aligned to kTensorAlignment; null if memory is short.
  Piece Take(size_t size);
  // Asks for large pages where the pieces so far fill them; before they are written.
  void UseLargePages();

 private:
  class Slab;

  std::shared_ptr<Slab> slab_;
  size_t used_ = 0;   // of the slab
  size_t large_ = 0;  // so much of it, from its beginning, is in large pages
};

}  // namespace nnefc::runtime
