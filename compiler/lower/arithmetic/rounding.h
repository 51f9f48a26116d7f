#pragma once

#include "compiler/lower/node_lowering.h"

namespace nnefc::lower {

// Adds an exact floor(x + 0.5) (R 4.2.1). In f32 the sum itself would round, so that 0.49999997 became 1 and
// 8388609 became 8388610. Infinities and NaN are preserved.
OutputPort RoundHalfUp(NodeLowering& n, OutputPort x);

// Adds the binary logarithm of `x`, an integer if `x` is a power of two. A quotient of natural logarithms
// would yield log2(8192) = 13.000001.
OutputPort Log2(NodeLowering& n, OutputPort x);

}  // namespace nnefc::lower
