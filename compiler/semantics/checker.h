#pragma once

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/semantics/casts.h"
#include "compiler/semantics/check_document.h"
#include "compiler/semantics/dialect_rules.h"
#include "compiler/semantics/extensions.h"
#include "compiler/semantics/rules.h"
#include "compiler/semantics/scope.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace nnefc::semantics {

namespace foreign {
struct ForeignName;
struct ForeignOperation;
}  // namespace foreign

// The use of a value; an invocation used as an argument is chained.
enum class Use : uint8_t { kValue, kArgument };

// The kind of body that is being checked.
enum class BodyKind : uint8_t { kFragment, kGraph, kQuantization };

// Checks one document and fills its side tables. Implemented in declarations.cpp, bodies.cpp,
// expressions.cpp, operators.cpp, invocations.cpp, operations_with_bodies.cpp, generics.cpp,
// external_rules.cpp and quantization.cpp.
//
// Recursion is bounded by the syntax: brackets nest at most --max-nesting deep, and chains of operators,
// subscripts and branches are processed in loops.
class Checker {
 public:
  // Declarations that a document is checked against.
  struct Against {
    const StandardLibrary& libraries;
    const CheckedDocument* library;  // the standard library or the model; null: none
    const TypeTable* types;          // base of the document's type table; null: none
    llvm::SmallVector<ExtensionLibrary, 1> extensions = {};
    Leniency leniency = Leniency::kAuto;
  };

  // The document's types begin with `against.types`, unless that is null. The context begins with the
  // libraries' base.
  Checker(std::unique_ptr<const ast::Document> document, CheckedKind kind, Against against, Context& context);

  std::unique_ptr<CheckedDocument> CheckModel(const CheckOptions& options);
  std::unique_ptr<CheckedDocument> CheckLibrary();
  // `is_activation` returns true for valid keys.
  std::unique_ptr<CheckedDocument> CheckQuantization(
      llvm::function_ref<bool(std::string_view)> is_activation);

 private:
  using ExprId = ast::ExprId;

  // Returns the document and emits the diagnostics.
  std::unique_ptr<CheckedDocument> Finish();

  // ---- declarations.cpp ----
  void ChooseGraph(const CheckOptions& options);
  void DeclareFragments();
  void DeclareFragment(ast::FragmentId id);
  Callee FindTakenByExtension(const ast::Fragment& fragment) const;
  void CheckNames(llvm::ArrayRef<ast::Name> parameters, llvm::ArrayRef<ast::Name> results);
  void CheckParameters(const ast::Fragment& fragment, Signature& signature);
  void FixParameterOrder(const ast::Fragment& fragment, DiagnosticBuilder& builder);
  void CheckResults(const ast::Fragment& fragment, Signature& signature);
  void CheckGenericUse(const ast::Fragment& fragment, Signature& signature);
  TypeId ResolveType(ast::TypeId id);
  TypeId ResolvePrimitive(ast::PrimitiveName name);
  TypeId ResolveTuple(const ast::Type& type, const ast::TupleType& tuple);

