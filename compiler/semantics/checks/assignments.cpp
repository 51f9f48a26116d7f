#include "compiler/semantics/checks/assignments.h"

#include "compiler/semantics/checks/external_rules.h"
#include "compiler/semantics/checks/operations_with_bodies.h"
#include "compiler/semantics/suggestions/literals.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::semantics::checks {
namespace {

// Expansion checks the length of the array on the right.
void AssignArray(CheckContext& check, const ast::Expr& left, const ast::ArrayExpr& items, TypeId type,
                 ExprId right, bool is_whole) {
  // Outputs of different data types: `[state, counter] = tensor_iterator(..)`.
  const bool is_listed = check.Kind(type) == TypeKind::kTuple && is_whole && RunsBodies(check, right);
  if (is_listed && check.types.Items(type).size() != items.items.size()) {
    check.Report(kAssignmentStructure, left.range,
                 "the left side has {} items, but the right side has {} outputs", items.items.size(),
                 check.types.Items(type).size());
    type = check.error;
  } else if (check.Kind(type) != TypeKind::kArray && !check.IsError(type) && !is_listed) {
    DiagnosticBuilder builder = check.Report(
        kAssignmentStructure, left.range, "an array is on the left, but `{}` on the right", check.Text(type));
    const size_t expected = check.Kind(type) == TypeKind::kTuple ? check.types.Items(type).size() : 1;
    if (items.items.size() == expected) {
      suggestions::ReplaceBrackets(left.range, expected == 1 ? "" : "(", expected == 1 ? "" : ")", builder);
    }
    type = check.error;
  }
  const auto* sources = std::get_if<ast::ArrayExpr>(&check.expr(check.Inner(right)).node);
  for (size_t i = 0; i < items.items.size(); ++i) {
    const bool is_known = is_whole && sources != nullptr && i < sources->items.size();
    const TypeId item = check.IsError(type) ? check.error
                        : is_listed         ? check.types.Items(type)[i]
                                            : check.types.Item(type);
    Assign(check, items.items[i], item, is_known ? sources->items[i] : right, is_known);
  }
}

void AssignTuple(CheckContext& check, const ast::Expr& left, const ast::TupleExpr& items, TypeId type,
                 ExprId right, bool is_whole) {
  const bool is_array = is_whole && RunsBodies(check, right);
  if (check.dialect.loose_values && check.Kind(type) == TypeKind::kArray) {
    for (ExprId item : items.items) Assign(check, item, check.types.Item(type), right, false);
    return;
  }
  if (!check.IsError(type) && (check.Kind(type) != TypeKind::kTuple || is_array)) {
    DiagnosticBuilder builder =
        check.Report(kAssignmentStructure, left.range, "a tuple is on the left, but {} on the right",
                     is_array ? "an array" : fmt::format("`{}`", check.Text(type)));
    const bool unpacks_array = is_array || check.Kind(type) == TypeKind::kArray;
    if (unpacks_array && items.parenthesized) suggestions::ReplaceBrackets(left.range, "[", "]", builder);
    if (unpacks_array && !items.parenthesized) {
      builder.Fix({left.range.file, left.range.begin, left.range.begin}, "[");
      builder.Fix({left.range.file, left.range.end, left.range.end}, "]");
    }
    type = check.error;
  } else if (!check.IsError(type) && check.types.Items(type).size() != items.items.size()) {
    check.Report(kAssignmentStructure, left.range,
                 "the left side has {} items, but the right side `{}` has {}", items.items.size(),
                 check.Text(type), check.types.Items(type).size());
    type = check.error;
  }
  const auto* sources = ast::Find<ast::TupleExpr>(check.expr(check.Inner(right)).node);
  for (size_t i = 0; i < items.items.size(); ++i) {
    const bool is_known = is_whole && sources != nullptr && i < sources->items.size();
    Assign(check, items.items[i], check.IsError(type) ? check.error : check.types.Items(type)[i],
           is_known ? sources->items[i] : right, is_known);
  }
}

// Returns the primitive that computes `right`, looking through the bodies of compounds; invalid if there is
// none.
Symbol PrimitiveBehind(const CheckContext& check, ExprId right) {
  constexpr int kMaxLinks = 100;  // Expansion reports infinite recursion.
  const CheckedDocument* document = check.out.get();
  for (int link = 0; link < kMaxLinks; ++link) {
    const auto& exprs = document->ast().exprs;
    while (const auto* paren = std::get_if<ast::ParenExpr>(&exprs[right].node)) right = paren->inner;
    const auto* invocation = ast::Find<ast::InvocationExpr>(exprs[right].node);
    if (invocation == nullptr) return {};
    const Callee callee = document->Find(invocation->callee.symbol);
    if (!callee.valid() || check.SignatureOf(callee).results.size() != 1) return {};
    if (check.SignatureOf(callee).runs_bodies) return {};  // The bodies determine the length.
    if (!check.SignatureOf(callee).has_body) return invocation->callee.symbol;
    const Symbol result = check.SignatureOf(callee).results[0].name.symbol;
    document = callee.document;
    const auto& body = document->ast().fragments[callee.fragment].body;
    const auto assignment = llvm::find_if(body, [&](const ast::Assignment& candidate) {
      const auto* left = std::get_if<ast::IdentifierExpr>(&document->ast().exprs[candidate.left].node);
      return left != nullptr && left->name == result;
    });
    if (assignment == body.end()) return {};
    right = assignment->right;
  }
  return {};
}

// Checks the rule for a single name and the value of `right`, an array of tensors (3.3.2 of the ratified
// text): such a name is allowed only if an array expression computes the array, directly or in the body of a
// compound. Results of fragments are checked where the fragment is invoked.
void CheckArrayLength(CheckContext& check, SourceRange range, Symbol name, TypeId type, ExprId right,
                      bool is_whole) {
  if (!check.dialect.counted_arrays || check.dialect.loose_values || check.kind != CheckedKind::kModel ||
      !is_whole)
    return;
  if (check.Kind(type) != TypeKind::kArray || !check.types.ContainsTensor(type)) return;
  const Symbol primitive = PrimitiveBehind(check, right);
  if (!primitive.valid()) return;
  check.Report(
      kPrimitiveArray, range,
      "`{}` covers an array that `{}` makes, a primitive, so that its length is unknown; unpack it with "
      "`[.., ..] =`",
      check.Text(name), check.Text(primitive));
}

// Returns true if the identifier may be assigned; reports an error if not.
bool CheckAssignable(CheckContext& check, SourceRange range, Symbol name, const Local& local) {
  if (local.kind == LocalKind::kUnknown) return true;
  if (local.kind == LocalKind::kParameter) {
    check.Report(kParameterAssigned, range, "parameter `{}` cannot be assigned", check.Text(name))
        .Note(local.declaration, "declared here");
    return false;
  }
  const bool is_symbol = local.kind == LocalKind::kGraphParameter && !local.assignment.valid();
  if (!local.assigned || is_symbol) return true;
  if (check.dialect.reassignment && local.kind != LocalKind::kGraphParameter) {
    check.Deviate(kLenientReassigned, range, "`{}` is assigned twice; the later value counts from here on",
                  check.Text(name));
    return true;
  }
  check.Report(kReassigned, range, "`{}` is assigned twice", check.Text(name))
      .Note(local.assignment, "first assigned here");
  return false;
}

void CheckResultType(CheckContext& check, SourceRange declaration, Symbol name, TypeId declared, TypeId type,
                     ExprId right) {
  if (check.IsCastable(type, declared)) return;
  DiagnosticBuilder builder =
      check.Report(kTypeMismatch, check.expr(right).range, "result `{}` is of type `{}`; got `{}`",
                   check.Text(name), check.Text(declared), check.Text(type));
  if (check.TypeOf(right) == type) suggestions::FixScalars(check, right, declared, builder);
  builder.Note(declaration, "declared here");
}

void ReportNotTensor(CheckContext& check, SourceRange range, Symbol name, TypeId type, bool is_array) {
  const bool can_unpack = check.types.ContainsTensor(type);
  check.Report(kGraphIdentifierType, range,
               "`{}` is of type `{}`; names in the body of a graph are tensors{}", check.Text(name),
               check.Text(type),
               !can_unpack ? "; `constant` and `variable` make one"
               : is_array  ? ", unpack the array with `[.., ..] =`"
                           : ", unpack the tuple with `(.., ..) =`");
}

void AssignIdentifier(CheckContext& check, ExprId left, Symbol name, TypeId type, ExprId right,
                      bool is_whole) {
  const SourceRange range = check.expr(left).range;
  Local* local = check.body.scope.Find(name);
  const bool is_external = is_whole && check.body.kind == BodyKind::kGraph && !check.body.externals.empty() &&
                           IsExternal(check, right);
  const Origin origin = is_whole ? OriginOf(check, right) : Origin::kUndecided;
  if (check.body.kind == BodyKind::kGraph && check.Kind(type) != TypeKind::kTensor && !check.IsError(type) &&
      !check.dialect.values_in_graph) {
    ReportNotTensor(check, range, name, type,
                    check.Kind(type) == TypeKind::kArray || RunsBodies(check, right));
    type = check.error;
  }
  if (local == nullptr) {
    CheckArrayLength(check, range, name, type, right, is_whole);
    check.body.scope.Add(name, {.kind = LocalKind::kLocal,
                                .origin = origin,
                                .assigned = true,
                                .type = type,
                                .declaration = range,
                                .assignment = range});
    return;
  }
  if (!CheckAssignable(check, range, name, *local)) {
    // Do not report it again as an external without a parameter.
    if (is_external) ForgetExternals(check, right);
    return;
  }
  if (local->kind == LocalKind::kGraphParameter) {
    if (is_external) {
      ForgetExternals(check, right);
    } else if (!check.IsError(type)) {
      check
          .Report(kGraphParameter, range, "parameter `{}` of the graph must be the result of `external`",
                  check.Text(name))
          .Note(local->declaration, "declared here");
      check.body.externals.clear();  // `x = relu(external(..))` is one error.
    }
  }
  if (local->kind == LocalKind::kResult && check.body.kind == BodyKind::kFragment) {
    CheckResultType(check, local->declaration, name, local->type, type, right);
    type = local->type;
  }
  if (local->kind == LocalKind::kUnknown) CheckArrayLength(check, range, name, type, right, is_whole);
  local->assigned = true;
  local->assignment = range;
  local->origin = origin;
  local->type = type;
  if (local->kind == LocalKind::kUnknown) local->kind = LocalKind::kLocal;
}

}  // namespace

void Assign(CheckContext& check, ExprId left, TypeId type, ExprId right, bool is_whole) {
  const ast::Expr& target = check.expr(left);
  if (const auto* identifier = std::get_if<ast::IdentifierExpr>(&target.node)) {
    AssignIdentifier(check, left, identifier->name, type, right, is_whole);
    return;
  }
  if (const auto* array = std::get_if<ast::ArrayExpr>(&target.node)) {
    AssignArray(check, target, *array, type, right, is_whole);
  } else if (const auto* tuple = ast::Find<ast::TupleExpr>(target.node)) {
    AssignTuple(check, target, *tuple, type, right, is_whole);
  } else {
    NNEFC_CHECK(std::holds_alternative<ast::ErrorExpr>(target.node));  // The grammar has no other form.
  }
}

}  // namespace nnefc::semantics::checks
