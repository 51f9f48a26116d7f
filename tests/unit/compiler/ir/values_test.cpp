// Shapes, attributes and origins.

#include "compiler/ir/attribute.h"
#include "compiler/ir/origin.h"
#include "compiler/ir/shape.h"
#include "gtest/gtest.h"

namespace nnefc::ir {
namespace {

TEST(PartialShapeTest, Text) {
  for (const char* text : {"[]", "[...]", "[1,3,224,224]", "[?,2..8,..5,3..]", "[0]", "[..1,1..,1..2]"}) {
    const std::optional<PartialShape> shape = ParsePartialShape(text);
    ASSERT_TRUE(shape.has_value()) << text;
    EXPECT_EQ(ToString(*shape), text);
  }
  const std::pair<const char*, const char*> others[] = {{"1, -1 ,2..2", "[1,?,2]"},
                                                        {"", "[]"},
                                                        {" [1]\t", "[1]"},
                                                        {"\t[ 1\t,\t2 ] ", "[1,2]"},
                                                        {"...", "[...]"},
                                                        {"[ ... ]", "[...]"},
                                                        {"0..", "[?]"},
                                                        {"0..0", "[0]"},
                                                        {"..0", "[0]"},
                                                        {"1..1", "[1]"},
                                                        {"0..7", "[..7]"},
                                                        {"[ ]", "[]"},
                                                        {"  ", "[]"},
                                                        {"3..3,4", "[3,4]"}};
  for (const auto& [text, printed] : others) {
    const std::optional<PartialShape> shape = ParsePartialShape(text);
    ASSERT_TRUE(shape.has_value()) << text;
    EXPECT_EQ(ToString(*shape), printed) << text;
  }
  EXPECT_EQ(ParsePartialShape("")->rank(), 0);
  for (const char* text : {"[1",
                           "1]",
                           "[",
                           "]",
                           "][",
                           "1,",
                           ",",
                           ",1",
                           "1,,2",
                           "[a]",
                           "[1x]",
                           "[x1]",
                           "[..]",
                           "[3..2]",
                           "[-2]",
                           "[1..-1]",
                           "[-1..1]",
                           "[1..x]",
                           "[x..2]",
                           "[1x..2]",
                           "[1..2x]",
                           "[1...2]",
                           "[1.2]",
                           "[99999999999999999999]",
                           "[0..99999999999999999999]",
                           "[1,...]",
                           "[1 2]",
                           "[??]",
                           "[--1]"}) {
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
  EXPECT_EQ((PartialShape{2, 3}).extents(), (Shape{2, 3}));
  EXPECT_EQ((PartialShape{Dim(2), Dim(3, 4)}).extents(), std::nullopt);
  EXPECT_EQ((PartialShape{Dim(2), Dim(3, 4)}).volume(), std::nullopt);
  EXPECT_EQ(PartialShape().volume(), std::nullopt);
  EXPECT_EQ(PartialShape::OfRank(0).volume(), 1);
  EXPECT_EQ(PartialShape::OfRank(2), (PartialShape{Dim(), Dim()}));
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

// The kinds of attributes, each with its items as a list.
// Only a list converts to a list, and only an empty one to a list of any kind.
TEST(AttributeDeathTest, ListsOfOtherValues) {
  EXPECT_DEATH((void)Attribute(int64_t{5}).AsInts(), "");
  EXPECT_DEATH((void)Attribute(2.5).AsDoubles(), "");
  EXPECT_DEATH((void)Attribute("text").AsInts(), "");
  EXPECT_DEATH((void)Attribute(true).AsPairs(), "");
  EXPECT_DEATH((void)Attribute(Attribute::Strings{"a"}).AsInts(), "");
}

TEST(AttributeTest, Kinds) {
  const std::pair<Attribute, std::optional<size_t>> cases[] = {
      {Attribute(true), std::nullopt},
      {Attribute(1), std::nullopt},
      {Attribute(1.5), std::nullopt},
      {Attribute("text"), std::nullopt},
      {Attribute(ElementType::kF32), std::nullopt},
      {Attribute(PartialShape{1, 2}), std::nullopt},
      {Attribute(TensorValue::FromInts({2}, {1, 2})), std::nullopt},
      {Attribute(Attribute::Integers{1, 2}), 2},
      {Attribute(Attribute::Scalars{1.5}), 1},
      {Attribute(Attribute::Logicals{true, false, true}), 3},
      {Attribute(Attribute::Strings{"a", "b"}), 2},
      {Attribute(AttributeList{{Attribute(1), Attribute("a")}, false}), 2},
      {Attribute(AttributeList{{Attribute(1)}, true}), 1},
      {Attribute(Attribute::Integers{}), 0},
      {Attribute(Attribute::Scalars{}), 0},
      {Attribute(Attribute::Logicals{}), 0},
      {Attribute(Attribute::Strings{}), 0}};
  for (const auto& [attribute, size] : cases) {
    EXPECT_EQ(attribute.IsList(), size.has_value());
    EXPECT_EQ(attribute.ListSize(), size.value_or(0));
  }
  for (const auto& empty : {Attribute(Attribute::Scalars{}), Attribute(Attribute::Strings{})})
    EXPECT_TRUE(empty.AsInts().empty());
  EXPECT_EQ(Attribute(Attribute::Integers{1, 2}).AsInts(), (Attribute::Integers{1, 2}));
  EXPECT_EQ(Attribute(Attribute::Scalars{0.5}).AsDoubles(), (Attribute::Scalars{0.5}));
  EXPECT_EQ(Attribute(3).AsDouble(), 3.0);
  EXPECT_EQ(Attribute(0.5).AsDouble(), 0.5);
  EXPECT_FALSE(Attribute(AttributeList{{Attribute(1)}, true}) ==
               Attribute(AttributeList{{Attribute(1)}, false}));
}

TEST(AttributeTest, MapErasesTheNamedEntry) {
  AttributeMap map;
  for (const char* name : {"a", "b", "c"}) map.Set(name, name);
  EXPECT_TRUE(map.Erase("b"));
  EXPECT_EQ(map.Find("b"), nullptr);
  EXPECT_EQ(map.Get("a").AsString(), "a");
  EXPECT_EQ(map.Get("c").AsString(), "c");
  EXPECT_FALSE(map.Erase("d"));
  EXPECT_EQ(map.size(), 2u);
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
  const std::vector<DiagnosticNote> of_all = StackNotes(Stack(16));
  EXPECT_EQ(of_all[8].message, "in `f8`, instantiated here");
  const std::vector<DiagnosticNote> without_one = StackNotes(Stack(17));
  ASSERT_EQ(without_one.size(), 17u);
  EXPECT_EQ(without_one[7].message, "in `f10`, instantiated here");
  EXPECT_EQ(without_one[8].message, "1 more instantiations");
  EXPECT_EQ(without_one[9].message, "in `f8`, instantiated here");
  EXPECT_EQ(without_one[16].message, "in `f1`, instantiated here");
  EXPECT_EQ(StackNotes(Stack(24)).size(), 17u);
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
