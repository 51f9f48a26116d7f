#pragma once

#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/semantics/checked_document.h"

namespace nnefc::print {

// True if the standard library does not declare the node's operation.
bool IsCustom(const ir::Node& node, const CheckedDocument& ratified, const SymbolTable& symbols);

// Declares the custom primitives of a graph and its bodies, one `fragment ..;` a line in the
// order of their first use, as far as their nodes tell the types; empty if there
// are none.
std::string CustomDeclarations(const ir::Graph& graph, const CheckedDocument& ratified,
                               const SymbolTable& symbols);

}  // namespace nnefc::print
