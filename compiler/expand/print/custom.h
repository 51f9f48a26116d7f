#pragma once

#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/semantics/checked_document.h"

namespace nnefc::expand::print {

// Returns true if the standard library does not declare the node's operation.
bool IsCustom(const ir::Node& node, const semantics::CheckedDocument& ratified, const SymbolTable& symbols);

// Returns declarations of the custom primitives in a graph and its bodies, one `fragment ..;` per line in the
// order of first use, with the types that their nodes determine; empty if there are none.
std::string CustomDeclarations(const ir::Graph& graph, const semantics::CheckedDocument& ratified,
                               const SymbolTable& symbols);

}  // namespace nnefc::expand::print