  // ---- bodies.cpp ----
  void CheckFragmentBody(ast::FragmentId id);
  void CheckGraphBody(const ast::Graph& graph);
  // Checks the assignments of a body. Returns true if none of them has an error.
  bool CheckAssignments(llvm::ArrayRef<ast::Assignment> body);
  bool IsClosed(SourceRange body) const;
  // Returns true if all of the names are assigned; reports those that are not.
  bool CheckAssigned(llvm::ArrayRef<ast::Name> names);
  // Assigns a value of type `type` to `left`. `right` is the expression of that value if known, otherwise the
  // one that contains it.
  void Assign(ExprId left, TypeId type, ExprId right, bool is_whole);
  void AssignArray(const ast::Expr& left, const ast::ArrayExpr& items, TypeId type, ExprId right,
                   bool is_whole);
  void AssignTuple(const ast::Expr& left, const ast::TupleExpr& items, TypeId type, ExprId right,
                   bool is_whole);
  void AssignIdentifier(ExprId left, Symbol name, TypeId type, ExprId right, bool is_whole);
  // Checks the length rule for the single name `name` and the value of `right`, an array of tensors.
  void CheckArrayLength(SourceRange range, Symbol name, TypeId type, ExprId right, bool is_whole);
  // Returns the primitive that computes `right`, looking through the bodies of compounds; invalid if there is
  // none.
  Symbol PrimitiveBehind(ExprId right) const;
  // Returns true if the identifier may be assigned; reports an error if not.
  bool CheckAssignable(SourceRange range, Symbol name, const Local& local);
  void CheckResultType(SourceRange declaration, Symbol name, TypeId declared, TypeId type, ExprId right);
  void ReportNotTensor(SourceRange range, Symbol name, TypeId type, bool is_array);
  // Returns the assigned identifier that is probably a misspelling of the result; null if there is none.
  const Scope::Entry* FindMisspelt(Symbol result);
  void ReportExternal(const ast::Assignment& assignment, ExprId external);

  // ---- external_rules.cpp: external, variable and update ----
  // Returns the origin of the value of `right`.
  Origin OriginOf(ExprId right);
  // Returns true if `right` invokes `external`, or selects between such invocations.
  bool IsExternal(ExprId right);
  void ForgetExternals(ExprId right);
  // Validates an invocation of an operation that is restricted to certain bodies.
  void CheckPlace(ExprId id, const ast::InvocationExpr& invocation, Callee callee);
  void CheckUpdateTarget(ExprId target);

  // ---- expressions.cpp ----
  TypeId CheckExpr(ExprId id, Use use = Use::kValue);
  // Checks an expression that is not a chain of operators, subscripts or branches.
  TypeId CheckLeaf(ExprId id, Use use);
  // Checks the link of a chain, whose inner expression has type `inner`.
  TypeId CheckLink(ExprId id, TypeId inner);
  TypeId CheckIdentifier(const ast::Expr& expr, Symbol name);
  TypeId CheckArray(const ast::Expr& expr, llvm::ArrayRef<ExprId> items, Use use);
  TypeId CheckTuple(const ast::Expr& expr, llvm::ArrayRef<ExprId> items, Use use);
  TypeId CheckComprehension(const ast::Expr& expr, const ast::ComprehensionExpr& comprehension);
  TypeId CheckSubscript(const ast::Expr& expr, const ast::SubscriptExpr& subscript, TypeId base);
  TypeId CheckTupleSubscript(const ast::SubscriptExpr& subscript, TypeId base);
  TypeId CheckSelect(const ast::Expr& expr, const ast::SelectExpr& select, TypeId otherwise);
  TypeId CheckBuiltin(const ast::Expr& expr, const ast::BuiltinExpr& builtin);
  void CheckIndex(ExprId index);
  void CheckCondition(ExprId condition);
  void ReportUndefined(SourceRange range, Symbol name, const Local* local);
  // Returns the type, or reports that it is too large and returns Error.
  TypeId Bounded(TypeId type, SourceRange range);

  // ---- operators.cpp ----
  TypeId UnaryType(const ast::Expr& expr, const ast::UnaryExpr& unary, TypeId operand);
  TypeId BinaryType(const ast::Expr& expr, const ast::BinaryExpr& binary, TypeId left, TypeId right);
  // Returns the result type of an operator on values; invalid if it does not accept them.
  TypeId ValueOperatorType(ast::BinaryOperator op, TypeId left, TypeId right);
  TypeId TensorOperatorType(const ast::Expr& expr, std::string_view spelling, std::string_view operation,
                            llvm::ArrayRef<ExprId> operands, llvm::ArrayRef<TypeId> types);

