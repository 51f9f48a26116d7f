#include "compiler/lint/rule_book.h"

#include "compiler/explain/rule_file.h"
#include "compiler/lint/settings.h"
#include "gtest/gtest.h"

namespace nnefc::explain {
namespace {

using lint::DialectsOf;
using lint::IsShowable;
using lint::RuleBook;
using lint::SectionsOf;
using Words = std::vector<std::string_view>;

constexpr Rule kFirst{"first.own-rule", Severity::kError, "R 3.3.2, P 3.3.1"};
constexpr Rule kSecond{"second.own-rule", Severity::kWarning, ""};
constexpr Rule kBroken{"internal.own-fault", Severity::kError, "internal"};

TEST(RuleBookTest, LabelsAreUnique) {
  const RuleBook book;
  for (const Rule* rule : book.rules()) EXPECT_EQ(book.Find(rule->label), rule) << rule->label;
}

TEST(RuleBookTest, FindsByAnEndThatOneRuleHas) {
  RuleBook book;
  book.Add({&kFirst});
  EXPECT_EQ(book.Find("own-rule"), &kFirst);
  book.Add({&kSecond});
  EXPECT_EQ(book.Find("own-rule"), nullptr);
  EXPECT_EQ(book.Find("second.own-rule"), &kSecond);
}

// Rules of plug-ins have no file of ours.
TEST(RuleFileTest, IsThereForOurRulesAlone) {
  EXPECT_TRUE(FindRuleFile("axis.range").has_value());
  for (std::string_view label : {"first.own-rule", "axis.rang", "axis.range2", ""})
    EXPECT_FALSE(FindRuleFile(label).has_value()) << label;
}

// The pages have bodies of graphs alone; expand_body of tests/golden/rule_file.py makes the same documents.
TEST(RuleFileTest, SuppliesTheFrameOfABody) {
  const std::optional<RuleFile> file = FindRuleFile("concat.rank");
  ASSERT_TRUE(file.has_value());
  std::vector<std::string> texts;
  for (const RuleExample& example : file->examples) {
    ASSERT_FALSE(example.files.empty());
    texts.push_back(example.files[0].text);
  }
  ASSERT_GE(texts.size(), 2U);
  EXPECT_EQ(texts[0],
            "version 1.0;\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [1, 4, 8, 8]);\n"
            "    v = variable(shape = [1, 4, 8], label = 'v');\n    y = concat([x, v], axis = 1);\n}\n");
  const RuleBook book;
  for (const Rule* rule : book.rules()) {
    const std::optional<RuleFile> each = FindRuleFile(rule->label);
    if (!each) continue;
    for (const RuleExample& example : each->examples) {
      for (const ExampleFile& part : example.files)
        EXPECT_NE(part.text.substr(0, 4), "    ") << rule->label << ": " << part.text;
    }
  }
}

TEST(RuleBookTest, NearestKnowsEnds) {
  RuleBook book;
  EXPECT_EQ(book.Nearest("own-rul"), "");
  book.Add({&kFirst});
  EXPECT_EQ(book.Nearest("own-rul"), "own-rule");
  EXPECT_EQ(book.Nearest("frist.own-rule"), "first.own-rule");
}

TEST(RuleBookTest, SectionsTellDialects) {
  EXPECT_EQ(SectionsOf(kFirst), (Words{"R 3.3.2", "P 3.3.1"}));
  EXPECT_EQ(DialectsOf(kFirst), (Words{"ratified", "provisional"}));
  EXPECT_EQ(DialectsOf(kSecond), Words{});
  EXPECT_EQ(SectionsOf(kBroken), Words{});
  EXPECT_FALSE(IsShowable(kBroken));
  EXPECT_TRUE(IsShowable(kSecond));
}

TEST(RuleFileTest, HasAStatementForEveryRuleThatCanBeShown) {
  const RuleBook book;
  for (const Rule* rule : book.rules()) {
    const std::optional<RuleFile> file = FindRuleFile(rule->label);
    if (!IsShowable(*rule)) continue;
    ASSERT_TRUE(file) << rule->label;
    EXPECT_FALSE(file->statement.empty()) << rule->label;
    EXPECT_FALSE(file->examples.empty()) << rule->label;
  }
}

// For the rules of every folder, the settings distinguish lint rules, warnings and errors.
TEST(RuleBookTest, SettingsKnowEveryRule) {
  const RuleBook book;
  for (const Rule* rule : book.rules()) {
    const bool is_settable = rule->label.starts_with("lint.") || rule->severity != Severity::kError;
    EXPECT_EQ(lint::Settings::Find(rule->label) == rule, is_settable) << rule->label;
    if (is_settable) continue;
    EXPECT_NE(
        lint::Settings::WhyNot(rule->label).find("is an error of `nnefc check` and cannot be configured"),
        std::string::npos)
        << rule->label;
  }
  EXPECT_EQ(lint::Settings::WhyNot("nothing-of-the-kind"), "there is no lint rule `nothing-of-the-kind`");
}

}  // namespace
}  // namespace nnefc::explain
