#pragma once

#include "compiler/transform/graph.h"

namespace nnefc::transform::middle {

// Puts cells in the place of all steps of recurrent layers in the body of a loop, which `graph`
// views. How many there are now.
int64_t FuseCellsOfBody(Graph& graph, const ir::Body& body);

}  // namespace nnefc::transform::middle
