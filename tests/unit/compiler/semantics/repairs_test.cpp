// The message of the first mistake of a document, and its line after the repair that the message proposes.

#include <algorithm>
#include <string>
#include <string_view>

#include "checking.h"
#include "compiler/support/diagnostics/apply_fixes.h"
#include "fmt/core.h"
#include "fmt/ranges.h"
#include "gtest/gtest.h"

namespace nnefc::semantics {
namespace {

// Returns "MESSAGE", followed by " => LINE" if the diagnostic has fix-its, or " ?> LINE" if they are unsafe.
// LINE is the line of the first fix-it after their application, without the blanks before it.
std::string Repair(std::string text) {
  const Checked checked(text);
  const std::vector<Diagnostic>& diagnostics = checked.context().emitter.diagnostics();
  if (diagnostics.empty()) return "";
  const Diagnostic& first = diagnostics.front();
  if (first.fixes.empty()) return first.message;
  const AppliedFixes applied = ApplyFixes(text, first.range.file, {first});
  EXPECT_EQ(applied.applied.size(), 1u) << first.message;
  const size_t before = text.rfind('\n', first.fixes.front().range.begin - 1);
  const size_t begin = before == std::string::npos ? 0 : before + 1;
  std::string line = applied.text.substr(begin, applied.text.find('\n', begin) - begin);
  line.erase(0, line.find_first_not_of(' '));
  return fmt::format("{} {} {}", first.message, first.applicability == Applicability::kSafe ? "=>" : "?>",
                     line);
}

struct RepairCase {
  std::string text;
  std::string expected;
};

void ExpectRepairs(std::initializer_list<RepairCase> cases) {
  for (const RepairCase& each : cases) EXPECT_EQ(Repair(each.text), each.expected) << each.text;
}

// A ratified document with fragments and without operator expressions, with `body` in the body of
// `f( x, n: integer )` on its third line.
std::string WithoutOperators(std::string_view body) {
  return fmt::format(
      "version 1.0; extension KHR_enable_fragment_definitions;\n"
      "fragment f( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> ) {{\n{}\n}}\n"
      "graph g( x ) -> ( y ) {{ x = external(shape = [1,2]); y = f(x, n = 1); }}\n",
      body);
}

TEST(Repairs, OfNumbers) {
  ExpectRepairs({
      {WithoutOperators("y = leaky_relu(x, alpha = n);"),
       "argument `alpha` of `leaky_relu` is of type `integer`; expected `scalar`"},
      {WithoutOperators("y = leaky_relu(x, alpha = 2);"),
       "argument `alpha` of `leaky_relu` is of type `integer`; expected `scalar` => y = leaky_relu(x, alpha "
       "= 2.0);"},
      {RatifiedBody("y = leaky_relu(x, alpha = n);"),
       "argument `alpha` of `leaky_relu` is of type `integer`; expected `scalar` => "
       "y = leaky_relu(x, alpha = scalar(n));"},
      {RatifiedBody("z = s + n; y = x;"),
       "the operator `+` does not go with `scalar` and `integer` => z = s + scalar(n); y = x;"},
      {RatifiedBody("z = s + (2); y = x;"),
       "the operator `+` does not go with `scalar` and `integer` => z = s + (2.0); y = x;"},
      {RatifiedBody("z = n * s; y = x;"),
       "the operator `*` does not go with `integer` and `scalar` => z = scalar(n) * s; y = x;"},
      {RatifiedBody("z = n < 1.0; y = x;"),
       "the operator `<` does not go with `integer` and `scalar` => z = scalar(n) < 1.0; y = x;"},
      {RatifiedBody("y = x * 2;"),
       "the operand of `*` is of type `integer`; expected `tensor<scalar>` => y = x * 2.0;"},
      {RatifiedBody("y = 2 * x;"),
       "the operand of `*` is of type `integer`; expected `tensor<scalar>` => y = 2.0 * x;"},
      {RatifiedBody("z = 1 if b else 2.0; y = x;"),
       "the branches are of types `integer` and `scalar`, which have no common type => z = 1.0 if b else "
       "2.0; y = x;"},
      {RatifiedBody("z = 1.0 if b else n; y = x;"),
       "the branches are of types `scalar` and `integer`, which have no common type => "
       "z = 1.0 if b else scalar(n); y = x;"},
      {RatifiedBody("z = (1, 2) if b else (1.0, s); y = x;"),
       "the branches are of types `(integer,integer)` and `(scalar,scalar)`, which have no common type => "
       "z = (1.0, 2.0) if b else (1.0, s); y = x;"},
      {RatifiedBody("z = [(s, [1.0])] if b else [(n, [1, n])]; y = x;"),
       "the branches are of types `(scalar,scalar[])[]` and `(integer,integer[])[]`, which have no common "
       "type => "
       "z = [(s, [1.0])] if b else [(scalar(n), [1.0, scalar(n)])]; y = x;"},
      {RatifiedBody("y = 1;"), "result `y` is of type `tensor<scalar>`; got `integer` => y = 1.0;"},
      {RatifiedBody("y = n;"), "result `y` is of type `tensor<scalar>`; got `integer` => y = scalar(n);"},
      {RatifiedBody("y, z = n, 1;"),
       "a tuple without parentheses on the right belongs to the provisional dialect; write `(..)` here => "
       "y, z = (n, 1);"},
      {RatifiedBody("y = select(l, x, 0);"),
       "the arguments of `select` do not agree on its type: `scalar` and `integer` => y = select(l, x, "
       "0.0);"},
      {RatifiedBody("z = select(l, 1, 0); y = copy(select(l, n, x));"),
       "the arguments of `select` do not agree on its type: `integer` and `scalar` => "
       "z = select(l, 1, 0); y = copy(select(l, scalar(n), x));"},
      {RatifiedBody("y = copy(select(l, l, x));"),
       "the arguments of `select` do not agree on its type: `logical` and `scalar`"},
  });
}

// Padding has pairs of integers; a number is proposed for both.
TEST(Repairs, OfPairs) {
  const auto repair = [](const std::string& item) {
    return Repair(Ratified("fragment p( x: tensor<scalar>, n: " + item +
                           "[] ) -> ( y: tensor<scalar> ) { y = copy(x); }\n"
                           "fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {\n"
                           "y = p(x, n = 1);\n}"));
  };
  const auto is_repaired = [&](const std::string& item) {
    return repair(item).ends_with(" ?> y = p(x, n = [(1,1)]);");
  };
  EXPECT_TRUE(is_repaired("(integer,integer)"));
  for (const char* item :
       {"(integer,integer,integer)", "(integer,scalar)", "(scalar,integer)", "(scalar,scalar)"}) {
    EXPECT_FALSE(is_repaired(item)) << item;
    EXPECT_EQ(repair(item).find("?>"), std::string::npos) << repair(item);
  }
}

TEST(Repairs, OfOperationNames) {
  ExpectRepairs({
      {RatifiedBody("y = rellu(x);"), "undeclared operation `rellu`; did you mean `relu`? => y = relu(x);"},
      {RatifiedBody("y = Relu(x);"), "undeclared operation `Relu`; did you mean `relu`? => y = relu(x);"},
      {RatifiedBody("y = nothing_like_it(x);"), "undeclared operation `nothing_like_it`"},
      // The document's own operation of that spelling precedes one of another framework.
      {Ratified("fragment conv_2d( x: tensor<scalar> ) -> ( y: tensor<scalar> );\n"
                "fragment h( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {\ny = Conv2D(x);\n}"),
       "undeclared operation `Conv2D`; did you mean `conv_2d`? => y = conv_2d(x);"},
      // Another framework's name may have another meaning; one slip in a name has not.
      {Ratified("fragment f( x: tensor<scalar>, dims: integer ) -> ( y: tensor<scalar> );\n"
                "fragment h( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {\ny = f(x, dim = 1);\n}"),
       "`f` has no parameter `dim`; did you mean `dims`?"},
      {Ratified("fragment f( x: tensor<scalar>, stride: integer ) -> ( y: tensor<scalar> );\n"
                "fragment h( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {\ny = f(x, strdie = 1);\n}"),
       "`f` has no parameter `strdie`; did you mean `stride`? => y = f(x, stride = 1);"},
      // Another of the document's operations may be meant.
      {Ratified("fragment block_one( x: tensor<scalar> ) -> ( y: tensor<scalar> );\n"
                "fragment h( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {\ny = block_onee(x);\n}"),
       "undeclared operation `block_onee`; did you mean `block_one`? ?> y = block_one(x);"},
      {ProvisionalBody("y = copy(x)"),
       "operation `copy` belongs to the ratified dialect; it is `idn` here => y = idn(x)"},
      {RatifiedBody("y = idn(x);"),
       "operation `idn` belongs to the provisional dialect; it is `copy` here => y = copy(x);"},
      {ProvisionalBody("y = pad(x, padding = [(0,0)])"), "operation `pad` belongs to the ratified dialect"},
      // Descriptions of the operation in other frameworks use ratified operations.
      {ProvisionalBody("y = gelu(x)"), "operation `gelu` belongs to the ratified dialect"},
      {RatifiedBody("y = planewise_conv(x, x);"),
       "operation `planewise_conv` belongs to the provisional dialect; write `conv(x, filter, groups = 0)`"},
      {RatifiedBody("z = extent(s); y = x;"),
       "`extent(..)` belongs to the provisional dialect; write `integer(..)` here => z = integer(s); y = x;"},
      {RatifiedBody("y = relu[x];"),
       "undefined name `relu`; the operation is invoked with arguments, `relu(..)` => y = relu(x);"},
      {RatifiedBody("y = relu[copy(xs[0])]; z = xs[0];"),
       "undefined name `relu`; the operation is invoked with arguments, `relu(..)` => "
       "y = relu(copy(xs[0])); z = xs[0];"},
      {RatifiedBody("y = relu;"),
       "undefined name `relu`; the operation is invoked with arguments, `relu(..)`"},
      {RatifiedBody("y = relu + x[0];"),
       "undefined name `relu`; the operation is invoked with arguments, `relu(..)`"},
  });
}

TEST(Repairs, OfNames) {
  ExpectRepairs({
      {RatifiedBody("filter = x; y = fliter;"),
       "undefined name `fliter`; did you mean `filter`? ?> filter = x; y = filter;"},
      {RatifiedBody("some_name = x; y = SomeName;"),
       "undefined name `SomeName`; did you mean `some_name`? => some_name = x; y = some_name;"},
      {RatifiedBody("y = copy(X);"), "undefined name `X`; did you mean `x`? => y = copy(x);"},
      {RatifiedBody("z = True; y = x;"), "undefined name `True`; did you mean `true`? => z = true; y = x;"},
      {RatifiedBody("z = pi; y = x;"), "undefined name `pi`; write `3.14159265`"},
      {RatifiedBody("z = inf; y = x;"), "undefined name `inf`; there is no literal for infinity"},
      {RatifiedBody("yy = x;"), "result `y` is not assigned"},
      {Ratified("fragment h( x: tensor<scalar> ) -> ( output: tensor<scalar> ) {\noutputt = x;\n}"),
       "result `output` is not assigned; `outputt` is ?> output = x;"},
      // One letter is another one: not a slip.
      {Ratified("fragment h( x: tensor<scalar> ) -> ( output: tensor<scalar> ) {\noutpit = x;\n}"),
       "result `output` is not assigned; `outpit` is"},
      // A name that is used elsewhere is intended.
      {Ratified(
           "fragment h( x: tensor<scalar> ) -> ( output: tensor<scalar> ) {\noutputt = x; z = outputt;\n}"),
       "result `output` is not assigned; `outputt` is"},
      // Neither a parameter nor another result is a misspelt result.
      {Ratified("fragment h( outputt: tensor<scalar> ) -> ( output: tensor<scalar> ) {\nz = outputt;\n}"),
       "result `output` is not assigned"},
      {Ratified("fragment h( x: tensor<scalar> ) -> ( output: tensor<scalar>, outputt: tensor<scalar> ) {\n"
                "outputt = x;\n}"),
       "result `output` is not assigned"},
  });
}

TEST(Repairs, OfExternals) {
  const auto graph = [](std::string_view head, std::string_view body) {
    return fmt::format(
        "version 1.0; extension KHR_enable_operator_expressions;\ngraph g( {} ) -> ( y ) {{\n{}\n}}\n", head,
        body);
  };
  const std::string message = "the result of `external` must be a parameter of the graph and nothing else";
  ExpectRepairs({
      {graph("x", "x = external(shape = [1]); w = external(shape = [1]); y = add(x, w);"),
       message + "; add `w` to the parameters => graph g( x, w ) -> ( y ) {"},
      {graph("x", "x = external(shape = [1]); w = relu(external(shape = [1])); y = add(x, w);"), message},
      {graph("x", "x = external(shape = [1]); y = external(shape = [1]);"), message},
      {graph("x", "x = external(shape = [1]); (w, y) = (external(shape = [1]), x);"), message},
      {graph("x", "w = external(shape = [1]); y = copy(w);"),
       message + "; add `w` to the parameters => graph g( x, w ) -> ( y ) {"},
  });
  const Checked added(graph("x", "x = external(shape = [1]); w = external(shape = [1]); y = add(x, w);"));
  const Diagnostic& first = added.context().emitter.diagnostics().front();
  ASSERT_EQ(first.fixes.size(), 1u);
  EXPECT_EQ(first.fixes[0].text, ", w");
  // Without parameters there is none to append to.
  const Checked empty("version 1.0;\ngraph g() -> ( y ) {\nw = external(shape = [1]); y = copy(w);\n}\n");
  EXPECT_EQ(empty.Diagnostics(), "syntax.empty-list 2:8\ngraph.external-not-parameter 3:5");
}

TEST(Repairs, OfArguments) {
  ExpectRepairs({
      {RatifiedBody("y = conv(x, x, border = t, border = t);"),
       "argument `border` is given twice => y = conv(x, x, border = t);"},
      {RatifiedBody("y = conv(x, x, border = t, groups = n, border = t);"),
       "argument `border` is given twice => y = conv(x, x, border = t, groups = n);"},
      {RatifiedBody("y = conv(x, x, border = t, border = 'ignore');"), "argument `border` is given twice"},
      {RatifiedBody("y = leaky_relu(x, s);"),
       "attribute `alpha` is given by its position; only tensors can be, write `alpha = ..` => "
       "y = leaky_relu(x, alpha = s);"},
      {RatifiedBody("y = leaky_relu(x, s, alpha = s);"),
       "attribute `alpha` is given by its position; only tensors can be"},
      {RatifiedBody("y = leaky_relu(x, x);"),
       "attribute `alpha` is given by its position; only tensors can be"},
      {ProvisionalBody("y = leaky_relu(x, x)"),
       "argument `alpha` of `leaky_relu` is of type `tensor`; expected `scalar`"},
      {ProvisionalBody("y = leaky_relu(x, alpha = x)"),
       "argument `alpha` of `leaky_relu` is of type `tensor`; expected `scalar`"},
      {RatifiedBody("y = leaky_relu(x, alpha = x);"),
       "argument `alpha` of `leaky_relu` is of type `tensor<scalar>`; expected `scalar`"},
      {RatifiedBody("y = relu(x, x);"), "`relu` takes 1 argument, but got 2"},
      {RatifiedBody("y = add(x, x, x);"), "`add` takes 2 arguments, but got 3"},
      {RatifiedBody("y = relu();"), "`relu` lacks the argument `x`"},
      {RatifiedBody("y = add();"), "`add` lacks the arguments `x`, `y`"},
      {RatifiedBody("y = conv(x);"), "`conv` lacks the argument `filter`"},
      {RatifiedBody("y = slice(x);"), "`slice` lacks the arguments `axes`, `begin`, `end`"},
      {RatifiedBody("y = relu<scalar>(x);"), "`relu` takes no type; remove `<scalar>` => y = relu(x);"},
  });
}

TEST(Repairs, OfForeignArguments) {
  const std::string inplace = "`relu` has no parameter `inplace`; every operation makes a new tensor";
  const std::string keepdims =
      "`max_reduce` has no parameter `keepdims`; a reduction keeps its dimensions with extent 1; `squeeze` "
      "removes them";
  const std::string format =
      "`relu` has no parameter `data_format`; tensors are [batch, channels, ..]; `transpose` brings others "
      "into that order";
  const std::string type =
      "has no parameter `dtype`; the type stands behind the name of the operation, `external<integer>(..)`";
  ExpectRepairs({
      {RatifiedBody("y = relu(x, inplace = true);"), inplace + " => y = relu(x);"},
      {RatifiedBody("y = relu(inplace = true, x = x);"), inplace + " => y = relu(x = x);"},
      {RatifiedBody("y = relu(inplace = true);"), inplace},
      {RatifiedBody("y = max_reduce(x, axes = ns, keepdims = true);"),
       keepdims + " => y = max_reduce(x, axes = ns);"},
      {RatifiedBody("y = max_reduce(x, keepdims = true, axes = ns);"),
       keepdims + " => y = max_reduce(x, axes = ns);"},
      {RatifiedBody("y = max_reduce(x, axes = ns, keepdims = false);"), keepdims},
      {RatifiedBody("y = max_reduce(x, axes = ns, keepdims = b);"), keepdims},
      {RatifiedBody("y = relu(x, data_format = 'NCHW');"), format + " => y = relu(x);"},
      {RatifiedBody("y = relu(x, data_format = \"nchw\");"), format + " => y = relu(x);"},
      {RatifiedBody("y = relu(x, data_format = 'channels_first');"), format + " => y = relu(x);"},
      {RatifiedBody("y = relu(x, data_format = 'NHWC');"), format},
      {RatifiedBody("z = constant(shape = [1], value = [n], dtype = 'int32'); y = x;"),
       "`constant` " + type + " => z = constant<integer>(shape = [1], value = [n]); y = x;"},
      {RatifiedBody("z = constant(dtype = 'np.float32', shape = [1], value = [s]); y = x;"),
       "`constant` " + type + " => z = constant<scalar>(shape = [1], value = [s]); y = x;"},
      {RatifiedBody("z = constant<integer>(shape = [1], value = [n], dtype = 'int32'); y = x;"),
       "`constant` " + type},
      {RatifiedBody("z = constant(shape = [1], value = [n], dtype = 'thing'); y = x;"), "`constant` " + type},
      {RatifiedBody("y = relu(x, dtype = 'float32');"), "`relu` " + type},
      {RatifiedBody("y = conv(x, x, border = None);"),
       "`None` is not a value; remove `border`, whose default is `'constant'` => y = conv(x, x);"},
      {RatifiedBody("y = conv(border = null, input = x, filter = x);"),
       "`null` is not a value; remove `border`, whose default is `'constant'` => y = conv(input = x, filter "
       "= x);"},
      {RatifiedBody("y = conv(x, x, padding = None);"),
       "`None` is not a value; remove `padding`, whose default is `[]`"},
      {RatifiedBody("y = max_reduce(x, axes = None);"),
       "undefined name `None`; there is no such value; an argument that has a default is left out"},
  });
}

// A parameter's own name counts first, in any spelling, even if other frameworks use the word otherwise.
TEST(Repairs, OfNamesOfArguments) {
  ExpectRepairs({
      {RatifiedBody("y = concat([x, x], Axis = 0);"),
       "`concat` has no parameter `Axis`; did you mean `axis`? => y = concat([x, x], axis = 0);"},
      {RatifiedBody("y = conv(x, x, Padding = [(1, 1)]);"),
       "`conv` has no parameter `Padding`; did you mean `padding`? => y = conv(x, x, padding = [(1, 1)]);"},
      {RatifiedBody("y = avg_pool(x, kernel_size = [1, 1, 2]);"),
       "`avg_pool` has no parameter `kernel_size`; did you mean `size`? it has an extent for each dimension, "
       "batch and channels too: `size = [1,1,3,3]` => y = avg_pool(x, size = [1, 1, 2]);"},
  });
}

// A type that the operation has already, even a wrong one, is not given a second time.
TEST(Repairs, OfATypeGivenTwice) {
  const Checked checked(
      RatifiedBody("z = constant<float>(shape = [1], value = [s], dtype = 'int32'); y = x;"));
  const std::vector<Diagnostic>& diagnostics = checked.context().emitter.diagnostics();
  ASSERT_EQ(diagnostics.size(), 2u);
  for (const Diagnostic& diagnostic : diagnostics)
    EXPECT_EQ(diagnostic.fixes.empty(), diagnostic.rule->label == "binding.unknown-argument");
}

// ONNX's list of paddings is written as pairs up to a length.
TEST(Repairs, OfLongListsOfPaddings) {
  for (const size_t count : {2, 62, 63, 64, 65, 66}) {
    const std::string list = fmt::format("[{}]", fmt::join(std::vector<int>(count, 1), ", "));
    const std::string pairs =
        fmt::format("[{}]", fmt::join(std::vector<std::string>(count / 2, "(1,1)"), ", "));
    const bool is_repaired = count % 2 == 0 && count <= 64;
    EXPECT_TRUE(Repair(RatifiedBody(fmt::format("y = conv(x, x, pads = {});", list)))
                    .ends_with(fmt::format("=> y = conv(x, x, padding = {});", is_repaired ? pairs : list)))
        << count;
  }
}

// Integers in a default of up to 64 items become scalars.
TEST(Repairs, OfLongDefaults) {
  for (const size_t count : {1, 63, 64, 65}) {
    const auto line = [&](std::string_view item) {
      return fmt::format(
          "fragment f( x: tensor<scalar>, a: scalar[] = [{}] ) -> ( y: tensor<scalar> ) {{ y = x; }}",
          fmt::join(std::vector<std::string_view>(count, item), ", "));
    };
    const std::string message = "the default of `a` is of type `integer[]`; expected `scalar[]`";
    EXPECT_EQ(Repair(Ratified(line("1"))), count <= 64 ? message + " => " + line("1.0") : message) << count;
  }
}

// A name that frameworks define differently is no misspelt one, even with the parameters of one of them.
TEST(Repairs, OfNamesWithSeveralMeanings) {
  for (const char* name : {"lrn", "LocalResponseNorm"}) {
    EXPECT_EQ(
        Repair(
            RatifiedBody(fmt::format("y = {}(x, size = [1,5], alpha = 1.0, beta = 0.5, bias = 1.0);", name))),
        fmt::format("undeclared operation `{}`; write `local_response_normalization(x, size = [1,5,1,1], "
                    "alpha = 0.0001, beta = 0.75, bias = 1.0)` (PyTorch, ONNX, Caffe, OpenVINO) or "
                    "`local_response_normalization(x, size = [1,11,1,1], alpha = 11.0, beta = 0.5, bias "
                    "= 1.0)` (TensorFlow); `alpha` multiplies the mean, not the sum",
                    name));
  }
  EXPECT_EQ(Repair(RatifiedBody("y = crossmaplrn(x, size = [1,5], alpha = 1.0, beta = 0.5, bias = 1.0);")),
            "undeclared operation `crossmaplrn`; did you mean `local_response_normalization`? => y = "
            "local_response_normalization(x, size = [1,5], alpha = 1.0, beta = 0.5, bias = 1.0);");
}

// Names are compared up to a total of two million, which bounds the time of documents with many mistakes.
TEST(Repairs, OfNamesAmongManyOthers) {
  std::string body = "neighbour = x;\n";
  for (int i = 0; i < 21000; ++i) body += fmt::format("n{} = x;\n", i);
  // One letter too many, at each place.
  for (const char letter : std::string_view("acdfjklmpq")) {
    for (size_t at = 0; at < 10; ++at)
      body += fmt::format("{0}{1} = {2};\n", letter, at, std::string("neighbour").insert(at, 1, letter));
  }
  const Checked checked(RatifiedBody(body + "y = x;"));
  const std::vector<Diagnostic>& diagnostics = checked.context().emitter.diagnostics();
  ASSERT_EQ(diagnostics.size(), 100u);
  EXPECT_TRUE(diagnostics.front().message.ends_with("did you mean `neighbour`?"))
      << diagnostics.front().message;
  EXPECT_FALSE(diagnostics.back().message.ends_with("did you mean `neighbour`?"))
      << diagnostics.back().message;
}

// An array becomes a tuple only if each item fits; tuples of other lengths have no repair.
// A result that is not assigned is compared with other names only within that bound, too.
TEST(Repairs, OfResultsAmongManyNames) {
  for (const int num_mistakes : {1, 95}) {
    std::string body = "neighbour = x;\noutcomes = x;\n";
    for (int i = 0; i < 23'000; ++i) body += fmt::format("n{} = x;\n", i);
    for (int i = 0; i < num_mistakes; ++i) body += fmt::format("m{0} = neighbor{0};\n", i);
    const Checked checked(
        Ratified("fragment f( x: tensor<scalar> ) -> ( outcome: tensor<scalar> ) {\n" + body + "}"));
    const std::vector<Diagnostic>& diagnostics = checked.context().emitter.diagnostics();
    const auto found = std::find_if(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& each) {
      return each.message.find("`outcome`") != std::string::npos;
    });
    ASSERT_NE(found, diagnostics.end());
    EXPECT_EQ(found->message.find("`outcomes`") != std::string::npos || !found->notes.empty() ||
                  !found->fixes.empty(),
              num_mistakes == 1)
        << found->message;
  }
}

TEST(Repairs, OfTuples) {
  struct Row {
    std::string_view type, value, type_of_value, repaired, repaired_default;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"(integer,integer)", "[1, 2]", "integer[]", "(1, 2)", ""},
           {"(string,integer)", "[1, 2]", "integer[]", "", ""},
           {"(integer,string)", "[1, 2]", "integer[]", "", ""},
           {"(integer,integer)", "[1, 2, 3]", "integer[]", "", ""},
           {"(scalar,scalar)", "(1, 2)", "(integer,integer)", "(1.0, 2.0)", "(1.0, 2.0)"},
           {"(scalar,scalar)", "(1, 2, 3)", "(integer,integer,integer)", "", ""},
           {"(scalar,scalar,scalar)", "(1, 2)", "(integer,integer)", "", ""},
       }) {
    const auto line = [](std::string_view before, std::string_view repaired, std::string_view after) {
      return repaired.empty() ? "" : fmt::format(" => {}{}{}", before, repaired, after);
    };
    const std::string mismatch = fmt::format("is of type `{}`; expected `{}`", row.type_of_value, row.type);
    EXPECT_EQ(Repair(Ratified(fmt::format(
                  "fragment f( x: tensor<scalar>, p: {} ) -> ( y: tensor<scalar> );\n"
                  "graph g( x ) -> ( y ) {{ x = external(shape = [1,2]);\ny = f(x, p = {});\n}}\n",
                  row.type, row.value))),
              fmt::format("argument `p` of `f` {}{}", mismatch, line("y = f(x, p = ", row.repaired, ");")));
    EXPECT_EQ(
        Repair(Ratified(fmt::format("fragment f( x: tensor<scalar>,\np: {} = {}\n) -> ( y: tensor<scalar> );",
                                    row.type, row.value))),
        fmt::format("the default of `p` {}{}", mismatch,
                    line(fmt::format("p: {} = ", row.type), row.repaired_default, "")));
  }
}

