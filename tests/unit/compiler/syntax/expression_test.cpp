// Expressions of both dialects (R 3.2.2, P 3.2.3).
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/syntax/parse_util.h"

namespace nnefc::ast {
namespace {

TEST(Precedence, RanksBinaryOperators) {
  EXPECT_EQ(RatifiedTree("a + b * c ^ d"), "(a + (b * (c ^ d)))");
  EXPECT_EQ(RatifiedTree("a * b + c"), "((a * b) + c)");
  EXPECT_EQ(RatifiedTree("a < b + c && d || e"), "(((a < (b + c)) && d) || e)");
  EXPECT_EQ(RatifiedTree("a || b && c"), "((a || b) && c)");
  EXPECT_EQ(RatifiedTree("a in b && c"), "(a in (b && c))");
  EXPECT_EQ(RatifiedTree("a == b != c >= d"), "(((a == b) != c) >= d)");
  EXPECT_EQ(RatifiedTree("(a + b) * c"), "({(a + b)} * c)");
}

TEST(Precedence, AssociatesLeft) {
  EXPECT_EQ(RatifiedTree("a - b - c"), "((a - b) - c)");
  EXPECT_EQ(RatifiedTree("a / b * c"), "((a / b) * c)");
  EXPECT_EQ(RatifiedTree("a ^ b ^ c"), "((a ^ b) ^ c)");
}

TEST(Precedence, UnaryBindsTighterThanAllButPower) {
  EXPECT_EQ(RatifiedTree("-x ^ 2"), "(-(x ^ 2))");
  EXPECT_EQ(RatifiedTree("x ^ -2.0"), "(x ^ (-2f))");
  EXPECT_EQ(RatifiedTree("x ^ -y ^ z"), "((x ^ (-y)) ^ z)");
  EXPECT_EQ(RatifiedTree("-1 + 3"), "((-1) + 3)");
  EXPECT_EQ(RatifiedTree("!a && b"), "((!a) && b)");
  EXPECT_EQ(RatifiedTree("2.0 * -1.0 + 3.0"), "((2f * (-1f)) + 3f)");
  EXPECT_EQ(RatifiedTree("-a * b"), "((-a) * b)");
  EXPECT_EQ(RatifiedTree("a * - - +b"), "(a * (-(-(+b))))");
  EXPECT_EQ(RatifiedTree("-a[1]"), "(-a[1])");
}

TEST(Select, IsLoosestAndAssociatesRight) {
  EXPECT_EQ(RatifiedTree("a + b if c in d else e"), "((a + b) if (c in d) else e)");
  EXPECT_EQ(RatifiedTree("a if b else c if d else e"), "(a if b else (c if d else e))");
  EXPECT_EQ(RatifiedTree("a if b if c else d else e"), "(a if (b if c else d) else e)");
}

TEST(Literals, AreRead) {
  EXPECT_EQ(RatifiedTree("[0, 42, 1.5, 1e3, 2E-1, true, false]"), "[0, 42, 1.5f, 1000f, 0.2f, true, false]");
  EXPECT_EQ(RatifiedTree("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(RatifiedTree("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(RatifiedTree("[2 - -9223372036854775808]"), "[(2 - -9223372036854775808)]");
  EXPECT_EQ(RatifiedTree("9223372036854775808"),
            "3:5: `9223372036854775808` does not fit into 64 bits [syntax.number-range]");
  EXPECT_EQ(RatifiedTree("1e999"), "3:5: `1e999` is too large for a scalar [syntax.number-range]");
  EXPECT_EQ(RatifiedTree("1e-999"), "0f");
  EXPECT_EQ(RatifiedTree("1."), "3:6: expected a digit after the decimal point [syntax.malformed-number]");
  EXPECT_EQ(RatifiedTree(".5"), "3:5: expected a digit before the decimal point [syntax.malformed-number]");
  EXPECT_EQ(RatifiedTree("1e"), "3:6: `1e` has no digits in its exponent [syntax.malformed-number]");
}

// A number with a point is a scalar, although its digits are reported.
TEST(Literals, OfMissingDigitsAreScalars) {
  for (const auto& [text, tree] : std::initializer_list<std::pair<const char*, const char*>>{
           {"f(1.)", "f(1f)"}, {"f(.5)", "f(5f)"}, {"f(1)", "f(1)"}}) {
    const Parsed parsed = ParseRatified("y = " + std::string(text) + ";");
    EXPECT_EQ(parsed.Tree(parsed.Statement(0).right), tree);
  }
}

TEST(Strings, ResolveEscapes) {
  EXPECT_EQ(RatifiedTree("'\\\\'"), "\"\\\"");
  EXPECT_EQ(RatifiedTree("'\\\\\\\\'"), "\"\\\\\"");
  EXPECT_EQ(RatifiedTree("'a'"), "\"a\"");
  // A name keeps its characters, although they are reported.
  const Parsed name = ParseRatified("i'a\u00e9\u00e8b' = f(x);");
  EXPECT_EQ(name.Messages().size(), 1U);
  EXPECT_EQ(name.Tree(name.Statement(0)), "a\u00e9\u00e8b = f(x)");
  EXPECT_EQ(RatifiedTree("'a\\'b\\\\c\"'"), "\"a'b\\c\"\"");
  EXPECT_EQ(RatifiedTree("\"a\\\"b'\""), "\"a\"b'\"");
  EXPECT_EQ(RatifiedTree("'a\\b'"),
            "3:7: `\\` must be escaped as `\\\\` inside a string [syntax.invalid-escape]");
  EXPECT_EQ(
      RatifiedTree("'a\tb'"),
      "3:7: byte 0x09 is not printable ASCII and stands inside a string [syntax.invalid-string-character]");
  EXPECT_EQ(
      RatifiedTree("'a\xC3\xA9'"),
      "3:7: `\xC3\xA9` is not printable ASCII and stands inside a string [syntax.invalid-string-character]");
  EXPECT_EQ(RatifiedTree("'abc"),
            "3:5: expected `'` to end the string before the line ends [syntax.unterminated-string]");
}

TEST(Tuples, DifferFromParentheses) {
  EXPECT_EQ(RatifiedTree("(a)"), "{a}");
  EXPECT_EQ(RatifiedTree("(a, (b, c))"), "tuple(a, tuple(b, c))");
  EXPECT_EQ(ProvisionalTree("a, b if c else d"), "bare(a, (b if c else d))");
  EXPECT_EQ(ProvisionalTree("a, (b, c)"), "bare(a, tuple(b, c))");
  EXPECT_EQ(RatifiedTree("[(256, 64, 1)] * 2 + [(1, 2, 3)]"),
            "(([tuple(256, 64, 1)] * 2) + [tuple(1, 2, 3)])");
}

TEST(Subscripts, MayOmitEnds) {
  EXPECT_EQ(RatifiedTree("a[1]"), "a[1]");
  EXPECT_EQ(RatifiedTree("a[1:]"), "a[1:]");
  EXPECT_EQ(RatifiedTree("a[:b]"), "a[:b]");
  EXPECT_EQ(RatifiedTree("a[:]"), "a[:]");
  EXPECT_EQ(RatifiedTree("[1, 2][0:1][0]"), "[1, 2][0:1][0]");
  EXPECT_EQ(RatifiedTree("'abc'[i + 1]"), "\"abc\"[(i + 1)]");
  EXPECT_EQ(RatifiedTree("f(x)[0]"), "f(x)[0]");
}

TEST(Invocations, TakeNamesAndTypes) {
  EXPECT_EQ(RatifiedTree("conv(x, f, stride = [2, 2], groups = n)"), "conv(x, f, stride=[2, 2], groups=n)");
  EXPECT_EQ(RatifiedTree("f<scalar>(x)"), "f<scalar>(x)");
  EXPECT_EQ(RatifiedTree("f<?>(g<integer>(x), k = h<string>(y)) + f<logical>(z)"),
            "(f<?>(g<integer>(x), k=h<string>(y)) + f<logical>(z))");
  EXPECT_EQ(RatifiedTree("a < b"), "(a < b)");
  EXPECT_EQ(RatifiedTree("a < scalar(b)"), "(a < builtin scalar(b))");
  EXPECT_EQ(RatifiedTree("f(a < b, c > (d))"), "f((a < b), (c > {d}))");
  EXPECT_EQ(ProvisionalTree("a < integer"), "(a < integer)");
}

TEST(Builtins, FollowTheDialect) {
  EXPECT_EQ(RatifiedTree("shape_of(x) + range_of(y)[0] * length_of('a')"),
            "(builtin shape_of(x) + (builtin range_of(y)[0] * builtin length_of(\"a\")))");
  EXPECT_EQ(RatifiedTree("integer(x) + extent(x)"), "(builtin integer(x) + extent(x))");
  EXPECT_EQ(ProvisionalTree("integer(x) + extent(x)"), "(integer(x) + builtin extent(x))");
  EXPECT_EQ(RatifiedTree("string(x) + scalar(y)"), "(builtin string(x) + builtin scalar(y))");
  EXPECT_EQ(RatifiedTree("integer(x, y)"),
            "3:5: the cast `integer` takes one argument without a name [syntax.cast-arguments]");
}

TEST(Comprehensions, OfTheRatifiedForm) {
  EXPECT_EQ(RatifiedTree("[for i in a yield i * 2]"), "R[for i in a yield (i * 2)]");
  EXPECT_EQ(RatifiedTree("[for i in a, j in b if i < j yield (i, j)]"),
            "R[for i in a for j in b if (i < j) yield tuple(i, j)]");
  EXPECT_EQ(RatifiedTree("[for i in [for j in a yield j] yield [for k in b yield k]]"),
            "R[for i in R[for j in a yield j] yield R[for k in b yield k]]");
  EXPECT_EQ(RatifiedTree("[for i in a i]"),
            "3:16: expected `yield` in the comprehension, found `i` [syntax.unexpected-token]");
}

TEST(Comprehensions, OfTheProvisionalForm) {
  EXPECT_EQ(ProvisionalTree("[i * 2 for i in a]"), "P[for i in a yield (i * 2)]");
  EXPECT_EQ(ProvisionalTree("[i if i > 0 else 1 for i in a if i < 4]"),
            "P[for i in a if (i < 4) yield (i if (i > 0) else 1)]");
  EXPECT_EQ(ProvisionalTree("[i for i in a if b if c else d]"), "P[for i in a if (b if c else d) yield i]");
  EXPECT_EQ(ProvisionalTree("[yield for yield in a]"), "P[for yield in a yield yield]");
  EXPECT_EQ(
      ProvisionalTree("[i for i in a, j in b]"),
      "3:20: a comprehension with `for` behind its expression has one iterator; `[for .. yield ..]` may have "
      "several [syntax.comprehension-form]");
}

TEST(Nesting, IsBounded) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + "1" + std::string(depth, ']'); };
  EXPECT_TRUE(ParseRatified("y = " + nested(1000) + ";").Messages().empty());
  EXPECT_TRUE(ParseRatified("y = " + nested(999) + ";").Messages().empty());
  for (const size_t depth : {size_t{1001}, size_t{40000}}) {
    const auto messages = ParseRatified("y = " + nested(depth) + ";").Messages();
    ASSERT_EQ(messages.size(), 1);
    EXPECT_NE(messages[0].find("--max-nesting"), std::string::npos);
  }
}

void ExpectNesting(const std::string& expression, int64_t depth) {
  for (const bool by_grammar_alone : {false, true}) {
    for (const int64_t limit : {depth - 1, depth, depth + 1}) {
      if (limit < 1) continue;  // the lists of the graph nest, too
      const auto messages = Parse("version 1.0;\ngraph g( x ) -> ( y ) { y = " + expression + "; }",
                                  {.by_grammar_alone = by_grammar_alone}, limit)
                                .Messages();
      EXPECT_EQ(messages.size(), depth > limit ? 1u : 0u) << expression << " with the limit " << limit;
    }
  }
}

// Each bracket, invocation and sign is one level, empty brackets included.
TEST(Nesting, CountsEachKindOfBracket) {
  constexpr std::pair<std::string_view, std::string_view> kBrackets[] = {
      {"[", "]"},    {"[1, ", "]"}, {"[", ", 1]"}, {"(", ")"},
      {"(1, ", ")"}, {"(", ", 1)"}, {"f(", ")"},   {"f(k = ", ")"}};
  constexpr std::pair<std::string_view, int64_t> kInnermost[] = {
      {"x", 0},  {"1", 0},  {"true", 0}, {"'a'", 0}, {"-1", 1},
      {"-x", 1}, {"!x", 1}, {"- -x", 2}, {"[]", 1},  {"f()", 1}};
  for (const auto& [open, close] : kBrackets) {
    for (const auto& [innermost, levels] : kInnermost) {
      std::string text(innermost);
      for (int64_t depth = levels; depth < 6; ++depth) {
        ExpectNesting(text, depth);
        ExpectNesting("f(" + text + ")", depth + 1);  // also read by the flat path
        text = fmt::format("{}{}{}", open, text, close);
      }
    }
  }
}

TEST(Nesting, OfTypesIsBounded) {
  for (const int64_t limit : {2, 3, 7}) {
    for (const int64_t depth : {limit - 1, limit, limit + 1}) {
      std::string type = "integer";
      for (int64_t i = 0; i < depth; ++i) type += "[]";
      const auto messages =
          Parse(fmt::format("version 1.0;\nextension KHR_enable_fragment_definitions;\n"
                            "fragment f( x: tensor<scalar>, a: {} ) -> ( y: tensor<scalar> );\n"
                            "graph g( x ) -> ( y ) {{ y = x; }}\n",
                            type),
                {}, limit)
              .Messages();
      ASSERT_EQ(messages.size(), depth > limit ? 1u : 0u) << depth << " of " << limit;
      if (depth > limit) {
        EXPECT_NE(messages[0].find("the type nests more than"), std::string::npos) << messages[0];
      }
    }
  }
}

// The lowest limit under which an expression is read; the declaration of its graph has a level itself.
int64_t LevelsOf(std::string_view expr) {
  int64_t limit = 1;
  while (limit < 20 &&
         !Parse(fmt::format("version 1.0;\ngraph g( x ) -> ( y ) {{\ny = {};\n}}\n", expr), {}, limit)
              .Messages()
              .empty())
    ++limit;
  return limit;
}

TEST(Nesting, IsThatOfTheDeepestOperand) {
  for (const auto& [expr, levels] :
       std::initializer_list<std::pair<const char*, int64_t>>{{"a + b", 1},
                                                              {"a + f(f(b))", 3},
                                                              {"f(f(a)) + b", 3},
                                                              {"a + b + c", 2},
                                                              {"a + b * c", 2},
                                                              {"a * b + c", 2},
                                                              {"a * b + c * d", 2},
                                                              {"a ^ b ^ c", 2},
                                                              {"-a", 1},
                                                              {"!!a", 2},
                                                              {"-a + b", 2},
                                                              {"a + -b", 2},
                                                              {"a < b && c", 2},
                                                              {"a || b < c", 2},
                                                              {"(a)", 1},
                                                              {"[a]", 1},
                                                              {"[]", 1},
                                                              {"[a + b]", 2},
                                                              {"[a, b * c]", 2},
                                                              {"[b * c, a]", 2},
                                                              {"(a, b + c)", 2},
                                                              {"f(a)", 1},
                                                              {"f(a + b)", 2},
                                                              {"f(a, b + c)", 2},
                                                              {"f(a + b, c)", 2},
                                                              {"f(k = a + b)", 2},
                                                              {"f(g(a))", 2},
                                                              {"a[1]", 1},
                                                              {"a[b + 1]", 2},
                                                              {"a[1:2]", 1},
                                                              {"a[b + 1:2]", 2},
                                                              {"a[1:b + 2]", 2},
                                                              {"a[1][2]", 2},
                                                              {"f(a)[1]", 2},
                                                              {"a if b else c", 1},
                                                              {"a + b if c else d", 2},
                                                              {"a if b + c else d", 2},
                                                              {"a if b else c + d", 2},
                                                              {"shape_of(a)", 1},
                                                              {"!true", 1},
                                                              {"[1.5, false, 'a']", 1},
                                                              {"[for i in a yield i]", 1},
                                                              {"[for i in a + b yield i]", 2},
                                                              {"[for i in a yield i + b]", 2},
                                                              {"[for i in a if i < b yield i]", 2},
                                                              {"[[for i in a yield i]]", 2},
                                                              {"shape_of(a + b)", 2}})
    EXPECT_EQ(LevelsOf(expr), levels) << expr;
}

TEST(Nesting, FitsTheStack) {
  const auto nested = [](std::string_view open, std::string_view close, size_t depth) {
    std::string text = "y = ";
    for (size_t i = 0; i < depth; ++i) text += open;
    text += "1";
    for (size_t i = 0; i < depth; ++i) text += close;
    return ParseRatified(text + ";").Messages();
  };
  EXPECT_EQ(nested("f(x, k = ", ")", 1000), Lines());
  EXPECT_EQ(nested("(", ")", 1000), Lines());
  EXPECT_EQ(nested("a[", "]", 1000), Lines());
  EXPECT_EQ(nested("string(", ")", 1000), Lines());
  EXPECT_EQ(nested("[for i in ", " yield i]", 1000), Lines());
  EXPECT_EQ(nested("a if ", " else b", 1000), Lines());
  EXPECT_EQ(nested("f([1 + -(", ")])", 300).size(), 1);
}

TEST(Nesting, CountsOperators) {
  const auto chain = [](size_t terms) {
    std::string text = "y = a";
    for (size_t i = 0; i < terms; ++i) text += " + a";
    return text + ";";
  };
  EXPECT_TRUE(ParseRatified(chain(1000)).Messages().empty());
  EXPECT_EQ(ParseRatified(chain(1001)).Messages().size(), 1);
  EXPECT_EQ(ParseRatified("y = " + std::string(100000, '-') + "a;").Messages().size(), 1);
  std::string selects = "y = a";
  for (int i = 0; i < 50000; ++i) selects += " if a";
  EXPECT_EQ(ParseRatified(selects + ";").Messages().size(), 1);
  // The next statement is read.
  const Parsed parsed = ParseRatified(chain(100000) + " z = relu(x);");
  EXPECT_EQ(parsed.Messages().size(), 1);
  EXPECT_EQ(parsed.Tree(parsed.Statement(1)), "z = relu(x)");
}

}  // namespace
}  // namespace nnefc::ast
