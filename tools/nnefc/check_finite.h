#pragma once

#include "tools/nnefc/execution.h"

namespace nnefc::cli {

// Runs the model once more with the reference kernels, keeping every value. Emits an error for each input
// with data that are not finite and for the first operation that computes such a value from finite ones, and
// a note for each constant with such elements, since masks and bounds contain infinities on purpose.
void CheckFinite(Compilation& compilation, const ExecutionOptions& options, const Execution& prepared);

}  // namespace nnefc::cli
