// Shapes, attributes and origins.

#include "compiler/ir/attribute.h"
#include "compiler/ir/origin.h"
#include "compiler/ir/shape.h"
#include "gtest/gtest.h"

namespace nnefc::ir {
namespace {

TEST(PartialShapeTest, Text) {
  for (const char* text : {"[]", "[...]", "[1,3,224,224]", "[?,2..8,..5,3..]", "[0]"}) {
    const std::optional<PartialShape> shape = ParsePartialShape(text);
    ASSERT_TRUE(shape.has_value()) << text;
    EXPECT_EQ(ToString(*shape), text);
  }
  EXPECT_EQ(ToString(*ParsePartialShape("1, -1 ,2..2")), "[1,?,2]");
  EXPECT_EQ(ParsePartialShape("")->rank(), 0);
  for (const char* text :
       {"[1", "1,", ",", "[a]", "[..]", "[3..2]", "[-2]", "[99999999999999999999]", "[1,...]"}) {
    EXPECT_FALSE(ParsePartialShape(text).has_value()) << text;
  }
}

TEST(PartialShapeTest, Extents) {
  EXPECT_EQ((PartialShape{2, 3}).volume(), 6);
  EXPECT_EQ(PartialShape::OfRank(2).volume(), std::nullopt);
  EXPECT_FALSE(PartialShape::OfRank(1).known());
  EXPECT_FALSE(PartialShape().known());
  EXPECT_TRUE(PartialShape::OfRank(0).known());
  EXPECT_EQ((PartialShape{INT64_MAX, 2}).volume(), std::nullopt);
  EXPECT_TRUE(Dim(2, 5).Compatible(Dim(5, 9)));
  EXPECT_FALSE(Dim(2, 5).Compatible(Dim(6)));
}

TEST(AttributeTest, EmptyListsAreListsOfAnyKind) {
  const Attribute empty;
  EXPECT_TRUE(empty.AsInts().empty());
  EXPECT_TRUE(empty.AsDoubles().empty());
  EXPECT_TRUE(empty.AsPairs().empty());
  EXPECT_TRUE(empty.IsList());
  EXPECT_EQ(empty.ListSize(), 0u);
  const Attribute pairs = PairList({{1, 2}, {3, 4}});
  EXPECT_EQ(pairs.AsPairs(), (std::vector<std::pair<int64_t, int64_t>>{{1, 2}, {3, 4}}));
  EXPECT_EQ(pairs, PairList({{1, 2}, {3, 4}}));
  EXPECT_FALSE(pairs == PairList({{1, 2}, {3, 5}}));
  EXPECT_FALSE(Attribute(1) == Attribute(1.0));
}

TEST(AttributeTest, MapKeepsOrder) {
  AttributeMap map;
  map.Set("b", 1);
  map.Set("a", 2);
  map.Set("b", 3);
  EXPECT_EQ(map.begin()->first, "b");
  EXPECT_EQ(map.Get("b").AsInt(), 3);
  EXPECT_TRUE(map.Erase("b"));
  EXPECT_FALSE(map.Erase("b"));
  EXPECT_EQ(map.size(), 1u);
}

std::shared_ptr<const Frame> Stack(int depth) {
  std::shared_ptr<const Frame> frame;
  for (int i = 1; i <= depth; ++i) {
    auto next = std::make_shared<Frame>();
    next->parent = frame;
    next->fragment = "f" + std::to_string(i);
    next->scope = "s" + std::to_string(i);
    next->depth = i;
    frame = next;
  }
  return frame;
}

TEST(OriginTest, ScopeAndNotes) {
  EXPECT_EQ(ScopeName({}), "");
  EXPECT_EQ(ScopeName({{}, Stack(2)}), "s1/s2");
  const std::vector<DiagnosticNote> notes = StackNotes(Stack(2));
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes[0].message, "in `f2`, instantiated here");
  EXPECT_EQ(StackNotes(Stack(16)).size(), 16u);
  const std::vector<DiagnosticNote> shortened = StackNotes(Stack(100));
  ASSERT_EQ(shortened.size(), 17u);
  EXPECT_EQ(shortened[7].message, "in `f93`, instantiated here");
  EXPECT_EQ(shortened[8].message, "84 more instantiations");
  EXPECT_EQ(shortened[9].message, "in `f8`, instantiated here");
}

TEST(OriginTest, DeepStacksAreReleasedWithoutRecursion) {
  std::shared_ptr<const Frame> frame = Stack(1'000'000);
  const std::shared_ptr<const Frame> middle = frame->parent->parent;
  frame.reset();
  EXPECT_EQ(middle->depth, 999'998);
}

}  // namespace
}  // namespace nnefc::ir
