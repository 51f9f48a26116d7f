// Printing, and invariants for any text.
#include "compiler/syntax/print.h"

#include <random>
#include <string>
#include <vector>

#include "compiler/syntax/parse/mistakes/unusual_names.h"
#include "compiler/syntax/rules.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/syntax/parse_util.h"

namespace nnefc::ast {
namespace {

std::string Print(const std::string& text, ParseOptions options = {}) {
  const Parsed parsed = Parse(text, options);
  return PrintDocument(*parsed.document, *parsed.context);
}

TEST(PrintDocument, IsCanonical) {
  EXPECT_EQ(Print("# head\n\n\nversion 1.0; # v\nextension A,B;\n"
                  "fragment f<?>(x:tensor<?>,s:integer[]=[1,2])->(y:tensor<?>);\n\n"
                  "# about g\ngraph g(x)->(y){\n\n# first\nx=external<scalar>(shape=[1,3]);#trail\n\n\n"
                  "y=f(x, # inside\n s=[1]*2);\n# last\n} # end\n# tail"),
            "# head\n\nversion 1.0;  # v\nextension A B;\n"
            "fragment f<?>( x: tensor<?>, s: integer[] = [1, 2] ) -> ( y: tensor<?> );\n\n"
            "# about g\ngraph g( x ) -> ( y )\n{\n    # first\n    x = external<scalar>(shape = [1, 3]);  "
            "#trail\n\n"
            "    y = f(x,  # inside\n          s = [1] * 2);\n    # last\n}  # end\n# tail\n");
}

// Prints the only statement of a graph without the other lines.
std::string PrintStatement(const std::string& statement) {
  const std::string head = "version 1.0;\n\ngraph g( x ) -> ( y )\n{\n";
  const std::string text = Print(head + statement + "\n}\n");
  EXPECT_TRUE(text.starts_with(head) && text.ends_with("}\n"));
  EXPECT_EQ(Print(text), text);
  return text.substr(head.size(), text.size() - head.size() - 2);
}

TEST(PrintDocument, KeepsCommentsInsideStatements) {
  EXPECT_EQ(PrintStatement("y = f( # a\n # b\n x # c\n , s = 1 # d\n );"),
            "    y = f(  # a\n          # b\n          x,  # c\n          s = 1  # d\n    );\n");
  EXPECT_EQ(PrintStatement("y # a\n = x # b\n + x # c\n ;"),
            "    y =  # a\n        x  # b\n        + x;  # c\n");
  EXPECT_EQ(Print("version # a\n 1.0 # b\n;\ngraph g( x # c\n ) # d\n -> ( # e\n y ) # f\n{ # g\n}"),
            "# a\n# b\nversion 1.0;\n\ngraph g( x )  # c\n# d\n# e\n-> ( y )  # f\n{  # g\n}\n");
}

TEST(PrintDocument, BreaksLinesAtAHundredColumns) {
  const std::string name(30, 'n');
  EXPECT_EQ(PrintStatement("y = f(" + name + ", " + name + ", " + name.substr(6) + ");"),
            "    y = f(" + name + ", " + name + ", " + name.substr(6) + ");\n");
  // One column more.
  EXPECT_EQ(PrintStatement("y = f(" + name + ", " + name + ", " + name.substr(5) + ");"),
            "    y = f(" + name + ", " + name + ",\n          " + name.substr(5) + ");\n");
  // Too far to the right for a hanging indent.
  const std::string far(70, 'f');
  EXPECT_EQ(PrintStatement("y = " + far + "([1, 2, 3], " + name + ");"),
            "    y = " + far + "(\n        [1, 2, 3], " + name + ");\n");
  EXPECT_EQ(PrintStatement("y = " + name + " + " + name + " * (x + x) if " + name + " else x;"),
            "    y = " + name + " + " + name + " * (x + x)\n        if " + name + " else x;\n");
  EXPECT_EQ(Print("version 1.0;\nfragment " + name + "(x:tensor<" + "scalar>, alpha:scalar=0.5, beta: " +
                  "(integer,integer)[]) -> (yyyyyy: tensor<>);graph g(x)->(y){}"),
            "version 1.0;\nfragment " + name + "(\n    x: tensor<scalar>,\n    alpha: scalar = 0.5,\n    " +
                "beta: (integer, integer)[] )\n-> ( yyyyyy: tensor<> );\n\ngraph g( x ) -> ( y )\n{\n}\n");
}

TEST(PrintDocument, WritesNumbersAsTheyWere) {
  EXPECT_EQ(PrintStatement("y = f(x, a = 1e-5, b = 007, c = 1.50, d = \"it's\");"),
            "    y = f(x, a = 1e-5, b = 007, c = 1.50, d = 'it\\'s');\n");
}

TEST(PrintDocument, HasNoSemicolonsInTheProvisionalDialect) {
  EXPECT_EQ(Print("version 1.0\ngraph g(x)->(y){x=external(shape=[1]); y=relu(x)\n(a,b) = f(y);}"),
            "version 1.0\n\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [1])\n    y = relu(x)\n"
            "    (a, b) = f(y)\n}\n");
}

TEST(PrintDocument, IsAFixedPoint) {
  for (const std::string& path : CorpusPaths()) {
    const ParseOptions options = {.kind = path.starts_with("stdlib") ? DocumentKind::kLibrary
                                                                     : DocumentKind::kModel};
    const Parsed parsed = Parse(ReadText(path), options);
    EXPECT_TRUE(parsed.Messages().empty()) << path << ": " << parsed.Messages()[0];
    const std::string once = PrintDocument(*parsed.document, *parsed.context);
    const Parsed again = Parse(once, options);
    EXPECT_TRUE(again.Messages().empty()) << path << ": " << again.Messages()[0];
    EXPECT_EQ(PrintDocument(*again.document, *again.context), once) << path;
    EXPECT_EQ(again.document->exprs.size(), parsed.document->exprs.size()) << path;
    EXPECT_EQ(again.document->comments.size(), parsed.document->comments.size()) << path;
  }
}

TEST(PrintDocument, KeepsWhatCouldNotBeParsed) {
  EXPECT_EQ(Print("version 1.0;\ngraph g( x ) -> ( y )\n{\n    y = f(x,;\n    z=x;\n}\n"),
            "version 1.0;\n\ngraph g( x ) -> ( y )\n{\n    y = f(x,;\n    z = x;\n}\n");
}

// Declarations and statements with errors are copied, with the comments in them; those after them follow.
TEST(PrintDocument, CopiesWhatHasErrors) {
  const std::string graph = "graph g( x ) -> ( y )\n{\n    y = relu(x);\n}\n";
  EXPECT_EQ(Print("version 1.0;\nfragment f( x: , # of x\n  y )   ->( z:tensor<> )  \n# before\n{\n "
                  "z=relu(x); # of z\n}\n" +
                  graph),
            "version 1.0;\n\nfragment f( x: , # of x\n  y )   ->( z:tensor<> )  \n# before\n{\n    z = "
            "relu(x);  # of z\n}\n\n" +
                graph);
  EXPECT_EQ(Print("version 1.0;\ngraph g( x: 1 )   ->( y )   \n{\ny=relu(x);\n}\n"),
            "version 1.0;\n\ngraph g( x: 1 )   ->( y )\n{\n    y = relu(x);\n}\n");
  EXPECT_EQ(Print("version 1.0;\ngraph g( x ) -> ( y )\n{\n    y = f(x,, # in\n   2);\n    # next\n    z=x; "
                  "# of z\n    # last\n}\n"),
            "version 1.0;\n\ngraph g( x ) -> ( y )\n{\n    y = f(x,, # in\n   2);\n    # next\n    z = x;  # "
            "of z\n    # last\n}\n");
  EXPECT_EQ(PrintStatement("y = f(x,9223372036854775808 , 'a\\b');"),
            "    y = f(x, 9223372036854775808, 'a\\b');\n");
}

// The graph before a fragment stays there.
TEST(PrintDocument, KeepsTheOrderOfDeclarations) {
  const std::string graph = "graph g( x ) -> ( y )\n{\n    y = relu(x);\n}\n";
  const std::string fragment = "fragment f( x: tensor<> ) -> ( y: tensor<> )\n{\n    y = relu(x);\n}\n";
  for (const std::vector<std::string>& declarations : std::vector<std::vector<std::string>>{
           {graph, fragment}, {fragment, graph}, {graph, fragment, graph}}) {
    const std::string text = fmt::format("version 1.0;\n\n{}", fmt::join(declarations, "\n"));
    EXPECT_EQ(Print(text), text);
  }
}

TEST(PrintDocument, KeepsCommentsAtTheEnds) {
  const std::string graph = "version 1.0;\n\ngraph g( x ) -> ( y )\n{\n    y = relu(x);\n}\n";
  EXPECT_EQ(Print(graph + "#"), graph + "#\n");
  EXPECT_EQ(Print(graph + "# a"), graph + "# a\n");
  EXPECT_EQ(Print("#\n" + graph), "#\n" + graph);
  const ParseOptions quantization = {.kind = DocumentKind::kQuantization};
  EXPECT_EQ(Print("\"a\" # key\n: f(min = 0.0);", quantization), "\"a\":  # key\nf(min = 0.0);\n");
  EXPECT_EQ(Print("\"a\"\n# key\n: f(min = 0.0);#", quantization), "\"a\":\n# key\nf(min = 0.0);  #\n");
}

TEST(OnOneLine, JoinsTokens) {
  const std::vector<std::pair<std::string, std::string>> texts = {{"", ""},
                                                                  {"  a  b\t\n c  ", "a b c"},
                                                                  {"a # b\n c", "a c"},
                                                                  {"a # b", "a"},
                                                                  {"# a\n#b\nc", "c"},
                                                                  {"a 'b  # c' d", "a 'b  # c' d"},
                                                                  {"a \"b 'c\"  d", "a \"b 'c\" d"},
                                                                  {"'a\\'  b'  c", "'a\\'  b' c"},
                                                                  {"'a\\\\'  c", "'a\\\\' c"},
                                                                  {"'a\\", "'a\\"},
                                                                  {"'a  b", "'a  b"},
                                                                  {"'n\\n  \\'' # c", "'n\\n  \\''"}};
  for (const auto& [text, line] : texts) EXPECT_EQ(OnOneLine(text), line) << text;
}

TEST(PrintExpr, CutsForMessages) {
  const Parsed parsed = ParseRatified("y = conv(x, filter, stride = [2,2], label = 'it\\'s');");
  const ExprId right = parsed.Statement(0).right;
  EXPECT_EQ(PrintExpr(*parsed.document, right, *parsed.context, 1), "c..");
  EXPECT_EQ(PrintExpr(*parsed.document, right, *parsed.context, 48),
            "conv(x, filter, stride = [2, 2], label = 'it\\'s'..");
  EXPECT_EQ(PrintExpr(*parsed.document, right, *parsed.context, 49),
            "conv(x, filter, stride = [2, 2], label = 'it\\'s')");
  EXPECT_EQ(PrintExpr(*parsed.document, right, *parsed.context),
            "conv(x, filter, stride = [2, 2], label = 'it\\'s')");
  EXPECT_EQ(PrintExpr(*parsed.document, right, *parsed.context, 14), "conv(x, filter..");
}

TEST(PrintScalar, ReadsBackAsAScalar) {
  EXPECT_EQ(PrintScalar(1), "1.0");
  EXPECT_EQ(PrintScalar(0.5), "0.5");
  EXPECT_EQ(PrintScalar(1e30), "1e+30");
}

// ---- hostile texts ----
// Statements recover and the parser terminates, whatever the text.

// The last character of a text is the end of a token.
TEST(Robustness, EndsWithinAToken) {
  for (const char* text :
       {"version 1.0;\ngraph g( x ) -> ( y ) { y = $x", "version 1.0;\ngraph g( x ) -> ( y ) { y = %1",
        "version 1.0;\nextension KHR_a,", "version 1.0;\nextension KHR_a, KHR_b,", "version 1.0.",
        "version 1.0;\ngraph g( x ) -> ( y ) { y = a.", "version 1.0;\ngraph g( x ) -> ( y ) { a.b",
        "version 1.0;\ngraph g( x ) -> ( y ) { y = \\"})
    EXPECT_FALSE(Parse(text).Messages().empty()) << text;
}

// The `=` of a left side is searched within 1000 characters.
TEST(Robustness, LeftSidesAreShort) {
  for (const size_t blanks : {0, 1, 999, 1000, 1001})
    EXPECT_EQ(parse::IsLeftSide(std::string(blanks, ' ') + "= x", 0), blanks < 1000) << blanks;
  for (const char* text : {"", "= x", ", b = x", "], [c.d]) = x", " ="}) {
    const std::string_view view(text);
    EXPECT_EQ(parse::IsLeftSide(view, 0), view.find('=') != std::string_view::npos) << text;
  }
  for (const char* text : {"== x", "; b = x", "(b == c", "{ = x", "+ b = x", "\n= x"})
    EXPECT_FALSE(parse::IsLeftSide(text, 0)) << text;
}

TEST(Robustness, SurvivesTokenSoup) {
  const std::vector<std::string> pieces = {
      "version", "1.0",      "extension", "fragment", "graph",  "f", "g",       "x",        "tensor",
      "<",       ">",        "<=",        ">=",       "scalar", "?", "integer", "(",        ")",
      "[",       "]",        "{",         "}",        ",",      ":", ";",       "=",        "->",
      "for",     "in",       "if",        "else",     "yield",  "+", "-",       "!",        "^",
      "1",       "0.5",      "'a'",       "'",        "\\",     "#", "\n",      "\xC3\xA9", "&&",
      "true",    "shape_of", "length_of", "\"k\""};
  std::mt19937 random(11);
  for (int round = 0; round < 3000; ++round) {
    std::string text = round % 3 == 0   ? ""
                       : round % 3 == 1 ? "version 1.0;\ngraph g(x)->(y){\n"
                                        : "version 1.0\nfragment ";
    const size_t length = random() % 60;
    for (size_t i = 0; i < length; ++i) text += pieces[random() % pieces.size()] + (random() % 2 ? " " : "");
    const auto kind = static_cast<DocumentKind>(random() % 3);
    const Parsed parsed = Parse(text, {.kind = kind}, 10);
    PrintDocument(*parsed.document, *parsed.context);
  }
}

TEST(Robustness, SurvivesDamagedDocuments) {
  std::mt19937 random(13);
  for (const std::string& path : CorpusPaths()) {
    const std::string whole = ReadText(path);
    for (int round = 0; round < 20; ++round) {
      std::string text = whole.substr(0, 20000);
      for (int i = 0; i < 5; ++i) {
        const size_t at = random() % text.size();
        if (random() % 2) text.erase(at, random() % 10);
        text.insert(std::min(at, text.size()), 1, "(){}[];=,'#<\n"[random() % 13]);
      }
      const Parsed parsed = Parse(text);
      PrintDocument(*parsed.document, *parsed.context);
    }
  }
}

// Strings have escapes for their quote, the backslash and the control characters that end or shift lines.
TEST(PrintString, Escapes) {
  EXPECT_EQ(QuoteString("a\rb\nc\td"), "'a\\rb\\nc\\td'");
  EXPECT_EQ(QuoteString("'\"\\"), "'\\'\"\\\\'");
  EXPECT_EQ(QuoteString(""), "''");
}

TEST(Robustness, StopsAfterManyErrors) {
  std::string garbage;
  for (int i = 0; i < 200000; ++i) garbage += "\x01 a";
  const Parsed parsed = Parse(garbage);
  EXPECT_LE(parsed.context->emitter.error_count(), 110);
}

}  // namespace
}  // namespace nnefc::ast
