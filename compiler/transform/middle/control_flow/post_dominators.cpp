// Immediate post-dominators of a graph.

#include "compiler/transform/middle/control_flow/post_dominators.h"

#include <utility>

namespace nnefc::transform::middle {

PostDominatorTree::PostDominatorTree(size_t size) : entries_(size) {}

void PostDominatorTree::Add(int32_t place, llvm::ArrayRef<int32_t> successors) {
  int32_t parent = successors.empty() ? kExit : successors.front();
  for (int32_t successor : successors.drop_front(successors.empty() ? 0 : 1))
    parent = Meet(parent, successor);
  Entry& added = entries_[static_cast<size_t>(place)];
  const Entry& above = entry(parent);
  added.parent = parent;
  added.depth = above.depth + 1;
  // Myers' skew-binary jump pointers: a jump spans the two jumps before it if these have equal lengths.
  const Entry& jump = entry(above.jump);
  added.jump = above.depth - jump.depth == jump.depth - entry(jump.jump).depth ? jump.jump : parent;
}

// Returns the lowest common ancestor.
int32_t PostDominatorTree::Meet(int32_t a, int32_t b) const {
  if (entry(a).depth < entry(b).depth) std::swap(a, b);
  while (entry(a).depth > entry(b).depth) {
    a = entry(entry(a).jump).depth >= entry(b).depth ? entry(a).jump : entry(a).parent;
  }
  while (a != b) {
    const bool jumps = entry(a).jump != entry(b).jump;
    a = jumps ? entry(a).jump : entry(a).parent;
    b = jumps ? entry(b).jump : entry(b).parent;
  }
  return a;
}

}  // namespace nnefc::transform::middle
