// Line breaks and comments of the pretty-printer.

#include "compiler/syntax/layout.h"

#include "gtest/gtest.h"

namespace nnefc::ast {
namespace {

// Returns `head`, a group of the pieces with a break before each one but the first, and `)`.
std::string LinesOfGroup(std::string_view head, Layout::Group group, int width, int indent = 0) {
  Layout layout;
  layout.Text(head);
  layout.Begin(group);
  layout.Text("aaa,");
  layout.Break();
  layout.Text("bb,");
  layout.Break();
  layout.Text("c");
  layout.End();
  layout.Text(")");
  return layout.Lines(indent, width);
}

// A line has at most as many columns as the width, with the text that must follow the group.
TEST(LayoutTest, FilledLinesEndAtTheWidth) {
  const auto lines = [](int width, int indent) {
    return LinesOfGroup("f(", Layout::Group::kFill, width, indent);
  };
  EXPECT_EQ(lines(13, 0), "f(aaa, bb, c)");
  EXPECT_EQ(lines(12, 0), "f(aaa, bb,\n  c)");
  EXPECT_EQ(lines(10, 0), "f(aaa, bb,\n  c)");
  EXPECT_EQ(lines(9, 0), "f(aaa,\n  bb, c)");
  EXPECT_EQ(lines(8, 0), "f(aaa,\n  bb, c)");
  EXPECT_EQ(lines(7, 0), "f(aaa,\n  bb,\n  c)");
  EXPECT_EQ(lines(1, 0), "f(aaa,\n  bb,\n  c)");
  // The first line begins at the column of the indentation, which is not written.
  EXPECT_EQ(lines(17, 4), "f(aaa, bb, c)");
  EXPECT_EQ(lines(16, 4), "f(aaa, bb,\n      c)");
}

// A hanging group starts in column 60 at most; one further to the right that does not fit moves.
TEST(LayoutTest, HangingGroupsMoveFromTheRight) {
  const std::string before(60, '.'), beyond(61, '.');
  EXPECT_EQ(LinesOfGroup(before, Layout::Group::kHang, 71), before + "aaa, bb, c)");
  EXPECT_EQ(LinesOfGroup(before, Layout::Group::kHang, 70),
            before + "aaa, bb,\n" + std::string(60, ' ') + "c)");
  EXPECT_EQ(LinesOfGroup(beyond, Layout::Group::kHang, 72), beyond + "aaa, bb, c)");
  EXPECT_EQ(LinesOfGroup(beyond, Layout::Group::kHang, 71), beyond + "\n    aaa, bb, c)");
  EXPECT_EQ(LinesOfGroup(beyond, Layout::Group::kFill, 71),
            beyond + "aaa, bb,\n" + std::string(61, ' ') + "c)");
}

// A group of one piece per line is broken at every break, or at none.
TEST(LayoutTest, OnePiecePerLine) {
  Layout layout;
  layout.Text("f(");
  layout.Begin(Layout::Group::kEach);
  layout.Break();
  layout.Text("aaa,");
  layout.Break();
  layout.Text("bb");
  layout.Break(kIndent);
  layout.Text(")");
  layout.End();
  EXPECT_EQ(layout.Flat(), "f( aaa, bb )");
  EXPECT_EQ(layout.Lines(0, 12), "f( aaa, bb )");
  EXPECT_EQ(layout.Lines(0, 11), "f(\n    aaa,\n    bb\n)");
  EXPECT_EQ(layout.Lines(4, 15), "f(\n        aaa,\n        bb\n    )");
}

// A comment on its own line has the indentation of the text after it.
TEST(LayoutTest, CommentsOnTheirOwnLines) {
  Layout layout;
  layout.Comment("# first", false);
  layout.Text("f(");
  layout.Begin(Layout::Group::kEach);
  layout.Break();
  layout.Comment("# second", false);
  layout.Comment("# third", false);
  layout.Text("aaa,");
  layout.Comment("# fourth", false);
  layout.Break();
  layout.Text("bb)");
  layout.End();
  EXPECT_EQ(layout.Lines(0, 8), "# first\nf(\n    # second\n    # third\n    aaa,\n    # fourth\n    bb)");
  EXPECT_EQ(layout.Flat(), "f( aaa, bb)");
}

// A comment after the text of its line follows two blanks and ends the line, which may be too long.
TEST(LayoutTest, TrailingComments) {
  Layout layout;
  layout.Text("f(");
  layout.Begin(Layout::Group::kFill);
  layout.Text("aaa,");
  layout.Break();
  layout.Comment("# first", true);
  layout.Text("bb,");
  layout.Comment("# second", true);
  layout.Comment("# third", false);
  layout.Break();
  layout.Text("c");
  layout.End();
  layout.Text(")");
  layout.Comment("# last", true);
  EXPECT_EQ(layout.Lines(0, 80), "f(aaa,  # first\n  bb,  # second\n  # third\n  c)  # last");
}

}  // namespace
}  // namespace nnefc::ast
