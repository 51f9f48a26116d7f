#pragma once

#include <optional>
#include <string>

#include "compiler/ir/graph.h"
#include "compiler/support/context.h"

namespace nnefc::transform {

// Determines missing inputs and outputs of `scope` entries from the first instance of each, and returns the
// configuration text with them:
//
// - inputs: for each external tensor, the inputs inside the scope that read it;
// - outputs: the outputs that are read outside, and those without consumers, except constants.
//
// Nodes are identified by the part of their names after the scope; it must be unique in every instance. All
// lists and keys are sorted. Emits diagnostics and returns nothing on errors, including an instance that is
// not in the graph.
[[nodiscard]] std::optional<std::string> UpdateConfiguration(const ir::Graph& graph, FileId file,
                                                             Context& context);

}  // namespace nnefc::transform
