#pragma once

#include "compiler/expand/expand.h"
#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics.h"

namespace nnefc::expand {

// Decides how the coordinates of a provisional document are numbered. A
// coordinate is a place along each axis of a window (P 4.3.3); a tensor holds it
// as one number, row-major within the window. Where coordinates of windows of
// several sizes meet, by `concat`, by `select`, or in a `sample` whose window is
// another, all are numbered within one window that has room for each: the
// attribute `index_size` of the operations whose own window is not that one.
// This has no ratified form.
void NumberCoordinates(ir::Graph& graph, Purpose purpose, Emitter& emitter);

}  // namespace nnefc::expand
