#pragma once

#include <optional>
#include <string>

#include "compiler/ir/graph.h"
#include "compiler/support/context.h"

namespace nnefc::transform {

// Finds the inputs and outputs of the entries of `scope` that lack them, by the
// first instance of each, and returns the text of the configuration with them:
//
// - inputs: for each tensor from outside the inputs inside that read it;
// - outputs: the outputs that are read outside, and those of nodes that nobody
//   reads, constants left out.
//
// Nodes are named by what follows the scope in their names, which must tell one
// node in every instance. Everything is sorted, keys too. Nothing, and
// diagnostics, after mistakes: also where an instance is not in the graph.
[[nodiscard]] std::optional<std::string> UpdateConfiguration(const ir::Graph& graph, FileId file,
                                                             Context& context);

}  // namespace nnefc::transform
