// What an editor displays of a document: tokens, hints, foldable lines and costs.

#include <initializer_list>

#include "compiler/language/queries.h"
#include "fmt/format.h"
#include "gtest/gtest.h"

namespace nnefc::language {
namespace {

constexpr char kShownUri[] = "file:///net.nnef";

class DisplayTest : public testing::Test {
 protected:
  const Analysis& Open(std::string_view text, ServiceOptions options = {}) {
    service_ = LanguageService(std::move(options));
    EXPECT_TRUE(service_.Open(kShownUri, 1, std::string(text)));
    return *service_.AnalysisOf(kShownUri);
  }
  uint32_t At(std::string_view needle) {
    const size_t at = service_.Text(kShownUri).find(needle);
    EXPECT_NE(at, std::string_view::npos) << needle;
    return static_cast<uint32_t>(at);
  }

  // Returns the tokens of a range as "text:kind", with `!` for a declaration and `*` for a standard name.
  std::string Tokens(const Analysis& analysis, uint32_t begin = 0, uint32_t end = UINT32_MAX) {
    static constexpr std::string_view kKinds[] = {"comment",  "string",    "number",   "keyword", "type",
                                                  "function", "parameter", "variable", "graph"};
    std::string text;
    for (const SemanticToken& token : FindTokens(analysis, begin, end)) {
      text +=
          fmt::format("{}{}:{}{}{}", text.empty() ? "" : " ",
                      service_.Text(kShownUri).substr(token.range.begin, token.range.end - token.range.begin),
                      kKinds[static_cast<size_t>(token.kind)], token.is_declaration ? "!" : "",
                      token.is_standard ? "*" : "");
    }
    return text;
  }

  // Returns the hints of a range as "offset label kind".
  std::string Hints(const Analysis& analysis, uint32_t begin = 0, uint32_t end = UINT32_MAX) {
    static constexpr std::string_view kKinds[] = {"shape", "type", "default"};
    std::string text;
    for (const InlayHint& hint : FindHints(analysis, begin, end))
      text += fmt::format("{}{} `{}` {}", text.empty() ? "" : ", ", hint.offset, hint.label,
                          kKinds[static_cast<size_t>(hint.kind)]);
    return text;
  }

