#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "compiler/semantics/casts.h"
#include "compiler/semantics/check_document.h"
#include "compiler/semantics/dialect_rules.h"
#include "compiler/semantics/extensions.h"
#include "compiler/semantics/rules.h"
#include "compiler/semantics/scope.h"
#include "llvm/ADT/SmallVector.h"

namespace nnefc::semantics {

using ast::ExprId;

// Declarations that a document is checked against.
struct CheckedAgainst {
  const StandardLibrary& libraries;
  const CheckedDocument* library;  // the standard library or the model; null: none
  const TypeTable* types;          // base of the document's type table; null: none
  llvm::SmallVector<ExtensionLibrary, 1> extensions = {};
  Leniency leniency = Leniency::kAuto;
};

// The kind of body that is being checked.
enum class BodyKind : uint8_t { kFragment, kGraph, kQuantization };

// The state of the body that is being checked. The scope also serves the names of a declaration.
struct BodyState {
  Scope scope;
  SourceRange range;
  llvm::ArrayRef<ast::Name> graph_parameters;
  BodyKind kind = BodyKind::kFragment;
  ast::FragmentId fragment;  // owner of the body
  bool is_generic = false;
  bool has_syntax_error = false;              // an expression could not be parsed
  bool has_dropped_names = false;             // a left value could not be parsed: names may be missing
  llvm::ArrayRef<ast::Assignment> remaining;  // the current and later assignments
  llvm::SmallVector<ExprId, 4> externals;     // invoked by the current assignment
};

// The shared state of the checks of one document: its dialect and libraries, the side tables, the
// diagnostics, the current body. The checks in checks/ are free functions that change it; suggestions only
// read it.
struct CheckContext {
  // The document's types begin with `against.types`, unless that is null. `outer` begins with the libraries'
  // base.
  CheckContext(std::unique_ptr<const ast::Document> document, CheckedKind kind, CheckedAgainst against,
               Context& outer);
  CheckContext(const CheckContext&) = delete;
  CheckContext& operator=(const CheckContext&) = delete;

  // Returns the document and emits the diagnostics.
  std::unique_ptr<CheckedDocument> Finish();

  // Emits a diagnostic.
  template <typename... Args>
  DiagnosticBuilder Report(const Rule& rule, SourceRange range, fmt::format_string<Args...> format,
                           Args&&... args) {
    has_error |= rule.severity == Severity::kError;
    return context.emitter.Emit(rule, range, format, std::forward<Args>(args)...);
  }
  // Records a deviation that only lenient mode accepts.
  template <typename... Args>
  void Deviate(const Rule& rule, SourceRange range, fmt::format_string<Args...> format, Args&&... args) {
    if (kind == CheckedKind::kModel)
      deviations.Note(rule, range, fmt::format(format, std::forward<Args>(args)...));
  }
  // Returns true if a message may compare `names` names, and charges them to a budget. Limits the time for
  // suggestions in documents with very many errors.
  bool MayCompare(size_t names) const {
    if (context.emitter.exhausted() || names > comparisons_left) return false;
    comparisons_left -= names;
    return true;
  }

  // ---- texts ----
  // Returns an empty text for the missing name of a broken declaration.
  std::string_view Text(Symbol symbol) const { return symbol.valid() ? context.symbols.Text(symbol) : ""; }
  std::string Text(TypeId type) const { return types.Text(type, dialect); }
  // Returns the text of a range of the document.
  std::string_view SourceText(SourceRange range) const;

  // ---- expressions ----
  const ast::Expr& expr(ExprId id) const { return document.exprs[id]; }
  // Returns the expression inside parentheses.
  ExprId Inner(ExprId id) const;
  TypeId TypeOf(ExprId id) const { return tables.expr_types[static_cast<size_t>(id.index)]; }
  TypeId SetType(ExprId id, TypeId type) { return tables.expr_types[static_cast<size_t>(id.index)] = type; }

  // ---- types ----
  TypeKind Kind(TypeId type) const { return types.Kind(type); }
  bool IsError(TypeId type) const { return Kind(type) == TypeKind::kError; }
  bool IsCastable(TypeId from, TypeId to) const { return semantics::IsCastable(types, dialect, from, to); }
  TypeId CommonType(TypeId a, TypeId b) { return semantics::CommonType(types, dialect, a, b); }
  // Returns the type, or reports that it is too large and returns Error.
  TypeId Bounded(TypeId type, SourceRange range);

  // ---- fragments ----
  const Signature& SignatureOf(Callee callee) const { return callee.document->signature(callee.fragment); }
  // Returns true if the callee is the standard operation `name`.
  bool IsStandard(Callee callee, Symbol name) const;
  // Returns true if a fragment is only a container of data and is never invoked.
  bool IsProperties(const ast::Fragment& fragment) const {
    return dialect.empty_declarations && fragment.parameters.empty();
  }

  std::unique_ptr<CheckedDocument> out;
  CheckedTables& tables;  // of `out`
  const ast::Document& document;
  const CheckedKind kind;
  const ast::Dialect& dialect;
  // The document of the standard operations: the library, the model's library, or the document itself.
  const CheckedDocument& standard;
  const StandardLibrary& libraries;
  Context& outer;
  Context context;  // collects the diagnostics
  Deviations deviations;
  TypeTable& types;
  const TypeId error, integer, scalar, logical, string;
  const Symbol external, variable, update;
  bool has_error = false;  // reported for the current declaration or assignment
  BodyState body;
  llvm::SmallVector<const Extension*, 1> not_enabled;  // reported as such
  mutable size_t comparisons_left = 2'000'000;         // budget of MayCompare
};

// Returns true if the declaration could not be parsed; then invocations are not checked.
inline bool IsBroken(Callee callee) {
  return callee.document->ast().fragments[callee.fragment].has_error;
}

// Returns true if a type, known or not, follows the name of the operation.
inline bool HasTypeArgument(const ast::InvocationExpr& invocation) {
  return invocation.type_argument.has_value() || invocation.unknown_type.valid();
}

// Returns the index of the parameter with that name.
std::optional<size_t> PlaceOf(const Signature& signature, const ast::Name& name);

// Notes the declaration of part of `signature`: its range in the document, or a list of parameters if the
// declaration is in a library of nnefc or a plug-in.
void NoteDeclaration(const CheckContext& check, SourceRange range, const Signature& signature,
                     DiagnosticBuilder& builder);

}  // namespace nnefc::semantics
