#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "compiler/expand/print/naming.h"
#include "compiler/ir/graph.h"
#include "compiler/semantics/check_document.h"

namespace nnefc::expand::print {

// The operations by which a document has those of a graph.
enum class DocumentForm : uint8_t {
  kStandard,
  kTract,  // calls of tract's registries where tract does not read the standard operation
};

// Prints an expanded graph as a flat ratified document that passes the checker and expands to itself byte for
// byte: one operation per line, attributes that differ from the default, literals in place of `constant`
// nodes of shape []. Bodies of `if_else` and `tensor_iterator` become flat fragments, one for all identical
// bodies. Names, order and defaults are the library's; `names` maps the names of tensors.
std::string PrintFlatDocument(const ir::Graph& graph, const semantics::StandardLibrary& library,
                              const SymbolTable& symbols, const PrintedNames& names,
                              DocumentForm form = DocumentForm::kStandard);
std::string PrintFlatDocument(const ir::Graph& graph, const semantics::StandardLibrary& library,
                              const SymbolTable& symbols);

// Prints the document with a fragment for each repeated block of operations (repeated_blocks.h). It expands
// to the same graph with other names of the tensors within fragments, and adds these tensors to
// `inner_names`. Without repeated blocks, it is flat.
std::string PrintDocumentWithFragments(const ir::Graph& graph, const semantics::StandardLibrary& library,
                                       const SymbolTable& symbols, const PrintedNames& names,
                                       DocumentForm form, std::set<std::string>& inner_names);

// One line of that document's body, and its node.
struct FlatStatement {
  ir::NodeId node;
  std::string text;
};
// Returns the lines of its body in order.
std::vector<FlatStatement> PrintFlatStatements(const ir::Graph& graph,
                                               const semantics::StandardLibrary& library,
                                               const SymbolTable& symbols, const PrintedNames& names);

}  // namespace nnefc::expand::print
