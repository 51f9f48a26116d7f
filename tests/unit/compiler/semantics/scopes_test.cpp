// The names that an expression sees, the values that names denote, and what remains of them after an error.

#include "checking.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::semantics {
namespace {

// R 3.2.3: iterators are names of the condition and the body of a comprehension only.
TEST(Scopes, OfIterators) {
  ExpectDiagnostics({
      {RatifiedBody("z = [for i in ns, j in ns yield i + j]; y = x;"), ""},
      {RatifiedBody("z = [for i in ns, j in ns, k in ns if i + j > k yield k]; y = x;"), ""},
      {RatifiedBody("z = [for i in ns, j in ns yield i]; v = i; w = j; y = x;"),
       "identifier.undefined 3:41\nidentifier.undefined 3:48"},
      {RatifiedBody("z = [for i in ns, j in ns, k in ns yield i]; u = i; v = j; w = k; y = x;"),
       "identifier.undefined 3:50\nidentifier.undefined 3:57\nidentifier.undefined 3:64"},
      {RatifiedBody("z = [for i in [for j in ns yield j], k in [for j in ns yield j] yield i + k]; y = x;"),
       ""},
      {RatifiedBody("z = [for i in ns yield [for j in ns yield j] + [i, j]]; y = x;"),
       "identifier.undefined 3:52"},
      // An iterator has the type of the items.
      {RatifiedBody("z = [for i in ns, j in xs yield (i + 1, j + 1.0)]; y = x;"),
       "declaration.mixed-tuple 3:33"},
      {RatifiedBody("z = [for i in ns, j in xs yield i + 1.0]; y = x;"), "type.operator 3:35"},
      {RatifiedBody("z = [for i in ns, j in [1.0] yield (i + 1, j + 1.0)]; y = x;"), ""},
      {RatifiedBody("z = [for i in [ts], j in [t] yield (i[1] + 1.0, j + 'a')]; y = x;"), ""},
  });
}

// An undefined name is reported once where it is one name: in the body of a comprehension it is another one.
TEST(Scopes, OfUndefinedNames) {
  ExpectDiagnostics({
      {RatifiedBody("z = [for i in ns yield q]; w = q; y = x;"),
       "identifier.undefined 3:24\nidentifier.undefined 3:32"},
      {RatifiedBody("z = [for i in ns, j in ns if q > r yield q + r]; w = q; y = x;"),
       "identifier.undefined 3:30\nidentifier.undefined 3:34\nidentifier.undefined 3:54"},
      {RatifiedBody("z = [for i in q yield i]; w = q; y = x;"), "identifier.undefined 3:15"},
      {RatifiedBody("z = [for i in q, q in ns yield q + 1]; y = x;"), "identifier.undefined 3:15"},
      {RatifiedBody("w = q; z = [for i in ns yield q]; y = x;"), "identifier.undefined 3:5"},
      {RatifiedBody("w = q + q; v = q; q = 1; u = q; y = x;"), "identifier.used-before-assigned 3:5"},
      // The items of a wrong iterable are unknown.
      {RatifiedBody("z = [for i in n yield i + 'a']; y = x;"), "type.iterable 3:15"},
      {RatifiedBody("z = [for i in nope yield i - 'a']; y = x;"), "identifier.undefined 3:15"},
  });
}

// After the comprehension a name that an iterator shadowed denotes its value again.
TEST(Scopes, OfShadowedNames) {
  ExpectDiagnostics({
      {RatifiedBody("z = [for n in [t] yield n + 'a']; w = n + 1; y = x;"), "identifier.shadowed 3:10"},
      {RatifiedBody("z = [for n in [t], n in [s] yield n + 1.0]; w = n + 1; y = x;"),
       "identifier.shadowed 3:10\nidentifier.shadowed 3:20"},
      {RatifiedBody("z = [for n in [t], s in [t] yield n + s]; w = n + 1; v = s + 1.0; y = x;"),
       "identifier.shadowed 3:10\nidentifier.shadowed 3:20"},
      {RatifiedBody("z = [for i in ns, n in [t] yield i]; w = n + 1; v = i; y = x;"),
       "identifier.shadowed 3:19\nidentifier.undefined 3:53"},
      {RatifiedBody("z = [for y in ns yield y]; y = x;"), "identifier.shadowed 3:10"},
      {RatifiedBody("z = n; w = [for z in [t] yield z]; v = z + 1; y = x;"), "identifier.shadowed 3:17"},
  });
}

// A parameter remains what it is after an assignment to it.
TEST(Scopes, OfAssignedParameters) {
  ExpectDiagnostics({
      {RatifiedBody("n = 1.0; z = n + 1; y = x;"), "identifier.parameter-assigned 3:1"},
      {RatifiedBody("s = 1; z = s + 1.0; y = x;"), "identifier.parameter-assigned 3:1"},
      {RatifiedBody("(n, s) = (1.0, 1); z = n + 1; w = s + 1.0; y = x;"),
       "identifier.parameter-assigned 3:2\nidentifier.parameter-assigned 3:5"},
  });
}

// `update` takes a variable. Parameters, results of fragments and items of arrays may be variables.
TEST(Scopes, OriginsOfVariables) {
  const std::string variable = "variable(shape = [1,2], label = 'v')";
  const auto update = [&](std::string_view body) {
    return Checked(RatifiedGraph(fmt::format("{}\ny = update(w, x);", body))).Diagnostics();
  };
  const std::string wrong = "graph.update-target 5:12";
  EXPECT_EQ(update(fmt::format("w = {};", variable)), "");
  EXPECT_EQ(update(fmt::format("w = ({});", variable)), "");
  EXPECT_EQ(update(fmt::format("v = {}; w = v;", variable)), "");
  EXPECT_EQ(update(fmt::format("(w, z) = ({}, relu(x));", variable)), "");
  EXPECT_EQ(update(fmt::format("(z, w) = (relu(x), {});", variable)), "");
  EXPECT_EQ(update(fmt::format("[w, z] = [{}, relu(x)];", variable)), "");
  EXPECT_EQ(update(fmt::format("[z, w] = [relu(x), {}];", variable)), "");
  EXPECT_EQ(update(fmt::format("(w, z) = (relu(x), {});", variable)), wrong);
  EXPECT_EQ(update(fmt::format("(z, w) = ({}, relu(x));", variable)), wrong);
  EXPECT_EQ(update(fmt::format("[w, z] = [relu(x), {}];", variable)), wrong);
  EXPECT_EQ(update(fmt::format("[z, w] = [{}, relu(x)];", variable)), wrong);
  EXPECT_EQ(update(fmt::format("((z, u), w) = (({0}, relu(x)), {0});", variable)), "");
  EXPECT_EQ(update(fmt::format("((z, w), u) = (({0}, relu(x)), {0});", variable)), wrong);
  EXPECT_EQ(update("w = relu(x);"), wrong);
  EXPECT_EQ(update("v = relu(x); w = v;"), wrong);
  EXPECT_EQ(update("w = (relu(x));"), wrong);
  EXPECT_EQ(update("w = constant(shape = [1,2], value = [1.0]);"), wrong);
  // Expansion knows these.
  EXPECT_EQ(update("[w, z] = split(x, axis = 1, ratios = [1,1]);"), "");
  EXPECT_EQ(update("w = x + 1.0;"), "");
  for (const char* literal : {"1.0", "(1.0)"}) {
    EXPECT_EQ(Checked(RatifiedGraph(fmt::format("y = update({}, x);", literal))).Diagnostics(),
              fmt::format("graph.update-target 4:{}", literal[0] == '(' ? 13 : 12));
  }
  for (const char* literal : {"1", "true", "'v'"}) {
    const std::string found =
        Checked(RatifiedGraph(fmt::format("y = update({}, x);", literal))).Diagnostics();
    EXPECT_NE(found.find("graph.update-target 4:12"), std::string::npos) << literal << found;
  }
}

// One name covers an array of tensors only if an expression determines its length (R 3.3.2).
TEST(Scopes, ArraysOfPrimitives) {
  const std::string split = "split(x, axis = 1, ratios = [1,1])";
  const std::string fragments =
      "fragment many( x: tensor<scalar> ) -> ( ys: tensor<scalar>[] ) { ys = split(x, axis = 1, ratios = "
      "[1,1]); }\n"
      "fragment more( x: tensor<scalar> ) -> ( ys: tensor<scalar>[] ) { z = relu(x); ys = (many(z)); }\n"
      "fragment listed( x: tensor<scalar> ) -> ( ys: tensor<scalar>[] ) { ys = [x, x]; }\n"
      "fragment own( x: tensor<scalar> ) -> ( ys: tensor<scalar>[] );\n"
      "fragment parts( x: tensor<scalar> ) -> ( ys: tensor<scalar>[] ) { [a, b] = many(x); ys = [a, b]; }\n";
  const auto check = [&](std::string_view body) {
    return Checked(Ratified(fragments + "fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {\n" +
                            std::string(body) + "\n}"))
        .Diagnostics();
  };
  for (const char* call :
       {"split(x, axis = 1, ratios = [1,1])", "many(x)", "more(x)", "own(x)", "(many(x))", "((own(x)))"}) {
    EXPECT_EQ(check(fmt::format("a = {}; y = add_n(a);", call)), "assignment.primitive-array 8:1") << call;
    EXPECT_EQ(check(fmt::format("[a, b] = {}; y = a;", call)), "") << call;
    EXPECT_EQ(check(fmt::format("(a, b) = (x, {}); y = x;", call)), "assignment.primitive-array 8:5") << call;
  }
  EXPECT_EQ(check("z = add_n(a); a = many(x); y = z;"),
            "identifier.used-before-assigned 8:11\nassignment.primitive-array 8:15");
  EXPECT_EQ(check("z = add_n(a); a = [x, x]; y = z;"), "identifier.used-before-assigned 8:11");
  for (const char* known : {"[x, x]", "listed(x)", "parts(x)", "[for i in [1,2] yield x]"})
    EXPECT_EQ(check(fmt::format("a = {}; y = add_n(a);", known)), "") << known;
  // A chain of up to 99 compounds.
  for (const int length : {98, 99, 100}) {
    std::string text = "fragment f0( x: tensor<scalar> ) -> ( ys: tensor<scalar>[] );\n";
    for (int i = 1; i <= length; ++i)
      text += fmt::format(
          "fragment f{}( x: tensor<scalar> ) -> ( ys: tensor<scalar>[] ) {{ ys = f{}(x); }}\n", i, i - 1);
    text += fmt::format("fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {{\na = f{}(x); y = x; }}",
                        length);
    EXPECT_EQ(Checked(Ratified(text)).Diagnostics(),
              length < 100 ? fmt::format("assignment.primitive-array {}:1", length + 4) : "");
  }
}

// Misspelt names are compared with the names in scope while a document has compared at most 2,000,000.
// Besides `num_names` these are `x`, `y`, the assignment that remains, and the undefined names before.
TEST(Scopes, OfSuggestionsAreLimited) {
  const auto suggested = [](int num_names, int num_misspelt) {
    std::vector<std::string> names(static_cast<size_t>(num_names)), misspelt;
    for (size_t i = 0; i < names.size(); ++i) names[i] = fmt::format("a{}", i);
    for (int i = 0; i < num_misspelt; ++i) misspelt.push_back(fmt::format("a{}_", i));
    const Checked checked(
        RatifiedGraph(fmt::format("[{}] = copy_n(x, times = {}); y = add_n([{}]);", fmt::join(names, ","),
                                  num_names, fmt::join(misspelt, ","))));
    EXPECT_EQ(checked.context().emitter.error_count(), static_cast<size_t>(num_misspelt));
    return llvm::count_if(checked.context().emitter.diagnostics(), [](const Diagnostic& diagnostic) {
      return diagnostic.message.find("did you mean") != std::string::npos;
    });
  };
  // 25 * (79985 + 3) + (0 + 1 + .. + 24) = 2,000,000
  EXPECT_EQ(suggested(79'985, 25), 25);
  EXPECT_EQ(suggested(79'986, 25), 24);
}

}  // namespace
}  // namespace nnefc::semantics
