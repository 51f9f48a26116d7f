#pragma once

#include "compiler/raise/node_raising.h"

namespace nnefc::raise {

// True if input `index` has integers and the document is for tract, which computes with them.
bool HasIntegerArithmetic(const NodeRaising& n, int32_t index = 0);
// Requires scalars, or integers in a document for tract.
void RequireNumbers(NodeRaising& n, int32_t index = 0);
// Returns integers in the range of the element type `type`: those beyond wrap around. Scalars remain.
OutputPort InRangeOf(NodeRaising& n, ElementType type, OutputPort port);
// Returns the product. tract has no square of integers, to which it turns the product of a tensor and itself.
OutputPort Product(NodeRaising& n, OutputPort x, OutputPort y);

}  // namespace nnefc::raise
