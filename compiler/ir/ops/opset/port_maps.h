#pragma once

#include <string>

#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir {

// What If, TensorIterator and Loop have in common.

// The node in messages: "`scan` (TensorIterator)"; "`TensorIterator`" if it has no name.
std::string LayerText(const Node& node);

// Checks that the port map of a body names inputs and outputs of the node and
// Parameters and Results of the body, feeds each Parameter once and gives each
// output once. `special` allows the entries of Loop that belong to no port.
bool CheckPortMap(OpContext& op, size_t body, bool special);
// The output of the body that a Result of it shows.
const Output& BodyResult(const Graph& graph, int32_t result);
// The element type of a Parameter of the body.
ElementType BodyParameterType(const Graph& graph, int32_t parameter);
// Gives a Parameter of the body the shape; emits kBodyType if the element type
// differs from that which is given.
bool FeedParameter(OpContext& op, size_t body, int32_t parameter, ElementType type,
                   const PartialShape& shape);
// How deep bodies are nested in the bodies of the node: 1 if in none.
int NestingHeight(const Node& node);

}  // namespace nnefc::ir
