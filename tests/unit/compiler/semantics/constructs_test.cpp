// Constructs of extensions and of the other dialect: which are reported, where, and in what order.

#include "checking.h"
#include "compiler/support/diagnostics/apply_fixes.h"
#include "fmt/core.h"
#include "gtest/gtest.h"

namespace nnefc::semantics {
namespace {

std::string FlatGraph(std::string_view body) {
  return fmt::format("version 1.0;\ngraph g( x ) -> ( y ) {{\nx = external(shape = [1,2]);\n{}\n}}\n", body);
}

// Returns the message of the first error and the text after its fixes, if it has any.
std::pair<std::string, std::string> FirstError(const std::string& text) {
  const Checked checked(text);
  const std::vector<Diagnostic>& diagnostics = checked.context().emitter.diagnostics();
  if (diagnostics.empty()) return {};
  const Diagnostic& first = diagnostics.front();
  if (first.fixes.empty()) return {first.message, ""};
  return {first.message, ApplyFixes(text, first.range.file, {first}).text};
}

// R 3.2.3: each of these is an operator expression, wherever it is.
TEST(OperatorExpressions, OfEachKind) {
  const char* kinds[] = {"+1",
                         "-n",
                         "--1",
                         "!true",
                         "1 + 1",
                         "1 - 1",
                         "1 < 1",
                         "1 == 1",
                         "true && true",
                         "1 in [1]",
                         "1 if true else 2",
                         "[1][0]",
                         "[1][0:1]",
                         "(1)",
                         "((1))",
                         "shape_of(x)",
                         "length_of('a')",
                         "range_of('a')",
                         "integer(1)",
                         "scalar(1)",
                         "logical(1)",
                         "string(1)",
                         "[for i in [1] yield i]",
                         "-(1)",
                         "relu(x)"};
  for (const std::string_view kind : kinds) {
    for (const std::string_view form : {"{}", "[{}]", "[[1], [2, {}]]", "({}, 2)", "[(1, {})]"}) {
      const std::string value = fmt::format(fmt::runtime(form), kind);
      const Checked checked(FlatGraph(fmt::format("y = own(x, v = {});", value)));
      const std::string found = checked.Diagnostics();
      EXPECT_NE(found.find(fmt::format("extension.operator-expressions 4:{}", 16 + form.find('{'))),
                std::string::npos)
          << value << ": " << found;
    }
  }
  for (const std::string_view literal :
       {"1", "-1", "-1.0", "1.0", "'a'", "true", "x", "[1, -1]", "[]", "(1, -1)", "[(1,2), (3,-4)]"}) {
    const std::string found = Checked(FlatGraph(fmt::format("y = own(x, v = {});", literal))).Diagnostics();
    EXPECT_EQ(found, "binding.undeclared-operation 4:5") << literal;
  }
}

// The first operator expression is reported: the outermost of those with the same start.
TEST(OperatorExpressions, FirstOfSeveral) {
  const auto check = [](std::string_view body) {
    const Checked checked(FlatGraph(body));
    const SourceRange range = checked.context().emitter.diagnostics().front().range;
    return std::string(
        checked.context().sources.Text(range.file).substr(range.begin, range.end - range.begin));
  };
  EXPECT_EQ(check("y = leaky_relu(x, alpha = 1.0 + 2.0 * 3.0);"), "1.0 + 2.0 * 3.0");
  EXPECT_EQ(check("y = leaky_relu(x, alpha = 1.0 * 2.0 + 3.0);"), "1.0 * 2.0 + 3.0");
  EXPECT_EQ(check("y = leaky_relu(x, alpha = (1.0) + 2.0);"), "(1.0) + 2.0");
  EXPECT_EQ(check("y = leaky_relu(leaky_relu(x, alpha = 1.0 + 2.0), alpha = 3.0);"),
            "leaky_relu(x, alpha = 1.0 + 2.0)");
  EXPECT_EQ(check("z = x + x; y = relu(z + z);"), "x + x");
  EXPECT_EQ(check("z = relu(x + x); y = z + z;"), "x + x");
}

// Invocations as arguments have a message of their own, with the name of the operation.
TEST(OperatorExpressions, Messages) {
  const std::string extension = "extension KHR_enable_operator_expressions;";
  const std::string plain = fmt::format(
      "operator expressions need `{}`; without it arguments are literals, names, arrays and tuples",
      extension);
  const auto nested = [&](std::string_view name) {
    return fmt::format("an invocation as an argument needs `{}`, or a name of its own: `t = {}(..);`",
                       extension, name);
  };
  const auto message = [](std::string_view body) { return FirstError(FlatGraph(body)).first; };
  EXPECT_EQ(message("y = relu(copy(x));"), nested("copy"));
  EXPECT_EQ(message("y = relu(tanh(sigmoid(x)));"), nested("tanh"));
  EXPECT_EQ(message("y = add(relu(x), tanh(x));"), nested("relu"));
  EXPECT_EQ(message("y = relu(copy(x) + x);"), plain);
  EXPECT_EQ(message("y = relu(-copy(x));"), plain);
  EXPECT_EQ(message("y = copy(x) + x;"), plain);
  const std::string brackets = fmt::format(
      "brackets around one value are an operator expression, which needs `{}`; leave them out", extension);
  const auto fixed = [&](std::string_view body) {
    const auto [found, text] = FirstError(FlatGraph(body));
    EXPECT_EQ(found, brackets) << body;
    const size_t begin = text.find(']', text.find("external")) + 4;
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  EXPECT_EQ(fixed("y = leaky_relu(x, alpha = (0.5));"), "y = leaky_relu(x, alpha = 0.5);");
  EXPECT_EQ(fixed("y = leaky_relu((x), alpha = ((0.5)));"), "y = leaky_relu(x, alpha = 0.5);");
  EXPECT_EQ(fixed("y = (relu((x)));"), "y = relu((x));");
  EXPECT_EQ(fixed("y = reshape(x, shape = [((1)), (2)]);"), "y = reshape(x, shape = [1, 2]);");
  EXPECT_EQ(message("y = leaky_relu((x), alpha = (0.5 + 0.5));"), plain);
  EXPECT_EQ(message("y = (x);"), plain);
  EXPECT_EQ(message("y = (relu(x)); z = (y);"), plain);
}

// The fix adds the line after the last extension, or after the version.
TEST(OperatorExpressions, LineOfTheExtension) {
  const std::string graph = "graph g( x ) -> ( y ) { x = external(shape = [1,2]); y = -x; }";
  const std::string line = "extension KHR_enable_operator_expressions;";
  EXPECT_EQ(FirstError("version 1.0;\n" + graph).second, "version 1.0;\n" + line + "\n" + graph);
  EXPECT_EQ(FirstError("version 1.0;\nextension KHR_enable_fragment_definitions;\n" + graph).second,
            "version 1.0;\nextension KHR_enable_fragment_definitions;\n" + line + "\n" + graph);
  EXPECT_EQ(
      FirstError("version 1.0;\n" + graph + "\nfragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> );")
          .second.find(line),
      std::string::npos)
      << "an error of the syntax";
}

// Fragments have an extension of their own.
TEST(FragmentDefinitions, LineOfTheExtension) {
  const std::string rest =
      "fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> );\n"
      "graph g( x ) -> ( y ) { x = external(shape = [1,2]); y = f(x); }";
  EXPECT_EQ(FirstError("version 1.0;\n" + rest).second,
            "version 1.0;\nextension KHR_enable_fragment_definitions;\n" + rest);
}

// Lenient mode counts each operator expression once.
TEST(OperatorExpressions, CountedByLenientMode) {
  const auto message = [](std::string_view body) {
    const Checked checked(FlatGraph(body), {.leniency = Leniency::kLenient});
    return checked.context().emitter.diagnostics().front().message;
  };
  const std::string one =
      "an operator expression stands without `extension KHR_enable_operator_expressions;`";
  EXPECT_EQ(message("y = x + x;"), one);
  EXPECT_EQ(message("y = reshape(x, shape = [1 + 1, 1]);"), one);
  EXPECT_EQ(message("y = reshape(x, shape = [1 + 1, 2 * 3]);"), one + " (the first of 2 places)");
  EXPECT_EQ(message("y = reshape(x, shape = [for p in [(1,2)] yield p[0]]);"),
            one + " (the first of 2 places)");
  EXPECT_EQ(message("y = reshape(x, shape = [for p in [1,2] yield p]);"), one);
}

// Names that are keywords of the dialect, in each position.
TEST(KeywordNames, OfEachPosition) {
  for (const char* word : {"version", "extension", "integer", "yield"}) {
    const auto check = [&](const std::string& text) {
      const std::string found = Checked(text).Diagnostics();
      EXPECT_EQ(found.substr(0, found.find(' ')), "identifier.keyword") << text << found;
    };
    check(fmt::format("version 1.0;\ngraph {}( x ) -> ( y ) {{ x = external(shape = [1]); y = copy(x); }}",
                      word));
    check(fmt::format(
        "version 1.0;\ngraph g( {0} ) -> ( y ) {{ {0} = external(shape = [1]); y = copy({0}); }}", word));
    check(fmt::format("version 1.0;\ngraph g( x ) -> ( {0} ) {{ x = external(shape = [1]); {0} = copy(x); }}",
                      word));
    check(Ratified(fmt::format("fragment {}( x: tensor<scalar> ) -> ( y: tensor<scalar> );", word)));
    check(Ratified(fmt::format("fragment f( {}: tensor<scalar> ) -> ( y: tensor<scalar> );", word)));
    check(Ratified(fmt::format("fragment f( x: tensor<scalar> ) -> ( {}: tensor<scalar> );", word)));
    check(RatifiedBody(fmt::format("{} = x; y = x;", word)));
    check(RatifiedBody(fmt::format("(z, {}) = ts; y = x;", word)));
    check(RatifiedBody(fmt::format("[{}, z] = ns; y = x;", word)));
  }
}

// The graph of a provisional document is flat: the first operator expression of each graph.
TEST(OperatorExpressions, OfProvisionalGraphs) {
  const auto graph = [](char name, std::string_view body) {
    return fmt::format("graph {}( x ) -> ( y ) {{ x = external(shape = [1,2]) {} }}\n", name, body);
  };
  const auto check = [](const std::string& text) {
    return Checked("version 1.0\n" + text, {.graph = "a"}).Diagnostics();
  };
  EXPECT_EQ(check(graph('a', "z = x + x y = z * z") + graph('b', "y = idn(x)")),
            "graph.not-flat 2:57 warning");
  EXPECT_EQ(check(graph('a', "y = idn(x)") + graph('b', "z = x + x y = z * z")),
            "graph.not-flat 3:57 warning");
  EXPECT_EQ(check(graph('a', "y = x + x") + graph('b', "y = x + x")),
            "graph.not-flat 2:57 warning\ngraph.not-flat 3:57 warning");
  EXPECT_EQ(check("fragment f( x: tensor ) -> ( y: tensor ) { y = x + x }\n" + graph('a', "y = f(x)")), "");
}

// Each type of the other dialect, and what it is here.
TEST(OtherDialect, Types) {
  const auto ratified = [](std::string_view type) {
    return FirstError(
        Ratified(fmt::format("fragment f( x: tensor<scalar>, p: {} ) -> ( y: tensor<scalar> );", type)));
  };
  const auto provisional = [](std::string_view type) {
    return FirstError(
        Provisional(fmt::format("fragment f( x: tensor, p: {} ) -> ( y: tensor ) {{ y = x }}", type)));
  };
  for (const char* type : {"integer", "scalar", "logical", "string", "integer[]", "(integer,string)[]"})
    EXPECT_EQ(ratified(type).first, "") << type;
  for (const char* type : {"extent", "scalar", "logical", "string", "tensor", "extent[]", "(tensor,extent)"})
    EXPECT_EQ(provisional(type).first, "") << type;
  EXPECT_EQ(ratified("extent").first,
            "`extent` belongs to the provisional dialect; the type is `integer` here");
  EXPECT_NE(ratified("(string,extent)").second.find("p: (string,integer) )"), std::string::npos);
  EXPECT_EQ(provisional("integer").first,
            "`integer` belongs to the ratified dialect; the type is `extent` here");
  EXPECT_NE(provisional("(string,integer)").second.find("p: (string,extent) )"), std::string::npos);
}

// The type after the name of an operation is removed; without it, the type is `scalar`.
TEST(OtherDialect, TypeArguments) {
  for (const char* type : {"scalar", "integer", "logical"}) {
    const std::string text = ProvisionalBody(fmt::format("y = idn<{}>(x)", type));
    const Checked checked(text);
    const Diagnostic& first = checked.context().emitter.diagnostics().front();
    EXPECT_EQ(first.message, "type arguments belong to the ratified dialect; `idn` takes none here");
    EXPECT_EQ(ApplyFixes(text, first.range.file, {first}).text, ProvisionalBody("y = idn(x)"));
    EXPECT_EQ(first.applicability == Applicability::kSafe, std::string_view(type) == "scalar");
  }
}

// Fixes of comprehensions of the other dialect, up to 1,000 bytes.
TEST(OtherDialect, LengthOfFixedComprehensions) {
  for (const size_t size : {998, 999, 1000, 1001}) {
    // The brackets, the quotes and the loop have 16 bytes.
    const std::string text = fmt::format("['{}' for i in ns]", std::string(size - 16, 'a'));
    ASSERT_EQ(text.size(), size);
    const auto [message, fixed] = FirstError(RatifiedBody(fmt::format("z = {}; y = x;", text)));
    EXPECT_NE(message.find("comprehension"), std::string::npos) << message;
    EXPECT_EQ(fixed.empty(), size >= 1000) << size;
  }
}

TEST(OtherDialect, Comprehensions) {
  const auto ratified = [](std::string_view text) {
    return FirstError(RatifiedBody(fmt::format("z = {}; y = x;", text)));
  };
  const auto provisional = [](std::string_view text) {
    return FirstError(ProvisionalBody(fmt::format("z = {} y = x", text)));
  };
  const std::string here =
      "this form of array comprehension belongs to the ratified dialect; write "
      "`[.. for .. in ..]` here";
  EXPECT_NE(ratified("[i + 1 for i in ns]").second.find("z = [for i in ns yield i + 1];"), std::string::npos);
  EXPECT_NE(ratified("[i for i in ns if i > 0]").second.find("z = [for i in ns if i > 0 yield i];"),
            std::string::npos);
  EXPECT_EQ(provisional("[for i in ns yield i]").first, here);
  EXPECT_NE(provisional("[for i in ns yield i]").second.find("z = [i for i in ns] "), std::string::npos);
  EXPECT_NE(provisional("[for i in ns if i > 0 yield i]").second.find("z = [i for i in ns if i > 0] "),
            std::string::npos);
  EXPECT_EQ(provisional("[for i in ns, j in ns yield i]").first, here + ", with one iterator");
  EXPECT_EQ(provisional("[for i in ns, j in ns yield i]").second, "");
}

}  // namespace
}  // namespace nnefc::semantics
