#include "checking.h"
#include "gtest/gtest.h"

namespace nnefc::semantics {
namespace {

TEST(Identifiers, AreDefinedBeforeUse) {
  ExpectDiagnostics({
      {RatifiedBody("y = z;"), "identifier.undefined 3:5"},
      {RatifiedBody("y = z + z;"), "identifier.undefined 3:5"},
      {RatifiedBody("y = relu(z); z = x;"), "identifier.used-before-assigned 3:10"},
      {RatifiedBody("y = relu(y);"), "identifier.used-before-assigned 3:10"},
      {RatifiedBody("z = y; y = x;"), "identifier.used-before-assigned 3:5"},
      {RatifiedBody("y = relu(a); [a, c] = split(x, axis = 0, ratios = [1,1]);"),
       "identifier.used-before-assigned 3:10"},
      {RatifiedBody("y = relu(c); (a, c) = moments(x, axes = ns);"), "identifier.used-before-assigned 3:10"},
      {RatifiedBody("z = d; (a, [c, d]) = (n, ns); y = x;"), "identifier.used-before-assigned 3:5"},
      {RatifiedBody("z = a; [(a, c), d] = [ts, ts]; y = x;"), "identifier.used-before-assigned 3:5"},
      {RatifiedBody("z = x; y = z; w = y;"), ""},
      {RatifiedGraph("y = relu(z);"), "identifier.undefined 4:10"},
      {"version 1.0;\ngraph g( x ) -> ( y ) {\ny = relu(x);\nx = external(shape = [1]);\n}",
       "identifier.used-before-assigned 3:10"},
  });
  EXPECT_NE(Checked(RatifiedBody("filter = x; y = fliter;")).Rendered().find("did you mean `filter`?"),
            std::string::npos);
}

// A choice is an external if both of its values are.
TEST(Graph, ParametersAreExternals) {
  ExpectDiagnostics({
      {"version 1.0; extension KHR_enable_operator_expressions;\ngraph g( x, z ) -> ( y ) {\n"
       "x = external(shape = [1]);\nz = x if true else external(shape = [1]);\ny = add(x, z);\n}",
       "graph.parameter-not-external 4:1"},
      {"version 1.0; extension KHR_enable_operator_expressions;\ngraph g( x, z ) -> ( y ) {\n"
       "x = external(shape = [1]);\nz = external(shape = [1]) if true else x;\ny = add(x, z);\n}",
       "graph.parameter-not-external 4:1"},
      {"version 1.0; extension KHR_enable_operator_expressions;\ngraph g( x ) -> ( y ) {\n"
       "x = external(shape = [1]) if true else external(shape = [2]);\ny = relu(x);\n}",
       ""},
  });
}

TEST(Identifiers, AreAssignedOnce) {
  ExpectDiagnostics({
      {RatifiedBody("z = x; z = x; y = z;"), "identifier.reassigned 3:8"},
      {RatifiedBody("y = x; y = x;"), "identifier.reassigned 3:8"},
      {RatifiedBody("(z, z) = ts; y = x;"), "identifier.reassigned 3:5"},
      {RatifiedBody("n = 1; y = x;"), "identifier.parameter-assigned 3:1"},
      {RatifiedBody("z = x;"), "identifier.result-not-assigned 2:163"},
      {RatifiedGraph("z = relu(x);"), "identifier.result-not-assigned 2:19"},
      {RatifiedGraph("x = external(shape = [1,2]); y = x;"), "identifier.reassigned 4:1"},
  });
}

TEST(Assignments, AreOfOneStructure) {
  ExpectDiagnostics({
      {RatifiedBody("a, c = moments(x, axes = ns); y = a;"), ""},
      {RatifiedBody("a, c, d = moments(x, axes = ns); y = x;"), "assignment.structure 3:1"},
      {RatifiedBody("[a, c] = moments(x, axes = ns); y = x;"), "assignment.structure 3:1"},
      {RatifiedBody("[a, c] = split(x, axis = 0, ratios = [1,1]); y = a;"), ""},
      {RatifiedBody("a, c = split(x, axis = 0, ratios = [1,1]); y = x;"), "assignment.structure 3:1"},
      {RatifiedBody("(a, [c, d]) = (n, ns); y = x;"), ""},
      {RatifiedBody("[(a, c), d] = [ts, ts]; y = x;"), ""},
      {RatifiedBody("a, c = x; y = x;"), "assignment.structure 3:1"},
  });
}

TEST(Graph, NamesAreTensors) {
  ExpectDiagnostics({
      {RatifiedGraph("[a, b] = split(x, axis = 1, ratios = [1,1]); y = a + b;"), ""},
      {RatifiedGraph("a = split(x, axis = 1, ratios = [1,1]); y = add_n(a);"),
       "graph.identifier-not-tensor 4:1"},
      {RatifiedGraph("m = moments(x, axes = [1]); y = x;"), "graph.identifier-not-tensor 4:1"},
      {RatifiedGraph("(m, v) = moments(x, axes = [1]); y = m;"), ""},
      {RatifiedGraph("n = 1 + 2; y = x;"), "graph.identifier-not-tensor 4:1"},
      {RatifiedGraph("y = add_n([for i in [1,2] yield x]);"), ""},
      {ProvisionalGraph("a = split(x, axis = 1, ratios = [1,1]) y = idn(x)"),
       "graph.identifier-not-tensor 4:1"},
  });
}

TEST(Graph, ParametersAreExternal) {
  auto graph = [](std::string_view body) {
    return "version 1.0; extension KHR_enable_operator_expressions;\ngraph g( x, z ) -> ( y ) {\n" +
           std::string(body) + "\n}\n";
  };
  ExpectDiagnostics({
      {graph("x = external(shape = [1]); z = external<integer>(shape = [1]); y = relu(x);"), ""},
      {graph("x = external(shape = [1]); y = relu(x);"), "graph.parameter-not-external 2:13"},
      {graph("x = external(shape = [1]); z = constant(shape = [1], value = [1.0]); y = relu(x);"),
       "graph.parameter-not-external 3:28"},
      {graph("(x, z) = (external(shape = [1]), external(shape = [2])); y = relu(x);"), ""},
      {graph("x = external(shape = [1]) if true else external(shape = [2]); z = external(shape = [1]); y = "
             "relu(x);"),
       ""},
      {graph("x = external(shape = [1]); z = external(shape = [1]); w = external(shape = [1]); y = relu(x);"),
       "graph.external-not-parameter 3:59"},
      {graph("x = external(shape = [1]); z = external(shape = [1]); y = relu(external(shape = [1]));"),
       "graph.external-not-parameter 3:64"},
      {graph("x = relu(external(shape = [1])); z = external(shape = [1]); y = relu(x);"),
       "graph.parameter-not-external 3:1"},
      {ProvisionalGraph("w = external(shape = [1]) y = relu(w)"), ""},
      {ProvisionalGraph("y = idn(x)"), ""},
      {"version 1.0\ngraph g( x ) -> ( y ) {\nx = constant(shape = [1], value = [1.0])\ny = idn(x)\n}",
       "graph.parameter-not-external 3:1"},
  });
}

TEST(Graph, IsNotGeneric) {
  ExpectDiagnostics({
      {RatifiedGraph("y = copy<?>(x);"), "generic.outside-generic-body 4:10"},
      {Ratified("fragment f<?>( x: tensor<?> ) -> ( y: tensor<?> ) { y = copy<?>(x); }\n"
                "graph g( x ) -> ( y ) { x = external(shape = [1]); y = copy<?>(x); }"),
       "generic.outside-generic-body 3:61"},
  });
}

TEST(Graph, WithoutAnEnd) {
  ExpectDiagnostics({
      {"version 1.0;\ngraph g( x ) -> ( y )", "syntax.unexpected-token 2:22"},
      {"version 1.0;\ngraph g( x ) -> ( y ) {\nx = external(shape = [1]);\ny = x[0]",
       "type.subscript-base 4:5\nsyntax.missing-semicolon 4:9\nsyntax.unclosed-body 4:9"},
      {"version 1.0\ngraph g( x ) -> ( y ) {\nx = external(shape = [1])\ny = x + 1.0",
       "graph.not-flat 4:5 warning\nsyntax.unclosed-body 4:12"},
  });
}

TEST(Graph, HasItsOwnOperations) {
  ExpectDiagnostics({
      {RatifiedBody("z = external(shape = ns); y = x;"), "graph.operation-in-fragment 3:5"},
      {RatifiedBody("z = variable(shape = ns, label = t); y = x;"), "graph.operation-in-fragment 3:5"},
      {RatifiedBody("y = update(x, x);"), "graph.operation-in-fragment 3:5"},
      {RatifiedGraph("v = variable(shape = [1,2], label = 'v'); y = update(v, x);"), ""},
      {ProvisionalBody("z = external(shape = ns) y = x"), "graph.operation-in-fragment 3:5"},
      {ProvisionalBody("v = variable(shape = ns, label = t + '/v') y = update(v, x)"), ""},
  });
}

TEST(Update, TakesAVariable) {
  ExpectDiagnostics({
      {RatifiedGraph("y = update(x, x);"), "graph.update-target 4:12"},
      {RatifiedGraph("y = update(1.0, x);"), "graph.update-target 4:12"},
      {RatifiedGraph("y = update(relu(x), x);"), "graph.update-target 4:12"},
      {RatifiedGraph("v = variable(shape = [1,2], label = 'v'); w = update(v, x); y = update(w, x);"),
       "graph.update-target 4:72"},
      {RatifiedGraph("y = update(variable(shape = [1,2], label = 'v'), x);"), ""},
      {ProvisionalGraph("y = update(x, x)"), "graph.update-target 4:12"},
  });
}

// The message quotes at most 80 characters of the value.
TEST(Update, QuotesTheBeginningOfTheTarget) {
  for (const size_t length : {79, 80, 81}) {
    const std::string value = fmt::format("relu({})", std::string(length - 6, 'n'));
    const Checked checked(
        RatifiedGraph(fmt::format("{0} = relu(x); y = update(relu({0}), x);", value.substr(5, length - 6))));
    EXPECT_NE(checked.Rendered().find(fmt::format("error: `{}` is not a variable", value.substr(0, 80))),
              std::string::npos)
        << checked.Rendered();
  }
}

// In lenient mode a tuple takes the items of an array, which may be arrays of variables.
TEST(Update, TakesItemsOfArraysInLenientMode) {
  const Checked checked(RatifiedGraph("([w], [z]) = [copy_n(x, times = 1), copy_n(x, times = 1)]; "
                                      "y = update(z, x);"),
                        {.leniency = Leniency::kLenient});
  EXPECT_EQ(checked.Diagnostics().find("graph.update-target"), std::string::npos) << checked.Rendered();
}

TEST(Soundness, IsOfTheFragment) {
  Checked checked(
      Ratified("fragment a( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = nope(x); }\n"
               "fragment b( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = a(x); }\n"
               "fragment c( x: tensor<scalar>, x: integer ) -> ( y: tensor<scalar> ) { y = x; }\n"
               "fragment d( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = x + ); }\n"));
  EXPECT_FALSE(checked.document().sound(ast::FragmentId(0)));
  EXPECT_TRUE(checked.document().sound(ast::FragmentId(1)));
  EXPECT_FALSE(checked.document().sound(ast::FragmentId(2)));
  EXPECT_FALSE(checked.document().sound(ast::FragmentId(3)));
}

TEST(Cascades, UnreadLeftSidesHideNames) {
  ExpectDiagnostics({
      {RatifiedBody("a + 1 = x; y = a;"), "syntax.unexpected-token 3:2"},
      {RatifiedBody("a = x +; y = a + 1;"), "syntax.unexpected-token 3:8"},
  });
}

TEST(Cascades, DocumentsAreCompleteWithoutAMistake) {
  EXPECT_TRUE(Checked(RatifiedGraph("y = relu(x);")).document().complete());
  const Checked unread(RatifiedGraph("y = relu(x)"));  // no semicolon
  EXPECT_FALSE(unread.document().ast().complete);
  EXPECT_FALSE(unread.document().complete());
  const Checked unknown(RatifiedGraph("y = rleu(x);"));
  EXPECT_TRUE(unknown.document().ast().complete);
  EXPECT_FALSE(unknown.document().complete());
}

}  // namespace
}  // namespace nnefc::semantics
