// Ranges of a text in each other, and the statements around them: both ends, and other files.
#include "compiler/upgrade/places.h"

#include <gtest/gtest.h>

#include <array>

namespace nnefc::upgrade {
namespace {

constexpr FileId kFile(1), kOther(2);

TEST(Places, ContainTheRangesBetweenTheirEnds) {
  const SourceRange outer{kFile, 10, 20};
  for (const auto& [begin, end, is_inside] :
       {std::tuple(10U, 20U, true), std::tuple(11U, 19U, true), std::tuple(10U, 10U, true),
        std::tuple(20U, 20U, true), std::tuple(9U, 20U, false), std::tuple(10U, 21U, false),
        std::tuple(9U, 10U, false), std::tuple(20U, 21U, false), std::tuple(9U, 21U, false),
        std::tuple(0U, 5U, false), std::tuple(25U, 30U, false)}) {
    EXPECT_EQ(Contains(outer, {kFile, begin, end}), is_inside) << begin << " " << end;
    EXPECT_FALSE(Contains(outer, {kOther, begin, end})) << begin << " " << end;
  }
}

TEST(Places, AreInAtMostOneStatement) {
  const auto at = [](uint32_t begin, uint32_t end) { return ast::Assignment{.range = {kFile, begin, end}}; };
  const std::array body = {at(10, 20), at(25, 30), at(30, 40)};
  for (const auto& [begin, end, statement] :
       {std::tuple(9U, 12U, -1), std::tuple(10U, 20U, 0), std::tuple(19U, 20U, 0), std::tuple(19U, 21U, -1),
        std::tuple(21U, 24U, -1), std::tuple(24U, 26U, -1), std::tuple(25U, 30U, 1), std::tuple(26U, 31U, -1),
        std::tuple(30U, 31U, 2), std::tuple(40U, 40U, 2), std::tuple(39U, 41U, -1), std::tuple(50U, 60U, -1)})
    EXPECT_EQ(StatementAt(body, {kFile, begin, end}), statement) << begin << " " << end;
  EXPECT_EQ(StatementAt(body, {kOther, 12, 14}), -1);
  EXPECT_EQ(StatementAt({}, {kFile, 12, 14}), -1);
}

}  // namespace
}  // namespace nnefc::upgrade
