#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "compiler/semantics/types.h"
#include "compiler/syntax/ast.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Allocator.h"

namespace nnefc {

class CheckedDocument;
struct Extension;

// A fragment of the user's document or of the standard library.
struct Callee {
  const CheckedDocument* document = nullptr;
  ast::FragmentId fragment;

  bool valid() const { return document != nullptr; }
  friend bool operator==(Callee, Callee) = default;
};

// A parameter or result with its checked type.
struct TypedName {
  ast::Name name;
  TypeId type;
  ast::ExprId default_value;  // of the callee's document; invalid if none
};

// The checked declaration of a fragment.
struct Signature {
  ast::Name name;
  std::vector<TypedName> parameters;
  std::vector<TypedName> results;
  bool is_generic = false;
  TypeId generic_default;  // invalid if none
  bool has_body = false;   // a compound; otherwise a primitive
  // Its strings name fragments, the bodies that it runs: their parameters are
  // the tensors of its arrays in order, its outputs are their results. An
  // operation of an extension whose result is `tensor<>[]`.
  bool runs_bodies = false;
  // Its result is an `external`: of a library alone.
  bool makes_external = false;
};

// How an invocation binds its arguments.
struct Binding {
  Callee callee;
  // One per parameter of the callee, of the caller's document; invalid where
  // the default holds.
  llvm::ArrayRef<ast::ExprId> arguments;
  // The type that stands for `?` of the callee as far as it is known here:
  // invalid if the callee is not generic; `?` itself where the body of a
  // generic fragment passes its own on.
  TypeId generic;
};

// The fragments of an extension that a document has, or invokes without having
// it, which was reported.
struct ExtensionLibrary {
  const Extension* extension = nullptr;
  const CheckedDocument* library = nullptr;
  bool is_enabled = false;
};

// A document and what the checker found out about it, as side tables. Always
// complete: what is wrong has an Error type or no binding.
class [[nodiscard]] CheckedDocument {
 public:
  const ast::Document& ast() const { return *ast_; }
  // True if neither its text nor its meaning holds a mistake, as far as is known
  // without values.
  bool complete() const { return complete_; }
  // With what its extensions enable.
  const ast::Dialect& dialect() const { return dialect_; }
  const TypeTable& types() const { return *types_; }
  // The standard library it was checked against; null for that itself.
  const CheckedDocument* library() const { return library_; }
  // True of the standard libraries and those of extensions.
  bool is_library() const { return is_library_; }
  // Those that the document has, in the order of the list.
  llvm::ArrayRef<ExtensionLibrary> extensions() const { return extensions_; }
  // True if an extension that the document has brings operations with bodies.
  bool may_run_bodies() const;
  // The graph to compile: null if there is none or the choice is ambiguous.
  const ast::Graph* graph() const { return graph_; }
  // Names that stand for an extent each.
  llvm::ArrayRef<ast::Name> symbols() const { return symbols_; }
  const Signature& signature(ast::FragmentId fragment) const {
    return signatures_[static_cast<size_t>(fragment.index)];
  }
  // Looks a fragment up here, then in the library, then in the extensions that
  // are enabled.
  Callee Find(Symbol name) const;
  // The same among the fragments of this document alone.
  Callee FindOwn(Symbol name) const;
  // The binding of an InvocationExpr, or null if it is wrong.
  const Binding* binding(ast::ExprId invocation) const;
  // The type of an expression as seen in its fragment; kError where it was
  // reported, invalid for left values and what no body holds.
  TypeId type(ast::ExprId expr) const { return expr_types_[static_cast<size_t>(expr.index)]; }
  // True if neither the declaration nor the body of the fragment holds an
  // error.
  bool sound(ast::FragmentId fragment) const { return !unsound_[static_cast<size_t>(fragment.index)]; }
  // True if the declaration is right and all of the body was read: what errors
  // there are lie in assignments of their own, and the rest can be expanded.
  bool expandable(ast::FragmentId fragment) const { return !broken_[static_cast<size_t>(fragment.index)]; }
  // True if no error was told of the assignment with this left side.
  bool sound(const ast::Assignment& assignment) const {
    return !unsound_assignments_.contains(assignment.left.index);
  }

 private:
  friend class Checker;

  std::unique_ptr<const ast::Document> ast_;
  bool complete_ = false;
  ast::Dialect dialect_;
  std::unique_ptr<TypeTable> types_;
  const CheckedDocument* library_ = nullptr;
  bool is_library_ = false;
  llvm::SmallVector<ExtensionLibrary, 1> extensions_;
  const ast::Graph* graph_ = nullptr;
  std::vector<ast::Name> symbols_;
  std::vector<Signature> signatures_;  // by FragmentId
  llvm::DenseMap<Symbol, ast::FragmentId> by_name_;
  std::vector<int32_t> binding_index_;  // by ExprId; -1: none
  std::vector<Binding> bindings_;
  std::vector<TypeId> expr_types_;               // by ExprId
  std::vector<bool> unsound_;                    // by FragmentId
  std::vector<bool> broken_;                     // by FragmentId: not expandable
  llvm::DenseSet<int32_t> unsound_assignments_;  // by the ExprId of the left side
  llvm::BumpPtrAllocator allocator_;             // of the bindings' arguments
};

}  // namespace nnefc
