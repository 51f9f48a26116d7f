#pragma once

#include <cstdint>
#include <vector>

#include "llvm/ADT/ArrayRef.h"

namespace nnefc::transform::middle {

// The tree of immediate post-dominators of an acyclic graph: the parent of a vertex is the first vertex that
// all its paths to the exit share. It is built from the exit backwards, in O(log n) time per edge.
class PostDominatorTree {
 public:
  static constexpr int32_t kExit = 0;

  // Creates a tree of vertices 0 (the exit) to `size` - 1.
  explicit PostDominatorTree(size_t size);

  // Adds a vertex after all of its successors.
  void Add(int32_t place, llvm::ArrayRef<int32_t> successors);
  int32_t parent(int32_t place) const { return entries_[static_cast<size_t>(place)].parent; }

 private:
  struct Entry {
    int32_t parent = kExit;
    int32_t depth = 0;
    int32_t jump = kExit;  // a distant ancestor, a shortcut for walks
  };
  const Entry& entry(int32_t place) const { return entries_[static_cast<size_t>(place)]; }
  int32_t Meet(int32_t a, int32_t b) const;

  std::vector<Entry> entries_;
};

}  // namespace nnefc::transform::middle
