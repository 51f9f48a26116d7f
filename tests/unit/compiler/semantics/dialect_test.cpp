#include "checking.h"
#include "gtest/gtest.h"

namespace nnefc::semantics {
namespace {

constexpr char kGraph[] = "\ngraph g( x ) -> ( y ) { x = external(shape = [1,2]); y = copy(x); }";

std::string Flat(std::string_view line) {
  return "version 1.0;\ngraph g( x ) -> ( y ) {\nx = external(shape = [1,2]);\n" + std::string(line) +
         "\n}\n";
}

TEST(Extensions, AreKnownByName) {
  ExpectDiagnostics({
      {std::string("version 1.0;\nextension KHR_enable_fragment_definitions;") + kGraph, ""},
      {std::string("version 1.0;\nextension NNEFC_control_flow;") + kGraph, ""},
      {std::string("version 1.0;\nextension KHR_enable_fragment_definition;") + kGraph,
       "document.unknown-extension 2:11"},
      {std::string("version 1.0;\nextension KHR_enable_operator_expressions VND_x;") + kGraph,
       "document.unknown-extension 2:43"},
  });
}

TEST(Extensions, FragmentsNeedTheirs) {
  ExpectDiagnostics({
      {std::string("version 1.0;\nfragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> );\n"
                   "fragment h( x: tensor<scalar> ) -> ( y: tensor<scalar> );") +
           kGraph,
       "extension.fragment-definitions 2:1"},
      {std::string("version 1.0; extension KHR_enable_fragment_definitions;\n"
                   "fragment f( x: tensor<scalar>, n: integer = -1 ) -> ( y: tensor<scalar> );") +
           kGraph,
       ""},
      {std::string("version 1.0; extension KHR_enable_fragment_definitions;\n"
                   "fragment f( x: tensor<scalar>, n: integer = +1 ) -> ( y: tensor<scalar> );") +
           kGraph,
       "extension.operator-expressions 2:45"},
  });
}

TEST(Extensions, OperatorExpressionsNeedTheirs) {
  ExpectDiagnostics({
      {Flat("y = leaky_relu(x, alpha = -0.5);"), ""},
      {Flat("y = leaky_relu(x, alpha = +0.5);"), "extension.operator-expressions 4:27"},
      {Flat("y = leaky_relu(x, alpha = 0.5 * 2.0);"), "extension.operator-expressions 4:27"},
      {Flat("y = leaky_relu(x, alpha = (0.5));"), "extension.operator-expressions 4:27"},
      {Flat("y = leaky_relu(x, alpha = 0.5 if true else 1.0);"), "extension.operator-expressions 4:27"},
      {Flat("y = leaky_relu(x, alpha = [0.5][0]);"), "extension.operator-expressions 4:27"},
      {Flat("y = leaky_relu(x, alpha = scalar(1));"), "extension.operator-expressions 4:27"},
      {Flat("y = transpose(x, axes = [for i in [1,0] yield i]);"), "extension.operator-expressions 4:25"},
      {Flat("y = relu(copy(x));"), "extension.operator-expressions 4:10"},
      {Flat("y = x;"), "extension.operator-expressions 4:5"},
      {Flat("y = concat([x, -x], axis = 0);"), "extension.operator-expressions 4:16"},
      {Flat("z = relu(relu(x));\ny = relu(relu(z));"), "extension.operator-expressions 4:10"},
  });
}

TEST(Provisional, GraphIsFlat) {
  ExpectDiagnostics({
      {ProvisionalGraph("y = relu(x)"), ""},
      {ProvisionalGraph("y = leaky_relu(x, alpha = -1.0)"), ""},
      {ProvisionalGraph("y = x + 1.0"), "graph.not-flat 4:5 warning"},
      {ProvisionalGraph("y = relu(relu(x))"), "graph.not-flat 4:10 warning"},
      // The first one is reported, in a statement or as a statement.
      {ProvisionalGraph("z = relu(x + 1.0)\ny = z + 1.0"), "graph.not-flat 4:10 warning"},
      {ProvisionalGraph("z = x + 1.0\ny = relu(z + 1.0)"), "graph.not-flat 4:5 warning"},
  });
}

TEST(Provisional, HasNoConstructsOfTheOtherDialect) {
  ExpectDiagnostics({
      {Provisional("fragment f( x: tensor, n: integer ) -> ( y: tensor ) { y = x }"), "dialect.type 2:27"},
      {Provisional("fragment f( x: tensor, n: extent ) -> ( y: tensor ) { y = x }"), ""},
      {"version 1.0\nfragment f( x: tensor, n: ?[] ) -> ( y: tensor ) { y = x }\n"
       "graph g( x ) -> ( y ) { x = external(shape = [1]) y = idn(x) }",
       "dialect.type 2:27"},
      {Provisional("fragment f( x: tensor ) -> ( y: tensor );"), "dialect.missing-body 2:10"},
      {ProvisionalBody("z = [for i in ns yield i] y = x"), "dialect.comprehension 3:5"},
      {ProvisionalBody("z = [i for i in ns if i > 0] y = x"), ""},
      {ProvisionalBody("z = n in ns y = x"), "dialect.in-operator 3:7"},
      {ProvisionalBody("z = integer(s) y = x"), "dialect.builtin 3:5"},
      {ProvisionalBody("z = extent(s) y = x"), ""},
      {ProvisionalBody("integer = n yield = n version = n y = x"), ""},
      {ProvisionalBody("extent = n y = x"), "identifier.keyword 3:1"},
      {ProvisionalBody("c, d = s, n y = x"), ""},
  });
}

// Both would imply the ratified dialect if it were not specified.
TEST(Provisional, HasNoExtensionsAndDataTypes) {
  auto check = [](std::string text) {
    return Checked(std::move(text), {}, ast::Dialect::kProvisional).Diagnostics();
  };
  EXPECT_EQ(check(Provisional("extension KHR_enable_operator_expressions")), "dialect.extension 2:1");
  EXPECT_EQ(check(Provisional("fragment f( x: tensor<scalar> ) -> ( y: tensor ) { y = x }")),
            "dialect.type 2:16");
}

TEST(Provisional, HasNoGenerics) {
  ExpectDiagnostics({
      {Provisional("fragment f<?>( x: tensor ) -> ( y: tensor ) { y = x }"), "dialect.generic 2:11"},
      {ProvisionalBody("y = idn<scalar>(x)"), "dialect.generic 3:9"},
      {ProvisionalBody("y = idn<float>(x)"), "dialect.generic 3:9"},  // a type of other languages
  });
}

TEST(Ratified, HasNoConstructsOfTheOtherDialect) {
  ExpectDiagnostics({
      {Ratified("fragment f( x: tensor<scalar>, n: extent[] ) -> ( y: tensor<scalar> );"),
       "dialect.type 2:35"},
      {Ratified("fragment f( x: tensor ) -> ( y: tensor<scalar> );"), "dialect.type 2:16"},
      {Ratified("fragment f( x: tensor<extent> ) -> ( y: tensor<scalar> );"), "dialect.type 2:16"},
      {RatifiedBody("z = [i for i in ns]; y = x;"), "dialect.comprehension 3:5"},
      {RatifiedBody("z = [for i in ns, j in ns if i > j yield i + j]; y = x;"), ""},
      {RatifiedBody("z = extent(s); y = x;"), "dialect.builtin 3:5"},
      {RatifiedBody("z = integer(s); y = x;"), ""},
      {RatifiedBody("z = n, n; y = x;"), "dialect.tuple-parentheses 3:5"},
      {RatifiedBody("z = (n, n); a, c = z; y = x;"), ""},
      {RatifiedBody("y = idn(x);"), "binding.undeclared-operation 3:5"},
      {RatifiedBody("y = transpose(x, perm = ns);"), "binding.unknown-argument 3:18"},
      {RatifiedBody("extent = n; y = x;"), ""},
      {RatifiedBody("yield = n; y = x;"), "identifier.keyword 3:1"},
      {RatifiedBody("z = [for integer in ns yield 1]; y = x;"), "identifier.keyword 3:10"},
      {Ratified("fragment version( x: tensor<scalar> ) -> ( y: tensor<scalar> );"),
       "identifier.keyword 2:10"},
      {Ratified("fragment f( extension: tensor<scalar> ) -> ( y: tensor<scalar> );"),
       "identifier.keyword 2:13"},
  });
}

TEST(Dialects, FixesAreTold) {
  EXPECT_NE(Checked(RatifiedBody("z = [i * 2 for i in ns if i > 0]; y = x;"))
                .Rendered()
                .find("[for i in ns if i > 0 yield i * 2]"),
            std::string::npos);
  EXPECT_NE(Checked(RatifiedBody("y = idn(x);")).Rendered().find("it is `copy` here"), std::string::npos);
  EXPECT_NE(Checked(RatifiedBody("y = transpose(x, perm = ns);"))
                .Rendered()
                .find("provisional dialect calls `axes` so"),
            std::string::npos);
}

TEST(Dialects, ParametersOfTheOtherDialectAlone) {
  // `deconv` has `groups` here at the position of `output_shape` there.
  for (const std::string_view call :
       {"deconv(x, x, output_shape = [1])", "debox(x, size = [1], output_shape = [1])", "elu(x, alpha = 1.0)",
        "reshape(x, shape = [1], axis_start = 1)"}) {
    const std::string text = Checked(ProvisionalBody(fmt::format("y = {}", call))).Rendered();
    EXPECT_NE(text.find("; it belongs to the ratified dialect"), std::string::npos) << text;
    EXPECT_EQ(text.find("replace"), std::string::npos) << text;
  }
  EXPECT_NE(Checked(ProvisionalBody("y = transpose(x, axes = [0])")).Rendered().find("calls `perm` so"),
            std::string::npos);
}

}  // namespace
}  // namespace nnefc::semantics
