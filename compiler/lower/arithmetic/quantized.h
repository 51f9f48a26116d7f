#pragma once

#include "compiler/lower/node_lowering.h"
#include "compiler/lower/table.h"

namespace nnefc::lower {

// Lowers a node whose inputs or results have quantized types (LowerOptions::quantized). If tract computes the
// operation in quantized values, the results are bit-exact; otherwise `plain` computes real values, and these
// are quantized. A tensor of a quantized type is lowered to its dequantized values. Returns false, without an
// effect, if no input or result has such a type.
bool LowerQuantized(NodeLowering& n, LowerFunction plain);

}  // namespace nnefc::lower
