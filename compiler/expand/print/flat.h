#pragma once

#include <string>

#include "compiler/ir/graph.h"
#include "compiler/semantics/checked_document.h"

namespace nnefc {

// Prints an expanded graph as a flat ratified document that checks, and
// expands to itself byte for byte: one operation a line, attributes that differ
// from the default, literals in place of `constant` nodes of shape [].
// `ratified` is the ratified standard library (names, order, defaults).
std::string PrintFlatDocument(const ir::Graph& graph, const CheckedDocument& ratified,
                              const SymbolTable& symbols);

}  // namespace nnefc
