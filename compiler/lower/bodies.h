#pragma once

#include <memory>

#include "compiler/lower/node_lowering.h"

namespace nnefc::lower {

// Lowers a body of the node; null after a mistake, which was emitted: among
// them that bodies are nested too deep.
[[nodiscard]] std::unique_ptr<ir::Graph> LowerBodyOf(NodeLowering& n, const ir::Graph& body);

}  // namespace nnefc::lower
