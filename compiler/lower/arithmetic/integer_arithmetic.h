#pragma once

#include <optional>
#include <vector>

#include "compiler/lower/node_lowering.h"

namespace nnefc::lower {

// Lowers `cast<integer>` of arithmetic with integers that were cast to scalars (the language has no integer
// arithmetic, R 4.2), of their padding, or of a quotient or mean of integers. Quotients, means and powers may
// be rounded toward zero. The result is computed in integers and exact even where f32 is not. Returns nothing
// for any other cast.
std::optional<OutputPort> LowerInIntegers(NodeLowering& cast);

// Returns the operands of `node` as integers if all of them are integers that were cast to scalars.
std::optional<std::vector<OutputPort>> IntegerOperands(NodeLowering& n, const ir::Node& node);

}  // namespace nnefc::lower
