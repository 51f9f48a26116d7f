#pragma once

#include <vector>

#include "compiler/raise/node_raising.h"

namespace nnefc::raise {

// Finds the convolutions and matrix multiplications whose only use adds a constant for each channel (the
// bias of `conv`, `deconv` and `linear`) or, if batch normalizations are folded, is one.
void FindAbsorbed(RaiseState& state, llvm::ArrayRef<ir::NodeId> order, const std::vector<bool>& live);

}  // namespace nnefc::raise
