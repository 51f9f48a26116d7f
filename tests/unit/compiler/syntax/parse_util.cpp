#include "tests/unit/compiler/syntax/parse_util.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "fmt/core.h"

namespace nnefc::ast {
namespace {

class TreePrinter {
 public:
  TreePrinter(const Document& document, const Context& context) : document_(document), context_(context) {}

  std::string Print(ExprId id) const {
    if (!id.valid()) return "";
    return std::visit([this](const auto& node) { return Node(node); }, document_.exprs[id].node);
  }

 private:
  std::string Text(Symbol symbol) const { return std::string(context_.symbols.Text(symbol)); }
  std::string List(llvm::ArrayRef<ExprId> items) const {
    std::string text;
    for (const ExprId item : items) text += (text.empty() ? "" : ", ") + Print(item);
    return text;
  }
  std::string Node(const ErrorExpr&) const { return "<error>"; }
  std::string Node(const IdentifierExpr& node) const { return Text(node.name); }
  std::string Node(const IntegerLiteral& node) const { return fmt::format("{}", node.value); }
  std::string Node(const ScalarLiteral& node) const { return fmt::format("{}f", node.value); }
  std::string Node(const StringLiteral& node) const { return "\"" + Text(node.value) + "\""; }
  std::string Node(const LogicalLiteral& node) const { return node.value ? "true" : "false"; }
  std::string Node(const ArrayExpr& node) const { return "[" + List(node.items) + "]"; }
  std::string Node(const TupleExpr& node) const {
    return (node.parenthesized ? "tuple(" : "bare(") + List(node.items) + ")";
  }
  std::string Node(const ParenExpr& node) const { return "{" + Print(node.inner) + "}"; }
  std::string Node(const UnaryExpr& node) const {
    return fmt::format("({}{})", ast::Spelling(node.op), Print(node.operand));
  }
  std::string Node(const BinaryExpr& node) const {
    return fmt::format("({} {} {})", Print(node.left), ast::Spelling(node.op), Print(node.right));
  }
  std::string Node(const SelectExpr& node) const {
    return fmt::format("({} if {} else {})", Print(node.value), Print(node.condition), Print(node.otherwise));
  }
  std::string Node(const ComprehensionExpr& node) const {
    std::string text = node.loops_first ? "R[" : "P[";
    for (const Iterator& iterator : node.iterators) {
      text += fmt::format("for {} in {} ", Text(iterator.name.symbol), Print(iterator.iterable));
    }
    if (node.condition.valid()) text += fmt::format("if {} ", Print(node.condition));
    return text + "yield " + Print(node.body) + "]";
  }
  std::string Node(const SubscriptExpr& node) const {
    return fmt::format("{}[{}{}{}]", Print(node.base), Print(node.begin), node.is_range ? ":" : "",
                       Print(node.end));
  }
  std::string Node(const BuiltinExpr& node) const {
    return fmt::format("builtin {}({})", ast::Spelling(node.builtin), Print(node.argument));
  }
  template <typename T>
  std::string Node(const Kept<T>& node) const {
    return Node(*node);
  }
  std::string Node(const InvocationExpr& node) const {
    std::string text = Text(node.callee.symbol);
    if (node.type_argument) text += fmt::format("<{}>", ast::Spelling(*node.type_argument));
    if (node.unknown_type.valid()) text += fmt::format("<{}>", Text(node.unknown_type));
    std::string arguments;
    for (const Argument& argument : node.arguments) {
      if (!arguments.empty()) arguments += ", ";
      if (argument.name) arguments += Text(argument.name->symbol) + "=";
      arguments += Print(argument.value);
    }
    return text + "(" + arguments + ")";
  }

  const Document& document_;
  const Context& context_;
};

std::string Right(const Parsed& parsed) {
  if (!parsed.Messages().empty()) return parsed.Messages().front();
  return parsed.Tree(parsed.Statement(0).right);
}

}  // namespace

std::vector<std::string> Parsed::Messages() const {
  std::vector<Diagnostic> sorted = context->emitter.diagnostics();
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.range.begin < b.range.begin; });
  std::vector<std::string> messages;
  for (const Diagnostic& diagnostic : sorted) {
    const LineColumn at = context->sources.Position(diagnostic.range.start());
    messages.push_back(
        fmt::format("{}:{}: {} [{}]", at.line, at.column, diagnostic.message, diagnostic.rule->label));
  }
  return messages;
}

const Assignment& Parsed::Statement(size_t index) const {
  return document->graphs.at(0).body[index];
}

std::string Parsed::Tree(ExprId expr) const {
  return TreePrinter(*document, *context).Print(expr);
}

std::string Parsed::Tree(const Assignment& assignment) const {
  return Tree(assignment.left) + " = " + Tree(assignment.right);
}

Parsed Parse(std::string text, ParseOptions options, int64_t nesting) {
  Parsed parsed;
  parsed.context->limits.nesting = nesting;
  const FileId file = parsed.context->sources.AddText("test.nnef", std::move(text));
  parsed.document = ParseDocument(file, options, *parsed.context);
  return parsed;
}

Parsed ParseRatified(std::string_view statements) {
  return Parse(fmt::format("version 1.0;\ngraph g( x ) -> ( y ) {{\n{}\n}}\n", statements));
}

Parsed ParseProvisional(std::string_view statements) {
  return Parse(fmt::format("version 1.0\ngraph g( x ) -> ( y ) {{\n{}\n}}\n", statements));
}

std::string RatifiedTree(std::string_view expr) {
  return Right(ParseRatified(fmt::format("y = {};", expr)));
}
std::string ProvisionalTree(std::string_view expr) {
  return Right(ParseProvisional(fmt::format("y = {}", expr)));
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> CorpusPaths() {
  std::vector<std::string> paths;
  for (const char* folder : {"stdlib", "tests/networks", "../shared/data/networks"}) {
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error)) {
      if (at->path().extension() == ".nnef") paths.push_back(at->path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace nnefc::ast
