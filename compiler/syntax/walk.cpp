// Traversal of expressions.

#include "compiler/syntax/walk.h"

#include "llvm/ADT/STLExtras.h"

namespace nnefc::ast {
namespace {

template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <typename... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

}  // namespace

void ForEachChild(const Expr& expr, llvm::function_ref<void(ExprId)> use) {
  auto visit = [&](ExprId id) {
    if (id.valid()) use(id);
  };
  auto visit_all = [&](llvm::ArrayRef<ExprId> ids) {
    for (ExprId id : ids) visit(id);
  };
  std::visit(Overloaded{
                 [&](const ArrayExpr& array) { visit_all(array.items); },
                 [&](Kept<TupleExpr> tuple) { visit_all(tuple->items); },
                 [&](const ParenExpr& paren) { visit(paren.inner); },
                 [&](const UnaryExpr& unary) { visit(unary.operand); },
                 [&](Kept<BinaryExpr> binary) {
                   visit_all({binary->left, binary->right});
                 },
                 [&](const SelectExpr& select) {
                   visit_all({select.value, select.condition, select.otherwise});
                 },
                 [&](Kept<ComprehensionExpr> loop) {
                   for (const Iterator& iterator : loop->iterators) visit(iterator.iterable);
                   visit_all({loop->condition, loop->body});
                 },
                 [&](const SubscriptExpr& subscript) {
                   visit_all({subscript.base, subscript.begin, subscript.end});
                 },
                 [&](Kept<BuiltinExpr> builtin) { visit(builtin->argument); },
                 [&](Kept<InvocationExpr> invocation) {
                   for (const Argument& argument : invocation->arguments) visit(argument.value);
                 },
                 [](const auto&) {},
             },
             expr.node);
}

void WalkExprs(const Document& document, ExprId root, llvm::function_ref<void(ExprId, const Expr&)> use) {
  llvm::SmallVector<ExprId, 32> pending;
  if (root.valid()) pending.push_back(root);
  while (!pending.empty()) {
    const ExprId id = pending.pop_back_val();
    const Expr& expr = document.exprs[id];
    use(id, expr);
    const size_t first = pending.size();
    ForEachChild(expr, [&](ExprId child) { pending.push_back(child); });
    std::reverse(pending.begin() + static_cast<int64_t>(first), pending.end());
  }
}

void ForEachTarget(const Document& document, ExprId left, llvm::function_ref<void(const Name&)> use) {
  llvm::SmallVector<ExprId, 8> pending;
  if (left.valid()) pending.push_back(left);
  while (!pending.empty()) {
    const Expr& expr = document.exprs[pending.pop_back_val()];
    if (const auto* identifier = std::get_if<IdentifierExpr>(&expr.node)) {
      use({identifier->name, expr.range});
    } else if (const auto* array = std::get_if<ArrayExpr>(&expr.node)) {
      pending.append(array->items.rbegin(), array->items.rend());
    } else if (const auto* tuple = Find<TupleExpr>(expr.node)) {
      pending.append(tuple->items.rbegin(), tuple->items.rend());
    } else if (const auto* paren = std::get_if<ParenExpr>(&expr.node)) {
      pending.push_back(paren->inner);
    }
  }
}

}  // namespace nnefc::ast
