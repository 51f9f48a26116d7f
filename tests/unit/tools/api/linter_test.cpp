#include "tools/api/linter.h"

#include "gtest/gtest.h"

namespace nnefc::api {
namespace {

constexpr char kUnused[] = R"(version 1.0;
graph net(x) -> (y)
{
    x = external<scalar>(shape = [2]);
    t = relu(x);
    y = copy(x);
}
)";

std::vector<std::string> RulesOf(const LintedModel& linted) {
  std::vector<std::string> rules;
  for (const nnefc::Diagnostic& each : linted.program->CollectDiagnostics().diagnostics)
    rules.emplace_back(each.rule->label);
  return rules;
}

LintedModel LintUnused(const LintRules& rules) {
  LintMistake mistake;
  std::optional<Linter> linter = Linter::Make(rules, mistake);
  EXPECT_TRUE(linter) << mistake.message;
  linter->SetConfiguration("");
  driver::CompileOptions options = ToCompileOptions(ModelOptions(), std::make_shared<plugin::Plugins>());
  options.document = kUnused;
  return linter->Lint("net.nnef", std::move(options));
}

TEST(LinterTest, AppliesRulesAndLevels) {
  EXPECT_EQ(RulesOf(LintUnused({})), std::vector<std::string>{"lint.unused-tensor"});
  EXPECT_TRUE(RulesOf(LintUnused({.disabled = {"unused-tensor"}})).empty());
  const LintedModel raised =
      LintUnused({.levels = {{"unused-tensor", "note"}, {"lint.unused-tensor", "error"}}});
  ASSERT_EQ(RulesOf(raised).size(), 1);
  EXPECT_TRUE(raised.program->compilation().context().emitter.has_errors());
}

TEST(LinterTest, NamesTheListOfAMistake) {
  const auto list_of = [](const LintRules& rules) {
    LintMistake mistake;
    EXPECT_FALSE(Linter::Make(rules, mistake));
    EXPECT_FALSE(mistake.message.empty());
    return std::string(mistake.list);
  };
  EXPECT_EQ(list_of({.enabled = {"no-such-rule"}}), "enable");
  EXPECT_EQ(list_of({.disabled = {"no-such-rule"}}), "disable");
  EXPECT_EQ(list_of({.levels = {{"no-such-rule", "error"}}}), "level");
  EXPECT_EQ(list_of({.levels = {{"unused-tensor", "loud"}}}), "level");
  EXPECT_EQ(list_of({.enabled = {"no-such-rule"}, .levels = {{"unused-tensor", "loud"}}}), "enable");
}

}  // namespace
}  // namespace nnefc::api
