#pragma once

#include <optional>
#include <vector>

#include "compiler/lower/node_lowering.h"

namespace nnefc::lower {

// What `cast<integer>` makes of a sum, difference, product, minimum, maximum,
// negation or absolute value, all of whose operands are integers seen as scalars
// (the language has no other arithmetic, R 4.2), or of a quotient by known ones that is
// rounded toward zero: computed in integers, exact where an f32 is not. Nothing for any other cast.
std::optional<OutputPort> LowerInIntegers(NodeLowering& cast);

// The operands of `node` as integers, where all of them are integers seen as scalars.
std::optional<std::vector<OutputPort>> IntegerOperands(NodeLowering& n, const ir::Node& node);

}  // namespace nnefc::lower
