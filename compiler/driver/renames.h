#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc::driver {

// Names of inputs and outputs with the names that replace them, all at once: two of them may be swapped.
using Renames = std::vector<std::pair<std::string, std::string>>;

// Returns the name that replaces `name`, or `name` itself.
const std::string& NewName(const Renames& renames, const std::string& name);

// Renames inputs and outputs of a graph. Emits an error and returns false for a name of no input or output,
// and for a new name that another one has.
[[nodiscard]] bool RenamePorts(ir::Graph& graph, const Renames& renames, Emitter& emitter);

}  // namespace nnefc::driver