TEST(Repairs, OfListsWithoutBrackets) {
  ExpectRepairs({
      {RatifiedBody("y = add_n(x, x);"), "`x` of `add_n` is an array; write `[x, x]` => y = add_n([x, x]);"},
      {RatifiedBody("y = concat(x, x, axis = 0);"),
       "`values` of `concat` is an array; write `[x, x]` => y = concat([x, x], axis = 0);"},
      {RatifiedBody("y = concat(x, x, x, axis = 0);"),
       "`values` of `concat` is an array; write `[x, x, x]` => y = concat([x, x, x], axis = 0);"},
      {RatifiedBody("y = add_n(x);"),
       "argument `x` of `add_n` is of type `tensor<scalar>`; expected `tensor<scalar>[]` => y = add_n([x]);"},
      {RatifiedBody("y = add_n(x = x, x);"), "an argument without a name follows a named one"},
      {RatifiedBody("y = concat(x, [x], axis = 0);"),
       "attribute `axis` is given by its position; only tensors can be"},
      {RatifiedBody("y = reshape(x, shape = 1, 2, 3);"),
       "`shape` of `reshape` is an array; write `shape = [1, 2, 3]` => y = reshape(x, shape = [1, 2, 3]);"},
      {RatifiedBody("y = reshape(x, shape = 1, 2, axis_start = 1);"),
       "`shape` of `reshape` is an array; write `shape = [1, 2]` => y = reshape(x, shape = [1, 2], "
       "axis_start = 1);"},
      {RatifiedBody("y = reshape(x, shape = 1, 2.0);"), "an argument without a name follows a named one"},
      {RatifiedBody("y = reshape(x, axis_start = 1, 2, shape = [1]);"),
       "an argument without a name follows a named one"},
      {RatifiedBody("y = reshape(x, shape = 1, n);"), "an argument without a name follows a named one"},
      {RatifiedBody(
           "y = reshape(x, shape = 1000000, 1000000, 1000000, 1000000, 1000000, 1000000, 1000000, 12);"),
       "`shape` of `reshape` is an array; write `shape = [..]` => "
       "y = reshape(x, shape = [1000000, 1000000, 1000000, 1000000, 1000000, 1000000, 1000000, 12]);"},
  });
}

