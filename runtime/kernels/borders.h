// Where the border that a Pad puts around its input comes from.
#pragma once

#include <cstdint>

#include "compiler/ir/graph.h"

namespace nnefc::runtime {

// The position of an axis of so many that a position of the output, counted from where the input begins,
// takes its value from.
using BorderSource = int64_t (*)(int64_t position, int64_t extent);

// By the node's mode; null for a constant border.
BorderSource SourceOfBorder(const ir::Node& node);

}  // namespace nnefc::runtime
