#include "tools/api/explain/explain.h"

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace nnefc::api {
namespace {

using Json = nlohmann::json;

std::string Page(const std::string& name, PageForm form = PageForm::kPlain) {
  const ErrorOr<std::string> page = Explain(name, plugin::Plugins(), form);
  EXPECT_TRUE(page) << page.error().message;
  return page ? *page : "";
}

std::string WhyNot(const std::string& name) {
  const ErrorOr<std::string> page = Explain(name, plugin::Plugins(), PageForm::kPlain);
  EXPECT_FALSE(page);
  return page ? "" : page.error().message;
}

TEST(ExplainTest, FindsEachKindOfPage) {
  EXPECT_TRUE(Page("conv").starts_with("conv: section 4.3.1 of NNEF 1.0.5\n"));
  EXPECT_TRUE(Page("lint.unused-tensor").starts_with("lint.unused-tensor: warning, "));
  EXPECT_EQ(Page("unused-tensor"), Page("lint.unused-tensor"));
  EXPECT_EQ(Page("type"), Page("types"));
  EXPECT_TRUE(Page("4.3.1").starts_with("4.3.1: operations and rules of this section"));
  EXPECT_NE(Page("MVNFusion").find(": a transformation of the middle phase"), std::string::npos);
  EXPECT_TRUE(Page("conv", PageForm::kColored).starts_with("\033[1mconv\033[0m: "));
}

TEST(ExplainTest, HasTheSamePagesInJson) {
  EXPECT_EQ(Json::parse(Page("conv", PageForm::kJson))["operation"], "conv");
  EXPECT_EQ(Json::parse(Page("unused-tensor", PageForm::kJson))["rule"], "lint.unused-tensor");
  EXPECT_EQ(Json::parse(Page("types", PageForm::kJson))["topic"], "types");
  EXPECT_EQ(Json::parse(Page("4.3.1", PageForm::kJson))["section"], "4.3.1");
  EXPECT_EQ(Json::parse(Page("MVNFusion", PageForm::kJson))["phase"], "middle");
  EXPECT_FALSE(Json::parse(ListRules(PageForm::kJson))["rules"].empty());
}

TEST(ExplainTest, ProposesANameForAnUnknownOne) {
  EXPECT_TRUE(WhyNot("lint.unused-tensr").ends_with("did you mean `lint.unused-tensor`?"));
  EXPECT_TRUE(WhyNot("convv").ends_with("did you mean `conv`?"));
  EXPECT_TRUE(
      WhyNot("topology").starts_with("there is no rule, operation, transformation or topic `topology`"));
}

}  // namespace
}  // namespace nnefc::api