TEST(Repairs, OfPads) {
  const auto message = [](std::string_view pairs) {
    return "`conv` has no parameter `pads`; did you mean `padding`?" +
           (pairs.empty() ? std::string()
                          : fmt::format(" ONNX lists begins, then ends: `padding = {}`", pairs));
  };
  ExpectRepairs({
      {RatifiedBody("y = conv(x, x, pads = [1, 2, 3, 4]);"),
       message("[(1,3), (2,4)]") + " => y = conv(x, x, padding = [(1,3), (2,4)]);"},
      {RatifiedBody("y = conv(x, x, pads = [1, 2]);"),
       message("[(1,2)]") + " => y = conv(x, x, padding = [(1,2)]);"},
      {RatifiedBody("y = conv(x, x, pads = []);"), message("[]") + " => y = conv(x, x, padding = []);"},
      {RatifiedBody("y = conv(x, x, pads = [1, 2, 3]);"),
       message("") + " => y = conv(x, x, padding = [1, 2, 3]);"},
      {RatifiedBody("y = conv(x, x, pads = [1, n]);"), message("") + " => y = conv(x, x, padding = [1, n]);"},
      {RatifiedBody("y = conv(x, x, pads = 1);"), message("") + " => y = conv(x, x, padding = 1);"},
      {RatifiedBody("y = max_pool(x, size = ns, pads = [1, 2, 3, 4]);"),
       "`max_pool` has no parameter `pads`; did you mean `padding`? ONNX lists begins, then ends: `padding = "
       "[(0,0), (0,0), (1,3), (2,4)]` => y = max_pool(x, size = ns, padding = [(0,0), (0,0), (1,3), "
       "(2,4)]);"},
  });
}

