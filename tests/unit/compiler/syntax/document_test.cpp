// Documents, declarations and statements of both dialects (R 3.2, P 3.2).
#include <algorithm>

#include "compiler/syntax/print.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/syntax/parse_util.h"

namespace nnefc::ast {
namespace {

constexpr std::string_view kGraph = "graph g( x ) -> ( y ) { x = external(shape = [1]); y = relu(x); }";

TEST(DialectDetection, FollowsTheVersion) {
  const std::string graph(kGraph);
  EXPECT_EQ(Parse("version 1.0;\n" + graph).document->dialect, Dialect::kRatified);
  EXPECT_EQ(Parse("version 1.0\n" + graph).document->dialect, Dialect::kProvisional);
  EXPECT_EQ(Parse("version 1.0 # ;\n" + graph).document->dialect, Dialect::kProvisional);
  EXPECT_EQ(Parse("version 1.0\n" + graph, {.dialect = Dialect::kRatified}).document->dialect,
            Dialect::kRatified);
}

TEST(DialectDetection, IsRatifiedWhereItsConstructsFollow) {
  const Parsed extension = Parse("version 1.0\nextension A;\n" + std::string(kGraph));
  EXPECT_EQ(extension.document->dialect, Dialect::kRatified);
  EXPECT_EQ(extension.Messages(), Lines("1:12: expected `;` after the version [syntax.missing-semicolon]"));
  const Parsed tensor =
      Parse("version 1.0 fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> );" + std::string(kGraph));
  EXPECT_EQ(tensor.document->dialect, Dialect::kRatified);
  EXPECT_EQ(tensor.Messages(), Lines("1:12: expected `;` after the version [syntax.missing-semicolon]"));
}

TEST(Version, IsJudged) {
  EXPECT_EQ(Parse("version 2.0;\n" + std::string(kGraph)).Messages(),
            Lines("1:9: version `2.0` is not supported; expected `1.0` [syntax.unsupported-version]"));
  EXPECT_EQ(Parse("version;\n" + std::string(kGraph)).Messages(),
            Lines("1:8: expected a number after `version`, found `;` [syntax.unexpected-token]"));
  EXPECT_EQ(Parse(std::string(kGraph)).Messages(),
            Lines("1:1: expected `version 1.0` at the start of the document, found `graph` "
                  "[syntax.missing-version]"));
  EXPECT_EQ(Parse("version 1.0;\n" + std::string(kGraph), {.dialect = Dialect::kProvisional}).Messages(),
            Lines("1:12: `;` after the version belongs to the ratified dialect [syntax.version-semicolon]"));
  const Parsed parsed = Parse("version 1.0;\n" + std::string(kGraph));
  EXPECT_TRUE(parsed.document->has_version);
  EXPECT_EQ(parsed.document->version_major, 1);
  EXPECT_EQ(parsed.document->version_minor, 0);
}

TEST(Extension, ListsNames) {
  const Parsed blanks = Parse("version 1.0;\nextension A B;\nextension C;\n" + std::string(kGraph));
  EXPECT_EQ(blanks.Messages(), Lines());
  ASSERT_EQ(blanks.document->extensions.size(), 2);
  EXPECT_EQ(blanks.document->extensions[0].names.size(), 2);
  const Parsed commas = Parse("version 1.0;\nextension A, B;\n" + std::string(kGraph));
  EXPECT_EQ(commas.Messages(),
            Lines("2:12: extensions are separated by blanks, not by `,` [syntax.extension-comma]"));
  EXPECT_FALSE(commas.context->emitter.has_errors());
  EXPECT_EQ(Parse("version 1.0;\nextension A\n" + std::string(kGraph)).Messages(),
            Lines("2:12: expected `;` after the extension [syntax.missing-semicolon]"));
}

TEST(Document, HasAnOrder) {
  const std::string graph(kGraph);
  const std::string fragment = "fragment f( x: tensor<> ) -> ( y: tensor<scalar> );\n";
  EXPECT_EQ(Parse("version 1.0;\n" + graph + " x").Messages(),
            Lines("2:67: expected the end of the text after the graph, found `x` [syntax.trailing-text]"));
  EXPECT_EQ(Parse("version 1.0;\n" + graph + "\n" + fragment).Messages(),
            Lines("3:1: fragments must stand before the graph [syntax.document-order]"));
  EXPECT_EQ(Parse("version 1.0;\n" + fragment + "extension A;\n" + graph).Messages(),
            Lines("3:1: extensions must stand before fragments [syntax.document-order]"));
  EXPECT_EQ(Parse("version 1.0;\n" + fragment).Messages(),
            Lines("3:1: the document has no graph [syntax.missing-graph]"));
  EXPECT_EQ(Parse("version 1.0;\n" + fragment, {.kind = DocumentKind::kLibrary}).Messages(), Lines());
  EXPECT_EQ(Parse("version 1.0;\n" + graph, {.kind = DocumentKind::kLibrary}).Messages(),
            Lines("2:1: a library has no graph [syntax.document-order]"));
  // Only a model reports that it mixes both dialects.
  for (const bool is_library : {false, true}) {
    const Parsed mixed =
        Parse("version 1.0;\nfragment f( x: tensor ) -> ( y: tensor )\n{\nz = x\ny = z\n}\n" +
                  (is_library ? "" : graph),
              {.kind = is_library ? DocumentKind::kLibrary : DocumentKind::kModel});
    const auto& found = mixed.context->emitter.diagnostics();
    const bool is_reported = std::any_of(found.begin(), found.end(), [](const Diagnostic& each) {
      return each.message.find("mixes both dialects") != std::string::npos;
    });
    EXPECT_EQ(is_reported || !mixed.document->reading.empty(), !is_library);
  }
  // The checker chooses one.
  const Parsed two = Parse("version 1.0;\n" + graph + "\n" + graph);
  EXPECT_EQ(two.Messages(), Lines());
  EXPECT_EQ(two.document->graphs.size(), 2);
}

std::string ParameterText(const Parsed& parsed, size_t index) {
  const Fragment& fragment = parsed.document->fragments[FragmentId(0)];
  const Parameter& parameter = fragment.parameters[index];
  std::string text = PrintType(*parsed.document, parameter.type);
  if (parameter.default_value.valid()) text += " = " + parsed.Tree(parameter.default_value);
  return text;
}

TEST(Fragment, OfTheRatifiedDialect) {
  const Parsed parsed = Parse(
      "version 1.0;\nfragment f<? = scalar>( a: tensor<?>, b: tensor<>, c: (integer,scalar)[][] = "
      "[[(1,-2.0)]], "
      "d: string = 'x', e: tensor<scalar>=0.0, h: tensor<>= 1.0, i: ?[] = [] ) -> ( y: tensor<?>, z: "
      "tensor<?>[] );\n" +
      std::string(kGraph));
  EXPECT_EQ(parsed.Messages(), Lines());
  const Fragment& fragment = parsed.document->fragments[FragmentId(0)];
  EXPECT_TRUE(fragment.is_generic);
  EXPECT_EQ(fragment.generic_default, ast::PrimitiveName::kScalar);
  EXPECT_FALSE(fragment.has_body);
  ASSERT_TRUE(fragment.semicolon_range.valid());
  EXPECT_EQ(parsed.context->sources.Text(fragment.range.file)
                .substr(fragment.semicolon_range.begin,
                        fragment.semicolon_range.end - fragment.semicolon_range.begin),
            ";");
  EXPECT_EQ(fragment.range.end, fragment.semicolon_range.end);
  EXPECT_EQ(ParameterText(parsed, 0), "tensor<?>");
  EXPECT_EQ(ParameterText(parsed, 1), "tensor<>");
  EXPECT_EQ(ParameterText(parsed, 2), "(integer, scalar)[][] = [[tuple(1, (-2f))]]");
  EXPECT_EQ(ParameterText(parsed, 3), "string = \"x\"");
  EXPECT_EQ(ParameterText(parsed, 4), "tensor<scalar> = 0f");
  EXPECT_EQ(ParameterText(parsed, 5), "tensor<> = 1f");
  EXPECT_EQ(ParameterText(parsed, 6), "?[] = []");
  EXPECT_EQ(fragment.results.size(), 2);
}

TEST(Fragment, OfTheProvisionalDialect) {
  const Parsed parsed = Parse(
      "version 1.0\nfragment f( a: tensor, b: (extent,extent) = 1, 2, c: logical = true ) -> ( y: tensor, n: "
      "extent )\n"
      "{ y = a n = b[0] }\n" +
      std::string(kGraph));
  EXPECT_EQ(parsed.Messages(), Lines());
  EXPECT_EQ(ParameterText(parsed, 0), "tensor");
  EXPECT_EQ(ParameterText(parsed, 1), "(extent, extent) = bare(1, 2)");
  EXPECT_EQ(ParameterText(parsed, 2), "logical = true");
  EXPECT_EQ(parsed.document->fragments[ast::FragmentId(0)].body.size(), 2);
}

std::vector<std::string> DeclarationMessages(const std::string& declaration) {
  return Parse("version 1.0;\n" + declaration + "\n" + std::string(kGraph)).Messages();
}

TEST(Fragment, ErrorsAreLocal) {
  EXPECT_EQ(DeclarationMessages("fragment f( x tensor<> ) -> ( y: tensor<> );"),
            Lines("2:14: expected `:` and a type after the parameter `x`, found `tensor` "
                  "[syntax.unexpected-token]"));
  EXPECT_EQ(DeclarationMessages("fragment f( x: float ) -> ( y: tensor<> );"),
            Lines("2:16: `float` is not a type; did you mean `scalar`? [syntax.unknown-type]"));
  EXPECT_EQ(DeclarationMessages("fragment f( x: tensor<scalar ) -> ( y: tensor<> );"),
            Lines("2:29: expected `>` to close the tensor type, found `)` [syntax.unclosed-bracket]"));
  EXPECT_EQ(DeclarationMessages("fragment f( x: tensor<> ) ( y: tensor<> );"),
            Lines("2:26: expected `->` between the parameters and the results [syntax.unexpected-token]"));
  EXPECT_EQ(DeclarationMessages("fragment f( x: tensor<> -> ( y: tensor<> );"),
            Lines("2:24: expected `)` to close the parameters of `f`, found `->` [syntax.unclosed-bracket]"));
  EXPECT_EQ(DeclarationMessages("fragment ( x: tensor<> ) -> ( y: tensor<> );"),
            Lines("2:9: expected a name after `fragment`, found `(` [syntax.unexpected-token]"));
  EXPECT_EQ(DeclarationMessages("fragment f( x: tensor<> ) -> ();"),
            Lines("2:30: expected at least one result of the fragment `f` [syntax.empty-list]"));
  EXPECT_EQ(DeclarationMessages("fragment f() -> ( y: tensor<> );"), Lines());  // left to the checker
  EXPECT_EQ(DeclarationMessages("fragment f( x: integer = y ) -> ( y: tensor<> );"),
            Lines("2:26: expected a literal as the default value, found `y` [syntax.unexpected-token]"));
  EXPECT_EQ(DeclarationMessages("fragment string( x: tensor<> ) -> ( y: tensor<> );"),
            Lines("2:10: `string` is a keyword and cannot be a name [syntax.keyword-as-name]"));
  EXPECT_EQ(
      DeclarationMessages("fragment f( x: tensor<> ) -> ( y: tensor<> ) {}"),
      Lines("2:46: expected at least one assignment in the body of the fragment `f` [syntax.empty-body]"));
  EXPECT_EQ(DeclarationMessages("fragment f( x: tensor<> ) -> ( y: tensor<> ) { y = x;"),
            Lines("3:1: expected `}` to close the body of the fragment `f`, found `graph` "
                  "[syntax.unclosed-body]"));
  // The body of a broken declaration is read nevertheless.
  EXPECT_EQ(
      DeclarationMessages("fragment f( x ) -> ( y: tensor<> ) { y = ; z = relu(y; }"),
      Lines("2:14: expected `:` and a type after the parameter `x`, found `)` [syntax.unexpected-token]",
            "2:42: expected an expression after `=`, found `;` [syntax.unexpected-token]",
            "2:54: expected `)` to close the arguments of `relu`, found `;` [syntax.unclosed-bracket]"));
}

// ---- statements ----

std::vector<std::string> Trees(const Parsed& parsed) {
  std::vector<std::string> trees = parsed.Messages();
  for (const Assignment& assignment : parsed.document->graphs.at(0).body)
    trees.push_back(parsed.Tree(assignment));
  return trees;
}

TEST(Assignment, TakesAllLeftValues) {
  EXPECT_EQ(Trees(ParseRatified(
                "a = x; (a, b) = x; a, b = x; [a, b] = x; (a, [b, c]) = x; [] = x; a, (b, c) = x;")),
            Lines("a = x", "tuple(a, b) = x", "bare(a, b) = x", "[a, b] = x", "tuple(a, [b, c]) = x",
                  "[] = x", "bare(a, tuple(b, c)) = x"));
  EXPECT_EQ(Trees(ParseRatified("(a) = x;")),
            Lines("3:3: expected `,` and a second item, since a tuple has at least two, found `)` "
                  "[syntax.unexpected-token]",
                  "<error> = <error>"));
}

TEST(Assignment, NeedsNoSemicolonInTheProvisionalDialect) {
  EXPECT_EQ(
      Trees(ParseProvisional("y = relu(x)\n[a,b] = split(x)\ny = x\n(a,b) = f(x)\nc, d = a, b\ne, [f] = g(x) "
                             "h = i[1]\n(j, k) = l; m = n")),
      Lines("y = relu(x)", "[a, b] = split(x)", "y = x", "tuple(a, b) = f(x)", "bare(c, d) = bare(a, b)",
            "bare(e, [f]) = g(x)", "h = i[1]", "tuple(j, k) = l", "m = n"));
  const Parsed parsed = ParseProvisional("a = x;\nb = x");
  EXPECT_TRUE(parsed.Statement(0).has_semicolon);
  EXPECT_FALSE(parsed.Statement(1).has_semicolon);
}

TEST(Assignment, NeedsASemicolonInTheRatifiedDialect) {
  const Parsed parsed = ParseRatified("a = relu(x)\n[b, c] = split(a)\nd = a;");
  EXPECT_EQ(Trees(parsed), Lines("3:12: expected `;` after the assignment [syntax.missing-semicolon]",
                                 "4:18: expected `;` after the assignment [syntax.missing-semicolon]",
                                 "a = relu(x)", "[b, c] = split(a)", "d = a"));
  const Diagnostic& diagnostic = parsed.context->emitter.diagnostics()[0];
  ASSERT_EQ(diagnostic.fixes.size(), 1);
  EXPECT_EQ(diagnostic.fixes[0].text, ";");
}

TEST(Assignment, ErrorsAreLocal) {
  EXPECT_EQ(Trees(ParseRatified(
                "a = conv(x, f;\nb = relu(a));\nc = [1, 2;\nd = (a + b;\ne = a[1;\nf = ;\ng = relu(f);")),
            Lines("3:14: expected `)` to close the arguments of `conv`, found `;` [syntax.unclosed-bracket]",
                  "4:12: `)` closes no bracket [syntax.unexpected-token]",
                  "5:10: expected `]` to close the array, found `;` [syntax.unclosed-bracket]",
                  "6:11: expected `)` to close the parentheses, found `;` [syntax.unclosed-bracket]",
                  "7:8: expected `]` to close the subscript, found `;` [syntax.unclosed-bracket]",
                  "8:5: expected an expression after `=`, found `;` [syntax.unexpected-token]", "a = <error>",
                  "b = <error>", "c = <error>", "d = <error>", "e = <error>", "f = <error>", "g = relu(f)"));
  // Neither `)` nor `;` ends the statement.
  EXPECT_EQ(Trees(ParseProvisional("a = conv(x, f\nb = relu(a)\nrelu(c)\nd = a")),
            Lines("3:14: expected `)` to close the arguments of `conv`, found `b` [syntax.unclosed-bracket]",
                  "5:5: nothing takes the result of `relu`; write `y = relu(..)` [syntax.unexpected-token]",
                  "a = <error>", "b = relu(a)", "<error> = <error>", "d = a"));
}

TEST(Assignment, JudgesArguments) {
  EXPECT_EQ(Trees(ParseRatified("a = f();")),
            Lines("a = f()"));  // left to the checker, which knows the missing argument
  EXPECT_EQ(Trees(ParseRatified("a = f<float>(b);")), Lines("a = f<float>(b)"));  // so is the type
  EXPECT_EQ(ParseRatified("a = f(b + c = 3);").Messages(),
            Lines("3:13: expected the name of a parameter of `f` before `=` [syntax.argument-name]"));
  EXPECT_EQ(ParseRatified("a = (b = 3);").Messages(),
            Lines("3:6: expected the name of an operation before the argument `b`, found `b` "
                  "[syntax.unexpected-token]"));
  EXPECT_EQ(ParseRatified("a = f(length_of(x = b), c = scalar(b = 1));").Messages(),
            Lines("3:17: `length_of` takes one argument without a name [syntax.cast-arguments]"));
  EXPECT_EQ(ParseRatified("a = b if c;").Messages(),
            Lines("3:11: expected `else` after the condition of `if`, found `;` [syntax.unexpected-token]"));
  EXPECT_EQ(ParseRatified("string = b;").Messages(),
            Lines("3:1: `string` is a keyword and cannot be a name [syntax.keyword-as-name]"));
}

// ---- characters ----

TEST(Characters, OutsideAsciiBelongInComments) {
  EXPECT_EQ(Trees(ParseRatified("a = x; # caf\xC3\xA9\nb = \xC3\xA9x; c = \x01x; d = $x;")),
            Lines("4:5: `\xC3\xA9` is not ASCII and stands outside a comment [syntax.invalid-character]",
                  "4:14: control character 0x01 outside a comment [syntax.invalid-character]",
                  "4:22: `$` begins no name; a letter or `_` does [syntax.invalid-character]", "a = x",
                  "b = x", "c = x", "d = x"));
}

TEST(Characters, LineEndsAndByteOrderMark) {
  EXPECT_EQ(Parse("version 1.0;\r\n" + std::string(kGraph) + "\r\n").Messages(), Lines());
  EXPECT_EQ(Parse("version 1.0;\r" + std::string(kGraph)).Messages(),
            Lines("1:13: control character 0x0d outside a comment [syntax.invalid-character]"));
  const Parsed marked = Parse("\xEF\xBB\xBFversion 1.0;\n" + std::string(kGraph));
  EXPECT_EQ(marked.Messages(), Lines("1:1: the text begins with a byte order mark [syntax.byte-order-mark]"));
  EXPECT_FALSE(marked.context->emitter.has_errors());
}

TEST(Comments, EndWithNewLineOrFormFeed) {
  const Parsed parsed = ParseRatified("# one\r\na = x; # two\f b = x;\n# three");
  EXPECT_EQ(Trees(parsed), Lines("a = x", "b = x"));
  std::vector<std::string> comments;
  for (const Comment& comment : parsed.document->comments) {
    const std::string_view text = parsed.context->sources.Text(comment.range.file);
    comments.push_back(
        (comment.trailing ? "trailing " : "") +
        std::string(text.substr(comment.range.begin, comment.range.end - comment.range.begin)));
  }
  EXPECT_EQ(comments, Lines("# one", "trailing # two", "# three"));
}

// ---- quantization files ----

TEST(Quantization, OfBothDialects) {
  constexpr ParseOptions kOptions = {.kind = DocumentKind::kQuantization};
  const Parsed ratified =
      Parse("'a': linear_quantize(min = 0.0, max = [[1.0], [2.0]]);\n\"b\": f(bits = 2 * 4);\n", kOptions);
  EXPECT_EQ(ratified.Messages(), Lines());
  EXPECT_EQ(ratified.document->dialect, Dialect::kRatified);
  ASSERT_EQ(ratified.document->quantizations.size(), 2);
  EXPECT_EQ(ratified.Tree(ratified.document->quantizations[1].invocation), "f(bits=(2 * 4))");

  const Parsed provisional = Parse("'a': f(min = 0.0) # x\n\"b\": f(bits = 8)\n'c': g(x)", kOptions);
  EXPECT_EQ(provisional.Messages(), Lines());
  EXPECT_EQ(provisional.document->dialect, Dialect::kProvisional);
  EXPECT_EQ(provisional.document->quantizations.size(), 3);

  EXPECT_EQ(
      Parse("'a': f(b = 8)\n'c': f(b = 8);\n'd': f(b = 8);", kOptions).Messages(),
      Lines(
          "2:14: `;` after the quantization belongs to the ratified dialect [syntax.quantization-semicolon]",
          "3:14: `;` after the quantization belongs to the ratified dialect "
          "[syntax.quantization-semicolon]"));

  EXPECT_EQ(
      Parse("'a': f(b = 8);\n'c': f(b = 8)\n'd': 3;\n'e' f(x);\nf: g(x);\n", kOptions).Messages(),
      Lines("2:14: expected `;` after the quantization [syntax.missing-semicolon]",
            "3:6: expected a quantization operation such as `linear_quantize(min = 0.0, max = 1.0, bits "
            "= 8)` [syntax.quantization-form]",
            "4:4: expected `:` after the name of the tensor, found `f` [syntax.unexpected-token]",
            "5:1: expected the name of a tensor in quotes, found `f` [syntax.unexpected-token]"));
}

}  // namespace
}  // namespace nnefc::ast
