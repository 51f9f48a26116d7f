#pragma once

#include <map>
#include <string>
#include <string_view>

#include "compiler/ir/graph.h"
#include "compiler/support/text/symbol.h"
#include "compiler/syntax/ast.h"
#include "llvm/ADT/StringSet.h"

namespace nnefc::expand::print {

// Names in a ratified text for names that are not valid there. A provisional name such as `integer`, a
// ratified keyword, becomes `integer_2`, or the first free `integer_N`; tract's `i"conv1.out"` becomes
// `conv1_out`, or the first free `conv1_out_N`.
class PrintedNames {
 public:
  // Avoids the names in a graph.
  explicit PrintedNames(const ir::Graph& graph);
  // Also avoids those in the document that it was expanded from, and the declarations of the ratified
  // library.
  PrintedNames(const ir::Graph& graph, const ast::Document& document, const ast::Document& ratified,
               const SymbolTable& symbols);

  std::string_view Of(std::string_view name) const;

 private:
  void Take(const ir::Graph& graph);
  void Take(std::string_view name);
  void Rename(std::string_view name);

  llvm::StringSet<> taken_;
  std::map<std::string, std::string, std::less<>> renamed_;
};

}  // namespace nnefc::expand::print
