#pragma once

#include <string_view>

#include "compiler/expand/adapter.h"

namespace nnefc::expand {

// Completes `size`, `stride` and `dilation` with 1, `padding` with what is
// calculated (P 4.3), and raises the operands to one rank: of windows over all
// axes, and over the spatial ones.
bool AdaptBox(Adapter& adapter, std::string_view operation);
bool AdaptConv(Adapter& adapter, std::string_view operation);

}  // namespace nnefc::expand
