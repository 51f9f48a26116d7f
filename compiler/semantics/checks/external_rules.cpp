#include "compiler/semantics/checks/external_rules.h"

#include <algorithm>

namespace nnefc::semantics::checks {

Origin OriginOf(const CheckContext& check, ExprId right) {
  const ast::ExprNode& node = check.expr(check.Inner(right)).node;
  if (const auto* identifier = std::get_if<ast::IdentifierExpr>(&node)) {
    const Local* local = check.body.scope.Find(identifier->name);
    return local != nullptr ? local->origin : Origin::kUndecided;
  }
  const auto* invocation = ast::Find<ast::InvocationExpr>(node);
  if (invocation == nullptr) return Origin::kUndecided;
  const Callee callee = check.out->Find(invocation->callee.symbol);
  if (check.IsStandard(callee, check.variable)) return Origin::kVariable;
  // A fragment of the document may return a variable.
  return callee.document == &check.standard ? Origin::kOther : Origin::kUndecided;
}

bool IsExternal(const CheckContext& check, ExprId right) {
  right = check.Inner(right);
  while (const auto* select = std::get_if<ast::SelectExpr>(&check.expr(right).node)) {
    if (!IsExternal(check, select->value)) return false;
    right = check.Inner(select->otherwise);
  }
  return std::find(check.body.externals.begin(), check.body.externals.end(), right) !=
         check.body.externals.end();
}

void ForgetExternals(CheckContext& check, ExprId right) {
  right = check.Inner(right);
  while (const auto* select = std::get_if<ast::SelectExpr>(&check.expr(right).node)) {
    ForgetExternals(check, select->value);
    right = check.Inner(select->otherwise);
  }
  check.body.externals.erase(std::remove(check.body.externals.begin(), check.body.externals.end(), right),
                             check.body.externals.end());
}

void CheckPlace(CheckContext& check, ExprId id, const ast::InvocationExpr& invocation, Callee callee) {
  if (check.body.kind == BodyKind::kGraph && check.SignatureOf(callee).makes_external)
    check.body.externals.push_back(id);
  const Symbol name = invocation.callee.symbol;
  if (name == check.external && check.kind == CheckedKind::kLibrary && callee.document == &check.standard) {
    check.tables.signatures[static_cast<size_t>(check.body.fragment.index)].makes_external = true;
    return;
  }
  if (name != check.external && name != check.variable && name != check.update) return;
  if (callee.document != &check.standard) return;
  if (check.body.kind == BodyKind::kGraph) {
    if (name == check.external) check.body.externals.push_back(id);
    return;
  }
  if (name == check.external) {
    check.Report(kOnlyInGraph, invocation.callee.range,
                 "`external` is for the body of the graph, not of a fragment");
  } else if (!check.dialect.fragment_variables) {
    check.Report(kOnlyInGraph, invocation.callee.range,
                 "`{}` is for the body of the graph, not of a fragment; pass its result as a parameter",
                 check.Text(name));
  }
}

void CheckUpdateTarget(CheckContext& check, ExprId target) {
  const ast::Expr& value = check.expr(check.Inner(target));
  const bool is_literal = std::holds_alternative<ast::ScalarLiteral>(value.node) ||
                          std::holds_alternative<ast::IntegerLiteral>(value.node) ||
                          std::holds_alternative<ast::LogicalLiteral>(value.node) ||
                          std::holds_alternative<ast::StringLiteral>(value.node);
  if (!is_literal && OriginOf(check, target) != Origin::kOther) return;
  DiagnosticBuilder builder = check.Report(kUpdateTarget, value.range,
                                           "`{}` is not a variable; `update` takes the result of `variable`",
                                           check.SourceText(value.range).substr(0, 80));
  const auto* identifier = std::get_if<ast::IdentifierExpr>(&value.node);
  if (identifier == nullptr) return;
  builder.Note(check.body.scope.Find(identifier->name)->assignment, "assigned here");
}

}  // namespace nnefc::semantics::checks
