#pragma once

#include "compiler/raise/node_raising.h"

namespace nnefc::raise {

// True for an input of integers in a document for tract.
bool HasIntegerArithmetic(NodeRaising& n, int32_t index = 0);
// Requires scalars, or integers in a document for tract.
void RequireNumbers(NodeRaising& n, int32_t index = 0);
// Returns integers in the range of the element type `type`: those beyond wrap around. Scalars remain.
OutputPort InRangeOf(NodeRaising& n, ElementType type, OutputPort port);
// Returns the product. tract has no square of integers, and computes the product of a tensor and itself as
// one.
OutputPort Product(NodeRaising& n, OutputPort x, OutputPort y);

}  // namespace nnefc::raise
