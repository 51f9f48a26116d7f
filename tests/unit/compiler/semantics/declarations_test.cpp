#include "checking.h"
#include "gtest/gtest.h"

namespace nnefc::semantics {
namespace {

TEST(Declarations, NamesAreUnique) {
  ExpectDiagnostics({
      {Ratified("fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> );\n"
                "fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> );"),
       "declaration.duplicate-fragment 3:10"},
      {Ratified("fragment relu( x: tensor<scalar> ) -> ( y: tensor<scalar> );"),
       "declaration.redefined-operation 2:10"},
      {Ratified("fragment f( x: tensor<scalar>, x: integer ) -> ( y: tensor<scalar> );"),
       "declaration.duplicate-name 2:32"},
      {Ratified("fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar>, y: tensor<scalar> );"),
       "declaration.duplicate-name 2:57"},
      {Ratified("fragment f( x: tensor<scalar> ) -> ( x: tensor<scalar> );"),
       "declaration.duplicate-name 2:38"},
      {Ratified("fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> );\n"
                "fragment h( x: tensor<scalar> ) -> ( y: tensor<scalar> );"),
       ""},
      {"version 1.0;\ngraph g( x, x ) -> ( y ) { x = external(shape = [1]); y = relu(x); }",
       "declaration.duplicate-name 2:13"},
      // A fragment without a body would be taken for an extension's.
      {Ratified("fragment tract_core_erf( x: tensor<scalar> ) -> ( y: tensor<scalar> );"),
       "declaration.redefined-operation 2:10"},
      {Ratified("fragment if_else( x: tensor<scalar> ) -> ( y: tensor<scalar> );"),
       "declaration.redefined-operation 2:10"},
      {Ratified("fragment tract_core_erf( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = relu(x); }"),
       ""},
      // A name of the other dialect's library is free.
      {Ratified("fragment planewise_conv( x: tensor<scalar> ) -> ( y: tensor<scalar> );"), ""},
      {Provisional("fragment pad( x: tensor ) -> ( y: tensor ) { y = x }"), ""},
  });
}

// In lenient mode, a fragment with a body takes the place of a standard operation. Without a body, it is the
// operation: its parameters and the types of its results are equal, and no extension has the name.
TEST(Declarations, LenientRedefinitions) {
  const auto diagnostics = [](std::string_view fragment) {
    return Checked(Ratified(fragment), {.leniency = Leniency::kLenient}).Diagnostics();
  };
  const std::string accepted = "lenient.redefined-operation 2:10 warning";
  for (const std::string fragment :
       {"fragment relu( x: tensor<scalar> ) -> ( y: tensor<scalar> );",
        "fragment relu( x: tensor<scalar> ) -> ( z: tensor<scalar> );",
        "fragment relu( x: tensor<scalar> = 1.0 ) -> ( y: tensor<scalar> );",
        "fragment copy<?>( x: tensor<?> ) -> ( y: tensor<?> );",
        "fragment relu( a: tensor<scalar>, s: scalar ) -> ( y: tensor<scalar> ) { y = a * s; }"}) {
    EXPECT_EQ(diagnostics(fragment), accepted) << fragment;
  }
  for (const std::string fragment :
       {"fragment relu( x: tensor<scalar>, s: scalar ) -> ( y: tensor<scalar> );",
        "fragment relu( a: tensor<scalar> ) -> ( y: tensor<scalar> );",
        "fragment relu( x: tensor<logical> ) -> ( y: tensor<scalar> );",
        "fragment relu( x: tensor<scalar> ) -> ( y: tensor<logical> );",
        "fragment relu( x: tensor<scalar> ) -> ( y: tensor<scalar>, "
        "z: tensor<scalar> );",
        "fragment elu( x: tensor<scalar> ) -> ( y: tensor<scalar> );",
        "fragment opset1_Sign( data: tensor<scalar> ) -> ( y: tensor<scalar> );",
        "fragment tract_core_erf( x: tensor<scalar> ) -> ( y: tensor<scalar> );"}) {
    EXPECT_EQ(diagnostics(fragment), "declaration.redefined-operation 2:10") << fragment;
  }
}

TEST(Declarations, TensorsPrecedeAttributes) {
  ExpectDiagnostics({
      {Ratified("fragment f( n: integer, x: tensor<scalar> ) -> ( y: tensor<scalar> );"),
       "declaration.parameter-order 2:25"},
      {Ratified("fragment f( x: tensor<scalar>, n: integer = 1 ) -> ( y: tensor<scalar> );"), ""},
      {Provisional("fragment f( n: extent, x: tensor ) -> ( y: tensor ) { y = x }"), ""},
  });
}

TEST(Declarations, ResultsAreTensors) {
  ExpectDiagnostics({
      {Ratified("fragment f( x: tensor<scalar> ) -> ( n: integer );"), "declaration.attribute-result 2:41"},
      {Ratified("fragment f( x: tensor<scalar> ) -> ( y: tensor<> );"), "declaration.unbound-result 2:41"},
      {Ratified("fragment f( x: tensor<> ) -> ( y: tensor<scalar>[], z: (tensor<scalar>,tensor<integer>) );"),
       ""},
      {Provisional("fragment f( x: scalar[] ) -> ( y: scalar ) { y = x[0] + f(x[1:]) }"), ""},
  });
}

TEST(Declarations, TuplesDoNotMix) {
  ExpectDiagnostics({
      {Ratified("fragment f( x: (tensor<scalar>,floats) ) -> ( y: tensor<scalar> );"),
       "syntax.unknown-type 2:32"},
      {Ratified("fragment f( x: (tensor<scalar>,integer) ) -> ( y: tensor<scalar> );"),
       "declaration.mixed-tuple 2:16"},
      {Ratified("fragment f( x: (tensor<scalar>,integer[])[] ) -> ( y: tensor<scalar> );"),
       "declaration.mixed-tuple 2:16"},
      {Ratified("fragment f( x: (tensor<scalar>,tensor<logical>[]), n: (integer,string) ) -> ( y: "
                "tensor<scalar> );"),
       ""},
      {Provisional("fragment f( x: (tensor,extent) ) -> ( y: tensor ) { y = x[0] }"), ""},
  });
}

TEST(Declarations, DefaultsMatch) {
  ExpectDiagnostics({
      {Ratified("fragment f( x: tensor<scalar>, n: integer = 1.0 ) -> ( y: tensor<scalar> );"),
       "declaration.default-type 2:45"},
      {Ratified("fragment f( x: tensor<scalar>, s: scalar = 1 ) -> ( y: tensor<scalar> );"),
       "declaration.default-type 2:44"},
      {Ratified("fragment f( x: tensor<scalar> = 1 ) -> ( y: tensor<scalar> );"),
       "declaration.default-type 2:33"},
      {Ratified(
           "fragment f( x: tensor<scalar> = 1.0, l: tensor<logical> = true, p: (integer,integer)[] = [], "
           "q: (integer,scalar)[] = [(1,-2.0)], t: string = '' ) -> ( y: tensor<scalar> );"),
       ""},
      {Ratified("fragment f( x: tensor<scalar>, q: (integer,scalar)[] = [(1,2)] ) -> ( y: tensor<scalar> );"),
       "declaration.default-type 2:56"},
      {Provisional("fragment f( x: tensor = 1, y: tensor = 1.0 ) -> ( z: tensor ) { z = x }"),
       "declaration.default-type 2:25"},
  });
}

TEST(Declarations, GenericIffUsed) {
  ExpectDiagnostics({
      {Ratified("fragment f( x: tensor<?> ) -> ( y: tensor<?> );"), "generic.undeclared 2:10"},
      {Ratified("fragment f<?>( x: tensor<scalar> ) -> ( y: tensor<scalar> );"), "generic.unused 2:11"},
      {Ratified("fragment f<? = ?>( x: tensor<?> ) -> ( y: tensor<?> );"), "generic.default 2:11"},
      {Ratified("fragment f<? = ?>( n: integer ) -> ( y: tensor<?> );\n"
                "fragment h( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {\ny = add(x, f(n = 1));\n}"),
       "generic.default 2:11"},
      {Ratified("fragment f<?>( x: ?[] ) -> ( y: tensor<scalar> );"), ""},
      {Ratified("fragment f<? = integer>( n: integer ) -> ( y: tensor<?> );"), ""},
  });
}

TEST(Declarations, TypesAreBounded) {
  // Each line adds a level.
  std::string deep = "a0 = [n];";
  for (int i = 1; i < 2000; ++i) deep += fmt::format("a{} = [a{}];", i, i - 1);
  const Checked nested(RatifiedBody(deep + " y = x;"));
  EXPECT_EQ(nested.Diagnostics().substr(0, 14), "type.too-large");
  EXPECT_EQ(nested.Diagnostics().find('\n'), std::string::npos);
  // Each line doubles the type.
  std::string doubling = "a0 = (n, n);";
  for (int i = 1; i < 60; ++i) doubling += fmt::format("a{0} = (a{1}, a{1});", i, i - 1);
  const Checked checked(RatifiedBody(doubling + " y = x;"));
  EXPECT_EQ(checked.Diagnostics().substr(0, 14), "type.too-large");
  EXPECT_EQ(checked.Diagnostics().find('\n'), std::string::npos);
}

TEST(Graphs, OneIsChosen) {
  const std::string text =
      "version 1.0;\n"
      "graph a( x ) -> ( y ) { x = external(shape = [1]); y = relu(x); }\n"
      "graph b( x ) -> ( y ) { x = external(shape = [1]); y = nothing(x); }\n";
  EXPECT_EQ(Checked(text).Diagnostics(), "document.several-graphs 3:7\nbinding.undeclared-operation 3:56");
  const Checked a(text, {.graph = "a"});
  EXPECT_EQ(a.Diagnostics(), "");
  EXPECT_EQ(a.document().graph(), &a.document().ast().graphs[0]);
  EXPECT_EQ(Checked(text, {.graph = "b"}).Diagnostics(), "binding.undeclared-operation 3:56");
  EXPECT_EQ(Checked(text, {.graph = "c"}).document().graph(), nullptr);
  EXPECT_EQ(Checked(text, {.graph = "c"}).Diagnostics().substr(0, 27), "document.unknown-graph 2:7\n");
}

}  // namespace
}  // namespace nnefc::semantics
