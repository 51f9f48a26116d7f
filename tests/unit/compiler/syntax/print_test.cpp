// Printing, and what must hold for any text.
#include "compiler/syntax/print.h"

#include <random>

#include "compiler/syntax/rules.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/syntax/parse_util.h"

namespace nnefc {
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
            "    # inside\n    y = f(x, s = [1] * 2);\n    # last\n}  # end\n# tail\n");
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
            "version 1.0;\ngraph g( x ) -> ( y )\n{\n    y = f(x,;\n    z = x;\n}\n");
}

TEST(PrintExpr, CutsForMessages) {
  const Parsed parsed = ParseRatified("y = conv(x, filter, stride = [2,2], label = 'it\\'s');");
  const ast::ExprId right = parsed.Statement(0).right;
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

// Statements recover and everything ends, whatever the text.
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

TEST(Robustness, StopsAfterManyErrors) {
  std::string garbage;
  for (int i = 0; i < 200000; ++i) garbage += "\x01 a";
  const Parsed parsed = Parse(garbage);
  EXPECT_LE(parsed.context->emitter.error_count(), 110);
}

}  // namespace
}  // namespace nnefc
