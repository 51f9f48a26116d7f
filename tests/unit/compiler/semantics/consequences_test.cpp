// What an error does not cause: further errors in what follows from it, and what it still allows to check.

#include "checking.h"
#include "compiler/support/diagnostics/apply_fixes.h"
#include "fmt/core.h"
#include "gtest/gtest.h"

namespace nnefc::semantics {
namespace {

// Returns the messages, each followed by " => " and the line of its first fix after all its fixes.
std::vector<std::string> Messages(const std::string& text) {
  const Checked checked(text);
  std::vector<std::string> messages;
  for (const Diagnostic& each : checked.context().emitter.diagnostics()) {
    messages.push_back(each.message);
    if (each.fixes.empty()) continue;
    const std::string fixed = ApplyFixes(text, each.range.file, {each}).text;
    const size_t begin = text.rfind('\n', each.fixes.front().range.begin - 1) + 1;
    messages.back() += " => " + fixed.substr(begin, fixed.find('\n', begin) - begin);
  }
  return messages;
}

using Texts = std::vector<std::string>;

TEST(Consequences, OfStructures) {
  ExpectDiagnostics({
      // The types of the parts are unknown where their number is wrong.
      {RatifiedBody("(a, c) = (n, t, b); z = a + 'x'; w = c + 1; y = x;"), "assignment.structure 3:1"},
      {RatifiedBody("(a, c, d) = (n, t); z = a + 'x'; w = c + 1; v = !d; y = x;"),
       "assignment.structure 3:1"},
      {RatifiedBody("[a, c] = (n, t); z = a + 'x'; w = c + 1; y = x;"), "assignment.structure 3:1"},
      {RatifiedBody("(a, c) = ns; z = a + 'x'; w = c + 1.0; y = x;"), "assignment.structure 3:1"},
      {RatifiedBody("(a, c) = n; z = a + 'x'; w = c + 1.0; y = x;"), "assignment.structure 3:1"},
      {RatifiedBody("(a, c) = (n, t); z = a + 'x'; y = x;"), "type.operator 3:24"},
      {RatifiedBody("z = 1 if [][0] else 2; y = x;"), ""},
      {RatifiedBody("z = 1 if nope else 2; y = x;"), "identifier.undefined 3:10"},
      {RatifiedBody("z = 1 if n else 'a'; y = x;"), "type.condition 3:10\ntype.branches 3:17"},
  });
}

TEST(Consequences, OfDeclarations) {
  const std::string wrong =
      "fragment f( n: integer, x: tensor<scalar>, m: integer, z: tensor<scalar> ) -> ( y: "
      "tensor<scalar> );\n";
  // Invocations are checked against the intended order.
  ExpectDiagnostics({
      {Ratified(wrong +
                "fragment h( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {\ny = f(x, x, n = 1, m = 2);\n}"),
       "declaration.parameter-order 2:25\ndeclaration.parameter-order 2:56"},
      {Ratified(wrong +
                "fragment h( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {\ny = f(1, x, m = 2, z = x);\n}"),
       "declaration.parameter-order 2:25\ndeclaration.parameter-order 2:56\ntype.mismatch 4:7\n"
       "binding.positional-and-named 4:20"},
      // A fragment whose types are too large may be generic.
      {Ratified("fragment f<?>( x: (tensor<?>" +
                [] {
                  std::string text;
                  for (int i = 0; i < 4096; ++i) text += ",tensor<?>";
                  return text;
                }() +
                ") ) -> ( y: tensor<scalar> );"),
       "type.too-large 2:19"},
  });
  const Texts repaired = Messages(Ratified(wrong));
  ASSERT_EQ(repaired.size(), 2u);
  EXPECT_EQ(repaired[0],
            "tensor parameter `x` must precede the attributes => fragment f( x: tensor<scalar>, z: "
            "tensor<scalar>, n: "
            "integer, m: integer ) -> ( y: tensor<scalar> );");
  EXPECT_EQ(repaired[1], "tensor parameter `z` must precede the attributes");
}

// Two parameters, two results, or one of each.
TEST(Consequences, MessagesAboutNamesOfDeclarations) {
  const auto message = [](std::string_view parameters, std::string_view results) {
    return Messages(Ratified(fmt::format("fragment f( {} ) -> ( {} );", parameters, results)));
  };
  const std::string x = "x: tensor<scalar>", y = "y: tensor<scalar>";
  EXPECT_EQ(message(x + ", " + x, y), Texts({"parameter `x` has the name of another parameter"}));
  EXPECT_EQ(message(x, y + ", " + y), Texts({"result `y` has the name of another result"}));
  EXPECT_EQ(
      message(x, x),
      Texts({"`x` is a parameter; a result has a name of its own, which `copy(x)` may be assigned to"}));
}

TEST(Consequences, OfWordsWithoutQuotes) {
  EXPECT_EQ(
      Messages(RatifiedBody("z = conv(x, x, border = reflect);\nw = conv(x, x, border = reflect);\ny = x;")),
      Texts({"undefined name `reflect`; a string stands in quotes, `'reflect'` => z = conv(x, x, border = "
             "'reflect');",
             "undefined name `reflect`; a string stands in quotes, `'reflect'` => w = conv(x, x, border = "
             "'reflect');"}));
}

TEST(Consequences, OfMissingArguments) {
  const std::string f = "fragment f( x: tensor<scalar> = 1.0 ) -> ( y: tensor<scalar> );\n";
  EXPECT_EQ(Messages(Ratified(f + "fragment h( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {\ny = f();\n}")),
            Texts({"expected at least one argument of `f`"}));
}

// A fragment that does not assign a result cannot be expanded.
TEST(Consequences, OfResultsWithoutAssignment) {
  const Checked checked(Ratified(
      "fragment a( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { z = copy(x); }\n"
      "fragment b( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = copy(x); }\n"
      "fragment c( x: tensor<scalar> ) -> ( y: tensor<scalar>, z: tensor<scalar> ) { y = copy(x); }\n"));
  EXPECT_EQ(checked.Diagnostics(),
            "identifier.result-not-assigned 2:38\nidentifier.result-not-assigned 4:57");
  EXPECT_FALSE(checked.document().sound(ast::FragmentId(0)));
  EXPECT_TRUE(checked.document().sound(ast::FragmentId(1)));
  EXPECT_FALSE(checked.document().sound(ast::FragmentId(2)));
}

// Inputs without a statement: with a proposal unless the name stands in quotes.
TEST(Consequences, OfInputsWithoutAssignment) {
  EXPECT_EQ(
      Messages("version 1.0;\ngraph g( x, z ) -> ( y ) {\nx = external(shape = [1]); y = relu(x);\n}\n"),
      Texts({"parameter `z` of the graph is not the result of an `external` operation; write `z = "
             "external<scalar>(shape = [1,3,224,224]);` with its own shape"}));
  EXPECT_EQ(Messages("version 1.0\ngraph g( x, z ) -> ( y ) {\nx = external(shape = [1]) y = relu(x)\n}\n"),
            Texts({"parameter `z` of the graph is not the result of an `external` operation; write `z = "
                   "external(shape = [1,3,224,224])` with its own shape"}));
  const Checked quoted(
      "version 1.0;\ngraph g( x, i\"a b\" ) -> ( y ) {\nx = external(shape = [1]); y = relu(x);\n}\n",
      {.leniency = Leniency::kLenient});
  EXPECT_TRUE(quoted.context().emitter.diagnostics().front().message.ends_with(
      "of the graph is not the result of an `external` operation"));
}

// The name that was meant is the nearest one, if it is used nowhere else in the body.
TEST(Consequences, OfMisspeltResults) {
  const auto graph = [](std::string_view body) {
    return fmt::format(
        "version 1.0; extension KHR_enable_fragment_definitions;\n"
        "fragment f( outputt: tensor<scalar> ) -> ( y: tensor<scalar> ) {{ y = copy(outputt); }}\n"
        "graph g( x ) -> ( output ) {{\nx = external(shape = [1,2]); {}\n}}\n",
        body);
  };
  EXPECT_EQ(
      Messages(graph("other = relu(x); outputt = relu(x);")),
      Texts({"result `output` is not assigned; `outputt` is => x = external(shape = [1,2]); other = relu(x); "
             "output = relu(x);"}));
  EXPECT_EQ(Messages(graph("outputt = relu(x); other = relu(outputt);")),
            Texts({"result `output` is not assigned; `outputt` is"}));
}

TEST(Consequences, OfExternals) {
  EXPECT_EQ(
      Messages("version 1.0;\ngraph g( x, z ) -> ( y ) {\nx = external(shape = [1]); z = external(shape = "
               "[1]);\nw = external(shape = [1]); y = add(x, w);\n}\n"),
      Texts({"the result of `external` must be a parameter of the graph and nothing else; add `w` to the "
             "parameters => graph g( x, z, w ) -> ( y ) {"}));
}

// Each argument from which a type follows is noted, once for each type.
TEST(Consequences, NotesOfContradictions) {
  const auto notes = [](std::string_view call) {
    const Checked checked(RatifiedBody(fmt::format("z = {}; y = x;", call)));
    const Diagnostic& first = checked.context().emitter.diagnostics().front();
    std::string text = first.message.substr(first.message.find("type: "));
    for (const DiagnosticNote& note : first.notes) {
      if (note.message.find("because") == std::string::npos) continue;
      text += fmt::format("; {} {}",
                          checked.context()
                              .sources.Text(note.range.file)
                              .substr(note.range.begin, note.range.end - note.range.begin),
                          note.message);
    }
    return text;
  };
  EXPECT_EQ(notes("select(l, x, 0)"),
            "type: `scalar` and `integer`; x `scalar` because of this argument; 0 `integer` because of this "
            "argument");
  EXPECT_EQ(notes("select(l, l, x)"),
            "type: `logical` and `scalar`; l `logical` because of this argument; x `scalar` because of this "
            "argument");
  EXPECT_EQ(notes("select(condition = l, false_value = 0, true_value = x)"),
            "type: `scalar` and `integer`; x `scalar` because of this argument; 0 `integer` because of this "
            "argument");
}

// Functions of one form are one function: the first that is declared.
TEST(Consequences, OfOtherSpellings) {
  EXPECT_EQ(
      Messages(Ratified("fragment conv_2d( x: tensor<scalar> ) -> ( y: tensor<scalar> );\n"
                        "fragment conv2_d( x: tensor<scalar> ) -> ( y: tensor<scalar> );\n"
                        "fragment h( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {\ny = Conv2D(x);\n}")),
      Texts({"undeclared operation `Conv2D`; did you mean `conv_2d`? => y = conv_2d(x);"}));
}

// Operations of other frameworks that have other defaults are renamed if the arguments are named.
TEST(Consequences, OfForeignDefaults) {
  EXPECT_EQ(Messages(RatifiedBody("y = cat([x, x], axis = 0);")),
            Texts({"undeclared operation `cat`; did you mean `concat`? => y = concat([x, x], axis = 0);"}));
  EXPECT_EQ(Messages(RatifiedBody("y = cat([x, x]);")),
            Texts({"undeclared operation `cat`; write `concat([x, y], axis = ..)`"}));
  EXPECT_EQ(Messages(RatifiedBody("y = cat([x, x], dim = 0);")),
            Texts({"undeclared operation `cat`; write `concat([x, y], axis = ..)`"}));
  EXPECT_EQ(
      Messages(RatifiedBody("y = permute(x, axes = ns);")),
      Texts({"undeclared operation `permute`; did you mean `transpose`? => y = transpose(x, axes = ns);"}));
  // The provisional dialect has no `stack`.
  EXPECT_EQ(Messages(ProvisionalBody("y = pack(xs, axis = 0)")).front().find("did you mean `stack`"),
            std::string::npos);
}

// Fragments of the document are not described by other frameworks or the other dialect.
TEST(Consequences, ArgumentsOfOwnFragments) {
  const auto message = [](std::string_view name, std::string_view parameter, std::string_view argument) {
    return Messages(Ratified(fmt::format(
        "fragment {0}( x: tensor<scalar>, {1}: integer ) -> ( y: tensor<scalar> );\n"
        "fragment k( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {{\ny = {0}(x, {1} = 1, {2} = 1);\n}}",
        name, parameter, argument)));
  };
  EXPECT_EQ(message("own", "axes", "dim"), Texts({"`own` has no parameter `dim`"}));
  EXPECT_EQ(message("own", "axes", "inplace"), Texts({"`own` has no parameter `inplace`"}));
  EXPECT_EQ(message("planewise_conv", "axes", "border"),
            Texts({"`planewise_conv` has no parameter `border`"}));
  // A name is replaced if it is one slip away.
  const auto fixed = [](std::string_view argument) {
    return Messages(RatifiedBody(fmt::format("y = batch_normalization(x, x, x, {} = s);", argument)));
  };
  EXPECT_EQ(fixed("epsilom"),
            Texts({"`batch_normalization` has no parameter `epsilom`; did you mean `epsilon`?"}));
  EXPECT_EQ(fixed("epsiloon"),
            Texts({"`batch_normalization` has no parameter `epsiloon`; did you mean `epsilon`? => "
                   "y = batch_normalization(x, x, x, epsilon = s);"}));
}

// Names of bodies.
TEST(Consequences, OfMisspeltBodies) {
  const auto message = [](std::string_view name) {
    return Messages(fmt::format(
        "version 1.0; extension KHR_enable_fragment_definitions NNEFC_control_flow;\n"
        "fragment first_body( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {{ y = copy(x); }}\n"
        "graph g( c, x ) -> ( y ) {{ c = external<logical>(shape = [1]); x = external(shape = [1,2]);\n"
        "[y] = if_else(c, [x], then_body = 'first_body', else_body = '{}');\n}}\n",
        name));
  };
  EXPECT_EQ(message("first_bodi"),
            Texts({"the document has no fragment `first_bodi`; did you mean `first_body`?"}));
  EXPECT_EQ(
      message("first_boddy"),
      Texts(
          {"the document has no fragment `first_boddy`; did you mean `first_body`? => [y] = if_else(c, [x], "
           "then_body = 'first_body', else_body = 'first_body');"}));
  EXPECT_EQ(
      message("firstBody"),
      Texts({"the document has no fragment `firstBody`; did you mean `first_body`? => [y] = if_else(c, [x], "
             "then_body = 'first_body', else_body = 'first_body');"}));
  EXPECT_EQ(message("elsewhere"), Texts({"the document has no fragment `elsewhere`"}));
}

// Brackets of outputs of operations with bodies.
TEST(Consequences, OfTuplesOfOutputs) {
  const auto message = [](std::string_view left) {
    return Messages(fmt::format(
        "version 1.0; extension KHR_enable_fragment_definitions KHR_enable_operator_expressions "
        "NNEFC_control_flow;\n"
        "fragment b( x: tensor<scalar> ) -> ( y: tensor<scalar>, n: tensor<integer> ) {{ y = copy(x); n = 1; "
        "}}\n"
        "graph g( c, x ) -> ( y ) {{ c = external<logical>(shape = [1]); x = external(shape = [1,2]);\n"
        "{} = if_else(c, [x], then_body = 'b', else_body = 'b');\n}}\n",
        left));
  };
  const std::string fixed =
      "a tuple is on the left, but an array on the right => [y, n] = if_else(c, [x], then_body "
      "= 'b', else_body = 'b');";
  EXPECT_EQ(message("(y, n)"), Texts({fixed}));
  EXPECT_EQ(message("y, n"), Texts({fixed}));
}

}  // namespace
}  // namespace nnefc::semantics
