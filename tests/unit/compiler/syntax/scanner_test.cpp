// The scanner produces the tokens of NnefLexer.g4.
#include "compiler/syntax/parse/scanner.h"

#include <fstream>
#include <iostream>
#include <random>
#include <sstream>

#include "fmt/core.h"
#include "grammar/NnefLexer.h"
#include "grammar/NnefParser.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/syntax/parse_util.h"

namespace nnefc::ast {
namespace {

using grammar::NnefLexer;

// Returns one line per token: its number and its text.
std::string TokensOfScanner(std::string_view text) {
  std::string tokens;
  parse::Scanner scanner(text);
  for (parse::Token token = scanner.Next(); token.kind != parse::TokenKind::kEndOfText;
       token = scanner.Next()) {
    tokens += fmt::format("{} {}\n", static_cast<int>(token.kind), token.Text(text));
  }
  return tokens;
}

std::string TokensOfLexer(const std::string& text) {
  antlr4::ANTLRInputStream input(text);
  NnefLexer lexer(&input);
  std::string tokens;
  for (auto token = lexer.nextToken(); token->getType() != antlr4::Token::EOF; token = lexer.nextToken()) {
    tokens += fmt::format("{} {}\n", token->getType(), token->getText());
  }
  return tokens;
}

TEST(Scanner, NumbersTokensAsTheGrammarDoes) {
  EXPECT_EQ(static_cast<size_t>(parse::TokenKind::kTypeArgumentOpen), NnefLexer::TYPE_ARGUMENT_OPEN);
  EXPECT_EQ(static_cast<size_t>(parse::TokenKind::kArgumentName), NnefLexer::ARGUMENT_NAME);
  EXPECT_EQ(static_cast<size_t>(parse::TokenKind::kYield), NnefLexer::YIELD);
  EXPECT_EQ(static_cast<size_t>(parse::TokenKind::kStatementEnd), NnefLexer::STATEMENT_END);
  EXPECT_EQ(static_cast<size_t>(parse::TokenKind::kFragment), NnefLexer::FRAGMENT);
  EXPECT_EQ(static_cast<size_t>(parse::TokenKind::kUnexpected), NnefLexer::UNEXPECTED);
  EXPECT_EQ(static_cast<size_t>(parse::TokenKind::kUnexpected), grammar::NnefParser::UNEXPECTED);
}

// An unexpected character is one token: the first byte of a UTF-8 sequence with its continuation bytes, or a
// single byte.
TEST(Scanner, TakesWholeUnexpectedCharacters) {
  const std::pair<std::string_view, uint32_t> cases[] = {
      {"@", 1},
      {"@@", 1},
      {"@\x80", 1},
      {"$\xBF", 1},
      {"\x7F\x80", 1},
      {"\xC2", 1},
      {"\xC2\x80", 2},
      {"\xC3\xA8", 2},
      {"\xC3\xA9", 2},
      {"\xC3\xBF", 2},
      {"\xC3\xA9\xC3\xA9", 2},
      {"\xC3\xC0", 1},
      {"\xC3\x7F", 1},
      {"\xC3x", 1},
      {"\xE2\x82\xAC", 3},
      {"\xE2\x82\xAC;", 3},
      {"\xE2\x82", 2},
      {"\xF0\x9F\x98\x80", 4},
      {"\xF0\x9F\x98\x81", 4},
      {"\x80", 1},
      {"\x80\x80", 1},
      {"\xBF\xBF", 1},
      {"\xBF\x80", 1},
  };
  for (const auto& [text, size] : cases) {
    const parse::Token token = parse::Scanner(text).Next();
    EXPECT_EQ(token.kind, parse::TokenKind::kUnexpected) << text;
    EXPECT_EQ(token.begin, 0u) << text;
    EXPECT_EQ(token.end, size) << text;
  }
}

TEST(Scanner, AgreesWithTheLexerOnDocuments) {
  bool shared = false;
  const std::vector<std::string> paths = CorpusPaths();
  ASSERT_FALSE(paths.empty());
  for (const std::string& path : paths) {
    const std::string text = ReadText(path);
    EXPECT_EQ(TokensOfScanner(text), TokensOfLexer(text)) << path;
    shared |= path.starts_with("../shared");
  }
  if (!shared) std::cout << "[  SKIPPED ] ../shared/data/networks is missing\n";
}

TEST(Scanner, AgreesWithTheLexerOnCorners) {
  for (const std::string text :
       {"",
        "1.",
        ".5",
        "1.5e",
        "1e+",
        "1e+5x",
        "1.e5",
        "12.5E-3.",
        "''",
        "\"",
        "'a\\'b'",
        "'a\\",
        "'a\\\n'",
        "'\\\\'",
        "'a\nb'",
        "# c\n#d\fe",
        "#",
        "\r\n",
        "\r",
        "a\rb",
        "<=<>=>==!=!->-",
        "&&&|||",
        "fragmentx graph_ _tensor in2 in",
        "shape_of length_of range_of for in if else true false scalar logical string",
        "\"a'b\" 'a\"b'",
        "a.b",
        "i\"a.b\"",
        "i'a\\'b'c",
        "i\"a",
        "i\"a\n\"",
        "i 'a'",
        "ai'a' i1'a' in'a'",
        "$@`~",
        "# \xC3\xA9\nx",
        "\v\t \f",
        "'tab\there'"}) {
    EXPECT_EQ(TokensOfScanner(text), TokensOfLexer(text)) << text;
  }
}

TEST(Scanner, AgreesWithTheLexerOnTokenSoup) {
  const std::vector<std::string> pieces = {
      "fragment", "graph", "tensor", "in", "if", "x",  "_y1", "1",    "2.5",  "1e3",  "1e",   ".",
      "e",        "'a'",   "'",      "\"", "\\", "#",  "\n",  "\r\n", "\r",   " ",    "\t",   "\f",
      "\v",       "(",     ")",      "[",  "]",  "{",  "}",   ",",    ":",    ";",    "=",    "==",
      "<",        "<=",    ">",      ">=", "!",  "!=", "->",  "-",    "+",    "*",    "/",    "^",
      "&",        "&&",    "|",      "||", "?",  "i",  "$",   "\x01", "\x7f", "0x1f", "for_", "truefalse"};
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    const size_t length = random() % 40;
    for (size_t i = 0; i < length; ++i) text += pieces[random() % pieces.size()];
    ASSERT_EQ(TokensOfScanner(text), TokensOfLexer(text)) << text;
  }
}

TEST(Grammar, IsLL1) {
  std::ifstream file(NNEFC_GENERATED_PARSER);
  ASSERT_TRUE(file.is_open());
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str().find("NnefParser::assignment()"), std::string::npos);
  EXPECT_EQ(text.str().find("adaptivePredict"), std::string::npos);
}

// The rules that the compiler parses by hand.
TEST(Grammar, DefinesDocuments) {
  const auto errors = [](const std::string& text) {
    antlr4::ANTLRInputStream input(text);
    NnefLexer lexer(&input);
    antlr4::CommonTokenStream tokens(&lexer);
    grammar::NnefParser parser(&tokens);
    parser.removeErrorListeners();
    parser.document();
    return parser.getNumberOfSyntaxErrors();
  };
  EXPECT_EQ(errors("version 1.0; graph g(a) -> (b) { a = external(x); b = relu(a); }"), 0);
  EXPECT_EQ(
      errors("version 1.0; extension A B; fragment f(x: tensor<>) -> (y: tensor<scalar>); "
             "fragment h<?>(x: tensor<?>) -> (y: tensor<?>) { y = f(x); } graph g(a) -> (b) { b = f(a); }"),
      0);
  EXPECT_NE(errors("version 1.0; graph g(a) -> (b) { }"), 0);
  EXPECT_NE(errors("version 1.0; graph g(a) -> (b) { b = f(a); } x"), 0);
  EXPECT_NE(errors("graph g(a) -> (b) { b = f(a); }"), 0);
}

}  // namespace
}  // namespace nnefc::ast
