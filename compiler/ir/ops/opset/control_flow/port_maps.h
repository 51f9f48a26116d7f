#pragma once

#include <string>

#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir::ops::opset {

// Helpers shared by If, TensorIterator and Loop.

// Names the node in messages: "`scan` (TensorIterator)"; "`TensorIterator`" if it has no name.
std::string LayerText(const Node& node);

// Checks that the port map of a body refers to inputs and outputs of the node and to Parameters and Results
// of the body, and that each Parameter and each output occurs once. `special` allows the entries of Loop that
// refer to no port.
[[nodiscard]] bool CheckPortMap(OpContext& op, size_t body, bool special);
// Returns the output that feeds a Result of the body.
const Output& BodyResult(const Graph& graph, int32_t result);
// Returns the element type of a Parameter of the body.
ElementType BodyParameterType(const Graph& graph, int32_t parameter);
// Sets the shape of a Parameter of the body; emits kBodyType if its element type differs from `type`.
[[nodiscard]] bool FeedParameter(OpContext& op, size_t body, int32_t parameter, ElementType type,
                                 const PartialShape& shape);
// Returns the nesting depth of the bodies inside of the node: 1 if they contain no further bodies.
int NestingHeight(const Node& node);

}  // namespace nnefc::ir::ops::opset
