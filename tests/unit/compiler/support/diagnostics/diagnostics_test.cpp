#include "compiler/support/diagnostics/diagnostics.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>

#include "compiler/support/check.h"
#include "compiler/support/context.h"
#include "compiler/support/diagnostics/sort_diagnostics.h"
#include "compiler/support/files/file.h"
#include "nlohmann/json.hpp"

namespace nnefc {
namespace {

constexpr Rule kTestRule{"test.rule", Severity::kError, "R 3.1"};
constexpr Rule kTestWarning{"test.warning", Severity::kWarning, ""};

TEST(SourceManagerTest, FindsLinesAndColumns) {
  SourceManager sources;
  FileId file = sources.AddText("a.nnef", "one\r\ntwo\n\nfour");
  EXPECT_EQ(sources.Position({file, 0}).line, 1);
  EXPECT_EQ(sources.Position({file, 6}).line, 2);
  EXPECT_EQ(sources.Position({file, 6}).column, 2);
  EXPECT_EQ(sources.Position({file, 14}).line, 4);
  EXPECT_EQ(sources.Line(file, 1), "one");
  EXPECT_EQ(sources.Line(file, 3), "");
  EXPECT_EQ(sources.Line(file, 4), "four");
}

// Threads share the texts of a base, whose lines are counted when a text is added.
TEST(SourceManagerTest, CountsLinesOfABaseAtOnce) {
  const std::string path = testing::TempDir() + "nnefc_lines_" + std::to_string(::getpid());
  ASSERT_TRUE(WriteFile(path, "a\nb\nc").ok());
  SourceManager base = SourceManager::MakeBase();
  const ErrorOr<FileId> file = base.Open(path);
  ASSERT_TRUE(file.ok());
  std::fstream(path, std::ios::in | std::ios::out) << "a-b-c";  // the text is that of the file
  ASSERT_EQ(base.Text(*file), "a-b-c");
  EXPECT_EQ(base.Position({*file, 4}).line, 3);
  std::remove(path.c_str());
}

// Offsets in a text have 32 bits.
TEST(SourceManagerTest, RefusesFilesOf4GiB) {
  const std::string path = testing::TempDir() + "nnefc_large_" + std::to_string(::getpid());
  ASSERT_TRUE(WriteFile(path, "").ok());
  ASSERT_EQ(::truncate(path.c_str(), off_t{1} << 32), 0);  // without data
  SourceManager sources;
  const ErrorOr<FileId> file = sources.Open(path);
  std::remove(path.c_str());
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().message, "`" + path + "` is larger than 4 GiB");
}

// Two ranges of a file have a common one, in either order.
TEST(SourceRangeTest, Cover) {
  const SourceRange early(FileId(0), 2, 5), late(FileId(0), 7, 9), within(FileId(0), 3, 4),
      other(FileId(1), 0, 1);
  const auto expect = [](SourceRange covered, uint32_t begin, uint32_t end) {
    EXPECT_EQ(covered.begin, begin);
    EXPECT_EQ(covered.end, end);
  };
  expect(Cover(early, late), 2, 9);
  expect(Cover(late, early), 2, 9);
  expect(Cover(early, within), 2, 5);
  expect(Cover(within, early), 2, 5);
  expect(Cover(early, other), 2, 5);
  expect(Cover(early, {}), 2, 5);
  expect(Cover({}, early), 2, 5);
}

TEST(EmitterTest, TellsAPlaceOnce) {
  Context context;
  FileId file = context.sources.AddText("a.nnef", "y = x;\n");
  for (int i = 0; i < 3; ++i) context.emitter.Emit(kTestRule, {file, 4, 5}, "run {}", i);
  context.emitter.Emit(kTestRule, {file, 0, 1}, "elsewhere");
  EXPECT_EQ(context.emitter.error_count(), 2u);
  context.emitter.Emit(kTestRule, {file, 4, 6}, "more from there");
  EXPECT_EQ(context.emitter.error_count(), 3u);
  EXPECT_EQ(context.emitter.diagnostics().front().message, "run 0");
}

// At the start of a file, where no text is marked, mistakes differ by their messages.
TEST(EmitterTest, TellsMessagesWithoutTextApart) {
  Context context;
  const FileId file = context.sources.AddText("a.nnef", "y = x;\n");
  for (const SourceRange& place : {SourceRange{file, 0, 0}, SourceRange()}) {
    const size_t before = context.emitter.error_count();
    for (const char* message : {"one", "another", "one"})
      context.emitter.Emit(kTestRule, place, "{}", message);
    EXPECT_EQ(context.emitter.error_count(), before + 2);
  }
}

TEST(EmitterTest, OneOfSeveralIsSingular) {
  const auto message = [](std::string_view text) {
    Emitter emitter;
    emitter.Emit(kTestRule, {}, "{}", text);
    return emitter.diagnostics().front().message;
  };
  EXPECT_EQ(message("1 items"), "1 item");
  EXPECT_EQ(message("1 items; expected 2"), "1 item; expected 2");
  EXPECT_EQ(message("it has 1 items"), "it has 1 item");
  EXPECT_EQ(message("11 items"), "11 items");
  EXPECT_EQ(message("it has 11 items"), "it has 11 items");
  EXPECT_EQ(message("2 and 1 items"), "2 and 1 items");
  EXPECT_EQ(message("of 1 items"), "of 1 item");
  EXPECT_EQ(message("and 1 items"), "and 1 items");
}

TEST(OrderOfPlaceTest, OrdersEachFileAndKeepsTheOrderOfFilesAndOfOnePlace) {
  Context context;
  FileId first = context.sources.AddText("a.nnef", "y = x;\n");
  FileId second = context.sources.AddText("b.nnef", "y = x;\n");
  context.emitter.Emit(kTestRule, {second, 4, 5}, "b late");
  context.emitter.Emit(kTestRule, {first, 4, 5}, "cause");
  context.emitter.Emit(kTestWarning, {first, 4, 6}, "consequence");
  context.emitter.Emit(kTestRule, {first, 0, 6}, "a early");
  context.emitter.Emit(kTestRule, {second, 0, 1}, "b early");
  std::vector<std::string> messages;
  for (const Diagnostic& diagnostic : SortedByLocation(context.emitter.diagnostics())) {
    messages.push_back(diagnostic.message);
  }
  EXPECT_EQ(messages, (std::vector<std::string>{"b early", "b late", "a early", "cause", "consequence"}));
}

TEST(EmitterTest, CountsBeyondItsLimit) {
  Emitter emitter(2);
  SourceManager sources;
  FileId file = sources.AddText("a.nnef", "xxxxxxxx");
  for (uint32_t i = 0; i < 2; ++i) emitter.Emit(kTestRule, {file, i, i + 1}, "wrong");
  EXPECT_FALSE(emitter.has_dropped_errors());
  for (uint32_t i = 2; i < 5; ++i) emitter.Emit(kTestRule, {file, i, i + 1}, "wrong");
  EXPECT_EQ(emitter.error_count(), 5u);
  EXPECT_EQ(emitter.diagnostics().size(), 2u);
  EXPECT_TRUE(emitter.exhausted());
  EXPECT_TRUE(emitter.has_dropped_errors());
  emitter.Clear();
  EXPECT_FALSE(emitter.has_dropped_errors());
}

TEST(EmitterTest, StoresAHundredErrors) {
  Emitter emitter;
  SourceManager sources;
  const FileId file = sources.AddText("a.nnef", std::string(200, 'x'));
  for (uint32_t i = 0; i < 99; ++i) emitter.Emit(kTestRule, {file, i, i + 1}, "wrong");
  EXPECT_EQ(emitter.room(), 1U);
  EXPECT_FALSE(emitter.exhausted());
  for (uint32_t i = 99; i < 102; ++i) emitter.Emit(kTestRule, {file, i, i + 1}, "wrong");
  EXPECT_EQ(emitter.room(), 0U);
  EXPECT_EQ(emitter.error_count(), 102U);
  EXPECT_EQ(emitter.diagnostics().size(), 100U);
}

// The emitter of a caller treats diagnostics of a callee as its own: one per location, errors beyond a limit
// counted.
TEST(EmitterTest, TakesWhatACalleeTold) {
  Context context;
  const FileId file = context.sources.AddText("a.nnef", "abcdef");
  context.emitter = Emitter(3);
  context.emitter.Emit(kTestRule, {file, 0, 1}, "caller");
  EXPECT_EQ(context.emitter.room(), 2u);
  Context callee(context, context.emitter.room());
  EXPECT_EQ(&callee.sources, &context.sources);
  EXPECT_EQ(&callee.symbols, &context.symbols);
  callee.emitter.Emit(kTestRule, {file, 0, 1}, "the same place");
  callee.emitter.Emit(kTestWarning, {file, 1, 2}, "warning");
  EXPECT_FALSE(callee.emitter.exhausted());
  for (uint32_t i = 2; i < 5; ++i) callee.emitter.Emit(kTestRule, {file, i, i + 1}, "error {}", i);
  EXPECT_TRUE(callee.emitter.exhausted());
  EXPECT_EQ(callee.emitter.room(), 0u);
  EXPECT_EQ(context.emitter.error_count(), 1u);
  EXPECT_FALSE(context.emitter.has_dropped_errors());
  context.emitter.Take(std::move(callee.emitter));
  EXPECT_TRUE(context.emitter.has_dropped_errors());
  std::vector<std::string> messages;
  for (const Diagnostic& diagnostic : context.emitter.diagnostics()) messages.push_back(diagnostic.message);
  EXPECT_EQ(messages, (std::vector<std::string>{"caller", "warning", "error 2"}));
  EXPECT_EQ(context.emitter.error_count(), 4u);
}

TEST(RenderTest, UnderlinesTheRange) {
  Context context;
  FileId file = context.sources.AddText("a.nnef", "first\n\ty = rleu(x);\n");
  context.emitter.Emit(kTestRule, {file, 11, 15}, "no operation `rleu`")
      .Fix({file, 11, 15}, "relu")
      .Note({file, 0, 5}, "declared here");
  EXPECT_EQ(RenderText(context.emitter.diagnostics(), context.sources, {}),
            "a.nnef:2:6: error: no operation `rleu` [test.rule]\n"
            "    2 |  y = rleu(x);\n"
            "      |      ^~~~\n"
            "      |      relu\n"
            "a.nnef:1:1: note: declared here\n"
            "    1 | first\n"
            "      | ^~~~~\n");
}

// 160 bytes of a long line are shown: from its start if the range begins in the first 80, else the 80 before
// it. A character is not cut.
TEST(RenderTest, CutsLongLines) {
  std::string line;
  for (int i = 0; i < 400; ++i) line += static_cast<char>('a' + i % 26);
  const auto shown = [&](const std::string& text, uint32_t column) {
    Context context;
    const FileId file = context.sources.AddText("a.nnef", text + "\n");
    context.emitter.Emit(kTestRule, {file, column, column + 1}, "wrong");
    const std::string rendered = RenderText(context.emitter.diagnostics(), context.sources, {});
    const size_t begin = rendered.find("    1 | ") + 8;
    const std::string excerpt = rendered.substr(begin, rendered.find('\n', begin) - begin);
    const size_t caret = rendered.find('^', begin) - rendered.find("      | ", begin) - 8;
    EXPECT_EQ(excerpt.substr(caret, 1), text.substr(column, 1)) << column;
    return excerpt;
  };
  for (const uint32_t column : {0U, 53U, 54U, 79U, 80U})
    EXPECT_EQ(shown(line, column), line.substr(0, 160) + "...") << column;
  for (const uint32_t column : {81U, 82U, 200U, 319U})
    EXPECT_EQ(shown(line, column), "..." + line.substr(column - 80, 160) + "...") << column;
  for (const uint32_t column : {320U, 321U, 399U})
    EXPECT_EQ(shown(line, column), "..." + line.substr(240, 160)) << column;
  EXPECT_EQ(shown(line.substr(0, 160), 159), line.substr(0, 160));
  EXPECT_EQ(shown(line.substr(0, 161), 159), "..." + line.substr(1, 160));
  EXPECT_EQ(shown(line.substr(0, 161), 80), line.substr(0, 160) + "...");
  // The first byte that would be shown continues a character, and so does the first one after the last.
  std::string wide = line;
  wide.replace(119, 2, "\xc3\xa9");
  EXPECT_EQ(shown(wide, 200), "..." + wide.substr(121, 160) + "...");
  wide = line;
  wide.replace(159, 2, "\xc3\xa9");
  EXPECT_EQ(shown(wide, 0), wide.substr(0, 159) + "...");
}

// Characters before a mark take no column, one or two.
TEST(RenderTest, ColumnsOfCharacters) {
  struct Row {
    const char* text;
    size_t columns;
  };
  const Row rows[] = {
      {"a", 1},
      {"\xc3\xa4", 1},          // U+00E4
      {"\xcc\x80", 0},          // U+0300
      {"\xcd\xaf", 0},          // U+036F
      {"\xcd\xb0", 1},          // U+0370
      {"\xe0\xa4\x84", 1},      // U+0904
      {"\xe1\x84\x80", 2},      // U+1100
      {"\xe1\x85\x9f", 2},      // U+115F
      {"\xe1\x85\xa0", 1},      // U+1160
      {"\xe2\x80\x8b", 0},      // U+200B
      {"\xe2\x80\x8a", 1},      // U+200A
      {"\xe2\x80\x90", 1},      // U+2010
      {"\xe2\xba\x80", 2},      // U+2E80
      {"\xe4\xb8\xad", 2},      // U+4E2D
      {"\xea\x93\x8f", 2},      // U+A4CF
      {"\xea\x93\x90", 1},      // U+A4D0
      {"\xea\xb0\x80", 2},      // U+AC00
      {"\xef\xb8\x8f", 0},      // U+FE0F
      {"\xef\xb8\xb0", 2},      // U+FE30
      {"\xef\xbc\xa1", 2},      // U+FF21
      {"\xef\xbd\xa1", 1},      // U+FF61
      {"\xf0\x9f\x8c\x80", 2},  // U+1F300
      {"\xf0\x9f\x99\x8f", 2},  // U+1F64F
      {"\xf0\x9f\x99\x90", 1},  // U+1F650
      {"\xf0\xa0\x80\x80", 2},  // U+20000
      {"\xf0\xbf\xbf\xbd", 2},  // U+3FFFD
      {"\xf1\x80\x80\x80", 1},  // U+40000
      {"\xf1\x9f\x8c\x80", 1},  // U+5F300
      {"\xf3\xa0\x80\x80", 1},  // U+E0000
      {"\xf4\x8f\xbf\xbd", 1},  // U+10FFFD
  };
  for (const Row& row : rows) {
    Context context;
    const std::string text = fmt::format("{}{}x = 1;\n", row.text, row.text);
    const FileId file = context.sources.AddText("a.nnef", text);
    const auto begin = static_cast<uint32_t>(2 * std::string_view(row.text).size());
    context.emitter.Emit(kTestRule, {file, begin, begin + 1}, "here");
    const std::string rendered = RenderText(context.emitter.diagnostics(), context.sources, {.color = false});
    const std::string mark = "\n      | " + std::string(2 * row.columns, ' ') + "^\n";
    EXPECT_NE(rendered.find(mark), std::string::npos) << rendered;
  }
}

// A line of bytes that are no text is cut like others.
TEST(RenderTest, CutsBytesThatAreNoText) {
  Context context;
  const FileId file = context.sources.AddText("a.nnef", std::string(1000, '\x80'));
  context.emitter.Emit(kTestRule, {file, 500, 501}, "here");
  const std::string rendered = RenderText(context.emitter.diagnostics(), context.sources, {.color = false});
  EXPECT_NE(rendered.find('^'), std::string::npos) << rendered;
  const auto shown = std::count(rendered.begin(), rendered.end(), '\x80');
  EXPECT_TRUE(shown >= 1 && shown <= 160) << rendered;
}

TEST(CheckTest, StatesTheBrokenInvariant) {
  EXPECT_EXIT(CheckFailed("a < b", "file.cpp", 12), testing::KilledBySignal(SIGABRT),
              "nnefc: internal error: file.cpp:12: broken invariant: a < b");
}

TEST(RenderTest, MarksUnsafeFixes) {
  Context context;
  FileId file = context.sources.AddText("a.nnef", "y = rleu(x);\n");
  context.emitter.Emit(kTestRule, {file, 4, 8}, "no operation `rleu`")
      .Fix({file, 4, 8}, "relu", Applicability::kUnsafe);
  EXPECT_EQ(RenderText(context.emitter.diagnostics(), context.sources, {}),
            "a.nnef:1:5: error: no operation `rleu` [test.rule]\n"
            "    1 | y = rleu(x);\n"
            "      |     ^~~~\n"
            "      |     relu  (unsafe fix)\n");
  EXPECT_EQ(RenderText(context.emitter.diagnostics(), context.sources, {.excerpts = false}),
            "a.nnef:1:5: error: no operation `rleu` [test.rule]\n"
            "a.nnef:1:5: note: replace this by `relu`  (unsafe fix)\n");
}

// Without excerpts a note describes each fix in words.
TEST(RenderTest, DescribesFixes) {
  Context context;
  const FileId file = context.sources.AddText("a.nnef", "y = x;;\n");
  const auto note = [&](SourceRange range, std::string text, Applicability applicability) {
    context.emitter.Clear();
    context.emitter.Emit(kTestRule, {file, 4, 5}, "here").Fix(range, std::move(text), applicability);
    std::string rendered = RenderText(context.emitter.diagnostics(), context.sources, {.excerpts = false});
    return rendered.substr(rendered.find('\n') + 1);
  };
  for (const auto& [applicability, mark] :
       {std::pair(Applicability::kSafe, ""), std::pair(Applicability::kUnsafe, "  (unsafe fix)")}) {
    EXPECT_EQ(note({file, 6, 7}, "", applicability), fmt::format("a.nnef:1:7: note: remove this{}\n", mark));
    EXPECT_EQ(note({file, 4, 4}, "-", applicability),
              fmt::format("a.nnef:1:5: note: insert `-` here{}\n", mark));
    EXPECT_EQ(note({file, 4, 5}, "\nz\n", applicability),
              fmt::format("a.nnef:1:5: note: replace this by `z`{}\n", mark));
  }
}

// One unsafe edit makes the whole fix unsafe.
TEST(Diagnostic, HasOneApplicability) {
  Context context;
  FileId file = context.sources.AddText("a.nnef", "y = rleu(x);\n");
  context.emitter.Emit(kTestRule, {file, 4, 8}, "safe").Fix({file, 4, 8}, "relu");
  context.emitter.Emit(kTestRule, {file, 0, 1}, "unsafe")
      .Fix({file, 0, 1}, "z", Applicability::kUnsafe)
      .Fix({file, 4, 8}, "relu");
  EXPECT_EQ(context.emitter.diagnostics()[0].applicability, Applicability::kSafe);
  EXPECT_EQ(context.emitter.diagnostics()[1].applicability, Applicability::kUnsafe);
  const std::string json = RenderJson(context.emitter.diagnostics(), context.sources);
  EXPECT_NE(json.find("\"applicability\": \"safe\""), std::string::npos);
  EXPECT_NE(json.find("\"applicability\": \"unsafe\""), std::string::npos);
  const std::string sarif = RenderSarif(context.emitter.diagnostics(), context.sources);
  EXPECT_NE(sarif.find("\"applicability\": \"safe\""), std::string::npos);
  EXPECT_NE(sarif.find("\"applicability\": \"unsafe\""), std::string::npos);
}

// Adjacent fixes are shown as the resulting text.
TEST(RenderTest, ShowsFixesOfOneLineTogether) {
  const auto rendered = [](std::initializer_list<FixIt> fixes) {
    Context context;
    FileId file = context.sources.AddText("a.nnef", "f(stride = 2, x);\n");
    {
      DiagnosticBuilder builder = context.emitter.Emit(kTestRule, {file, 11, 12}, "no list");
      for (const FixIt& fix : fixes) builder.Fix({file, fix.range.begin, fix.range.end}, fix.text);
    }
    std::string text = RenderText(context.emitter.diagnostics(), context.sources, {});
    const std::string line = "      |            ^\n";
    return text.substr(text.find(line) + line.size());
  };
  const auto at = [](uint32_t begin, uint32_t end) { return SourceRange(FileId(), begin, end); };
  EXPECT_EQ(rendered({{at(11, 11), "["}, {at(12, 12), "]"}}), "      |            [2]\n");
  EXPECT_EQ(rendered({{at(12, 12), "]"}, {at(11, 11), "["}}), "      |            [2]\n");
  // Insertions at one place follow each other as they are listed.
  EXPECT_EQ(rendered({{at(11, 11), "("}, {at(11, 11), "["}, {at(12, 12), "]"}, {at(12, 12), ")"}}),
            "      |            ([2])\n");
  // Three fixes, one of which deletes.
  EXPECT_EQ(rendered({{at(2, 8), "by"}, {at(11, 11), "["}, {at(12, 15), "]"}}), "      |   by       [2]\n");
  EXPECT_EQ(rendered({{at(11, 12), ""}, {at(12, 13), ";"}}), "      |            ;\n");
  EXPECT_EQ(rendered({{at(2, 10), ""}, {at(11, 12), ""}}), "      |   -------- -\n");
  EXPECT_EQ(rendered({{at(2, 11), ""}, {at(11, 12), ""}}), "      |   ----------\n");
  // A range whose end is before its begin has no place in the line.
  EXPECT_EQ(rendered({{at(11, 10), "x"}}).substr(0, 18), "a.nnef:1:12: note:");
  // Overlapping fixes are shown one by one.
  EXPECT_EQ(rendered({{at(2, 8), "by"}, {at(7, 9), "="}}).substr(0, 17), "a.nnef:1:3: note:");
}

// The line feed of a line that ends in CR LF is beyond the text that is shown.
TEST(RenderTest, ShowsNoLineForItsEnd) {
  Context context;
  const FileId file = context.sources.AddText("a.nnef", "one\r\ntwo\n");
  context.emitter.Emit(kTestRule, {file, 4, 5}, "here");
  EXPECT_EQ(RenderText(context.emitter.diagnostics(), context.sources, {}),
            "a.nnef:1:5: error: here [test.rule]\n");
}

// A fix of another file has a line of its own.
TEST(RenderTest, ShowsFixesOfOtherFiles) {
  Context context;
  const FileId file = context.sources.AddText("a.nnef", "y = x;\n");
  const FileId other = context.sources.AddText("b.quant", "y: x;\n");
  context.emitter.Emit(kTestRule, {file, 4, 5}, "no `x`").Fix({other, 3, 4}, "z");
  EXPECT_EQ(RenderText(context.emitter.diagnostics(), context.sources, {}),
            "a.nnef:1:5: error: no `x` [test.rule]\n"
            "    1 | y = x;\n"
            "      |     ^\n"
            "b.quant:1:4: note: replace this by `z`\n"
            "    1 | y: x;\n"
            "      |    ^\n");
}

TEST(RenderTest, TellsBinaryFilesByByte) {
  Context context;
  FileId file = context.sources.AddOpaque("w.dat", FileKind::kBinary);
  context.emitter.Emit(kTestRule, {file, 8, 12}, "rank 9; at most 8");
  EXPECT_EQ(RenderText(context.emitter.diagnostics(), context.sources, {}),
            "w.dat: error: at byte 8: rank 9; at most 8 [test.rule]\n");
}

TEST(RenderTest, WritesJsonInUtf8) {
  Context context;
  const FileId file = context.sources.AddText("ü.nnef", "y = x;\n");
  context.emitter.Emit(kTestRule, {file, 0, 1}, "Größe");
  const std::string json = RenderJson(context.emitter.diagnostics(), context.sources);
  EXPECT_NE(json.find("\"message\": \"Größe\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"file\": \"ü.nnef\""), std::string::npos) << json;
}

TEST(RenderTest, MakesValidJsonOfAnyBytes) {
  Context context;
  FileId file = context.sources.AddText("\xff.nnef", "\xff\xfe");
  context.emitter.Emit(kTestWarning, {file, 0, 1}, "byte `{}`", "\xff");
  auto json = nlohmann::json::parse(RenderJson(context.emitter.diagnostics(), context.sources));
  EXPECT_EQ(json["diagnostics"][0]["severity"], "warning");
  EXPECT_EQ(json["diagnostics"][0]["line"], 1);
  EXPECT_EQ(json["diagnostics"][0]["file"], "\uFFFD.nnef");
  EXPECT_EQ(json["diagnostics"][0]["message"], "byte `\uFFFD`");
  auto sarif = nlohmann::json::parse(RenderSarif(context.emitter.diagnostics(), context.sources));
  EXPECT_EQ(sarif["version"], "2.1.0");
  EXPECT_EQ(sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "%FF.nnef");
}

}  // namespace
}  // namespace nnefc
