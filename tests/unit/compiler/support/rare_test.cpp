#include "compiler/support/rare.h"

#include <string>

#include "gtest/gtest.h"

namespace nnefc {
namespace {

TEST(RareTest, IsAPointerWithoutAValue) {
  const Rare<std::string> none;
  EXPECT_EQ(sizeof(none), sizeof(void*));
  EXPECT_FALSE(none.has_value());
  const std::optional<std::string>& optional = none;
  EXPECT_EQ(optional, std::nullopt);
}

TEST(RareTest, IsAnOptionalToWhoTakesOne) {
  const Rare<std::string> text = std::string("a");
  const std::optional<std::string>& optional = text;
  EXPECT_EQ(&*optional, &*text);
  EXPECT_EQ(text->size(), 1u);
}

TEST(RareTest, CopiesHaveValuesOfTheirOwn) {
  Rare<std::string> first = std::string("a");
  Rare<std::string> second = first;
  EXPECT_NE(&*first, &*second);
  first = std::string("b");
  EXPECT_EQ(*second, "a");
  second = first;
  EXPECT_EQ(*second, "b");
  const Rare<std::string>& same = second;
  second = same;
  EXPECT_EQ(*second, "b");
  second = std::nullopt;
  EXPECT_FALSE(second.has_value());
  EXPECT_TRUE(first.has_value());
  first.reset();
  EXPECT_FALSE(first);
}

TEST(RareTest, TakesOptionals) {
  const std::optional<std::string> none;
  EXPECT_FALSE(Rare<std::string>(none));
  EXPECT_EQ(*Rare<std::string>(std::optional<std::string>("a")), "a");
}

}  // namespace
}  // namespace nnefc
