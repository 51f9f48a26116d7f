// Values of literal expressions, computed without the stack machine.

#include "compiler/expand/literal_value.h"

#include "compiler/expand/values/arithmetic.h"

namespace nnefc::expand {

using ast::ExprId;

ExprId StripParens(const ast::Document& document, ExprId expr) {
  while (const auto* paren = std::get_if<ast::ParenExpr>(&document.exprs[expr].node)) expr = paren->inner;
  return expr;
}

namespace {

// Returns the items of an array or tuple literal; nothing if an item is not a literal.
std::optional<std::vector<Value>> LiteralItems(const ast::Document& document, llvm::ArrayRef<ExprId> items,
                                               const SymbolTable& symbols, Heap& heap) {
  std::vector<Value> values;
  values.reserve(items.size());
  for (ExprId item : items) {
    std::optional<Value> value = LiteralValue(document, item, symbols, heap);
    if (!value) return std::nullopt;
    values.push_back(std::move(*value));
  }
  return values;
}

}  // namespace

std::optional<Value> LiteralValue(const ast::Document& document, ExprId expr, const SymbolTable& symbols,
                                  Heap& heap) {
  const ast::ExprNode& node = document.exprs[StripParens(document, expr)].node;
  if (const auto* integer = std::get_if<ast::IntegerLiteral>(&node)) return Value::Integer(integer->value);
  if (const auto* scalar = std::get_if<ast::ScalarLiteral>(&node)) return Value::Scalar(scalar->value);
  if (const auto* logical = std::get_if<ast::LogicalLiteral>(&node)) return Value::Logical(logical->value);
  if (const auto* string = std::get_if<ast::StringLiteral>(&node)) {
    return Value::String(heap, std::string(symbols.Text(string->value)), false);
  }
  if (const auto* unary = std::get_if<ast::UnaryExpr>(&node)) {
    // Only signs of numbers, such as `-1`; other operators may have tensor operands.
    std::optional<Value> operand = LiteralValue(document, unary->operand, symbols, heap);
    Fault ignored;
    if (!operand || unary->op == ast::UnaryOperator::kNot) return std::nullopt;
    return values::EvaluateUnary(unary->op, *operand, ignored);
  }
  if (const auto* array = std::get_if<ast::ArrayExpr>(&node)) {
    auto items = LiteralItems(document, array->items, symbols, heap);
    if (!items) return std::nullopt;
    return Value::Array(heap, std::move(*items), false);
  }
  if (const auto* tuple = ast::Find<ast::TupleExpr>(node)) {
    auto items = LiteralItems(document, tuple->items, symbols, heap);
    if (!items) return std::nullopt;
    return Value::Tuple(heap, std::move(*items), false);
  }
  return std::nullopt;
}

}  // namespace nnefc::expand
