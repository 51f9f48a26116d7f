// Literals of numbers and attributes in a flat document.

#include "compiler/expand/print/literals.h"

#include "compiler/syntax/print.h"
#include "fmt/core.h"

namespace nnefc::expand::print {
namespace {

using ir::Attribute;
using ir::AttributeList;

std::string Text(bool value) {
  return value ? "true" : "false";
}
std::string Text(int64_t value) {
  return std::to_string(value);
}
std::string Text(double value) {
  return ScalarLiteral(value);
}
std::string Text(const std::string& value) {
  return StringLiteral(value);
}

template <typename List, typename ItemText>
std::string Join(const List& items, std::string_view open, std::string_view close, ItemText text) {
  std::string result(open);
  bool first = true;
  for (const auto& item : items) {
    if (!first) result += ", ";
    first = false;
    result += text(item);
  }
  result += close;
  return result;
}

template <typename List>
std::string Packed(const List& items, bool tuple) {
  using Item = typename List::value_type;
  return Join(items, tuple ? "(" : "[", tuple ? ")" : "]",
              [](const auto& item) { return Text(static_cast<Item>(item)); });
}

// Returns the literal of an attribute without nested attributes; empty for others.
std::string LeafLiteral(const Attribute& attribute, bool tuple) {
  if (const auto* logical = attribute.get<bool>()) return Text(*logical);
  if (const auto* integer = attribute.get<int64_t>()) return Text(*integer);
  if (const auto* scalar = attribute.get<double>()) return Text(*scalar);
  if (const auto* string = attribute.get<std::string>()) return Text(*string);
  if (const auto* integers = attribute.get<Attribute::Integers>()) return Packed(*integers, tuple);
  if (const auto* scalars = attribute.get<Attribute::Scalars>()) return Packed(*scalars, tuple);
  if (const auto* logicals = attribute.get<Attribute::Logicals>()) return Packed(*logicals, tuple);
  if (const auto* strings = attribute.get<Attribute::Strings>()) return Packed(*strings, tuple);
  // Open extents of an external are 0, as in the provisional dialect.
  if (const auto* shape = attribute.get<ir::PartialShape>()) {
    return Join(shape->dims(), "[", "]",
                [](ir::Dim dim) { return Text(dim.known() ? dim.value() : int64_t{0}); });
  }
  return {};
}

}  // namespace

std::string ScalarLiteral(double value) {
  return ast::PrintScalar(value);
}

std::string StringLiteral(std::string_view text) {
  std::string literal = "'";
  for (char c : text) {
    if (c == '\'' || c == '\\') literal += '\\';
    literal += c;
  }
  return literal + "'";
}

std::string AttributeLiteral(const Attribute& attribute, const semantics::TypeTable& types,
                             semantics::TypeId type) {
  bool tuple = types.Kind(type) == semantics::TypeKind::kTuple;
  const auto* list = attribute.get<AttributeList>();
  if (list == nullptr) return LeafLiteral(attribute, tuple);
  std::string result = tuple ? "(" : "[";
  for (size_t i = 0; i < list->items.size(); ++i) {
    if (i > 0) result += ", ";
    semantics::TypeId item = tuple && i < types.Items(type).size() ? types.Items(type)[i] : types.Item(type);
    result += AttributeLiteral(list->items[i], types, item);
  }
  return result + (tuple ? ")" : "]");
}

std::string AttributeLiteral(const Attribute& attribute) {
  const auto* list = attribute.get<AttributeList>();
  if (list == nullptr) return LeafLiteral(attribute, false);
  return Join(list->items, list->is_tuple ? "(" : "[", list->is_tuple ? ")" : "]", [](const Attribute& item) {
    return item.get<AttributeList>() != nullptr ? AttributeLiteral(item) : LeafLiteral(item, true);
  });
}

std::string AttributeTypeText(const Attribute& attribute) {
  if (attribute.get<bool>() != nullptr) return "logical";
  if (attribute.get<int64_t>() != nullptr) return "integer";
  if (attribute.get<double>() != nullptr) return "scalar";
  if (attribute.get<std::string>() != nullptr) return "string";
  if (attribute.get<Attribute::Integers>() != nullptr) return "integer[]";
  if (attribute.get<Attribute::Scalars>() != nullptr) return "scalar[]";
  if (attribute.get<Attribute::Logicals>() != nullptr) return "logical[]";
  if (attribute.get<Attribute::Strings>() != nullptr) return "string[]";
  const auto* list = attribute.get<AttributeList>();
  if (list == nullptr || list->items.empty()) return {};
  auto item_type = [](const Attribute& item) {
    return item.get<Attribute::Integers>() != nullptr ? "(integer,integer)" : AttributeTypeText(item);
  };
  if (!list->is_tuple) {
    for (const Attribute& item : list->items) {
      std::string type = item_type(item);
      if (!type.empty()) return type + "[]";
    }
    return {};
  }
  std::string text = "(";
  for (const Attribute& item : list->items) {
    std::string type = item_type(item);
    text += (text.size() > 1 ? "," : "") + (type.empty() ? "integer[]" : type);
  }
  return text + ")";
}

std::string DefaultLiteral(const ast::Document& document, ast::ExprId expr, const SymbolTable& symbols) {
  const ast::ExprNode& node = document.exprs[expr].node;
  auto item = [&](ast::ExprId id) { return DefaultLiteral(document, id, symbols); };
  if (const auto* paren = std::get_if<ast::ParenExpr>(&node)) return item(paren->inner);
  if (const auto* integer = std::get_if<ast::IntegerLiteral>(&node)) return Text(integer->value);
  if (const auto* scalar = std::get_if<ast::ScalarLiteral>(&node)) return Text(scalar->value);
  if (const auto* logical = std::get_if<ast::LogicalLiteral>(&node)) return Text(logical->value);
  if (const auto* string = std::get_if<ast::StringLiteral>(&node))
    return StringLiteral(symbols.Text(string->value));
  if (const auto* array = std::get_if<ast::ArrayExpr>(&node)) return Join(array->items, "[", "]", item);
  if (const auto* tuple = ast::Find<ast::TupleExpr>(node)) return Join(tuple->items, "(", ")", item);
  const auto* unary = std::get_if<ast::UnaryExpr>(&node);
  if (unary != nullptr && unary->op == ast::UnaryOperator::kMinus) return "-" + item(unary->operand);
  return {};
}

}  // namespace nnefc::expand::print
