#pragma once

#include "tools/nnefc/execution.h"

namespace nnefc::cli {

// Runs the model once more, by the reference kernels and with every value kept,
// and emits which inputs and weights hold values that are not finite, and the
// first operation that makes one from finite values. True if there are none.
bool CheckFinite(Compilation& compilation, const Execution& prepared);

}  // namespace nnefc::cli
