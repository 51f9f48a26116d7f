#include "compiler/raise/names.h"

#include "gtest/gtest.h"

namespace nnefc::raise {
namespace {

TEST(Identifier, ReplacesOtherCharacters) {
  EXPECT_EQ(Identifier("conv1"), "conv1");
  EXPECT_EQ(Identifier("/conv1/Conv:0"), "conv1_Conv_0");
  EXPECT_EQ(Identifier("a__b"), "a__b");
  EXPECT_EQ(Identifier("a_/b"), "a_b");
  EXPECT_EQ(Identifier("a - b!"), "a_b");
  EXPECT_EQ(Identifier("_x"), "_x");
  EXPECT_EQ(Identifier("12"), "t12");
  EXPECT_EQ(Identifier("\xc3\xa4"), "tensor");
  EXPECT_EQ(Identifier(""), "tensor");
}

TEST(Identifier, IsBounded) {
  EXPECT_EQ(Identifier(std::string(91, 'a')), std::string(90, 'a'));
  EXPECT_EQ(Identifier(std::string(90, 'a')), std::string(90, 'a'));
}

TEST(Label, IsARelativePath) {
  EXPECT_EQ(Label("layer1.conv.weight"), "layer1.conv.weight");
  EXPECT_EQ(Label("/layer1/conv weight"), "layer1/conv_weight");
  EXPECT_EQ(Label("a//b"), "a/b");
  EXPECT_EQ(Label("a-b/c.d_e"), "a-b/c.d_e");
  EXPECT_EQ(Label("../../x"), "x");
  EXPECT_EQ(Label("a/../b"), "a/b");
  EXPECT_EQ(Label("..\\x"), "_x");
  EXPECT_EQ(Label("x."), "x");
  EXPECT_EQ(Label("C:\\x"), "C_x");
  EXPECT_EQ(Label(".."), "variable");
  EXPECT_EQ(Label(""), "variable");
}

TEST(NumberedName, IsMadeByAFramework) {
  for (const char* name : {"", "7", "Constant_12", "Constant", "a/Constant_1", "Reshape_3", "Convert_1"})
    EXPECT_TRUE(IsNumberedName(name)) << name;
  for (const char* name : {"conv1.weight", "x", "Constants", "MyConstant_1"})
    EXPECT_FALSE(IsNumberedName(name)) << name;
}

TEST(UniqueNames, NumbersRepeatedNames) {
  UniqueNames names;
  EXPECT_EQ(names.Take("x"), "x");
  EXPECT_EQ(names.Take("x_2"), "x_2");
  EXPECT_EQ(names.Take("x"), "x_3");
  EXPECT_EQ(names.Take("x"), "x_4");
  EXPECT_EQ(names.Take("X"), "X");
  EXPECT_EQ(names.Take("x_4"), "x_4_2");
}

TEST(UniqueNames, MayIgnoreCase) {
  UniqueNames names(/*ignores_case=*/true);
  EXPECT_EQ(names.Take("x"), "x");
  EXPECT_EQ(names.Take("X"), "X_2");
  EXPECT_EQ(names.Take("x_2"), "x_2_2");
}

}  // namespace
}  // namespace nnefc::raise
