#include "compiler/support/files/contained_path.h"

#include "gtest/gtest.h"

namespace nnefc {
namespace {

using namespace std::string_literals;
using Path = std::optional<std::string>;

TEST(LabelPathTest, FilesInTheFolder) {
  EXPECT_EQ(LabelPath("w"), "w");
  EXPECT_EQ(LabelPath("block/conv/w"), "block/conv/w");
  EXPECT_EQ(LabelPath("/w"), "w");
  EXPECT_EQ(LabelPath("a//b/"), "a/b");
  EXPECT_EQ(LabelPath("./a/./b"), "a/b");
  EXPECT_EQ(LabelPath("a/../w"), "w");
  EXPECT_EQ(LabelPath("a/b/.."), "a");
  EXPECT_EQ(LabelPath("a\\b"), "a\\b");
  EXPECT_EQ(LabelPath("a\\..\\b"), "a\\..\\b");  // one name here, elsewhere `b`
  EXPECT_EQ(LabelPath("..w"), "..w");
  EXPECT_EQ(LabelPath("w.."), "w..");
  EXPECT_EQ(LabelPath("..."), "...");
  EXPECT_EQ(LabelPath("a b:c"), "a b:c");
  EXPECT_EQ(LabelPath("con"), "con");
}

TEST(LabelPathTest, NoFileInTheFolder) {
  for (const std::string& label :
       {""s, "/"s, "."s, "./."s, ".."s, "../w"s, "/../w"s, "a/../../w"s, "a/.."s, "../../../../victim/v"s,
        "..\\w"s, "a\\..\\..\\w"s, "a/..\\..\\w"s, "a\\../../w"s, "w\0x"s, "\0"s})
    EXPECT_EQ(LabelPath(label), std::nullopt) << label;
}

TEST(ContainedPathTest, NoPartLeadsOut) {
  EXPECT_EQ(ContainedPath("a/./b//c"), "a/b/c");
  EXPECT_EQ(ContainedPath(""), "");
  EXPECT_EQ(ContainedPath("a/../b"), std::nullopt);
  EXPECT_EQ(ContainedPath("/a"), std::nullopt);
  EXPECT_EQ(ContainedPath("a\0b"s), std::nullopt);
}

}  // namespace
}  // namespace nnefc
