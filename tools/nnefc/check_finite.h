#pragma once

#include "tools/nnefc/execution.h"

namespace nnefc::cli {

// Runs the model again with the reference kernels and checks all values. Emits an error for each input with
// non-finite data and for the first operation that computes such a value from finite ones. Emits a note for
// each constant with non-finite elements, since masks and bounds contain infinities on purpose.
void CheckFinite(Compilation& compilation, const ExecutionOptions& options, const Execution& prepared);

}  // namespace nnefc::cli
