#include "compiler/support/diagnostics/sections.h"

#include "gtest/gtest.h"

namespace nnefc {
namespace {

TEST(SectionsTest, AreThoseOfOneSpecification) {
  constexpr std::string_view kBoth = "R 4.4, R 4.5, P 4.4, P 4.5";
  EXPECT_EQ(SectionsIn(kBoth, 'R'), "R 4.4, R 4.5");
  EXPECT_EQ(SectionsIn(kBoth, 'P'), "P 4.4, P 4.5");
  EXPECT_EQ(SectionsIn("R 3.3.2, P 3.3.1", 'R'), "R 3.3.2");
  EXPECT_EQ(SectionsIn("R 3.3.2, P 3.3.1", 'P'), "P 3.3.1");
  EXPECT_EQ(SectionsIn("R 4.7", 'R'), "R 4.7");
  EXPECT_EQ(SectionsIn("P 4.6", 'P'), "P 4.6");
}

TEST(SectionsTest, AreNoneWhereTheRuleIsOfTheOther) {
  EXPECT_EQ(SectionsIn("R 4.4, R 4.5", 'P'), "");
  EXPECT_EQ(SectionsIn("P 4.2.1, P 4.3", 'R'), "");
}

TEST(SectionsTest, AreKeptWhereTheyNameNoSpecification) {
  EXPECT_EQ(SectionsIn("", 'R'), "");
  EXPECT_EQ(SectionsIn("internal", 'P'), "internal");
}

}  // namespace
}  // namespace nnefc
