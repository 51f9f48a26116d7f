#pragma once

#include "tools/nnefc/compare.h"
#include "tools/nnefc/execution.h"
#include "tools/nnefc/lowered_command.h"

namespace nnefc::cli {

// Finds the first transformation after which the outputs exceed the tolerance compared with an untransformed
// model, and prints it with the nodes that it created. Returns the exit code: kInvalid if there is one.
int Bisect(const LoweredCommand& command, const ExecutionOptions& execution, const CompareOptions& compare);

}  // namespace nnefc::cli
