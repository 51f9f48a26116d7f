#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "compiler/expand/instances.h"
#include "compiler/expand/print/flat.h"
#include "compiler/expand/print/naming.h"
#include "compiler/ir/graph.h"
#include "compiler/semantics/checked_document.h"
#include "compiler/support/context.h"
#include "compiler/upgrade/element_types.h"
#include "llvm/ADT/DenseMap.h"

namespace nnefc::upgrade {

// The composition that a rewritten document preserves, by index of the fragments and of the graph's
// statements.
struct Choice {
  std::vector<bool> keeps_fragment;
  std::vector<bool> keeps_statement;
  // The replacement of the other statements: the statements of a ratified document's graph, and the indices
  // of these for each old statement.
  const ast::Document* expanded = nullptr;
  std::vector<std::vector<size_t>> pieces;
};

// A provisional document with its expansion.
struct Source {
  const semantics::CheckedDocument& document;
  const semantics::CheckedDocument& ratified;  // the standard library
  const ir::Graph& expanded;
  // The expansion as a flat ratified document, its statements, and for each statement of the graph the flat
  // statements of its expansion.
  const ast::Document& flat;
  const std::vector<expand::print::FlatStatement>& lines;
  std::vector<std::vector<size_t>> flat_statements;
  const std::vector<expand::FragmentInstance>& instances;
  const expand::print::PrintedNames& names;
};

// A tree-to-tree translation of a provisional document to the ratified dialect: types, names, named
// attributes, full-length lists. New nodes have no source range, so that comments stay at their position.
class Rewriter {
 public:
  Rewriter(const Source& source, Context& context);

  std::unique_ptr<ast::Document> Rewrite(const Choice& choice);
  // Rewrites the entries of a graph.quant file, with tensors renamed according to `renamed`.
  std::unique_ptr<ast::Document> RewriteQuantization(const ast::Document& quantization,
                                                     const std::map<std::string, std::string>& renamed);
  // Returns the new name of a fragment, parameter or value.
  std::string_view NameOf(Symbol symbol) { return Text(Rename({symbol, {}}).symbol); }
  // Returns the comments of each fragment that is not preserved, in text order.
  std::vector<std::vector<size_t>> RemovedComments(const Choice& choice) const;

 private:
  using Nodes = std::vector<const ir::Node*>;

  const ast::Document& old() const { return source_.document.ast(); }
  std::string_view Text(Symbol symbol) const { return context_.symbols.Text(symbol); }
  ast::Name Named(std::string_view text) { return {context_.symbols.Intern(text), SourceRange()}; }
  ast::Name Rename(ast::Name name);
  ast::ExprId Add(SourceRange range, ast::ExprNode node) { return out_->exprs.Add({range, node}); }

  std::vector<int32_t> Goners(const Choice& choice) const;
  void AddExtension(std::string_view name);
  ast::Fragment CopyFragment(ast::FragmentId id);
  ast::TypeId CopyType(ast::FragmentId fragment, Symbol identifier, ast::TypeId type, size_t& leaf);
  llvm::ArrayRef<ast::Assignment> CopyBody(llvm::ArrayRef<ast::Assignment> body);
  ast::Graph CopyGraph(const Choice& choice);
  ast::Assignment CopyAssignment(const ast::Assignment& assignment);

  // Returns whether the old document is being copied. Flat documents and quantization files need hardly any
  // translation.
  bool translates() const { return from_ == &old(); }
  ast::ExprId Copy(ast::ExprId id);
  llvm::ArrayRef<ast::ExprId> CopyAll(llvm::ArrayRef<ast::ExprId> items);
  ast::ExprNode CopyComprehension(const ast::ComprehensionExpr& comprehension);
  ast::ExprNode CopyInvocation(ast::ExprId id, const ast::InvocationExpr& invocation);
  void CopyArguments(const ast::InvocationExpr& invocation, const semantics::Signature& called,
                     std::string_view ratified, llvm::SmallVectorImpl<ast::Argument>& arguments);
  bool HasCommentAmong(llvm::ArrayRef<ast::Argument> arguments) const;
  llvm::SmallVector<Symbol, 8> TensorParameters(const semantics::Signature& called,
                                                std::string_view ratified);
  ast::Name ParameterName(std::string_view ratified, const semantics::TypedName& parameter,
                          const ast::Argument& argument);

  // Copies argument values from the expansion for an invocation of a standard operation: full-length lists,
  // data types.
  void TakeFromExpansion(ast::ExprId id, std::string_view ratified, ast::InvocationExpr& invocation,
                         llvm::SmallVectorImpl<ast::Argument>& arguments);
  void CompleteList(const semantics::TypedName& parameter, const ir::Attribute& value,
                    llvm::SmallVectorImpl<ast::Argument>& arguments);
  std::optional<size_t> LengthOf(ast::ExprId list) const;
  ast::ExprId Literal(const ir::Attribute& value);
  llvm::SmallVector<ast::ExprId, 8> Items(const ir::Attribute& list, size_t first);

  const Source& source_;
  Context& context_;
  ElementTypes element_types_;
  // Nodes of the operation of an invocation, by its begin and end offset.
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, Nodes> nodes_;
  const ast::Document* from_;  // the document being copied
  bool keeps_ranges_ = true;
  std::unique_ptr<ast::Document> out_;
  bool has_operators_ = false;
};

}  // namespace nnefc::upgrade
