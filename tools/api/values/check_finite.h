#pragma once

#include "tools/api/program.h"

namespace nnefc::api {

// Runs the prepared model again with the reference kernels and checks all values. Emits an error for each
// input with non-finite data and for the first operation that computes such a value from finite ones. Emits a
// note for each constant with non-finite elements, since masks and bounds contain infinities on purpose.
void CheckFinite(Program& program, const RunOptions& options, const Execution& prepared);

}  // namespace nnefc::api
