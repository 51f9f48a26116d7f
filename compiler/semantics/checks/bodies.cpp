#include "compiler/semantics/checks/bodies.h"

#include "compiler/semantics/checks/assignments.h"
#include "compiler/semantics/checks/declarations.h"
#include "compiler/semantics/checks/expressions.h"
#include "compiler/semantics/checks/external_rules.h"
#include "compiler/semantics/suggestions/names.h"
#include "compiler/support/diagnostics/suggest.h"
#include "compiler/syntax/parse.h"

namespace nnefc::semantics::checks {
namespace {

void ReportExternal(CheckContext& check, const ast::Assignment& assignment, ExprId external) {
  const auto* name = std::get_if<ast::IdentifierExpr>(&check.expr(assignment.left).node);
  const Local* local = name == nullptr ? nullptr : check.body.scope.Find(name->name);
  const bool is_forgotten =
      local != nullptr && local->kind == LocalKind::kLocal && IsExternal(check, assignment.right);
  DiagnosticBuilder builder =
      check.Report(kExternalNotParameter, check.expr(external).range,
                   "the result of `external` must be a parameter of the graph and nothing else{}",
                   is_forgotten ? fmt::format("; add `{}` to the parameters", check.Text(name->name)) : "");
  if (!is_forgotten || check.body.graph_parameters.empty()) return;
  const SourceRange last = check.body.graph_parameters.back().range;
  builder.Fix({last.file, last.end, last.end}, fmt::format(", {}", check.Text(name->name)));
}

// Checks the assignments of a body. Returns true if none of them has an error.
bool CheckAssignments(CheckContext& check, llvm::ArrayRef<ast::Assignment> body) {
  bool is_sound = true;
  BodyState& state = check.body;
  for (state.remaining = body; !state.remaining.empty(); state.remaining = state.remaining.drop_front()) {
    if (check.context.emitter.exhausted()) {
      state.has_syntax_error = state.has_dropped_names = true;  // Later assignments are not checked.
      return false;
    }
    const ast::Assignment& assignment = state.remaining.front();
    check.has_error = false;
    state.externals.clear();
    if (std::holds_alternative<ast::ErrorExpr>(check.expr(assignment.left).node))
      state.has_dropped_names = true;
    // Check the right side first: `y = relu(y)` uses `y` before it is assigned.
    const TypeId type = CheckExpr(check, assignment.right);
    Assign(check, assignment.left, type, assignment.right, true);
    for (ExprId external : state.externals) {
      // 3.3.1 of the provisional text requires one direction only.
      if (!check.dialect.external_parameters || state.has_dropped_names) break;
      ReportExternal(check, assignment, external);
    }
    if (!check.has_error) continue;
    check.tables.unsound_assignments.insert(assignment.left.index);
    is_sound = false;
  }
  return is_sound;
}

// Returns true if the body's text ends with its `}`. If it ends earlier, further assignments are unknown.
bool IsClosed(const CheckContext& check, SourceRange body) {
  return !body.valid() || check.SourceText(body).ends_with('}');
}

// Returns true if all of the names are assigned; reports those that are not.
bool CheckAssigned(CheckContext& check, llvm::ArrayRef<ast::Name> names) {
  if (check.body.has_dropped_names) return true;
  bool is_assigned = true;
  for (const ast::Name& name : names) {
    Local* local = check.body.scope.Find(name.symbol);
    if (local == nullptr || local->assigned || local->declaration != name.range) continue;
    is_assigned = false;
    if (local->kind == LocalKind::kGraphParameter) {
      const std::string_view text = check.Text(name.symbol);
      check.Report(
          kGraphParameter, name.range,
          "parameter `{}` of the graph is not the result of an `external` operation{}", text,
          !ast::IsPlainName(text)
              ? ""
              : fmt::format("; write `{} = external{}(shape = [1,3,224,224]){}` with its own shape", text,
                            check.dialect.generics ? "<scalar>" : "", check.dialect.semicolons ? ";" : ""));
    } else {
      const Scope::Entry* other = suggestions::FindMisspelt(check, name.symbol);
      DiagnosticBuilder builder = check.Report(
          kResultNotAssigned, name.range, "result `{}` is not assigned{}", check.Text(name.symbol),
          other == nullptr ? "" : fmt::format("; `{}` is", check.Text(other->name)));
      if (other == nullptr) continue;
      // A name that is used elsewhere is intended.
      const std::string_view body = check.SourceText(check.body.range);
      const std::string_view text = check.Text(other->name);
      if (body.find(text) == body.rfind(text) && IsOneSlip(text, check.Text(name.symbol)))
        builder.Fix(other->local.assignment, std::string(check.Text(name.symbol)), Applicability::kUnsafe);
      builder.Note(other->local.assignment, "`{}` is assigned here", text);
    }
  }
  return is_assigned;
}

}  // namespace

void CheckFragmentBody(CheckContext& check, ast::FragmentId id) {
  const ast::Fragment& fragment = check.document.fragments[id];
  if (!fragment.has_body || check.IsProperties(fragment)) return;
  BodyState& body = check.body;
  body.fragment = id;
  const Signature& signature = check.out->signature(id);
  body.kind = BodyKind::kFragment;
  body.range = fragment.body_range;
  body.is_generic = signature.is_generic;
  body.has_syntax_error = false;
  body.has_dropped_names = fragment.has_error || fragment.body.empty();  // reported by the parser
  body.scope.Clear();
  llvm::SmallVector<ast::Name, 4> results;
  auto declare = [&](const TypedName& name, LocalKind kind) {
    if (Local* other =
            body.scope.Find(name.name.symbol)) {  // duplicate, already reported: its type is unknown
      *other = {.kind = LocalKind::kUnknown, .type = check.error, .declaration = other->declaration};
      return;
    }
    body.scope.Add(name.name.symbol, {.kind = kind,
                                      .assigned = kind == LocalKind::kParameter,
                                      .type = name.type,
                                      .declaration = name.name.range});
  };
  for (const TypedName& parameter : signature.parameters) declare(parameter, LocalKind::kParameter);
  for (const TypedName& result : signature.results) {
    declare(result, LocalKind::kResult);
    results.push_back(result.name);
  }
  const bool is_sound = CheckAssignments(check, fragment.body);
  const bool is_assigned = !IsClosed(check, fragment.body_range) || CheckAssigned(check, results);
  const bool is_broken = !is_assigned || body.has_syntax_error || body.has_dropped_names;
  if (is_broken) check.tables.broken[static_cast<size_t>(id.index)] = true;
  if (is_broken || !is_sound) check.tables.unsound[static_cast<size_t>(id.index)] = true;
}

void CheckGraphBody(CheckContext& check, const ast::Graph& graph) {
  CheckNames(check, graph.parameters, graph.results);
  BodyState& body = check.body;
  body.kind = BodyKind::kGraph;
  body.is_generic = false;
  body.has_syntax_error = false;
  body.has_dropped_names = graph.has_error || graph.body.empty();  // reported by the parser
  body.scope.Clear();
  auto declare = [&](const ast::Name& name, LocalKind kind) {
    if (body.scope.Find(name.symbol) != nullptr) return;  // duplicate, already reported
    body.scope.Add(name.symbol, {.kind = kind, .type = check.error, .declaration = name.range});
  };
  check.tables.symbols = SymbolsOf(check.document, check.context.symbols, check.dialect.vendor_meanings);
  for (const ast::Name& symbol : check.tables.symbols) {
    body.scope.Add(symbol.symbol, {.kind = LocalKind::kParameter,
                                   .assigned = true,
                                   .type = check.integer,
                                   .declaration = symbol.range});
  }
  body.graph_parameters = graph.parameters;
  body.range = graph.body_range;
  for (const ast::Name& parameter : graph.parameters) {
    declare(parameter, LocalKind::kGraphParameter);
    // A symbol may have the name of an input; the input's assignment hides it.
    Local* local = body.scope.Find(parameter.symbol);
    if (local->kind == LocalKind::kParameter) local->kind = LocalKind::kGraphParameter;
  }
  for (const ast::Name& result : graph.results) declare(result, LocalKind::kResult);
  CheckAssignments(check, graph.body);
  if (IsClosed(check, graph.body_range)) {
    CheckAssigned(check, graph.parameters);
    CheckAssigned(check, graph.results);
  }
  body.scope.Clear();
}

}  // namespace nnefc::semantics::checks
