#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "llvm/ADT/ArrayRef.h"

namespace nnefc::transform {

// The indices of a dependency cycle: each member runs before the next, and the last before the first.
struct Cycle {
  std::vector<size_t> members;
};

// Returns a topological order of `names` that depends only on names and edges, not on their indices. An edge
// is (earlier, later). Roots and then successors are visited depth first in the order of names; each finished
// vertex is prepended to the result: S -> {A, B, C} -> F yields S C B A F.
std::variant<std::vector<size_t>, Cycle> DeterminedOrder(llvm::ArrayRef<std::string> names,
                                                         llvm::ArrayRef<std::pair<size_t, size_t>> edges);

}  // namespace nnefc::transform
