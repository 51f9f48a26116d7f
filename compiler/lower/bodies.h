#pragma once

#include <memory>

#include "compiler/lower/node_lowering.h"

namespace nnefc::lower {

// Lowers a body of the node. Emits errors, such as too deep nesting, and returns null after one.
[[nodiscard]] std::unique_ptr<ir::Graph> LowerBodyOf(NodeLowering& n, const ir::Graph& body);

}  // namespace nnefc::lower
