// Border modes of Pad.
#pragma once

#include <cstdint>

#include "compiler/ir/graph.h"

namespace nnefc::runtime::kernels {

// Maps a position of the output, relative to the first input element, to a position of an input axis with
// this extent.
using BorderSource = int64_t (*)(int64_t position, int64_t extent);

// Returns the mapping for the node's mode, or null for a constant border.
BorderSource SourceOfBorder(const ir::Node& node);

}  // namespace nnefc::runtime::kernels