  // ---- invocations.cpp ----
  TypeId CheckInvocation(ExprId id, const ast::InvocationExpr& invocation, Use use);
  // Returns the operation of a tolerated old name, after a warning. Reports any other undeclared operation
  // and returns an invalid callee.
  Callee ResolveUndeclared(const ast::InvocationExpr& invocation);
  void ReportUndeclared(const ast::InvocationExpr& invocation);
  void SuggestOperation(const ast::InvocationExpr& invocation);
  bool SuggestForeign(const ast::InvocationExpr& invocation);
  bool IsDeclared(std::string_view operation);
  bool NamesAll(const ast::InvocationExpr& invocation, std::string_view parameters) const;
  std::string DescribeForeign(std::string_view name, llvm::ArrayRef<const foreign::ForeignOperation*> rows);
  // Returns true if a message may compare `names` names, and charges them to a budget. Limits the time for
  // suggestions in documents with very many errors.
  bool MayCompare(size_t names) {
    if (context_.emitter.exhausted() || names > comparisons_left_) return false;
    comparisons_left_ -= names;
    return true;
  }
  // Fills `slots`, one per parameter; returns false if an argument could not be bound.
  bool BindArguments(const ast::InvocationExpr& invocation, Callee callee,
                     llvm::MutableArrayRef<ExprId> slots);
  bool BindNamed(const ast::InvocationExpr& invocation, const ast::Argument& argument, Callee callee,
                 size_t positional, llvm::MutableArrayRef<ExprId> slots);
  bool BindPositional(const ast::InvocationExpr& invocation, const ast::Argument& argument,
                      const Signature& signature, size_t index, ExprId& slot);
  SourceRange EmptyArguments(const ast::InvocationExpr& invocation) const;
  bool CheckMissing(const ast::InvocationExpr& invocation, Callee callee, llvm::ArrayRef<ExprId> slots);
  bool CheckArgumentTypes(const ast::InvocationExpr& invocation, Callee callee, llvm::ArrayRef<ExprId> slots,
                          TypeId generic);
  // Records the binding; its arguments are copied.
  void Keep(ExprId id, Binding binding);
  bool CheckChaining(const ast::InvocationExpr& invocation, const Signature& signature);
  // Returns the type of an invocation: the result's type, or a tuple of several.
  TypeId ResultType(const Signature& signature, TypeId generic);
  // Reports an argument or operand whose type is not castable to `expected`.
  void ReportArgument(ExprId argument, TypeId expected, const TypedName& parameter,
                      const Signature& signature);
  // Notes the declaration of part of `signature`: its range in the document, or a list of parameters if the
  // declaration is in a library of nnefc or a plug-in.
  void NoteDeclaration(SourceRange range, const Signature& signature, DiagnosticBuilder& builder) const;
  // Adds fixes for integers where scalars are expected: `2` -> `2.0`, `n` -> `scalar(n)`.
  void FixScalars(ExprId expr, TypeId expected, DiagnosticBuilder& builder);
  // Returns the index of the parameter with that name.
  static std::optional<size_t> PlaceOf(const Signature& signature, const ast::Name& name);
  // Arguments in the style of other frameworks (misplaced_arguments.cpp).
  bool ReportUnbracketed(const ast::InvocationExpr& invocation, const Signature& signature);
  bool IsMisspelt(const ast::InvocationExpr& invocation, const ast::Argument& argument,
                  const Signature& signature, size_t positional);
  void ReportUnknownArgument(const ast::InvocationExpr& invocation, const ast::Argument& argument,
                             Callee callee);
  void FixForeignArgument(const ast::InvocationExpr& invocation, const ast::Argument& argument,
                          const foreign::ForeignName& foreign, const Signature& signature,
                          DiagnosticBuilder& builder);
  // Literals in the wrong notation (literal_fixes.cpp).
  static constexpr size_t kMaxFixedItems = 64;
  bool ReportBareWord(const ast::InvocationExpr& invocation, const ast::Argument& argument);
  bool ReportNoValue(const ast::InvocationExpr& invocation, const ast::Argument& argument, Callee callee);
  void RemoveArgument(const ast::InvocationExpr& invocation, const ast::Argument& argument,
                      DiagnosticBuilder& builder);
  std::string PairsOf(const ast::InvocationExpr& invocation, const ast::Argument& argument,
                      const Signature& signature) const;
  std::string HintFor(ExprId id, TypeId expected) const;
  void FixLiteral(ExprId id, TypeId expected, DiagnosticBuilder& builder);
  bool MixesBeginsAndEnds(llvm::ArrayRef<ExprId> items, TypeId item) const;
  void FixArray(ExprId id, TypeId item, DiagnosticBuilder& builder);
  void FixTuple(ExprId id, TypeId expected, DiagnosticBuilder& builder);
  void FixWord(ExprId id, std::string_view word, TypeId expected, DiagnosticBuilder& builder);
  void FixCallBrackets(SourceRange name, DiagnosticBuilder& builder);
  static void ReplaceBrackets(SourceRange range, std::string_view open, std::string_view close,
                              DiagnosticBuilder& builder);
  // Reports an invocation of a fragment without parameters.
  bool ReportProperties(const ast::InvocationExpr& invocation, Callee callee);

