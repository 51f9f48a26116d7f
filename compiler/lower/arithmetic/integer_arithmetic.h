#pragma once

#include <optional>
#include <vector>

#include "compiler/lower/node_lowering.h"

namespace nnefc::lower {

// Lowers `cast<integer>` of arithmetic with integers that were cast to scalars (the language has no integer
// arithmetic, R 4.2), of their padding, of a selection from them, or of a quotient or mean of integers.
// Quotients, means and powers may be rounded toward zero. The result is computed in integers and exact even
// where f32 is not. Returns nothing for any other cast.
std::optional<OutputPort> LowerInIntegers(NodeLowering& cast);

// Returns the integers at a port of the source, or those that a cast made the scalars there.
std::optional<OutputPort> IntegersBefore(const NodeLowering& n, OutputPort source);
// Returns the operands of `node` as integers if all of them are integers, cast to scalars or not, or
// integral constants.
std::optional<std::vector<OutputPort>> IntegerOperands(NodeLowering& n, const ir::Node& node);

}  // namespace nnefc::lower