// A type in which the checker reports no pair, since the items are triples.
TEST(Repairs, SpeakOfPairsOnlyForPairs) {
  const auto call = [](std::string_view type) {
    return Ratified(
        fmt::format("fragment h( x: tensor<scalar>, p: {}[] ) -> ( y: tensor<scalar> );\n"
                    "fragment k( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {{\ny = h(x, p = 1.0);\n}}",
                    type));
  };
  ExpectRepairs({
      {call("(integer,integer)"),
       "argument `p` of `h` is of type `scalar`; expected `(integer,integer)[]`; each item is a pair, such "
       "as "
       "`(1,1)` before and behind"},
      {call("(integer,integer,integer)"),
       "argument `p` of `h` is of type `scalar`; expected `(integer,integer,integer)[]`"},
  });
}

TEST(Repairs, OfExtensions) {
  const std::string known =
      " `KHR_enable_fragment_definitions`, `KHR_enable_operator_expressions`, `NNEFC_control_flow`, "
      "`NNEFC_opset`, `tract_registry tract_core`, `tract_registry tract_transformers`, `tract_registry "
      "tract_onnx`, "
      "`tract_registry tract_pulse`, `tract_registry tract_resource`, `tract_registry tract_extra`, "
      "`tract_symbol`, `tract_pulse_streaming_symbol`, `tract_assert`";
  const auto document = [](std::string_view name) {
    return fmt::format(
        "version 1.0;\nextension {};\ngraph g( x ) -> ( y ) {{ x = external(shape = [1]); y = copy(x); }}",
        name);
  };
  ExpectRepairs({
      {document("KHR_enable_fragment_definition"),
       "unknown extension `KHR_enable_fragment_definition`; did you mean `KHR_enable_fragment_definitions`? "
       "=> "
       "extension KHR_enable_fragment_definitions;"},
      // Two letters are missing.
      {document("KHR_enabl_fragment_definition"),
       "unknown extension `KHR_enabl_fragment_definition`; did you mean `KHR_enable_fragment_definitions`?"},
      {document("_mine"), "unknown extension `_mine`; known are" + known},
      {document("mine"), "unknown extension `mine`; known are" + known},
      {document("KHR_mine"), "unknown extension `KHR_mine`; known are" + known},
      {document("EXT_mine"), "unknown extension `EXT_mine`; known are" + known},
      {document("VND_mine"), "unknown extension `VND_mine` of the vendor `VND`; known are" + known},

  });
}