  LanguageService service_;
};

TEST_F(DisplayTest, TokensOfDeclarations) {
  EXPECT_EQ(
      Tokens(Open("version 1.0;\nextension KHR_enable_fragment_definitions;\n"
                  "fragment f( a: tensor<scalar>, b: integer = 1, c: logical, d: string[] ) -> ( e: (tensor, "
                  "scalar) );\n"
                  "graph g( x ) -> ( y )\n{\n    x = external(shape = [1]);\n    y = f(x, b = 2);\n}\n")),
      "version:keyword 1.0:number extension:keyword "
      "fragment:keyword f:function! a:parameter! tensor:type scalar:type b:parameter! integer:type 1:number "
      "c:parameter! logical:type d:parameter! string:type e:variable! tensor:type scalar:type "
      "graph:keyword g:graph! x:variable! y:variable! "
      "x:variable external:function* shape:parameter* 1:number "
      "y:variable f:function x:variable b:parameter 2:number");
}

// Names that are missing have no token.
TEST_F(DisplayTest, TokensOfMissingNames) {
  for (const char* text :
       {"fragment ( a: integer ) -> ( b: integer ) { b = a; }",
        "fragment f( : integer ) -> ( : integer ) { b = 1; }",
        "fragment f( a: integer, , b: integer ) -> ( ) { }", "fragment f( a, b ) -> ( c ) { c = a; }",
        "graph ( x ) -> ( y ) { y = x; }", "graph g( , x ) -> ( , ) { y = ; }",
        "graph g( ) -> ( ) { = relu(x); [, a] = f(); (b, ) = f(); }",
        "graph g( x ) -> ( y ) { y = conv( , = 1, border = , = ); }",
        "graph g( x ) -> ( y ) { y = [for in x yield i]; z = [for i in yield i]; }",
        "graph g( x ) -> ( y ) { y = (x)(1); z = x.y; y }", "graph"}) {
    const std::string whole =
        std::string("version 1.0;\nextension KHR_enable_fragment_definitions;\n") + text;
    for (size_t size = whole.find(text); size <= whole.size(); ++size) {
      const std::string part = whole.substr(0, size);
      EXPECT_TRUE(Tokens(Open(part)).starts_with("version:keyword 1.0:number extension:keyword")) << part;
    }
  }
}

// A comprehension declares its iterators.
TEST_F(DisplayTest, TokensOfIterators) {
  Open(
      "version 1.0;\nextension KHR_enable_fragment_definitions;\n"
      "fragment f( a: integer[] ) -> ( e: integer[] )\n{\n    e = [for i in a yield i];\n}\n");
  EXPECT_EQ(Tokens(*service_.AnalysisOf(kShownUri), At("[for"), At("}")),
            "for:keyword i:variable! in:keyword a:parameter yield:keyword i:variable");
  Open(
      "version 1.0;\nextension KHR_enable_fragment_definitions KHR_enable_operator_expressions;\n"
      "fragment f( a: integer[], b: integer ) -> ( e: integer[] )\n"
      "{\n    e = [for i in a, j in a if i > b && j > 1 yield i + j];\n}\n");
  EXPECT_EQ(Tokens(*service_.AnalysisOf(kShownUri), At("[for"), At("}")),
            "for:keyword i:variable! in:keyword a:parameter j:variable! in:keyword a:parameter if:keyword "
            "i:variable b:parameter j:variable 1:number yield:keyword i:variable j:variable");
}

// Words of one dialect are no words of the other.
TEST_F(DisplayTest, TokensOfDialects) {
  const std::string words = "tensor scalar logical string integer extent for in yield if else";
  EXPECT_EQ(Tokens(Open("version 1.0;\n" + words)),
            "version:keyword 1.0:number tensor:type scalar:type logical:type string:type integer:type "
            "for:keyword in:keyword yield:keyword if:keyword else:keyword");
  EXPECT_EQ(Tokens(Open("version 1.0\n" + words)),
            "version:keyword 1.0:number tensor:type scalar:type logical:type string:type extent:type "
            "for:keyword in:keyword if:keyword else:keyword");
  EXPECT_EQ(Tokens(Open("version 1.0;\ngraph fragment true false shape_of length_of range_of Version _in")),
            "version:keyword 1.0:number graph:keyword fragment:keyword true:keyword false:keyword "
            "shape_of:keyword length_of:keyword range_of:keyword");
}

TEST_F(DisplayTest, TokensOfLiterals) {
  struct Case {
    std::string_view text, tokens;
  };
  for (const Case& each : std::initializer_list<Case>{
           {"0", "0:number"},
           {"12 9", "12:number 9:number"},
           {"1.5", "1.5:number"},
           {"1. 5", "1.:number 5:number"},
           {"1.5.2", "1.5:number 2:number"},
           {"1e5", "1e5:number"},
           {"1E+5", "1E+5:number"},
           {"1.5e-05", "1.5e-05:number"},
           {"1e", "1:number"},
           {"1e+", "1:number"},
           {"1e +5", "1:number 5:number"},
           {"1e--5", "1:number 5:number"},
           {"-1", "1:number"},
           {"'a'", "'a':string"},
           {"''", "'':string"},
           {"\"a'b\"", "\"a'b\":string"},
           {"'a\"b' 1", "'a\"b':string 1:number"},
           {"'a\\'b' 1", "'a\\'b':string 1:number"},
           {"'a\\\\' 1", "'a\\\\':string 1:number"},
           {"'a\\\\\\'' 1", "'a\\\\\\'':string 1:number"},
           {"'a", "'a:string"},
           {"'a\\", "'a\\:string"},
           {"'a\n1", "'a:string 1:number"},
           {"'a\r\n1", "'a:string 1:number"},
           {"'a\\\n' 1", "'a\\:string ' 1:string"},
           {"#", "#:comment"},
           {"# 'a' 1\n2", "# 'a' 1:comment 2:number"},
           {"1 # 2\r\n3", "1:number # 2:comment 3:number"},
       }) {
    EXPECT_EQ(Tokens(Open("version 1.0;\n" + std::string(each.text)), 13), each.tokens) << each.text;
  }
}

// A range has the tokens that end after its begin and begin before its end; strings and comments that begin
// before it are known.
TEST_F(DisplayTest, TokensOfRanges) {
  const Analysis& analysis = Open("version 1.0;\ntrue 'for' false # in\nfor 12 if");
  const std::string_view all =
      "true:keyword 'for':string false:keyword # in:comment for:keyword 12:number if:keyword";
  EXPECT_EQ(Tokens(analysis, 13), all);
  EXPECT_EQ(Tokens(analysis, 12), all);
  EXPECT_EQ(Tokens(analysis, 16), all);
  EXPECT_EQ(Tokens(analysis, At(" 'for'"), At("12")), "'for':string false:keyword # in:comment for:keyword");
  EXPECT_EQ(Tokens(analysis, At("or'"), At("or'") + 1), "'for':string");
  EXPECT_EQ(Tokens(analysis, At("in\n"), At("for 12")), "# in:comment");
  EXPECT_EQ(Tokens(analysis, At("\nfor 12"), At("12") + 1), "for:keyword 12:number");
  EXPECT_EQ(Tokens(analysis, At("for 12"), At("12")), "for:keyword");
  EXPECT_EQ(Tokens(analysis, At("if") + 1), "if:keyword");
  EXPECT_EQ(Tokens(analysis, At("if") + 2), "");
  EXPECT_EQ(Tokens(analysis, UINT32_MAX), "");
}

TEST_F(DisplayTest, HintsOfStatements) {
  const std::string text =
      "version 1.0;\nextension KHR_enable_fragment_definitions;\n"
      "fragment f( x: tensor<scalar>, n: integer = 2, s: scalar = 0.5 ) -> ( y: tensor<scalar> )\n{\n"
      "    y = mul(x, 2.0);\n}\n"
      "graph g( x ) -> ( y, z )\n{\n    x = external(shape = [2, 4]);\n    [a, b] = split(x, axis = 1, "
      "ratios "
      "= [1, 3]);\n    y = f(a);\n    z = f(b, s = 1.5);\n}\n";
  const Analysis& analysis = Open(text);
  const auto at = [&](std::string_view needle, uint32_t more = 0) { return At(needle) + more; };
  EXPECT_EQ(
      Hints(analysis),
      fmt::format("{} `: [2,1] and 1 other` shape, {} `: [2,4]` shape, {} `<scalar>` type, {} `: [2,1]` "
                  "shape, {} `: [2,3]` shape, {} `<scalar>` type, {} `: [2,1]` shape, {} `, n = 2, s = 0.5` "
                  "default, {} `: "
                  "[2,3]` shape, {} `, n = 2` default",
                  at("y = mul", 1), at("x = external", 1), at("external(", 8), at("[a, b]", 2), at("b] =", 1),
                  at("split(", 5), at("y = f(a)", 1), at("y = f(a)", 7), at("z = f(b", 1), at("1.5);", 3)));
  // Hints of a range begin in it.
  const uint32_t name = at("y = f(a)"), shape = name + 1, defaults = name + 7;
  EXPECT_EQ(Hints(analysis, shape, shape + 1), fmt::format("{} `: [2,1]` shape", shape));
  EXPECT_EQ(Hints(analysis, name, shape), "");
  EXPECT_EQ(Hints(analysis, shape + 1, defaults), "");
  EXPECT_EQ(Hints(analysis, defaults, defaults + 1), fmt::format("{} `, n = 2, s = 0.5` default", defaults));
  EXPECT_EQ(Hints(analysis, defaults + 1, defaults + 5), "");
  EXPECT_EQ(Hints(analysis, 5, 5), "");
}

// An open extent is shown as such. The extents of a trial, for a symbol that no input determines, are not
// shown.
TEST_F(DisplayTest, HintsOfSymbols) {
  const auto hints = [&](std::string_view repeats) {
    std::string text;
    for (const InlayHint& hint :
         FindHints(Open(fmt::format(
                       "version 1.0;\nextension tract_registry tract_core;\nextension tract_symbol N;\n"
                       "extension tract_symbol M;\ngraph g( x ) -> ( y )\n{{\n"
                       "    x = tract_core_external(shape = [N,3], datum_type = 'f32');\n"
                       "    y = tile(x, repeats = {});\n}}\n",
                       repeats)),
                   0, UINT32_MAX)) {
      if (hint.kind == HintKind::kShape) text += hint.label + ";";
    }
    return text;
  };
  EXPECT_EQ(hints("[2,2]"), ": [?,3];: [?,6];");
  EXPECT_EQ(hints("[2,M]"), "");
}

TEST_F(DisplayTest, HintsOfUnfinishedInvocations) {
  const auto shown = [&](const std::string& statement) {
    const std::string start = "version 1.0;\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [1]);\n    ";
    return Hints(Open(start + statement), static_cast<uint32_t>(start.size()));
  };
  EXPECT_NE(shown("y = softmax(x);\n}\n").find("`, axes = [1]` default"), std::string::npos);
  for (const char* unfinished :
       {"y = softmax(x", "y = softmax(x;\n}\n", "y = softmax(x\n}\n", "y = softmax(relu(x;\n}\n"})
    EXPECT_EQ(shown(unfinished).find("default"), std::string::npos) << unfinished;
  // A full-width parenthesis ends an invocation, but nothing is shown within its bytes.
  EXPECT_EQ(shown("y = softmax(x\xef\xbc\x89;\n}\n").find("default"), std::string::npos);
}

// The defaults of all parameters that are omitted, the first one included.
TEST_F(DisplayTest, HintsOfFirstParameters) {
  const std::string start =
      "version 1.0;\nextension KHR_enable_fragment_definitions;\n"
      "fragment p( n: tensor<scalar> = 2.0, s: scalar = 0.5 ) -> ( y: tensor<scalar> ) { y = mul(n, s); }\n"
      "graph g( x ) -> ( x )\n{\n    x = external(shape = [1]);\n    ";
  const auto shown = [&](const std::string& statement) {
    return Hints(Open(start + statement + "\n}\n"), static_cast<uint32_t>(start.size() + 1));
  };
  EXPECT_NE(shown("y = p(s = 1.0);").find("`, n = 2.0` default"), std::string::npos);
  EXPECT_NE(shown("y = p(x);").find("`, s = 0.5` default"), std::string::npos);
  EXPECT_EQ(shown("y = p(x, s = 1.0);").find("default"), std::string::npos);
  EXPECT_EQ(shown("y = p(x").find("default"), std::string::npos);
}

TEST_F(DisplayTest, FoldableLines) {
  const auto shown = [&](const std::string& text) {
    std::string lines;
    for (const FoldingRange& each : FindFoldings(Open(text)))
      lines += fmt::format("{}{}-{}{}", lines.empty() ? "" : " ", each.first, each.last,
                           each.kind == FoldingKind::kComment ? "#" : "");
    return lines;
  };
  const std::string head = "version 1.0;\nextension KHR_enable_fragment_definitions;\n";
  // The line of the closing brace remains visible.
  EXPECT_EQ(shown(head + "graph g( x ) -> ( x )\n{\n    x = external(shape = [1]);\n}\n"), "2-4");
  EXPECT_EQ(shown(head + "graph g( x ) -> ( x ) {\n    x = external(shape = [1]); }\n"), "");
  EXPECT_EQ(shown(head + "graph g( x ) -> ( x ) {\n    x = external(shape = [1]);\n}\n"), "2-3");
  EXPECT_EQ(shown(head + "graph g( x ) -> ( x ) { x = external(shape = [1]); }\n"), "");
  // Statements of several lines, up to their last one.
  EXPECT_EQ(shown(head + "graph g( x ) -> ( y )\n{\n    x = external(\n        shape = [1]\n    );\n    y = "
                         "relu(\n        x);\n}\n"),
            "2-8 4-6 7-8");
  EXPECT_EQ(
      shown(head + "fragment f(\n    x: tensor<scalar> )\n-> ( y: tensor<scalar> )\n{\n    y = relu(x);\n}\n"
                   "fragment p(\n    x: tensor<scalar> )\n-> ( y: tensor<scalar> );\n"),
      "2-6");
  // Comments of consecutive lines.
  EXPECT_EQ(shown("# a\n# b\nversion 1.0;\n# c\n# d\n# e\n\n# f\n# g\n"), "0-1# 3-5# 7-8#");
  EXPECT_EQ(shown("version 1.0; # a\n# b\n# c\n# d\n"), "1-3#");
  EXPECT_EQ(shown("# a\n\n# b\nversion 1.0;\n# c\n"), "");
  // In the order of the lines.
  EXPECT_EQ(
      shown("# a\n# b\nversion 1.0;\nextension KHR_enable_fragment_definitions;\n"
            "graph g( x ) -> ( x )\n{\n    # c\n    # d\n    x = external(shape = [1]);\n}\n"
            "fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n{\n    y = relu(\n        x);\n}\n"
            "# e\n# f\n"),
      "0-1# 4-8 6-7# 10-13 12-13 15-16#");
  EXPECT_EQ(shown(""), "");
}

TEST_F(DisplayTest, CostsOfNetworks) {
  const auto shown = [&](const std::string& statements) {
    const auto costs = FindCosts(Open(
        "version 1.0;\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [2, 3]);\n" + statements + "}\n"));
    if (!costs) return std::string("nothing");
    return fmt::format("{} {} {}", costs->operations, costs->parameters,
                       costs->macs ? fmt::format("{}", *costs->macs) : "unknown");
  };
  EXPECT_EQ(shown("    y = copy(x);\n"), "1 0 0");
  EXPECT_EQ(shown("    w = variable(shape = [5, 3], label = 'w');\n    y = linear(x, w);\n"), "1 15 30");
  // Variables with one label are one; constants are no parameters.
  EXPECT_EQ(
      shown("    w = variable(shape = [5, 3], label = 'w');\n    v = variable(shape = [5, 3], label = "
            "'w');\n    u = variable(shape = [1, 5], label = 'u');\n    c = constant(shape = [1, 5], "
            "value = [1.0]);\n    a = linear(x, w, u);\n    b = linear(x, v, c);\n    y = add(a, b);\n"),
      "3 20 60");
  EXPECT_EQ(shown("    y = matmul(x, x, transposeB = true);\n"), "1 0 12");
  EXPECT_EQ(shown("    y = coppy(x);\n"), "nothing");
}

// Costs and expansions have the limits of the service.
TEST_F(DisplayTest, LimitsOfExpansions) {
  const std::string text =
      "version 1.0;\nextension KHR_enable_fragment_definitions KHR_enable_operator_expressions;\n"
      "fragment f( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> )\n{\n    y = f(x, n = n - 1) if n "
      "> 0 else relu(x);\n}\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [2, 3]);\n    y = f(x, n = "
      "100);\n}\n";
  EXPECT_TRUE(Expansion(Open(text)).has_value());
  EXPECT_TRUE(FindCosts(Open(text)).has_value());
  ServiceOptions options;
  options.limits.steps = 500;
  EXPECT_FALSE(Expansion(Open(text, options)).has_value());
  EXPECT_FALSE(FindCosts(Open(text, options)).has_value());
}

TEST_F(DisplayTest, Expansions) {
  EXPECT_EQ(Expansion(Open("version 1.0\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [2, 3])\n    y = "
                           "softmax(x, [1])\n}\n")),
            "version 1.0;\n\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [2, 3]);\n    y = "
            "softmax(x);\n}\n");
  EXPECT_EQ(Expansion(Open("version 1.0;\ngraph g( x ) -> ( y )\n{\n    y = coppy(x);\n}\n")), std::nullopt);
}

}  // namespace
}  // namespace nnefc::language