  // Returns the invoked fragment of an extension that is not enabled, after reporting that.
  Callee FindNotEnabled(const ast::InvocationExpr& invocation);

  // ---- operations_with_bodies.cpp: signatures that run bodies ----
  TypeId CheckWithBodies(ExprId id, const ast::InvocationExpr& invocation, Callee callee, Use use);
  // Checks an argument that may be an array of tensors of several data types.
  void CheckTensorList(ExprId argument);
  // Returns the types of the tensors in the arrays in `slots` and appends the arrays' lengths to `counts`;
  // nothing if only expansion knows the lengths.
  std::optional<std::vector<TypeId>> ListedTypes(llvm::ArrayRef<ExprId> slots,
                                                 llvm::SmallVectorImpl<size_t>& counts) const;
  // Returns the fragment that a literal names, with a declaration valid for a body; otherwise reports an
  // error and returns null.
  const Signature* FindBody(ExprId name);
  bool CheckBodyDeclaration(ExprId name, const ast::Fragment& fragment, const Signature& body);
  // Returns the indices of the parameters that are arrays of tensors.
  llvm::SmallVector<size_t, 3> TensorLists(const Signature& signature) const;
  // `lists` are the arguments that are arrays of tensors.
  bool CheckBodyParameters(ExprId name, const Signature& body, const Signature& signature,
                           llvm::ArrayRef<ExprId> lists);
  bool CheckSameResults(llvm::ArrayRef<ExprId> names, llvm::ArrayRef<const Signature*> bodies);
  bool CheckMergedResults(ExprId name, const Signature& body, const Signature& signature,
                          llvm::ArrayRef<ExprId> lists);
  // Returns an array type for the results, or a tuple type if their data types differ.
  TypeId OutputsType(const Signature& body);
  // Returns true if `right` invokes such an operation, or selects between such invocations.
  bool RunsBodies(ExprId right) const;

  // ---- generics.cpp ----
  // Returns the type bound to `?` of the callee: invalid if it is not generic, Error after a report that
  // there is none.
  TypeId DeduceGeneric(const ast::InvocationExpr& invocation, const Signature& signature,
                       llvm::ArrayRef<ExprId> slots);
  TypeId ExplicitGeneric(const ast::InvocationExpr& invocation, const Signature& signature);
  TypeId ReportUnknownType(const ast::InvocationExpr& invocation);
  void CollectGeneric(TypeId parameter, TypeId argument, llvm::SmallVectorImpl<TypeId>& candidates) const;

  // ---- quantization.cpp ----
  void CheckQuantizationEntry(const ast::Quantization& entry);
  void CheckQuantizer(ExprId id, const ast::InvocationExpr& invocation, Callee callee);
  bool IsTensorLiteral(ExprId argument, TypeId expected);

