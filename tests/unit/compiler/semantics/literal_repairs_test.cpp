// The repair of an argument in the notation of another type, and the hint where there is none.

#include "checking.h"
#include "compiler/support/diagnostics/apply_fixes.h"
#include "fmt/core.h"
#include "gtest/gtest.h"

namespace nnefc::semantics {
namespace {

struct LiteralRepair {
  std::string value;  // the argument after the fixes, "?> " before unsafe ones; empty if there are none
  std::string hint;   // the message after the types, without "; "

  friend bool operator==(const LiteralRepair&, const LiteralRepair&) = default;
  friend std::ostream& operator<<(std::ostream& out, const LiteralRepair& repair) {
    return out << "{" << repair.value << "} {" << repair.hint << "}";
  }
};

// Returns the repair of an argument for a parameter of that type. `x`, `n` and `s` are a tensor, an integer
// and a scalar.
LiteralRepair RepairOf(const std::string& type, const std::string& argument) {
  const std::string text = Ratified(
      fmt::format("fragment h( x: tensor<scalar>, p: {} ) -> ( y: tensor<scalar> );\n"
                  "fragment k( x: tensor<scalar>, n: integer, s: scalar ) -> ( y: tensor<scalar> ) {{\n"
                  "y = h(x, p = {});\n}}",
                  type, argument));
  const Checked checked(text);
  const std::vector<Diagnostic>& diagnostics = checked.context().emitter.diagnostics();
  EXPECT_EQ(diagnostics.size(), 1u) << argument;
  if (diagnostics.size() != 1) return {};
  const Diagnostic& first = diagnostics.front();
  EXPECT_EQ(first.rule->label, "type.mismatch");
  const std::string expected = fmt::format("expected `{}`", type);
  LiteralRepair repair;
  const size_t end = first.message.find(expected) + expected.size();
  if (end < first.message.size()) repair.hint = first.message.substr(end + 2);
  if (first.fixes.empty()) return repair;
  const std::string fixed = ApplyFixes(text, first.range.file, {first}).text;
  const size_t begin = fixed.find("h(x, p = ") + 9;
  repair.value = first.applicability == Applicability::kSafe ? "" : "?> ";
  repair.value += fixed.substr(begin, fixed.find(");\n", begin) - begin);
  return repair;
}

struct RepairRow {
  std::string argument;
  std::string value;
  std::string hint = "";
};

void ExpectRepairsTo(const std::string& type, std::initializer_list<RepairRow> rows) {
  for (const RepairRow& row : rows)
    EXPECT_EQ(RepairOf(type, row.argument), (LiteralRepair{row.value, row.hint}))
        << type << " " << row.argument;
}

const char kArrayHint[] = "an array stands in `[` and `]`";
const char kPairHint[] = "each item is a pair, such as `(1,1)` before and behind";
const char kSameHint[] = "`padding = []` pads so";
const char kValidHint[] = "`padding = [(0,0), (0,0)]` pads nothing";

TEST(LiteralRepairs, ToNumbersAndLogicals) {
  ExpectRepairsTo("integer", {{"1.0", "1"},
                              {"0.0", "0"},
                              {"1.5", ""},
                              {"0.5", ""},
                              {"999999999999999.0", "999999999999999"},
                              {"1000000000000000.0", ""},  // large numbers are no counts
                              {"1e14", "100000000000000"},
                              {"1e15", ""},
                              {"s", ""},
                              {"true", ""},
                              {"'true'", ""},
                              {"'1'", ""}});
  ExpectRepairsTo("scalar", {{"1", "1.0"},
                             {"-1", "-1.0"},
                             {"n", "scalar(n)"},
                             {"n * n", "scalar(n * n)"},
                             {"(2)", "(2.0)"},
                             {"true", ""},
                             {"'1'", ""}});
  ExpectRepairsTo("logical", {{"0", "false"},
                              {"1", "true"},
                              {"2", ""},
                              {"-1", ""},
                              {"1.0", ""},
                              {"n", ""},
                              {"'true'", "true"},
                              {"'FALSE'", "false"},
                              {"'True'", "true"},
                              {"'yes'", ""},
                              {"'1'", ""}});
  ExpectRepairsTo("string", {{"1", ""}, {"true", ""}, {"1.0", ""}});
}

TEST(LiteralRepairs, ToArrays) {
  ExpectRepairsTo("integer[]", {{"1", "[1]"},
                                {"n", "[n]"},
                                {"1.0", ""},
                                {"s", ""},
                                {"n + 1", ""},
                                {"(1, 2)", "[1, 2]", kArrayHint},
                                {"(1, n)", "[1, n]", kArrayHint},
                                {"(1, 2.0)", "", kArrayHint},
                                {"(1.0, 2)", "", kArrayHint},
                                {"[1.0, 2.0]", "[1, 2]"},
                                {"[1.0, 2.5]", "[1, 2.5]"},
                                {"'same'", ""},
                                {"'valid'", ""}});
  ExpectRepairsTo("scalar[]", {{"1.0", "[1.0]"},
                               {"s", "[s]"},
                               {"1", ""},
                               {"n", ""},
                               {"(1.0, s)", "[1.0, s]", kArrayHint},
                               {"[1, 2]", "[1.0, 2.0]"},
                               {"[n, -2]", "[scalar(n), -2.0]"}});
  ExpectRepairsTo("logical[]", {{"[0, 1]", "[false, true]"}, {"[0, 2]", "[false, 2]"}, {"true", ""}});
  // Up to 64 items.
  const auto list = [](size_t size, std::string_view item) {
    std::string text;
    for (size_t i = 0; i < size; ++i) text += fmt::format("{}{}", i == 0 ? "[" : ", ", item);
    return text + "]";
  };
  EXPECT_EQ(RepairOf("scalar[]", list(64, "1")).value, list(64, "1.0"));
  EXPECT_EQ(RepairOf("scalar[]", list(65, "1")).value, "");
  EXPECT_EQ(RepairOf("scalar[][]", "[" + list(64, "1") + "]").value, "[" + list(64, "1.0") + "]");
  EXPECT_EQ(RepairOf("scalar[][]", "[" + list(65, "1") + "]").value, "");
}

// Padding is an array of pairs. Four and more numbers may be all begins, then all ends.
TEST(LiteralRepairs, ToPadding) {
  ExpectRepairsTo("(integer,integer)[]",
                  {{"1", "?> [(1,1)]", kPairHint},
                   {"n", "", kPairHint},
                   {"1.0", "", kPairHint},
                   {"[1]", "?> [(1,1)]", kPairHint},
                   {"[1, 2]", "?> [(1,1), (2,2)]", kPairHint},
                   {"[1, 2, 3]", "?> [(1,1), (2,2), (3,3)]", kPairHint},
                   {"[1, 2, 3, 4]", "", kPairHint},
                   {"[0, 0, 3, 4]", "?> [(0,0), (0,0), (3,3), (4,4)]", kPairHint},
                   {"[0, 1, 3, 4]", "", kPairHint},
                   {"[1, 0, 3, 4]", "", kPairHint},
                   {"[0, 0, 1, 2, 3]", "?> [(0,0), (0,0), (1,1), (2,2), (3,3)]", kPairHint},
                   {"[1, 2, 3, 4, 5]", "", kPairHint},
                   {"[[1, 2], [3, 4]]", "[(1, 2), (3, 4)]", kPairHint},
                   {"[[1, 2], [3, 4], [5, 6], [7, 8]]", "[(1, 2), (3, 4), (5, 6), (7, 8)]", kPairHint},
                   {"[[1, 2, 3]]", "", kPairHint},
                   {"[[1]]", "", kPairHint},
                   {"[[1.0, 2.0]]", "", kPairHint},
                   {"[(1.0, 2)]", "[(1, 2)]", kPairHint},
                   {"(1, 2)", "", kArrayHint},
                   {"((1, 2), (3, 4))", "[(1, 2), (3, 4)]", kArrayHint},
                   {"'same'", "[]", kSameHint},
                   {"'SAME_UPPER'", "[]", kSameHint},
                   {"'same_lower'", "", kSameHint},
                   {"'valid'", "[(0,0), (0,0)]", kValidHint},
                   {"'VALID'", "[(0,0), (0,0)]", kValidHint},
                   {"'full'", "", kPairHint},
                   {"'true'", "", kPairHint}});
  ExpectRepairsTo("(integer,scalar)[]", {{"1", "", kPairHint}, {"[1]", "", kPairHint}});
  ExpectRepairsTo("(scalar,integer)[]", {{"1", "", kPairHint}, {"[1]", "", kPairHint}});
  ExpectRepairsTo("(integer,integer,integer)[]", {{"1", ""}, {"[1]", ""}, {"[[1, 2, 3]]", "[(1, 2, 3)]"}});
}

TEST(LiteralRepairs, ToTuples) {
  ExpectRepairsTo("(integer,integer)", {{"1", "?> (1,1)"},
                                        {"n", ""},
                                        {"[1, 2]", "(1, 2)"},
                                        {"[1, n]", "(1, n)"},
                                        {"[1]", ""},
                                        {"[1, 2, 3]", ""},
                                        {"[1.0, 2.0]", ""},
                                        {"(1.0, 2)", "(1, 2)"},
                                        {"(1, 2.0)", "(1, 2)"},
                                        {"(1, 2, 3)", ""},
                                        {"(1.0, 2, 3)", ""}});
  ExpectRepairsTo("(integer,scalar)",
                  {{"1", ""}, {"(1, 2)", "(1, 2.0)"}, {"(1.0, 2)", "(1, 2.0)"}, {"[1, 2]", ""}});
  ExpectRepairsTo("(scalar,integer)", {{"1", ""}, {"(1, 2)", "(1.0, 2)"}});
  ExpectRepairsTo("(scalar,scalar)", {{"1", ""}, {"(1, 2)", "(1.0, 2.0)"}, {"(1, 2, 3)", ""}});
  ExpectRepairsTo("(integer,integer,integer)", {{"1", ""}, {"[1, 2, 3]", "(1, 2, 3)"}});
  ExpectRepairsTo("(integer,(scalar,scalar[]))", {{"(1, (2, [3]))", "(1, (2.0, [3.0]))"}});
}

// Arrays of numbers are no tensors; those of tensors are lists.
TEST(LiteralRepairs, ToTensors) {
  const char kConstant[] = "`constant(shape = .., value = ..)` makes a tensor of an array";
  ExpectRepairsTo("tensor<scalar>", {{"1", "1.0"},
                                     {"n", "scalar(n)"},
                                     {"true", ""},
                                     {"[1.0]", "", kConstant},
                                     {"[1, 2]", "", kConstant},
                                     {"[]", "", kConstant},
                                     {"[x]", ""},
                                     {"[x, x]", ""}});
  ExpectRepairsTo("tensor<scalar>[]", {{"x", "[x]"},
                                       {"1.0", "[1.0]"},
                                       {"1", ""},
                                       {"[1, 2]", "[1.0, 2.0]"},
                                       {"(x, x)", "[x, x]", kArrayHint},
                                       {"(x, 1.0)", "[x, 1.0]", kArrayHint}});
  ExpectRepairsTo("tensor<integer>", {{"1.0", ""}, {"x", ""}});
}

}  // namespace
}  // namespace nnefc::semantics
