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

namespace nnefc::semantics {

class CheckedDocument;
struct Extension;

// A fragment of the user's document or of a library.
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
  ast::ExprId default_value;  // in the callee's document; invalid if none
};

// The checked declaration of a fragment.
struct Signature {
  ast::Name name;
  std::vector<TypedName> parameters;
  std::vector<TypedName> results;
  bool is_generic = false;
  TypeId generic_default;  // invalid if none
  bool has_body = false;   // a compound; otherwise a primitive
  // Its string arguments name the fragments that it runs as bodies. A body's parameters are the tensors of
  // the operation's arrays, in order; its results are the operation's outputs. True for an extension's
  // operation with the result `tensor<>[]`.
  bool runs_bodies = false;
  // Its result is an `external`; only in libraries.
  bool makes_external = false;
};

// The bound arguments of an invocation.
struct Binding {
  Callee callee;
  // One per parameter of the callee, in the caller's document; invalid where the default applies.
  llvm::ArrayRef<ast::ExprId> arguments;
  // The type bound to `?` of the callee, as far as it is known here: invalid if the callee is not generic;
  // `?` itself where the body of a generic fragment passes its own `?` on.
  TypeId generic;
};

// The library of an extension that a document enables, or invokes without enabling it (already reported).
struct ExtensionLibrary {
  const Extension* extension = nullptr;
  const CheckedDocument* library = nullptr;
  bool is_enabled = false;
};

// The checker's results as side tables; the checker fills them, and CheckedDocument shows them.
struct CheckedTables {
  std::unique_ptr<const ast::Document> ast;
  bool complete = false;
  ast::Dialect dialect;
  std::unique_ptr<TypeTable> types;
  const CheckedDocument* library = nullptr;
  bool is_library = false;
  llvm::SmallVector<ExtensionLibrary, 1> extensions;
  const ast::Graph* graph = nullptr;
  std::vector<ast::Name> symbols;
  std::vector<Signature> signatures;  // indexed by FragmentId
  llvm::DenseMap<Symbol, ast::FragmentId> by_name;
  std::vector<int32_t> binding_index;  // indexed by ExprId; -1: none
  std::vector<Binding> bindings;
  std::vector<TypeId> expr_types;               // indexed by ExprId
  std::vector<bool> unsound;                    // indexed by FragmentId
  std::vector<bool> broken;                     // indexed by FragmentId: not expandable
  llvm::DenseSet<int32_t> unsound_assignments;  // ExprIds of left sides
  llvm::BumpPtrAllocator allocator;             // memory of the bindings' arguments
};

// A document with the checker's results as side tables. Always complete: incorrect parts have an Error type
// or no binding.
class [[nodiscard]] CheckedDocument {
 public:
  const ast::Document& ast() const { return *tables_.ast; }
  // Returns true if neither syntax nor meaning has an error, as far as is known without values.
  bool complete() const { return tables_.complete; }
  // Returns the dialect with the switches of the enabled extensions.
  const ast::Dialect& dialect() const { return tables_.dialect; }
  const TypeTable& types() const { return *tables_.types; }
  // Returns the standard library it was checked against; null for that itself.
  const CheckedDocument* library() const { return tables_.library; }
  // Returns true for the standard libraries and those of extensions.
  bool is_library() const { return tables_.is_library; }
  // Returns the libraries of the document's extensions, in the order of StandardLibrary::extensions().
  llvm::ArrayRef<ExtensionLibrary> extensions() const { return tables_.extensions; }
  // Returns true if an enabled extension has operations with bodies.
  bool may_run_bodies() const;
  // Returns the graph to compile: null if there is none or the choice is ambiguous.
  const ast::Graph* graph() const { return tables_.graph; }
  // Returns the names declared as symbolic extents.
  llvm::ArrayRef<ast::Name> symbols() const { return tables_.symbols; }
  const Signature& signature(ast::FragmentId fragment) const {
    return tables_.signatures[static_cast<size_t>(fragment.index)];
  }
  // Finds a fragment in this document, then in its library, then in the enabled extensions.
  Callee Find(Symbol name) const;
  // Finds a fragment in this document only.
  Callee FindOwn(Symbol name) const;
  // Returns the binding of an InvocationExpr, or null if it has an error.
  const Binding* binding(ast::ExprId invocation) const;
  // Returns the type of an expression as seen in its fragment; kError if an error was reported, invalid for
  // left values and expressions outside bodies.
  TypeId type(ast::ExprId expr) const { return tables_.expr_types[static_cast<size_t>(expr.index)]; }
  // Returns true if neither the declaration nor the body of the fragment has an error.
  bool sound(ast::FragmentId fragment) const { return !tables_.unsound[static_cast<size_t>(fragment.index)]; }
  // Returns true if the declaration is correct and the whole body was parsed: all errors are local to
  // assignments, and the others can be expanded.
  bool expandable(ast::FragmentId fragment) const {
    return !tables_.broken[static_cast<size_t>(fragment.index)];
  }
  // Returns true if no error was reported in the assignment with this left side.
  bool sound(const ast::Assignment& assignment) const {
    return !tables_.unsound_assignments.contains(assignment.left.index);
  }

 private:
  friend struct CheckContext;

  CheckedTables tables_;
};

}  // namespace nnefc::semantics