  // ---- shared ----
  template <typename... Args>
  DiagnosticBuilder Report(const Rule& rule, SourceRange range, fmt::format_string<Args...> format,
                           Args&&... args) {
    has_error_ |= rule.severity == Severity::kError;
    return context_.emitter.Emit(rule, range, format, std::forward<Args>(args)...);
  }
  // Records a deviation that only lenient mode accepts.
  template <typename... Args>
  void Deviate(const Rule& rule, SourceRange range, fmt::format_string<Args...> format, Args&&... args) {
    if (kind_ == CheckedKind::kModel)
      deviations_.Note(rule, range, fmt::format(format, std::forward<Args>(args)...));
  }
  // Returns true if a fragment is only a container of data and is never invoked.
  bool IsProperties(const ast::Fragment& fragment) const {
    return dialect_.empty_declarations && fragment.parameters.empty();
  }
  // Returns true if a type, known or not, follows the name of the operation.
  static bool HasTypeArgument(const ast::InvocationExpr& invocation) {
    return invocation.type_argument.has_value() || invocation.unknown_type.valid();
  }
  // Returns an empty text for the missing name of a broken declaration.
  std::string_view Text(Symbol symbol) const { return symbol.valid() ? context_.symbols.Text(symbol) : ""; }
  std::string Text(TypeId type) const { return types_.Text(type, dialect_); }
  const ast::Expr& expr(ExprId id) const { return document_.exprs[id]; }
  // Returns the text of a range of the document.
  std::string_view SourceText(SourceRange range) const;
  // Returns the expression inside parentheses.
  ExprId Inner(ExprId id) const;
  TypeKind Kind(TypeId type) const { return types_.Kind(type); }
  bool IsError(TypeId type) const { return Kind(type) == TypeKind::kError; }
  TypeId TypeOf(ExprId id) const { return out_->expr_types_[static_cast<size_t>(id.index)]; }
  TypeId SetType(ExprId id, TypeId type) { return out_->expr_types_[static_cast<size_t>(id.index)] = type; }
  bool IsStandard(Callee callee, Symbol name) const;
  // Returns true if the declaration could not be parsed; then invocations are not checked.
  static bool IsBroken(Callee callee) { return callee.document->ast().fragments[callee.fragment].has_error; }
  // Returns the document of the standard operations: the library, the model's library, or the document
  // itself.
  const CheckedDocument& standard() const { return *standard_; }
  const Signature& SignatureOf(Callee callee) const { return callee.document->signature(callee.fragment); }

  std::unique_ptr<CheckedDocument> out_;
  const ast::Document& document_;
  const CheckedKind kind_;
  const ast::Dialect& dialect_;
  const CheckedDocument* standard_;
  const StandardLibrary& libraries_;
  Context& outer_;
  Context context_;  // collects the checker's diagnostics
  Deviations deviations_;
  TypeTable& types_;
  const TypeId error_, integer_, scalar_, logical_, string_;
  const Symbol external_, variable_, update_;

  // State of the current body.
  Scope scope_;
  SourceRange body_range_;
  llvm::ArrayRef<ast::Name> graph_parameters_;
  BodyKind body_ = BodyKind::kFragment;
  ast::FragmentId fragment_;  // owner of the current body
  bool in_generic_ = false;
  bool has_error_ = false;                          // reported for the current declaration or assignment
  bool has_syntax_error_ = false;                   // an expression could not be parsed
  bool has_dropped_names_ = false;                  // a left value could not be parsed: names may be missing
  llvm::ArrayRef<ast::Assignment> rest_;            // the current and later assignments
  llvm::SmallVector<ExprId, 4> externals_;          // invoked by the current assignment
  llvm::SmallVector<const Extension*, 1> missing_;  // reported as not enabled
  size_t comparisons_left_ = 2'000'000;             // name comparisons left for messages
};

}  // namespace nnefc::semantics
