#include "compiler/expand/site.h"

#include "compiler/expand/literal_value.h"

namespace nnefc::expand {

SourceRange SitePlaces::Find(std::string_view argument, int64_t item) const {
  if (argument == ir::kResultsPlace) return site_.left;
  const ast::ExprId written = Written(argument, item);
  return written.valid() ? site_.document->ast().exprs[written].range : SourceRange();
}

bool SitePlaces::IsLiteral(std::string_view argument, int64_t item) const {
  if (argument == ir::kResultsPlace) return false;
  llvm::SmallVector<ast::ExprId, 8> left = {Written(argument, item)};
  if (!left[0].valid()) return false;
  const auto& exprs = site_.document->ast().exprs;
  while (!left.empty()) {
    const ast::ExprNode& node = exprs[left.pop_back_val()].node;
    if (const auto* array = std::get_if<ast::ArrayExpr>(&node)) {
      left.append(array->items.begin(), array->items.end());
    } else if (const auto* tuple = ast::Find<ast::TupleExpr>(node)) {
      left.append(tuple->items.begin(), tuple->items.end());
    } else if (const auto* unary = std::get_if<ast::UnaryExpr>(&node)) {
      left.push_back(unary->operand);
    } else if (!std::holds_alternative<ast::IntegerLiteral>(node) &&
               !std::holds_alternative<ast::ScalarLiteral>(node) &&
               !std::holds_alternative<ast::StringLiteral>(node) &&
               !std::holds_alternative<ast::LogicalLiteral>(node)) {
      return false;
    }
  }
  return true;
}

ast::ExprId SitePlaces::Written(std::string_view argument, int64_t item) const {
  const int32_t index = plan_.Find(argument);
  if (index < 0 || site_.document == nullptr || !site_.expr.valid()) return {};
  const int32_t parameter = plan_.parameters[static_cast<size_t>(index)].source;
  const ast::Document& document = site_.document->ast();
  const ast::ExprNode& node = document.exprs[site_.expr].node;
  ast::ExprId written;
  if (const auto* binary = ast::Find<ast::BinaryExpr>(node)) {
    written = parameter == 0 ? binary->left : binary->right;
  } else if (const auto* unary = std::get_if<ast::UnaryExpr>(&node)) {
    written = unary->operand;
  } else if (const semantics::Binding* binding = site_.document->binding(site_.expr)) {
    if (parameter >= 0 && static_cast<size_t>(parameter) < binding->arguments.size())
      written = binding->arguments[static_cast<size_t>(parameter)];
  }
  if (!written.valid()) return written;
  const auto* array = std::get_if<ast::ArrayExpr>(&document.exprs[StripParens(document, written)].node);
  if (array != nullptr && item >= 0 && static_cast<size_t>(item) < array->items.size() &&
      array->items[static_cast<size_t>(item)].valid()) {
    written = array->items[static_cast<size_t>(item)];
  }
  return written;
}

}  // namespace nnefc::expand
