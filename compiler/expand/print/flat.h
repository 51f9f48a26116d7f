#pragma once

#include <string>
#include <vector>

#include "compiler/expand/print/naming.h"
#include "compiler/ir/graph.h"
#include "compiler/semantics/check_document.h"

namespace nnefc {

// Prints an expanded graph as a flat ratified document that checks, and
// expands to itself byte for byte: one operation a line, attributes that differ
// from the default, literals in place of `constant` nodes of shape [].
// Bodies of `if_else` and `tensor_iterator` become fragments, flat as well: one
// for all bodies that are the same. Names, order and defaults are the library's;
// tensors are called as `names` says.
std::string PrintFlatDocument(const ir::Graph& graph, const StandardLibrary& library,
                              const SymbolTable& symbols, const PrintedNames& names);
std::string PrintFlatDocument(const ir::Graph& graph, const StandardLibrary& library,
                              const SymbolTable& symbols);

// One line of that document's body, and the node that it prints.
struct FlatStatement {
  ir::NodeId node;
  std::string text;
};
// The lines of its body in order.
std::vector<FlatStatement> PrintFlatStatements(const ir::Graph& graph, const StandardLibrary& library,
                                               const SymbolTable& symbols, const PrintedNames& names);

}  // namespace nnefc
