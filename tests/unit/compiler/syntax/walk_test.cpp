// Walks of expressions and left sides, in the order of the text.
#include "compiler/syntax/walk.h"

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/syntax/parse_util.h"

namespace nnefc::ast {
namespace {

// The names in an expression in the order in which `WalkExprs` finds them.
std::string Walked(const std::string& expr) {
  const Parsed parsed = ParseRatified("y = " + expr + ";");
  EXPECT_TRUE(parsed.Messages().empty()) << expr;
  std::vector<std::string_view> names;
  size_t count = 0;
  ast::WalkExprs(*parsed.document, parsed.Statement(0).right, [&](ExprId id, const Expr& each) {
    EXPECT_EQ(&parsed.document->exprs[id], &each);
    ++count;
    if (const auto* name = std::get_if<IdentifierExpr>(&each.node))
      names.push_back(parsed.context->symbols.Text(name->name));
  });
  return fmt::format("{}: {}", count, fmt::join(names, " "));
}

TEST(WalkExprs, FindsEachOperandInOrder) {
  EXPECT_EQ(Walked("a"), "1: a");
  EXPECT_EQ(Walked("1"), "1: ");
  EXPECT_EQ(Walked("[a, b, [c], d]"), "6: a b c d");
  EXPECT_EQ(Walked("(a, b, c)"), "4: a b c");
  EXPECT_EQ(Walked("(a)"), "2: a");
  EXPECT_EQ(Walked("-a"), "2: a");
  EXPECT_EQ(Walked("a + b * c"), "5: a b c");
  EXPECT_EQ(Walked("a if b else c"), "4: a b c");
  EXPECT_EQ(Walked("[for i in a, j in b if c yield d]"), "5: a b c d");
  EXPECT_EQ(Walked("a[b:c]"), "4: a b c");
  EXPECT_EQ(Walked("a[b:]"), "3: a b");
  EXPECT_EQ(Walked("a[:c]"), "3: a c");
  EXPECT_EQ(Walked("shape_of(a)"), "2: a");
  EXPECT_EQ(Walked("f(a, k = b + c, l = [d])"), "7: a b c d");
  const Parsed parsed = ParseRatified("y = a;");
  ast::WalkExprs(*parsed.document, ExprId(), [](ExprId, const Expr&) { FAIL(); });
}

std::string Targets(const std::string& left) {
  const Parsed parsed = ParseRatified(left + " = f(x);");
  EXPECT_TRUE(parsed.Messages().empty()) << left;
  std::vector<std::string> names;
  ast::ForEachTarget(*parsed.document, parsed.Statement(0).left, [&](const Name& name) {
    const std::string_view text = parsed.context->sources.Text(name.range.file);
    const std::string_view written = text.substr(name.range.begin, name.range.end - name.range.begin);
    EXPECT_EQ(written, parsed.context->symbols.Text(name.symbol));
    names.emplace_back(written);
  });
  return fmt::format("{}", fmt::join(names, " "));
}

TEST(ForEachTarget, FindsEachNameInOrder) {
  EXPECT_EQ(Targets("a"), "a");
  EXPECT_EQ(Targets("a, b, c"), "a b c");
  EXPECT_EQ(Targets("(a, b)"), "a b");
  EXPECT_EQ(Targets("[a, b]"), "a b");
  EXPECT_EQ(Targets("(a, [b, c], (d, e)), f"), "a b c d e f");
}

// Comments of other languages are not kept.
TEST(Comments, TrailTheTokenOnTheirLine) {
  const Parsed parsed = Parse(
      "version 1.0; # a\n# b\ngraph g( x ) # c\n -> ( y ) { y = relu(x); /* d\n e */\n/* f\n */ z = x; /* g "
      "*/ # h\n }\n");
  std::string trailing;
  for (const Comment& comment : parsed.document->comments) {
    const std::string_view text = parsed.context->sources.Text(comment.range.file);
    trailing += fmt::format("{}{} ", text.substr(comment.range.begin, 4), comment.trailing);
  }
  EXPECT_EQ(trailing, "# a\ntrue # b\nfalse # c\ntrue # h\ntrue ");
}

// The type of each parameter with its text: an array ends with its own bracket.
TEST(Types, HaveTheRangesOfTheirText) {
  const Parsed parsed = Parse(
      "version 1.0;\nfragment f( a: integer, b: integer[], c: (integer, tensor<scalar>[ ])[ ][] ) -> ( y: "
      "tensor<> );\n"
      "graph g( x ) -> ( y ) { y = relu(x); }\n");
  const Document& document = *parsed.document;
  std::vector<std::string> texts;
  for (size_t i = 0; i < document.types.size(); ++i) {
    const SourceRange range = document.types[TypeId(static_cast<int32_t>(i))].range;
    texts.emplace_back(parsed.context->sources.Text(range.file).substr(range.begin, range.end - range.begin));
  }
  EXPECT_EQ(texts, Lines("integer", "integer", "integer[]", "integer", "tensor<scalar>", "tensor<scalar>[ ]",
                         "(integer, tensor<scalar>[ ])", "(integer, tensor<scalar>[ ])[ ]",
                         "(integer, tensor<scalar>[ ])[ ][]", "tensor<>"));
}

}  // namespace
}  // namespace nnefc::ast
