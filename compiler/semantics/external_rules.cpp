#include <algorithm>

#include "compiler/semantics/checker.h"

namespace nnefc::semantics {

Origin Checker::OriginOf(ExprId right) {
  const ast::ExprNode& node = expr(Inner(right)).node;
  if (const auto* identifier = std::get_if<ast::IdentifierExpr>(&node)) {
    const Local* local = scope_.Find(identifier->name);
    return local != nullptr ? local->origin : Origin::kUndecided;
  }
  const auto* invocation = ast::Find<ast::InvocationExpr>(node);
  if (invocation == nullptr) return Origin::kUndecided;
  const Callee callee = out_->Find(invocation->callee.symbol);
  if (IsStandard(callee, variable_)) return Origin::kVariable;
  // A fragment of the document may return a variable.
  return callee.document == standard_ ? Origin::kOther : Origin::kUndecided;
}

bool Checker::IsExternal(ExprId right) {
  right = Inner(right);
  while (const auto* select = std::get_if<ast::SelectExpr>(&expr(right).node)) {
    if (!IsExternal(select->value)) return false;
    right = Inner(select->otherwise);
  }
  return std::find(externals_.begin(), externals_.end(), right) != externals_.end();
}

void Checker::ForgetExternals(ExprId right) {
  right = Inner(right);
  while (const auto* select = std::get_if<ast::SelectExpr>(&expr(right).node)) {
    ForgetExternals(select->value);
    right = Inner(select->otherwise);
  }
  externals_.erase(std::remove(externals_.begin(), externals_.end(), right), externals_.end());
}

void Checker::CheckPlace(ExprId id, const ast::InvocationExpr& invocation, Callee callee) {
  if (body_ == BodyKind::kGraph && SignatureOf(callee).makes_external) externals_.push_back(id);
  const Symbol name = invocation.callee.symbol;
  if (name == external_ && kind_ == CheckedKind::kLibrary && callee.document == standard_) {
    out_->signatures_[static_cast<size_t>(fragment_.index)].makes_external = true;
    return;
  }
  if (name != external_ && name != variable_ && name != update_) return;
  if (callee.document != standard_) return;
  if (body_ == BodyKind::kGraph) {
    if (name == external_) externals_.push_back(id);
    return;
  }
  if (name == external_) {
    Report(kOnlyInGraph, invocation.callee.range,
           "`external` is for the body of the graph, not of a fragment");
  } else if (!dialect_.fragment_variables) {
    Report(kOnlyInGraph, invocation.callee.range,
           "`{}` is for the body of the graph, not of a fragment; pass its result as a parameter",
           Text(name));
  }
}

// 4.8 (4.7): the target of `update` is a variable. Expansion checks it if it depends on a fragment's
// parameters or results.
void Checker::CheckUpdateTarget(ExprId target) {
  const ast::Expr& value = expr(Inner(target));
  const bool is_literal = std::holds_alternative<ast::ScalarLiteral>(value.node) ||
                          std::holds_alternative<ast::IntegerLiteral>(value.node) ||
                          std::holds_alternative<ast::LogicalLiteral>(value.node) ||
                          std::holds_alternative<ast::StringLiteral>(value.node);
  if (!is_literal && OriginOf(target) != Origin::kOther) return;
  DiagnosticBuilder builder =
      Report(kUpdateTarget, value.range, "`{}` is not a variable; `update` takes the result of `variable`",
             SourceText(value.range).substr(0, 80));
  const auto* identifier = std::get_if<ast::IdentifierExpr>(&value.node);
  if (identifier == nullptr) return;
  builder.Note(scope_.Find(identifier->name)->assignment, "assigned here");
}

}  // namespace nnefc::semantics
