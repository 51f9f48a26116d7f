// The formatter of expressions, types and literals.

#include <cmath>
#include <cstdint>
#include <limits>

#include "compiler/syntax/expr_writer.h"
#include "compiler/syntax/parse.h"
#include "compiler/syntax/print.h"
#include "fmt/core.h"

namespace nnefc::ast {

void ExprWriter::Expr(ExprId id) {
  if (Full() || !id.valid()) return;
  const ast::Expr& expr = document_.exprs[id];
  CommentsBefore(expr.range);
  std::visit([&](const auto& node) { Node(expr, node); }, expr.node);
}

void ExprWriter::Close(const ast::Expr& whole, std::string_view bracket) {
  CommentsBefore({whole.range.file, whole.range.end, whole.range.end});
  layout_.Text(bracket);
}

// Writes comments before the break, so that trailing comments stay at the end of their line.
void ExprWriter::BreakBefore(SourceRange range) {
  CommentsBefore(range);
  layout_.Break();
}

template <typename Item, typename Place, typename Write>
void ExprWriter::List(llvm::ArrayRef<Item> items, Place place, Write write) {
  layout_.Begin(Layout::Group::kHang);
  for (size_t i = 0; i < items.size() && !Full(); ++i) {
    if (i > 0) {
      layout_.Text(",");
      BreakBefore(place(items[i]));
    }
    write(items[i]);
  }
  layout_.End();
}

void ExprWriter::Exprs(llvm::ArrayRef<ExprId> items) {
  List(
      items, [this](ExprId item) { return RangeOf(item); }, [this](ExprId item) { Expr(item); });
}

void ExprWriter::Node(const ast::Expr& whole, const ErrorExpr&) {
  if (whole.range.valid()) layout_.Text(Source(whole.range));
}

void ExprWriter::Node(const ast::Expr&, const IdentifierExpr& node) {
  layout_.Text(SpellName(context_.symbols.Text(node.name)));
}

// Numbers are printed as written. The sign of the smallest integer is a token of its own, and comments may
// stand between both.
void ExprWriter::Node(const ast::Expr& whole, const IntegerLiteral& node) {
  const bool is_token = whole.range.valid() && node.value != std::numeric_limits<int64_t>::min();
  layout_.Text(is_token ? Source(whole.range) : std::to_string(node.value));
}

void ExprWriter::Node(const ast::Expr& whole, const ScalarLiteral& node) {
  layout_.Text(whole.range.valid() ? Source(whole.range) : PrintScalar(node.value));
}

void ExprWriter::Node(const ast::Expr&, const StringLiteral& node) {
  layout_.Text(QuoteString(context_.symbols.Text(node.value)));
}

void ExprWriter::Node(const ast::Expr&, const LogicalLiteral& node) {
  layout_.Text(node.value ? "true" : "false");
}

void ExprWriter::Node(const ast::Expr& whole, const ArrayExpr& node) {
  layout_.Text("[");
  Exprs(node.items);
  Close(whole, "]");
}

void ExprWriter::Node(const ast::Expr& whole, const TupleExpr& node) {
  if (!node.parenthesized) return Exprs(node.items);
  layout_.Text("(");
  Exprs(node.items);
  Close(whole, ")");
}

void ExprWriter::Node(const ast::Expr& whole, const ParenExpr& node) {
  layout_.Text("(");
  Expr(node.inner);
  Close(whole, ")");
}

void ExprWriter::Node(const ast::Expr&, const UnaryExpr& node) {
  layout_.Text(ast::Spelling(node.op));
  Expr(node.operand);
}

void ExprWriter::Node(const ast::Expr&, const BinaryExpr& node) {
  layout_.Begin(Layout::Group::kFill);
  Operands(node);
  layout_.End();
}

// Flattens chains, so that `a + b + c` is one list of operands.
void ExprWriter::Operands(const BinaryExpr& binary) {
  const ast::Expr& left = document_.exprs[binary.left];
  if (const auto* inner = ast::Find<BinaryExpr>(left.node)) {
    Operands(*inner);
  } else {
    Expr(binary.left);
  }
  if (Full()) return;
  BreakBefore(RangeOf(binary.right));
  layout_.Text(ast::Spelling(binary.op));
  layout_.Text(" ");
  Expr(binary.right);
}

void ExprWriter::Node(const ast::Expr&, const SelectExpr& node) {
  layout_.Begin(Layout::Group::kFill);
  Expr(node.value);
  BreakBefore(RangeOf(node.condition));
  layout_.Text("if ");
  Expr(node.condition);
  BreakBefore(RangeOf(node.otherwise));
  layout_.Text("else ");
  Expr(node.otherwise);
  layout_.End();
}

void ExprWriter::Node(const ast::Expr& whole, const ComprehensionExpr& node) {
  const bool loops_first = node.loops_first;
  layout_.Text("[");
  layout_.Begin(Layout::Group::kFill);
  if (!loops_first) {
    Expr(node.body);
    BreakBefore(node.iterators.empty() ? SourceRange() : node.iterators[0].name.range);
  }
  layout_.Text("for ");
  List(
      node.iterators, [](const Iterator& iterator) { return iterator.name.range; },
      [this](const Iterator& iterator) {
        Name(iterator.name);
        layout_.Text(" in ");
        Expr(iterator.iterable);
      });
  if (node.condition.valid()) {
    BreakBefore(RangeOf(node.condition));
    layout_.Text("if ");
    Expr(node.condition);
  }
  if (loops_first) {
    BreakBefore(RangeOf(node.body));
    layout_.Text("yield ");
    Expr(node.body);
  }
  layout_.End();
  Close(whole, "]");
}

void ExprWriter::Node(const ast::Expr& whole, const SubscriptExpr& node) {
  Expr(node.base);
  layout_.Text("[");
  Expr(node.begin);
  if (node.is_range) layout_.Text(":");
  Expr(node.end);
  Close(whole, "]");
}

void ExprWriter::Node(const ast::Expr& whole, const BuiltinExpr& node) {
  layout_.Text(ast::Spelling(node.builtin));
  layout_.Text("(");
  Expr(node.argument);
  Close(whole, ")");
}

void ExprWriter::Node(const ast::Expr& whole, const InvocationExpr& node) {
  Name(node.callee);
  if (node.type_argument) layout_.Text(fmt::format("<{}>", ast::Spelling(*node.type_argument)));
  if (node.unknown_type.valid()) layout_.Text(fmt::format("<{}>", context_.symbols.Text(node.unknown_type)));
  layout_.Text("(");
  List(
      node.arguments,
      [this](const Argument& argument) {
        return argument.name ? argument.name->range : RangeOf(argument.value);
      },
      [this](const Argument& argument) {
        if (argument.name) {
          Name(*argument.name);
          layout_.Text(" = ");
        }
        Expr(argument.value);
      });
  Close(whole, ")");
}

std::string PrintExpr(const Document& document, ExprId expr, const Context& context, size_t max_length) {
  Layout layout;
  ExprWriter(document, context, layout, max_length).Expr(expr);
  std::string text = layout.Flat();
  if (max_length > 0 && text.size() > max_length) {
    text.resize(max_length);
    text += "..";
  }
  return text;
}

std::string PrintType(const Document& document, TypeId id) {
  struct Printer {
    const Document& document;
    std::string operator()(const ErrorType&) const { return "?"; }
    std::string operator()(const PrimitiveType& type) const { return std::string(ast::Spelling(type.name)); }
    std::string operator()(const TensorType& type) const {
      if (!type.has_brackets) return "tensor";
      return fmt::format("tensor<{}>", type.element ? ast::Spelling(*type.element) : "");
    }
    std::string operator()(const ArrayType& type) const { return PrintType(document, type.item) + "[]"; }
    std::string operator()(const TupleType& type) const {
      std::string text = "(";
      for (const TypeId item : type.items) {
        if (text.size() > 1) text += ", ";
        text += PrintType(document, item);
      }
      return text + ")";
    }
  };
  return std::visit(Printer{document}, document.types[id].node);
}

namespace {

std::string InQuotes(std::string_view value, char quote) {
  std::string text(1, quote);
  for (const char c : value) {
    if (c == quote || c == '\\') text += '\\';
    // Control characters occur in properties of tract alone.
    if (c == '\n') {
      text += "\\n";
    } else if (c == '\r') {
      text += "\\r";
    } else if (c == '\t') {
      text += "\\t";
    } else {
      text += c;
    }
  }
  return text + quote;
}

}  // namespace

std::string QuoteString(std::string_view value) {
  return InQuotes(value, '\'');
}

std::string SpellName(std::string_view name) {
  return IsPlainName(name) ? std::string(name) : 'i' + InQuotes(name, '"');
}

std::string PrintScalar(double value) {
  if (std::isinf(value)) return value < 0 ? "-1e+39" : "1e+39";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

}  // namespace nnefc::ast
