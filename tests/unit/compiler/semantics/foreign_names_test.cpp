// Names of other frameworks: how they are spelt, found and described.

#include "compiler/semantics/foreign/foreign_names.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace nnefc::semantics {

using foreign::ForeignOperation;
using foreign::IsSpelledSo;

namespace {

TEST(Spelling, IgnoresCaseAndUnderscores) {
  EXPECT_TRUE(IsSpelledSo("relu", "relu"));
  EXPECT_TRUE(IsSpelledSo("AZ", "az"));
  EXPECT_TRUE(IsSpelledSo("az", "AZ"));
  EXPECT_TRUE(IsSpelledSo("_max__Pool_", "maxpool"));
  EXPECT_TRUE(IsSpelledSo("maxpool", "max_pool"));
  EXPECT_TRUE(IsSpelledSo("a09z", "A09Z"));
  EXPECT_FALSE(IsSpelledSo("relu", "relu6"));
  EXPECT_FALSE(IsSpelledSo("relu", "rel"));
  EXPECT_FALSE(IsSpelledSo("relu", ""));
}

// One to three dimensions may follow the name of an operation, whose own name is not empty.
TEST(Spelling, IgnoresOneToThreeDimensions) {
  EXPECT_TRUE(IsSpelledSo("conv1d", "conv"));
  EXPECT_TRUE(IsSpelledSo("Conv2D", "conv"));
  EXPECT_TRUE(IsSpelledSo("conv_3d", "conv"));
  EXPECT_TRUE(IsSpelledSo("a2d", "a"));
  EXPECT_TRUE(IsSpelledSo("conv2d", "conv_2d"));
  EXPECT_TRUE(IsSpelledSo("conv2d2d", "conv2d"));
  EXPECT_FALSE(IsSpelledSo("conv", "conv2d"));
  EXPECT_FALSE(IsSpelledSo("conv0d", "conv"));
  EXPECT_FALSE(IsSpelledSo("conv4d", "conv"));
  EXPECT_FALSE(IsSpelledSo("conv2", "conv"));
  EXPECT_FALSE(IsSpelledSo("conv2c", "conv"));
  EXPECT_FALSE(IsSpelledSo("conv2e", "conv"));
  EXPECT_FALSE(IsSpelledSo("convd", "conv"));
  EXPECT_FALSE(IsSpelledSo("convxd", "conv"));
  EXPECT_FALSE(IsSpelledSo("2d", "_"));
  EXPECT_FALSE(IsSpelledSo("d", "_"));
  EXPECT_FALSE(IsSpelledSo("_", "d"));
}

// Returns the formulas, or the new names, of an operation of other frameworks.
std::vector<std::string_view> Equivalents(std::string_view name) {
  std::vector<std::string_view> found;
  for (const ForeignOperation* row : foreign::FindForeignOperations(name))
    found.push_back(row->formula.empty() ? row->ours : row->formula);
  return found;
}

TEST(ForeignOperations, AreFoundByEachNameOfTheirRow) {
  const std::vector<std::string_view> all{"all_reduce(x, axes = ..)"};
  EXPECT_EQ(Equivalents("reduceall"), all);         // the first of three names
  EXPECT_EQ(Equivalents("ReduceAnd"), all);         // the second
  EXPECT_EQ(Equivalents("ReduceLogicalAnd"), all);  // the last
  EXPECT_EQ(Equivalents("reduce_l1"), (std::vector<std::string_view>{"sum_reduce(abs(x), axes = ..)"}));
  EXPECT_TRUE(Equivalents("educeall").empty());
  EXPECT_TRUE(Equivalents("educeand").empty());
  EXPECT_TRUE(Equivalents("reduceand reducelogicaland").empty());
  EXPECT_TRUE(Equivalents("reducean").empty());
  EXPECT_TRUE(Equivalents("").empty());
  EXPECT_TRUE(Equivalents("_").empty());
  EXPECT_TRUE(Equivalents("d").empty());
  EXPECT_TRUE(Equivalents("2d").empty());
}

TEST(ForeignOperations, AreFoundWithDimensions) {
  const std::vector<std::string_view> softmax{"softmax(x, axes = [1])"};
  EXPECT_EQ(Equivalents("Softmax2d"), softmax);  // a row of its own, not that of `softmax`
  EXPECT_NE(Equivalents("Softmax"), softmax);
  EXPECT_EQ(Equivalents("Softmax3d"), Equivalents("Softmax"));
  EXPECT_FALSE(Equivalents("Conv2d").empty());
  EXPECT_EQ(Equivalents("Conv1d"), Equivalents("Conv2d"));
  EXPECT_EQ(Equivalents("Conv3d"), Equivalents("Conv2d"));
  EXPECT_TRUE(Equivalents("Conv4d").empty());
  EXPECT_TRUE(Equivalents("Conv0d").empty());
}

TEST(ForeignOperations, SeveralFrameworksDefineOneName) {
  EXPECT_EQ(Equivalents("mean"),
            (std::vector<std::string_view>{"mean_reduce(x, axes = ..)", "add_n([x, y]) / 2.0"}));
}

constexpr ForeignOperation kPlain{"one", "", "f(x)", "", "", ""};
constexpr ForeignOperation kRenamed{"one", "ours", "", "", "PyTorch", ""};
constexpr ForeignOperation kBoth{"one", "ours", "ours(x, y = ..)", "", "", "y"};
constexpr ForeignOperation kClause{"one", "", "g(x)", "which keeps the axes", "ONNX", ""};
constexpr ForeignOperation kNoted{"one", "", "h(x)", "mind the order", "Keras", ""};
constexpr ForeignOperation kNotedAgain{"one", "", "k(x)", "mind the order", "JAX", ""};
constexpr ForeignOperation kNotedElse{"one", "", "m(x)", "mind the axes", "", ""};
constexpr ForeignOperation kMissing{"one", "", "", "", "Caffe", ""};
constexpr ForeignOperation kMissingNoted{"one", "", "", "tract has it", "", ""};

TEST(ForeignOperations, AreDescribed) {
  using Rows = std::vector<const ForeignOperation*>;
  const std::pair<Rows, const char*> cases[] = {
      {{&kPlain}, "write `f(x)`"},
      {{&kRenamed}, "write `ours`"},
      {{&kBoth}, "write `ours(x, y = ..)`"},
      {{&kClause}, "write `g(x)`, which keeps the axes"},
      {{&kNoted}, "write `h(x)`; mind the order"},
      {{&kMissing}, "NNEF has no `One`"},
      {{&kMissingNoted}, "NNEF has no `One`; tract has it"},
      // Frameworks distinguish several definitions.
      {{&kPlain, &kRenamed}, "write `f(x)` or `ours` (PyTorch)"},
      {{&kRenamed, &kClause}, "write `ours` (PyTorch) or `g(x)` (ONNX), which keeps the axes"},
      {{&kNoted, &kNotedAgain}, "write `h(x)` (Keras) or `k(x)` (JAX); mind the order"},
      {{&kNoted, &kNotedElse}, "write `h(x)` (Keras) or `m(x)`; mind the order; mind the axes"},
      {{&kNoted, &kClause, &kNotedAgain},
       "write `h(x)` (Keras) or `g(x)` (ONNX), which keeps the axes or `k(x)` (JAX); mind the order"},
      {{&kPlain, &kMissing}, "write `f(x)`; NNEF has no `One` (Caffe)"},
      {{&kPlain, &kMissingNoted}, "write `f(x)`; NNEF has no `One`; tract has it"},
  };
  for (const auto& [rows, text] : cases) EXPECT_EQ(foreign::DescribeForeignOperations("One", rows), text);
}

TEST(ForeignOperations, AFormulaInvokesOperations) {
  using Names = std::vector<std::string>;
  const std::pair<const char*, Names> cases[] = {
      {"softmax(neg(x), axes = ..)", {"softmax", "neg"}},
      {"cast<integer>(x)", {"cast"}},
      {"m = max_reduce(x, axes = ..); y = m + log(x)", {"max_reduce", "log"}},
      {"x * 2.0", {}},
      {"(x + y) * [(0,0), (1,1)]", {}},
      {"f (x)", {}},
      {"", {}},
      {"f", {}},
      // The first and last letters and digits are part of a name, their neighbours in ASCII are not.
      {"azAZ09_(x)", {"azAZ09_"}},
      {"a(x) z(x) A(x) Z(x) a0(x) a9(x) _(x)", {"a", "z", "A", "Z", "a0", "a9", "_"}},
      {"p`b(x)", {"b"}},
      {"p{b(x)", {"b"}},
      {"p@b(x)", {"b"}},
      {"p[b(x)", {"b"}},
      {"p/b(x)", {"b"}},
      {"p:b(x)", {"b"}},
      {"p^b(x)", {"b"}},
  };
  for (const auto& [formula, names] : cases) EXPECT_EQ(foreign::OperationsIn(formula), names) << formula;
}

TEST(ForeignParameters, DependOnTheOperation) {
  const auto find = [](std::string_view name, std::initializer_list<std::string_view> parameters) {
    const foreign::ForeignName* found = foreign::FindForeignParameter(name, [&](std::string_view parameter) {
      return std::find(parameters.begin(), parameters.end(), parameter) != parameters.end();
    });
    return found == nullptr ? "nothing" : found->ours.empty() ? "advice" : std::string(found->ours);
  };
  EXPECT_EQ(find("weight", {"filter", "scale"}), "scale");  // the first row counts
  EXPECT_EQ(find("weight", {"filter"}), "filter");
  EXPECT_EQ(find("weight", {"x"}), "nothing");
  EXPECT_EQ(find("Kernel_Size", {"size"}), "size");
  EXPECT_EQ(find("kernel_size", {"filter"}), "advice");
  EXPECT_EQ(find("channels", {}), "advice");
  EXPECT_EQ(find("weigh", {"filter", "scale"}), "nothing");
  EXPECT_EQ(find("", {"filter", "scale"}), "nothing");
  EXPECT_TRUE(foreign::IsForeignParameter("weight"));
  EXPECT_TRUE(foreign::IsForeignParameter("Kernel_Size"));
  EXPECT_FALSE(foreign::IsForeignParameter("weigh"));
  EXPECT_FALSE(foreign::IsForeignParameter("filter"));
}

TEST(ForeignValues, AreFoundInAnySpelling) {
  const auto ours = [](std::string_view name) -> std::string_view {
    const foreign::ForeignName* found = foreign::FindForeignValue(name);
    return found == nullptr ? "nothing" : found->ours;
  };
  EXPECT_EQ(ours("True"), "true");
  EXPECT_EQ(ours("FALSE"), "false");
  EXPECT_EQ(ours("yes"), "true");
  EXPECT_EQ(ours("No"), "false");
  EXPECT_EQ(ours("None"), "");
  EXPECT_EQ(ours("NaN"), "");
  EXPECT_EQ(ours("pi"), "");
  EXPECT_EQ(ours("nothing"), "nothing");
  EXPECT_EQ(foreign::FindForeignValue("None")->repair, foreign::ForeignRepair::kDrop);
  EXPECT_EQ(foreign::FindForeignValue("pi")->repair, foreign::ForeignRepair::kByAdvice);
}

TEST(ForeignTables, StateEitherOfTwoEquivalents) {
  EXPECT_FALSE(foreign::Missing("one").is_known());
  EXPECT_TRUE(foreign::Computed("one", "f(x)").is_known());
  EXPECT_TRUE(foreign::Renamed("one", "ours").is_known());
  EXPECT_TRUE(foreign::RenamedIf("y", "one", "ours", "ours(x, y = ..)").is_known());
}

}  // namespace
}  // namespace nnefc::semantics
