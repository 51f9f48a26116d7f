#include "compiler/semantics/quantization.h"

#include "checking.h"
#include "gtest/gtest.h"

namespace nnefc::semantics {
namespace {

// Returns the diagnostics of a quantization file of a model with activations `x`, `y`; sets
// `is_bound` if all its invocations have bindings.
std::string Check(std::string_view model, std::string_view text, bool* is_bound = nullptr) {
  Checked checked{std::string(model)};
  EXPECT_EQ(checked.Diagnostics(), "");
  Context& context = checked.context();
  const FileId file = context.sources.AddText("graph.quant", std::string(text));
  auto document = ast::ParseDocument(
      file, {.dialect = checked.document().dialect(), .kind = ast::DocumentKind::kQuantization}, context);
  const auto quantization = CheckQuantization(
      std::move(document), checked.document(),
      [](std::string_view name) { return name == "x" || name == "y"; }, checked.library(), context);
  if (is_bound != nullptr) {
    *is_bound = true;
    for (const ast::Quantization& entry : quantization->ast().quantizations)
      *is_bound &= quantization->binding(entry.invocation) != nullptr;
  }
  return Describe(context);
}

TEST(Quantization, Ratified) {
  const std::string model = Ratified(
      "fragment mine( x: tensor<scalar>, k: integer ) -> ( y: tensor<scalar> );\n"
      "fragment several( x: tensor<scalar>, k: integer ) -> ( y: tensor<scalar>, z: tensor<scalar> );\n"
      "fragment listed( x: tensor<scalar>, k: integer ) -> ( y: tensor<scalar>[] );\n"
      "fragment of_list( x: tensor<scalar>[], k: integer ) -> ( y: tensor<scalar> );");
  const std::pair<const char*, const char*> cases[] = {
      {"'x': linear_quantize(min = -1.0, max = 2.0, bits = 8);", ""},
      {"'x': linear_quantize(min = -1.0, max = 2.0 * 3.0, bits = 8);", ""},
      {"'x': linear_quantize(min = [[-1.0, -2.0]], max = [2.0], bits = 8);", ""},
      {"'x': mine(k = 1);", ""},
      {"'z': mine(k = 1);", "quantization.unknown-key 1:1 warning"},
      {"'x': mine(k = 1);\n'x': mine(k = 2);", "quantization.repeated-key 2:1 warning"},
      {"'x': mine(1);", "quantization.positional-argument 1:11"},
      {"'x': mine(x = 1.0, k = 1);", "quantization.tensor-argument 1:11"},
      {"'x': mine(l = 1);", "binding.unknown-argument 1:11"},
      {"'x': linear_quantize(min = -1.0, bits = 8);", "binding.missing-argument 1:6"},
      {"'x': linear_quantise(min = -1.0, max = 1.0, bits = 8);", "binding.undeclared-operation 1:6"},
      {"'x': linear_quantize(min = 0, max = 1.0, bits = 8);", "type.mismatch 1:28"},
      {"'x': linear_quantize(min = a, max = 1.0, bits = 8);", "identifier.undefined 1:28"},
      {"'x': linear_quantize(min = [[-1.0], [-2.0, 1.0]], max = [2.0], bits = 8);",
       "quantization.jagged-array 1:37"},
      {"'x': linear_quantize(min = [1], max = [2.0], bits = 8);", "type.mismatch 1:28"},
      {"'x': external(shape = [1]);", "quantization.operation 1:6"},
      // A quantization operation makes one tensor of a tensor that comes first.
      {"'x': several(k = 1);", "quantization.operation 1:6"},
      {"'x': listed(k = 1);", "quantization.operation 1:6"},
      {"'x': of_list(k = 1);", "quantization.operation 1:6"},
      {"'x': linear_quantize(min = copy<scalar>(1.0), max = 1.0, bits = 8);", ""},
      {"'x': linear_quantize(min = copy<?>(1.0), max = 1.0, bits = 8);", "generic.outside-generic-body 1:33"},
      // An invocation of several tensors is no argument.
      {"'x': linear_quantize(min = moments(1.0, axes = [1]), max = 1.0, bits = 8);",
       "binding.chained-results 1:28"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(Check(model, text), expected) << text;
}

// An invocation with a wrong argument has no binding; mistakes within an argument are its own.
TEST(Quantization, Bindings) {
  const std::pair<const char*, const char*> cases[] = {
      {"min = 0.0, max = 1.0, bits = 8", ""},
      {"min = [0.0, 0.5], max = [1.0], bits = 8", ""},
      {"min = -nope, max = 1.0, bits = 8", "identifier.undefined"},
      {"0.0, max = 1.0, bits = 8", "quantization.positional-argument"},
      {"x = 0.0, min = 0.0, max = 1.0, bits = 8", "quantization.tensor-argument"},
      {"low = 0.0, min = 0.0, max = 1.0, bits = 8", "binding.unknown-argument"},
      {"min = 0.0, max = 1.0, max = 1.0, bits = 8", "binding.duplicate-argument"},
      {"min = 0.0, bits = 8", "binding.missing-argument"},
      {"min = 0, max = 1.0, bits = 8", "type.mismatch"},
      {"min = 0.0, max = 1.0, bits = 8.0", "type.mismatch"},
      {"min = 0.0, max = 1.0, bits = [8]", "type.mismatch"},
  };
  for (const auto& [arguments, label] : cases) {
    bool is_bound = false;
    const std::string found =
        Check(Ratified(""), fmt::format("'x': linear_quantize({});", arguments), &is_bound);
    EXPECT_EQ(found.substr(0, found.find(' ')), label) << arguments;
    EXPECT_EQ(is_bound, std::string_view(label).empty() || label == std::string_view("identifier.undefined"))
        << arguments;
  }
}

// An entry that invokes a fragment with a mistake in its declaration has no mistake of its own.
TEST(Quantization, OfBrokenFragments) {
  Checked checked(Ratified("fragment mine( x tensor<scalar>, k: integer ) -> ( y: tensor<scalar> );"));
  ASSERT_EQ(checked.Diagnostics(), "syntax.unexpected-token 2:17");
  Context& context = checked.context();
  const FileId file = context.sources.AddText("graph.quant", "'x': mine(k = 1); 'y': mine(k = nope);");
  auto document = ast::ParseDocument(
      file, {.dialect = checked.document().dialect(), .kind = ast::DocumentKind::kQuantization}, context);
  const auto quantization = CheckQuantization(
      std::move(document), checked.document(), [](std::string_view) { return true; }, checked.library(),
      context);
  std::string labels;
  for (const Diagnostic& each : context.emitter.diagnostics()) labels += fmt::format("{} ", each.rule->label);
  EXPECT_EQ(labels, "syntax.unexpected-token identifier.undefined ");
}

// Arrays for a tensor have one length at each level (R 5.3).
TEST(Quantization, LengthsOfArrays) {
  const auto check = [](std::string_view value) {
    return Check(Ratified(""), fmt::format("'x': linear_quantize(min = {}, max = 1.0, bits = 8);", value));
  };
  for (const char* value :
       {"[]", "[[]]", "[[], []]", "[1.0]", "[[1.0], [2.0]]", "([[1.0], ([2.0])])", "[[1.0, 2.0], [3.0, 4.0]]",
        "[[[1.0], [2.0]], [[3.0], [4.0]]]", "[[1.0] * 2, [3.0]]", "[[1.0], [3.0] * 2]", "[1.0] * 3"})
    EXPECT_EQ(check(value), "") << value;
  const std::pair<const char*, int> jagged[] = {
      {"[[1.0], []]", 9},
      {"[[], [1.0]]", 6},
      {"[[1.0], [2.0, 3.0]]", 9},
      {"[[1.0, 2.0], [3.0]]", 14},
      {"[[1.0], [2.0], [3.0, 4.0]]", 16},
      {"[[[1.0], [2.0]], [[3.0]]]", 18},
      {"[[[1.0], [2.0]], [[3.0], [4.0, 5.0]]]", 26},
      {"[[[1.0], [2.0, 3.0]], [[3.0], [4.0, 5.0]]]", 10},
      {"[([1.0]), ([2.0, 3.0])]", 11},
  };
  for (const auto& [value, column] : jagged)
    EXPECT_EQ(check(value), fmt::format("quantization.jagged-array 1:{}", 27 + column)) << value;
  EXPECT_EQ(check("[1.0, [2.0]]"), "type.array-items 1:34");
  EXPECT_EQ(check("[[1]]"), "type.mismatch 1:28");
  EXPECT_EQ(check("['a']"), "type.mismatch 1:28");
  EXPECT_EQ(check("(1.0, 1.0)"), "type.mismatch 1:28");
}

TEST(Quantization, Provisional) {
  const std::string model = Provisional("");
  const std::pair<const char*, const char*> cases[] = {
      {"'x': linear_quantize(min = -1.0, max = 2.0, bits = 8)\n'y': linear_quantize(min = 0.0, max = 2.0, "
       "bits = 8)",
       ""},
      {"'x': quantize_linear(min = -1.0, max = 2.0, bits = 8)", "binding.old-name 1:6 warning"},
      {"'x': linear_quantize(min = constant(shape = [1,2], value = [0.0, 1.0]), max = 2.0, bits = 8)", ""},
      {"'x': linear_quantize(min = [0.0], max = 2.0, bits = 8)", "type.mismatch 1:28"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(Check(model, text), expected) << text;
}

}  // namespace
}  // namespace nnefc::semantics
