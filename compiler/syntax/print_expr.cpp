#include "compiler/syntax/print.h"
#include "fmt/format.h"

namespace nnefc {
namespace {

// Recursion follows the AST, whose height the parser bounds.
class ExprPrinter {
 public:
  ExprPrinter(const ast::Document& document, const Context& context, size_t max_length)
      : document_(document), context_(context), max_length_(max_length) {}

  std::string Print(ast::ExprId id) {
    Expr(id);
    if (Full()) {
      out_.resize(max_length_);
      out_ += "..";
    }
    return std::move(out_);
  }

 private:
  bool Full() const { return max_length_ > 0 && out_.size() > max_length_; }

  void Expr(ast::ExprId id) {
    if (Full() || !id.valid()) return;
    const ast::Expr& expr = document_.exprs[id];
    if (std::holds_alternative<ast::ErrorExpr>(expr.node)) {
      const std::string_view text = context_.sources.Text(expr.range.file);
      out_ += text.substr(expr.range.begin, expr.range.end - expr.range.begin);
      return;
    }
    std::visit([this](const auto& node) { Node(node); }, expr.node);
  }

  template <typename Range, typename Print>
  void List(const Range& items, Print print) {
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_ += ", ";
      first = false;
      print(item);
      if (Full()) return;
    }
  }
  void Exprs(llvm::ArrayRef<ast::ExprId> items) {
    List(items, [this](ast::ExprId item) { Expr(item); });
  }
  void Name(ast::Name name) { out_ += context_.symbols.Text(name.symbol); }

  void Node(const ast::ErrorExpr&) {}
  void Node(const ast::IdentifierExpr& node) { out_ += context_.symbols.Text(node.name); }
  void Node(const ast::IntegerLiteral& node) { out_ += std::to_string(node.value); }
  void Node(const ast::ScalarLiteral& node) { out_ += PrintScalar(node.value); }
  void Node(const ast::StringLiteral& node) { out_ += QuoteString(context_.symbols.Text(node.value)); }
  void Node(const ast::LogicalLiteral& node) { out_ += node.value ? "true" : "false"; }
  void Node(const ast::ArrayExpr& node) {
    out_ += '[';
    Exprs(node.items);
    out_ += ']';
  }
  void Node(const ast::TupleExpr& node) {
    if (node.parenthesized) out_ += '(';
    Exprs(node.items);
    if (node.parenthesized) out_ += ')';
  }
  void Node(const ast::ParenExpr& node) {
    out_ += '(';
    Expr(node.inner);
    out_ += ')';
  }
  void Node(const ast::UnaryExpr& node) {
    out_ += ast::Spelling(node.op);
    Expr(node.operand);
  }
  void Node(const ast::BinaryExpr& node) {
    Expr(node.left);
    out_ += ' ';
    out_ += ast::Spelling(node.op);
    out_ += ' ';
    Expr(node.right);
  }
  void Node(const ast::SelectExpr& node) {
    Expr(node.value);
    out_ += " if ";
    Expr(node.condition);
    out_ += " else ";
    Expr(node.otherwise);
  }
  void Node(const ast::ComprehensionExpr& node) {
    const bool ratified = node.form == ast::Dialect::kRatified;
    out_ += '[';
    if (!ratified) {
      Expr(node.body);
      out_ += ' ';
    }
    out_ += "for ";
    List(node.iterators, [this](const ast::Iterator& iterator) {
      Name(iterator.name);
      out_ += " in ";
      Expr(iterator.iterable);
    });
    if (node.condition.valid()) {
      out_ += " if ";
      Expr(node.condition);
    }
    if (ratified) {
      out_ += " yield ";
      Expr(node.body);
    }
    out_ += ']';
  }
  void Node(const ast::SubscriptExpr& node) {
    Expr(node.base);
    out_ += '[';
    Expr(node.begin);
    if (node.is_range) out_ += ':';
    Expr(node.end);
    out_ += ']';
  }
  void Node(const ast::BuiltinExpr& node) {
    out_ += ast::Spelling(node.builtin);
    out_ += '(';
    Expr(node.argument);
    out_ += ')';
  }
  void Node(const ast::InvocationExpr& node) {
    Name(node.callee);
    if (node.type_argument) out_ += fmt::format("<{}>", ast::Spelling(*node.type_argument));
    out_ += '(';
    List(node.arguments, [this](const ast::Argument& argument) {
      if (argument.name) {
        Name(*argument.name);
        out_ += " = ";
      }
      Expr(argument.value);
    });
    out_ += ')';
  }

  const ast::Document& document_;
  const Context& context_;
  const size_t max_length_;
  std::string out_;
};

}  // namespace

std::string PrintExpr(const ast::Document& document, ast::ExprId expr, const Context& context,
                      size_t max_length) {
  return ExprPrinter(document, context, max_length).Print(expr);
}

std::string PrintType(const ast::Document& document, ast::TypeId id) {
  struct Printer {
    const ast::Document& document;
    std::string operator()(const ast::ErrorType&) const { return "?"; }
    std::string operator()(const ast::PrimitiveType& type) const {
      return std::string(ast::Spelling(type.name));
    }
    std::string operator()(const ast::TensorType& type) const {
      if (!type.has_brackets) return "tensor";
      return fmt::format("tensor<{}>", type.element ? ast::Spelling(*type.element) : "");
    }
    std::string operator()(const ast::ArrayType& type) const { return PrintType(document, type.item) + "[]"; }
    std::string operator()(const ast::TupleType& type) const {
      std::string text = "(";
      for (const ast::TypeId item : type.items) {
        if (text.size() > 1) text += ", ";
        text += PrintType(document, item);
      }
      return text + ")";
    }
  };
  return std::visit(Printer{document}, document.types[id].node);
}

std::string QuoteString(std::string_view value) {
  std::string text = "'";
  for (const char c : value) {
    if (c == '\'' || c == '\\') text += '\\';
    text += c;
  }
  return text + "'";
}

std::string PrintScalar(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

}  // namespace nnefc
