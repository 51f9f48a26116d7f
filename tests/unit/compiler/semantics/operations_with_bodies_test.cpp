// Operations that run fragments of the document as bodies: `if_else`, `tensor_iterator` and `while_loop`.

#include "checking.h"
#include "fmt/core.h"
#include "gtest/gtest.h"

namespace nnefc::semantics {
namespace {

// Returns "LABEL TEXT" for each diagnostic of a graph with these statements, separated by "; ". Bodies are
// named by their parameters and results: `s` for a scalar tensor, `i` for one of integers.
std::string Found(std::string_view statements) {
  std::string text =
      "version 1.0; extension KHR_enable_fragment_definitions KHR_enable_operator_expressions "
      "NNEFC_control_flow;\n";
  const auto list = [](std::string_view types, char prefix) {
    std::string names;
    for (size_t i = 0; i < types.size(); ++i)
      names += fmt::format("{}{}{}: tensor<{}>", names.empty() ? "" : ", ", prefix, i,
                           types[i] == 's'   ? "scalar"
                           : types[i] == 'l' ? "logical"
                                             : "integer");
    return names;
  };
  for (const auto& [parameters, results] :
       {std::pair("s", "s"), std::pair("s", "i"), std::pair("i", "s"), std::pair("ss", "s"),
        std::pair("ss", "ss"), std::pair("ss", "si"), std::pair("si", "si"), std::pair("is", "si"),
        std::pair("is", "s"), std::pair("si", "s"), std::pair("iss", "ss"), std::pair("iss", "si"),
        std::pair("iss", "sss"), std::pair("s", "ss"), std::pair("s", "sss"), std::pair("ls", "ls"),
        std::pair("s", "ls")}) {
    text += fmt::format("fragment {0}_{1}( {2} ) -> ( {3} ) {{", parameters, results, list(parameters, 'p'),
                        list(results, 'r'));
    for (size_t i = 0; i < std::string_view(results).size(); ++i)
      text += fmt::format(" r{} = {};", i, results[i] == 's' ? "1.0" : results[i] == 'l' ? "true" : "1");
    text += " }\n";
  }
  text +=
      "fragment primitive( x: tensor<scalar> ) -> ( y: tensor<scalar> );\n"
      "fragment generic<?>( x: tensor<?> ) -> ( y: tensor<?> ) { y = copy(x); }\n"
      "fragment attribute( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> ) { y = copy(x); }\n"
      "fragment of_list( x: tensor<scalar>[] ) -> ( y: tensor<scalar> ) { y = x[0]; }\n"
      "fragment makes_list( x: tensor<scalar> ) -> ( y: tensor<scalar>[] ) { y = [x]; }\n"
      "graph g( c, x, k ) -> ( y ) {\nc = external<logical>(shape = [1]); x = external(shape = [1,2]); "
      "k = external<integer>(shape = [1]);\n";
  text += fmt::format("{}\n}}\n", statements);
  const Checked checked(text);
  std::string found;
  for (const Diagnostic& each : checked.context().emitter.diagnostics()) {
    found += fmt::format("{}{} {}", found.empty() ? "" : "; ", each.rule->label,
                         text.substr(each.range.begin, each.range.end - each.range.begin));
  }
  return found;
}

std::string Branches(std::string_view left, std::string_view inputs, std::string_view taken,
                     std::string_view other) {
  return Found(fmt::format("{} = if_else(c, {}, then_body = {}, else_body = {}); {}", left, inputs, taken,
                           other, left.find('y') == std::string_view::npos ? "y = copy(x);" : ""));
}

TEST(Branches, ParametersAreTheInputs) {
  EXPECT_EQ(Branches("[y]", "[x]", "'s_s'", "'s_s'"), "");
  EXPECT_EQ(Branches("[y]", "[x, x]", "'ss_s'", "'ss_s'"), "");
  EXPECT_EQ(Branches("[y]", "([x, x])", "('ss_s')", "'ss_s'"), "");
  EXPECT_EQ(Branches("[y]", "[x, k]", "'si_s'", "'si_s'"), "");
  EXPECT_EQ(Branches("[y]", "[1.0, k]", "'si_s'", "'si_s'"), "");
  EXPECT_EQ(Branches("[y]", "[x]", "'s_s'", "'ss_s'"), "body.parameters 'ss_s'");
  EXPECT_EQ(Branches("[y]", "[x]", "'ss_s'", "'s_s'"), "body.parameters 'ss_s'");
  EXPECT_EQ(Branches("[y]", "[x, x]", "'s_s'", "'s_s'"), "body.parameters 's_s'; body.parameters 's_s'");
  EXPECT_EQ(Branches("[y]", "[k]", "'i_s'", "'s_s'"), "body.parameter-type 's_s'");
  EXPECT_EQ(Branches("[y]", "[k]", "'s_s'", "'i_s'"), "body.parameter-type 's_s'");
  EXPECT_EQ(Branches("[y]", "[k, x]", "'si_s'", "'is_s'"), "body.parameter-type 'si_s'");
  EXPECT_EQ(Branches("[y]", "[x, x]", "'si_s'", "'ss_s'"), "body.parameter-type 'si_s'");
  EXPECT_EQ(Branches("[y]", "[k, k]", "'si_s'", "'si_s'"),
            "body.parameter-type 'si_s'; body.parameter-type 'si_s'");
}

TEST(Branches, ResultsAreOfTheSameTypes) {
  EXPECT_EQ(Branches("[y, z]", "[x]", "'s_ss'", "'s_ss'"), "");
  EXPECT_EQ(Branches("[y, z]", "[x, k]", "'si_si'", "'si_si'"), "");
  EXPECT_EQ(Branches("[y]", "[x]", "'s_s'", "'s_ss'"), "body.results 's_ss'");
  EXPECT_EQ(Branches("[y, z]", "[x]", "'s_ss'", "'s_s'"), "body.results 's_s'");
  EXPECT_EQ(Branches("[y]", "[x]", "'s_s'", "'s_i'"), "body.result-type 's_i'");
  EXPECT_EQ(Branches("[y]", "[x]", "'s_i'", "'s_s'"), "body.result-type 's_s'");
  EXPECT_EQ(Branches("[y, z]", "[x, x]", "'ss_ss'", "'ss_si'"), "body.result-type 'ss_si'");
  EXPECT_EQ(Branches("[y, z]", "[x]", "'s_ss'", "'s_ls'"), "body.result-type 's_ls'");
}

TEST(Branches, BodiesAreFragmentsOfTensors) {
  for (const char* name : {"primitive", "generic", "attribute", "of_list", "makes_list"}) {
    const std::string inputs = std::string_view(name) == "attribute" ? "[x, x]" : "[x]";
    EXPECT_EQ(Branches("[y]", inputs, fmt::format("'{}'", name), inputs == "[x]" ? "'s_s'" : "'ss_s'"),
              fmt::format("body.declaration '{}'", name));
    EXPECT_EQ(Branches("[y]", inputs, inputs == "[x]" ? "'s_s'" : "'ss_s'", fmt::format("'{}'", name)),
              fmt::format("body.declaration '{}'", name));
  }
  EXPECT_EQ(Branches("[y]", "[x]", "'nothing'", "'s_s'"), "body.fragment 'nothing'");
  EXPECT_EQ(Branches("[y]", "[x]", "'s_s'", "'nothing'"), "body.fragment 'nothing'");
  EXPECT_EQ(Branches("[y]", "[x]", "'relu'", "'if_else'"), "body.fragment 'relu'; body.fragment 'if_else'");
  EXPECT_EQ(Branches("[y]", "[x]", "'s_' + 's'", "'s_s'"), "body.literal 's_' + 's'");
  EXPECT_EQ(Branches("[y]", "[x]", "'s_s' if true else 's_s'", "'s_s'"),
            "body.literal 's_s' if true else 's_s'");
}

// Outputs of one data type are an array, others are listed; neither is a tuple, nor a tensor.
TEST(Branches, OutputsAreUnpacked) {
  const auto structure = [](std::string_view left) { return fmt::format("assignment.structure {}", left); };
  EXPECT_EQ(Branches("y", "[x]", "'s_s'", "'s_s'"), "graph.identifier-not-tensor y");
  EXPECT_EQ(Branches("y", "[x, k]", "'si_si'", "'si_si'"), "graph.identifier-not-tensor y");
  EXPECT_EQ(Branches("(y, z)", "[x]", "'s_ss'", "'s_ss'"), structure("(y, z)"));
  EXPECT_EQ(Branches("(y, z)", "[x, k]", "'si_si'", "'si_si'"), structure("(y, z)"));
  EXPECT_EQ(Branches("y, z", "[x, k]", "'si_si'", "'si_si'"), structure("y, z"));
  EXPECT_EQ(Branches("[y]", "[x, k]", "'si_si'", "'si_si'"), structure("[y]"));
  EXPECT_EQ(Branches("[y, z, w]", "[x, k]", "'si_si'", "'si_si'"), structure("[y, z, w]"));
  const std::string call = "if_else(c, [x, k], then_body = 'si_si', else_body = 'si_si')";
  EXPECT_EQ(Found(fmt::format("[y, z] = ({});", call)), "");
  EXPECT_EQ(Found(fmt::format("[y, z] = {0} if true else {0};", call)), "");
  EXPECT_EQ(Found(fmt::format("[y, z] = ({0} if true else ({0}));", call)), "");
  EXPECT_EQ(Found(fmt::format("[y, z] = {0} if true else (x, k);", call)), structure("[y, z]"));
  EXPECT_EQ(Found(fmt::format("[y, z] = (x, k) if true else {0};", call)), structure("[y, z]"));
  EXPECT_EQ(Found("[y, z] = (x, k);"), structure("[y, z]"));
  // The types of the outputs are those of the results, in order.
  EXPECT_EQ(Found(fmt::format("[a, b] = {}; y = relu(a); z = relu(b);", call)), "type.mismatch b");
  EXPECT_EQ(
      Found(fmt::format("[y, b] = {}; [z] = if_else(c, [b], then_body = 'i_s', else_body = 'i_s');", call)),
      "");
  // They are no argument.
  EXPECT_EQ(Found("y = relu(if_else(c, [x], then_body = 's_s', else_body = 's_s'));"),
            "binding.chained-results if_else");
  EXPECT_EQ(Found("[y] = if_else<scalar>(c, [x], then_body = 's_s', else_body = 's_s');"),
            "generic.not-generic scalar");
}

// Lists of tensors may mix data types, but not with other values.
TEST(Branches, ListsOfTensors) {
  const auto found = [](std::string_view inputs) {
    const std::string all = Branches("[y]", inputs, "'ss_s'", "'ss_s'");
    return all.substr(0, all.find("; body."));
  };
  EXPECT_EQ(found("[x, 1.0]"), "");
  EXPECT_EQ(found("[1.0, x]"), "");
  EXPECT_EQ(found("[1, 1.0]"), "type.array-items 1.0");
  EXPECT_EQ(found("[1.0, 1, x]"), "type.array-items 1");
  EXPECT_EQ(found("[x, [x]]"), "type.array-items [x]");
  EXPECT_EQ(found("[[x], x]"), "type.array-items x");
  EXPECT_EQ(found("[x, k, [x]]"), "type.array-items [x]");
  EXPECT_EQ(found("[x, nope]"), "identifier.undefined nope");
  EXPECT_EQ(found("[x, nope, [x]]"), "identifier.undefined nope");
  EXPECT_EQ(found("[x, k, x]"), "body.parameters 'ss_s'");
  EXPECT_EQ(found("x"), "type.mismatch x");
  // No other operation accepts them.
  EXPECT_EQ(Found("y = add_n([x, k]);"), "type.array-items k");
}

std::string Loop(std::string_view lists, std::string_view body, std::string_view left = "[y]") {
  std::string found;
  for (const char* operation : {"tensor_iterator", "while_loop"}) {
    const bool is_while = std::string_view(operation) == "while_loop";
    const std::string one =
        Found(fmt::format("{} = {}({}, body = '{}', slice_axes = []{}); {}", left, operation, lists, body, "",
                          left == "[y]" ? "" : "y = copy(x);"));
    if (is_while) {
      EXPECT_EQ(one, found) << "while_loop";
    } else {
      found = one;
    }
  }
  return found;
}

// The parameters of a loop's body are parts of sliced, merged and invariant tensors, in this order.
TEST(Loops, ParametersAreTheLists) {
  const auto loop = [](std::string_view sliced, std::string_view merged, std::string_view invariant,
                       std::string_view body) {
    return Loop(fmt::format("sliced = {}, merged = {}, invariant = {}", sliced, merged, invariant), body);
  };
  EXPECT_EQ(loop("[k]", "[x]", "[]", "is_s"), "");
  EXPECT_EQ(loop("[k]", "[]", "[x]", "is_s"), "");
  EXPECT_EQ(loop("[]", "[x]", "[k]", "si_s"), "");
  EXPECT_EQ(loop("[k, x]", "[]", "[]", "is_s"), "");
  EXPECT_EQ(loop("[k]", "[x]", "[]", "si_s"), "body.parameter-type 'si_s'");
  EXPECT_EQ(loop("[k]", "[x]", "[x]", "is_s"), "body.parameters 'is_s'");
  EXPECT_EQ(loop("[k]", "[]", "[]", "is_s"), "body.parameters 'is_s'");
  EXPECT_EQ(loop("[]", "[]", "[]", "s_s"), "body.parameters 's_s'");
}

// The first results are the next values of merged tensors: as many, of their types.
TEST(Loops, ResultsAreTheNextValues) {
  const auto loop = [](std::string_view sliced, std::string_view merged, std::string_view invariant,
                       std::string_view body, std::string_view left = "[y]") {
    return Loop(fmt::format("sliced = {}, merged = {}, invariant = {}", sliced, merged, invariant), body,
                left);
  };
  EXPECT_EQ(loop("[]", "[x]", "[]", "s_s"), "");
  EXPECT_EQ(loop("[]", "[x]", "[]", "s_i"), "body.result-type 's_i'");
  EXPECT_EQ(loop("[x]", "[]", "[]", "s_i"), "");
  EXPECT_EQ(loop("[]", "[]", "[x]", "s_i"), "");
  EXPECT_EQ(loop("[]", "[x, x]", "[]", "ss_s"), "body.results 'ss_s'");
  EXPECT_EQ(loop("[x]", "[x]", "[]", "ss_s"), "");
  EXPECT_EQ(loop("[]", "[x, x]", "[]", "ss_ss"), "");
  EXPECT_EQ(loop("[]", "[x, x]", "[]", "ss_si"), "body.result-type 'ss_si'");
  EXPECT_EQ(loop("[x]", "[x]", "[]", "ss_si", "[a, b]"), "");
  EXPECT_EQ(loop("[]", "[x]", "[x]", "ss_si", "[a, b]"), "");
  EXPECT_EQ(loop("[k]", "[x, x]", "[]", "iss_ss"), "");
  EXPECT_EQ(loop("[k]", "[x, x]", "[]", "iss_si"), "body.result-type 'iss_si'");
  EXPECT_EQ(loop("[k]", "[x]", "[x]", "iss_si", "[a, b]"), "");
  EXPECT_EQ(loop("[]", "[k, x]", "[x]", "iss_si"), "body.result-type 'iss_si'");
  EXPECT_EQ(loop("[k]", "[x]", "[]", "is_si", "[a, b]"), "");
  EXPECT_EQ(loop("[]", "[k]", "[x]", "is_si"), "body.result-type 'is_si'");
  EXPECT_EQ(loop("[]", "[c, x]", "[]", "ls_ls", "[a, b]"), "");
}

// Lists whose lengths only expansion knows are not counted; the types of the outputs are known.
TEST(Loops, ListsOfUnknownLength) {
  const std::string loop =
      "[a, b] = tensor_iterator(sliced = {}, merged = {}, invariant = [], body = 'ss_si', slice_axes = "
      "[0]); ";
  for (const auto& [sliced, merged] : {std::pair("[x]", "[for i in [0] yield x]"),
                                       std::pair("[for i in [0] yield x]", "[x]"), std::pair("[x]", "[x]")}) {
    const std::string text = fmt::format(fmt::runtime(loop), sliced, merged);
    EXPECT_EQ(Found(text + "y = relu(a);"), "") << text;
    EXPECT_EQ(Found(text + "y = relu(a); z = relu(b);"), "type.mismatch b") << text;
  }
}

// The message about another number of parameters counts the tensors of each list.
TEST(Loops, CountsInTheMessage) {
  const auto message = [](std::string_view statement) {
    const Checked checked(
        fmt::format("version 1.0; extension KHR_enable_fragment_definitions NNEFC_control_flow;\n"
                    "fragment b( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {{ y = copy(x); }}\n"
                    "graph g( c, x ) -> ( y ) {{ c = external<logical>(shape = [1]); x = external(shape = "
                    "[1,2]);\n{}\n}}\n",
                    statement));
    return checked.context().emitter.diagnostics().at(0).message;
  };
  EXPECT_EQ(message("[y] = if_else(c, [x, x], then_body = 'b', else_body = 'b');"),
            "the body `b` has 1 parameter, but `if_else` gives it 2 tensors");
  EXPECT_EQ(message("[y] = tensor_iterator([x, x, x], [x], [x, x], body = 'b', slice_axes = []);"),
            "the body `b` has 1 parameter, but `tensor_iterator` gives it 6 tensors (3 sliced, 1 merged, 2 "
            "invariant)");
}

}  // namespace
}  // namespace nnefc::semantics
