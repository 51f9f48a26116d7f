// Flat assignments are read token by token. The result equals that of the grammar: the same expressions with
// the same ids, symbols and messages.

#include <iostream>
#include <random>

#include "compiler/syntax/parse/scanner.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/syntax/parse_util.h"

namespace nnefc::ast {
namespace {

// Lists all contents of an expression.
struct Lister {
  std::string At(SourceRange range) const {
    return range.valid() ? fmt::format("{}..{}", range.begin, range.end) : "-";
  }
  std::string At(const Name& name) const { return fmt::format("{}@{}", name.symbol.index, At(name.range)); }
  std::string Ids(llvm::ArrayRef<ExprId> ids) const {
    std::string text;
    for (ExprId id : ids) text += fmt::format(" {}", id.index);
    return text;
  }

  std::string operator()(const ErrorExpr&) const { return "error"; }
  std::string operator()(const IdentifierExpr& node) const { return fmt::format("name {}", node.name.index); }
  std::string operator()(const IntegerLiteral& node) const { return fmt::format("integer {}", node.value); }
  std::string operator()(const ScalarLiteral& node) const { return fmt::format("scalar {}", node.value); }
  std::string operator()(const StringLiteral& node) const {
    return fmt::format("string {}", node.value.index);
  }
  std::string operator()(const LogicalLiteral& node) const { return fmt::format("logical {}", node.value); }
  std::string operator()(const ArrayExpr& node) const { return "array" + Ids(node.items); }
  std::string operator()(const Kept<TupleExpr>& node) const {
    return fmt::format("tuple {}{}", node->parenthesized, Ids(node->items));
  }
  std::string operator()(const ParenExpr& node) const { return fmt::format("paren {}", node.inner.index); }
  std::string operator()(const UnaryExpr& node) const {
    return fmt::format("unary {} {}", ast::Spelling(node.op), node.operand.index);
  }
  std::string operator()(const Kept<BinaryExpr>& node) const {
    return fmt::format("binary {} {} {}", ast::Spelling(node->op), node->left.index, node->right.index);
  }
  std::string operator()(const SelectExpr& node) const {
    return fmt::format("select {} {} {}", node.condition.index, node.value.index, node.otherwise.index);
  }
  std::string operator()(const Kept<ComprehensionExpr>& node) const {
    return fmt::format("comprehension {} {}", node->condition.index, node->body.index);
  }
  std::string operator()(const SubscriptExpr& node) const {
    return fmt::format("subscript {} {} {}", node.base.index, node.begin.index, node.end.index);
  }
  std::string operator()(const Kept<BuiltinExpr>& node) const {
    return fmt::format("builtin {} {}", ast::Spelling(node->builtin), node->argument.index);
  }
  std::string operator()(const Kept<InvocationExpr>& node) const {
    std::string text = fmt::format("invocation {} {} {}", At(node->callee),
                                   node->type_argument ? ast::Spelling(*node->type_argument) : "-",
                                   At(node->type_argument_range));
    for (const Argument& argument : node->arguments)
      text += fmt::format(" {}={}", argument.name ? At(*argument.name) : "", argument.value.index);
    return text;
  }
};

std::string Listing(const Parsed& parsed) {
  const Lister lister;
  std::string text;
  for (const Expr& expr : parsed.document->exprs)
    text += fmt::format("{}: {}\n", lister.At(expr.range), std::visit(lister, expr.node));
  const auto list_body = [&](llvm::ArrayRef<Assignment> body) {
    for (const Assignment& each : body)
      text += fmt::format("{}: {} = {} {}\n", lister.At(each.range), each.left.index, each.right.index,
                          each.has_semicolon);
  };
  for (const Fragment& fragment : parsed.document->fragments) list_body(fragment.body);
  for (const Graph& graph : parsed.document->graphs) list_body(graph.body);
  for (const SourceRange range : parsed.document->quoted_names) text += lister.At(range) + "\n";
  text += fmt::format("{} symbols\n{}\n", parsed.context->symbols.size(), fmt::join(parsed.Messages(), "\n"));
  return text;
}

void ExpectSame(const std::string& text, std::string_view what, int64_t nesting = 1000) {
  const std::string flat = Listing(Parse(text, {}, nesting));
  ASSERT_EQ(flat, Listing(Parse(text, {.by_grammar_alone = true}, nesting))) << what << "\n" << text;
}

std::vector<std::string_view> Pieces(std::string_view text) {
  std::vector<std::string_view> pieces;
  parse::Scanner scanner(text);
  uint32_t end = 0;
  while (true) {
    const parse::Token token = scanner.Next();
    if (token.begin > end) pieces.push_back(text.substr(end, token.begin - end));
    if (token.kind == parse::TokenKind::kEndOfText) return pieces;
    pieces.push_back(token.Text(text));
    end = token.end;
  }
}

// Returns `text` with one to three tokens removed, duplicated, or replaced by others.
std::string Mutant(std::string_view text, std::mt19937& random) {
  constexpr std::string_view kOthers[] = {",",
                                          ";",
                                          "(",
                                          ")",
                                          "[",
                                          "]",
                                          "=",
                                          "-",
                                          "+",
                                          "!",
                                          "<",
                                          ">",
                                          "<scalar>",
                                          "<x>",
                                          "integer(",
                                          "extent(",
                                          "yield",
                                          "if",
                                          "else",
                                          "in",
                                          "for",
                                          "1",
                                          "9223372036854775808",
                                          "-9223372036854775808",
                                          "1e999",
                                          "'s'",
                                          "true",
                                          "name",
                                          "name =",
                                          "i'a.b'",
                                          ":",
                                          "\n",
                                          "# c\n",
                                          "{",
                                          "}",
                                          "$",
                                          "'",
                                          "..",
                                          "a.b",
                                          "f()",
                                          "()"};
  std::vector<std::string_view> pieces = Pieces(text);
  for (size_t count = 1 + random() % 3; count > 0 && !pieces.empty(); --count) {
    const auto at = pieces.begin() + static_cast<ptrdiff_t>(random() % pieces.size());
    switch (random() % 4) {
      case 0:
        pieces.erase(at);
        break;
      case 1:
        pieces.insert(at, *at);
        break;
      case 2:
        *at = kOthers[random() % std::size(kOthers)];
        break;
      default:
        pieces.insert(at, kOthers[random() % std::size(kOthers)]);
    }
  }
  return fmt::format("{}", fmt::join(pieces, ""));
}

constexpr std::string_view kCorners[] = {
    "y = x;",
    "y = -1.0;",
    "y = +1;",
    "y = - -1;",
    "y = -9223372036854775808;",
    "y = 9223372036854775808;",
    "a, b = split(x, axis = 1, ratios = [1, -1]);",
    "[a, b] = split(x);",
    "(a, b) = split(x);",
    "y = f(x), g(x);",
    "y = external<scalar>(shape = []);",
    "y = external<integer>(shape = [1]);",
    "y = external<float>(shape = [1]);",
    "y = external<?>(shape = [1]);",
    "y = f<x>(a);",
    "y = f();",
    "y = f(());",
    "y = f((a), (a, b), [(1, 2), (-1, [])]);",
    "y = f(g(h(x), k = true), a = b(c));",
    "y = f(k = k = 1);",
    "y = [k = 1];",
    "y = f((a, k = 1));",
    "y = f([a, k = 1]);",
    "y = integer(1.0);",
    "y = extent(1.0);",
    "y = scalar(1);",
    "y = f(x)[0];",
    "y = f(x) + 1;",
    "y = f(1 if a else 2);",
    "y = f(yield = 1);",
    "y = i'a.b';",
    "y = i''(x);",
    "i'a.b' = f(i'c' = 'd');",
    "y = f('a\\'b', 'a\\b', '\x01');",
    "y = f(x\nz = g(y);",
    "y = f(x)\nz = g(y)",
    "y = f(1., .5, 1e999, 1e-999);",
    "y = x y;",
    "y == x;",
    "y, = x;",
    ", y = x;",
    "y = ;",
    "= x;",
    "y",
};

TEST(FlatAssignments, AreReadAsByTheGrammarInCorners) {
  for (std::string_view body : kCorners) {
    for (const char* version : {"version 1.0;", "version 1.0"}) {
      for (int64_t nesting : {1, 2, 3, 1000})
        ExpectSame(fmt::format("{}\ngraph g( x ) -> ( y ) {{\n{}\n}}\n", version, body), body, nesting);
    }
  }
  for (int depth = 1; depth <= 40; ++depth) {
    const std::string text =
        std::string(static_cast<size_t>(depth), '[') + std::string(static_cast<size_t>(depth), ']');
    for (int64_t nesting : {31, 32, 33, 1000})
      ExpectSame("version 1.0;\ngraph g( x ) -> ( y ) { y = " + text + "; }", "depth", nesting);
  }
}

TEST(FlatAssignments, AreReadAsByTheGrammarInDocuments) {
  bool shared = false;
  for (const std::string& path : CorpusPaths()) {
    ExpectSame(ReadText(path), path);
    shared |= path.starts_with("../shared");
  }
  if (!shared) std::cout << "[  SKIPPED ] ../shared/data/networks is missing\n";
}

TEST(FlatAssignments, AreReadAsByTheGrammarInMutants) {
  std::vector<std::string> texts;
  for (std::string_view body : kCorners) {
    for (const char* version : {"version 1.0;", "version 1.0"})
      texts.push_back(
          fmt::format("{}\ngraph g( x ) -> ( y ) {{\nx = external(shape = [1]);\n{}\n}}\n", version, body));
  }
  for (const std::string& path : CorpusPaths()) {
    std::string text = ReadText(path);
    if (text.size() < 20'000) texts.push_back(std::move(text));
  }
  std::mt19937 random(11);
  for (int round = 0; round < 4000; ++round) {
    const std::string mutant = Mutant(texts[random() % texts.size()], random);
    ExpectSame(mutant, "mutant");
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace nnefc::ast
