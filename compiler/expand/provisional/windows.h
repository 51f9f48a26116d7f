#pragma once

#include <string_view>

#include "compiler/expand/provisional/adapter.h"

namespace nnefc::expand::provisional {

// Completes `size`, `stride` and `dilation` with 1, and `padding` with the computed one (P 4.3), and raises
// the operands to one rank. AdaptBox is for windows over all axes, AdaptConv for windows over the spatial
// axes.
bool AdaptBox(Adapter& adapter, std::string_view operation);
bool AdaptConv(Adapter& adapter, std::string_view operation);

}  // namespace nnefc::expand::provisional
