#pragma once

#include <cstdint>
#include <limits>

#include "compiler/transform/graph.h"

namespace nnefc::transform::middle {

struct UnrollOptions {
  // The largest numbers of nodes that unrolled loops become: iterations times nodes of the body.
  int64_t max_of_loop = std::numeric_limits<int64_t>::max();  // including nested loops
  int64_t max_in_all = std::numeric_limits<int64_t>::max();
  // Copies results of the model that would be a constant, a parameter or another result.
  bool copies_results = false;
};

// Replaces TensorIterators, and Loops of a known number of iterations, by their iterations, those in them
// too. Loops whose body has state, above the limits, or with a result that would have to be copied but is not
// remain.
void UnrollKnownLoops(Graph& graph, UnrollOptions options);

}  // namespace nnefc::transform::middle