TEST(Repairs, OfQuotedNames) {
  const auto graph = [](std::string_view body) {
    return fmt::format("version 1.0;\ngraph g( x ) -> ( y ) {{\nx = external(shape = [1]); {}\n}}\n", body);
  };
  const std::string message = "` stands in quotes; names are of letters, digits and `_`";
  ExpectRepairs({
      {graph("i\"a b\" = relu(x); y = relu(i\"a b\");"),
       "the name `i\"a b\"" + message + " => x = external(shape = [1]); a_b = relu(x); y = relu(a_b);"},
      {graph("i'2' = relu(x); y = relu(i'2');"),
       "the name `i'2'" + message + " => x = external(shape = [1]); _2 = relu(x); y = relu(_2);"},
      // The quotes around a valid name are needless.
      {graph("a = relu(i\"x\"); y = relu(a);"),
       "the name `i\"x\"" + message + " => x = external(shape = [1]); a = relu(x); y = relu(a);"},
      // A keyword, and a name that the document has, are no names for it.
      {graph("i\"if\" = relu(x); y = relu(i\"if\");"), "the name `i\"if\"" + message},
      {graph("i\"length of\" = relu(x); y = relu(i\"length of\");"), "the name `i\"length of\"" + message},
      {graph("i\"a b\" = relu(x); a_b = relu(i\"a b\"); y = relu(a_b);"), "the name `i\"a b\"" + message},
  });
}

}  // namespace
}  // namespace nnefc::semantics
