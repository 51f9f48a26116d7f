#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "llvm/ADT/ArrayRef.h"

namespace nnefc::transform {

// The indices of some that wait for each other in a circle: the first runs
// before the second, .., the last before the first.
struct Cycle {
  std::vector<size_t> members;
};

// A topological order of `names` that depends on names and edges alone, not on
// how they are numbered. An edge is (earlier, later). Roots, then what follows
// each, are visited depth first in the order of names, and whatever is left is put
// in front of what was left before: of S -> {A, B, C} -> F comes S C B A F.
std::variant<std::vector<size_t>, Cycle> DeterminedOrder(llvm::ArrayRef<std::string> names,
                                                         llvm::ArrayRef<std::pair<size_t, size_t>> edges);

}  // namespace nnefc::transform
