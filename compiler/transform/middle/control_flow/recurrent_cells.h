#pragma once

#include "compiler/transform/graph.h"

namespace nnefc::transform::middle {

// Replaces all steps of recurrent layers in the loop body `body`, viewed by `graph`, by cells. Returns the
// number of cells created.
int64_t FuseCellsOfBody(Graph& graph, const ir::Body& body);

}  // namespace nnefc::transform::middle
