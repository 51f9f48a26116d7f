#pragma once

#include "compiler/expand/expand.h"
#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc::expand::provisional {

// Chooses the numbering of the coordinates in a provisional document. A coordinate is a position along each
// axis of a window (P 4.3.3); a tensor stores it as one number, row-major within the window. If coordinates
// of windows of several sizes meet, by `concat`, by `select`, or in a `sample` with another window, all are
// numbered within one window that covers each of them. The operations with other windows then have the
// attribute `index_size`. This has no ratified form.
void NumberCoordinates(ir::Graph& graph, Purpose purpose, Emitter& emitter);

}  // namespace nnefc::expand::provisional
