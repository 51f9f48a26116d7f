#pragma once

#include "tools/nnefc/arguments/execution.h"
#include "tools/nnefc/arguments/lowered_command.h"
#include "tools/nnefc/commands/compare.h"

namespace nnefc::cli {

// Finds the first transformation after which the outputs exceed the tolerance compared with an untransformed
// model, and prints it with the nodes that it created. Returns the exit code: kInvalid if there is one.
int Bisect(const LoweredCommand& command, const ExecutionOptions& execution, const CompareOptions& compare);

}  // namespace nnefc::cli
