#pragma once

#include "compiler/transform/graph.h"

namespace nnefc::transform::middle {

// Replaces each Einsum that is a matrix multiplication, as `middle.EinsumToMatMul` does. The others remain.
void ReplaceEinsums(Graph& graph);

}  // namespace nnefc::transform::middle
