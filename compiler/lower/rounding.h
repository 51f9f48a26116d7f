#pragma once

#include "compiler/lower/node_lowering.h"

namespace nnefc::lower {

// Adds floor(x + 0.5) (R 4.2.1), computed exactly: in f32 the sum itself rounds, so that 0.49999997 would
// become 1 and 8388609 become 8388610. An infinity and a NaN stay.
OutputPort RoundHalfUp(NodeLowering& n, OutputPort x);

// Adds the binary logarithm of `x`, an integer where `x` is a power of two: as a quotient of natural
// logarithms log2(8192) would be 13.000001.
OutputPort Log2(NodeLowering& n, OutputPort x);

}  // namespace nnefc::lower
