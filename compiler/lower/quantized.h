#pragma once

#include "compiler/lower/node_lowering.h"
#include "compiler/lower/table.h"

namespace nnefc::lower {

// Lowers a node whose inputs or results have quantized types (LowerOptions::quantized): as tract computes it,
// number for number, where tract has the operation in quantized values; elsewhere `plain` computes in
// numbers, which become quantized values. A tensor of such a type is lowered to the numbers that its values
// stand for. False if the node has no such input or result: nothing was done.
bool LowerQuantized(NodeLowering& n, LowerFunction plain);

}  // namespace nnefc::lower
