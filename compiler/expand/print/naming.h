#pragma once

#include <map>
#include <string>
#include <string_view>

#include "compiler/ir/graph.h"
#include "compiler/support/symbol.h"
#include "compiler/syntax/ast.h"
#include "llvm/ADT/StringSet.h"

namespace nnefc {

// What a ratified text calls what is called otherwise in the document: a
// provisional name such as `integer`, which is a keyword there, becomes
// `integer_2`, or the first `integer_N` that nothing else is called; tract's `i"conv1.out"`
// becomes `conv1_out`, or the first `conv1_out_N`.
class PrintedNames {
 public:
  // Keeps clear of the names in a graph.
  explicit PrintedNames(const ir::Graph& graph);
  // Also of those in the document that it was expanded from, and of the
  // declarations of the ratified library.
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

}  // namespace nnefc
