// Messages of the parser with their columns and fixes: the cases in messages.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <tuple>
#include <utility>

#include "compiler/support/diagnostics/apply_fixes.h"
#include "fmt/core.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/syntax/parse_util.h"

namespace nnefc::ast {
namespace {

constexpr const char* kCases = "tests/unit/compiler/syntax/messages";

// The text of a document around the text of a case.
struct Frame {
  std::string before;
  std::string after;
  DocumentKind kind = DocumentKind::kModel;
};

Frame FrameOf(std::string_view name) {
  if (name == "ratified") return {"version 1.0;\ngraph g( x ) -> ( y ) {\n", "\n}\n"};
  if (name == "provisional") return {"version 1.0\ngraph g( x ) -> ( y ) {\n", "\n}\n"};
  if (name == "fragment") return {"version 1.0;\n", "\n{ y = x; }\ngraph g( x ) -> ( y ) { y = f(x); }\n"};
  if (name == "graph") return {"version 1.0;\n", "\n{ y = relu(x); }\n"};
  if (name == "quantization") return {"", "\n", DocumentKind::kQuantization};
  EXPECT_EQ(name, "document");
  return {"", "\n"};
}

// The text after the fixes of the diagnostics, without the frame.
std::string Fixed(const Parsed& parsed, const Frame& frame, bool with_unsafe) {
  std::vector<Diagnostic> fixable = parsed.context->emitter.diagnostics();
  for (Diagnostic& diagnostic : fixable) {
    if (diagnostic.applicability == Applicability::kUnsafe && !with_unsafe) diagnostic.fixes.clear();
  }
  std::stable_sort(fixable.begin(), fixable.end(),
                   [](const auto& a, const auto& b) { return a.range.begin < b.range.begin; });
  const FileId file = parsed.document->file;
  const std::string text = ApplyFixes(parsed.context->sources.Text(file), file, fixable).text;
  const size_t surround = frame.before.size() + frame.after.size();
  if (text.starts_with(frame.before) && text.ends_with(frame.after) && text.size() >= surround)
    return text.substr(frame.before.size(), text.size() - surround);
  return text;
}

void AppendLines(std::string& report, std::string_view prefix, std::string_view text) {
  while (true) {
    const size_t end = std::min(text.find('\n'), text.size());
    report += fmt::format("{} {}\n", prefix, text.substr(0, end));
    if (end == text.size()) return;
    text.remove_prefix(end + 1);
  }
}

// A case as the lists state it.
std::string Report(std::string_view frame_name, const std::string& text) {
  const Frame frame = FrameOf(frame_name);
  const Parsed parsed = Parse(frame.before + text + frame.after, {.kind = frame.kind});
  std::string report;
  AppendLines(report, "<", text);
  if (frame_name == "document") {
    const bool is_ratified = parsed.document->dialect == Dialect::kRatified;
    report += fmt::format("% {}{}{}\n", is_ratified ? "ratified" : "provisional",
                          parsed.document->reading.empty() ? "" : ": ", parsed.document->reading);
  }
  std::vector<Diagnostic> sorted = parsed.context->emitter.diagnostics();
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.range.begin < b.range.begin; });
  const auto lines_before = std::count(frame.before.begin(), frame.before.end(), '\n');
  const auto place = [&](const SourceRange& range) {
    const LineColumn at = parsed.context->sources.Position(range.start());
    return fmt::format("{}:{}+{}", at.line - lines_before, at.column, range.end - range.begin);
  };
  for (const Diagnostic& diagnostic : sorted) {
    report +=
        fmt::format("! {} {} [{}]\n", place(diagnostic.range), diagnostic.message, diagnostic.rule->label);
    for (const DiagnosticNote& note : diagnostic.notes)
      report += fmt::format("  {} {}\n", place(note.range), note.message);
  }
  const std::string safe = Fixed(parsed, frame, false), unsafe = Fixed(parsed, frame, true);
  if (safe != text) AppendLines(report, ">", safe);
  if (unsafe != safe) AppendLines(report, "~", unsafe);
  return report;
}

// Compares the cases of a list with what is reported, and returns their number.
size_t CheckList(const std::string& path) {
  const std::string list = ReadText(path);
  std::string frame, text, expected, updated;
  size_t count = 0;
  const auto close = [&] {
    if (expected.empty()) return;
    const std::string report = Report(frame, text);
    EXPECT_EQ(report, expected) << path;
    updated += report;
    text.clear();
    expected.clear();
    ++count;
  };
  for (size_t at = 0; at < list.size();) {
    const size_t end = std::min(list.find('\n', at), list.size());
    const std::string line = list.substr(at, end - at);
    at = end + 1;
    const bool is_case = !line.empty() && line[0] != '#' && line[0] != '@';
    if (!is_case) {
      close();
      updated += line + "\n";
    }
    if (line.starts_with("@ ")) frame = line.substr(2);
    if (!is_case) continue;
    if (line.starts_with("< ")) text += (expected.empty() ? "" : "\n") + line.substr(2);
    expected += line + "\n";
  }
  close();
  if (std::getenv("NNEFC_UPDATE_MESSAGES") != nullptr) std::ofstream(path) << updated;
  return count;
}

TEST(Messages, AreThoseOfTheLists) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kCases)) {
    if (entry.path().extension() == ".txt") count += CheckList(entry.path().string());
  }
  EXPECT_GT(count, 500);
}

// Messages and the text after the fixes, of an expression in a graph.
std::pair<std::string, std::string> MessageAndFix(const std::string& statements) {
  const Frame frame = FrameOf("ratified");
  const Parsed parsed = Parse(frame.before + statements + frame.after);
  const std::vector<std::string> messages = parsed.Messages();
  return {messages.empty() ? "" : messages.front(), Fixed(parsed, frame, false)};
}

// The brace that closes a body stands on a line of its own, however the text ends before it.
TEST(Messages, BodiesThatTheTextEndsIn) {
  const std::string body = "version 1.0;\ngraph g( x ) -> ( y )\n{\n    y = relu(x);";
  for (const auto& [end, fixed] :
       {std::pair("", "\n}\n"), std::pair("\n", "\n}\n"), std::pair("\n\n", "\n\n}\n"),
        std::pair("\n    ", "\n    \n}\n"), std::pair("    ", "    \n}\n"),
        std::pair("  # last", "  # last\n}\n"), std::pair("\n# last\n", "\n# last\n}\n")}) {
    const Parsed parsed = Parse(body + end);
    ASSERT_EQ(parsed.Messages().size(), 1U) << end;
    EXPECT_EQ(Fixed(parsed, {"", ""}, false), body + fixed) << end;
    EXPECT_EQ(Parse(body + fixed).Messages(), std::vector<std::string>()) << end;
  }
}

// A file that holds no text is one mistake: eight control characters at least, and one of sixteen bytes.
TEST(Messages, BinaryFilesAreOneMistake) {
  const auto is_binary = [](const std::string& text) {
    const std::vector<std::string> messages = Parse(text).Messages();
    return messages.size() == 1 &&
           messages[0].find("expected an NNEF document, a text in ASCII") != std::string::npos;
  };
  for (const size_t size : {size_t{8}, size_t{127}, size_t{128}, size_t{129}, size_t{144}}) {
    for (const size_t count : {size_t{7}, size_t{8}, size_t{9}}) {
      const std::string text = std::string(count, '\x01') + std::string(std::max(size, count) - count, 'a');
      EXPECT_EQ(is_binary(text), count >= 8 && count * 16 >= text.size()) << size << " " << count;
    }
  }
  for (const char c : {'\x01', '\x08', '\x0e', '\x1f', '\x7f'})
    EXPECT_TRUE(is_binary(std::string(8, c))) << int{c};
  for (const char c : {'\t', '\n', '\v', '\f', '\r', ' ', '!', '~'})
    EXPECT_FALSE(is_binary(std::string(8, c))) << int{c};
  const std::string nulls(20, '\0');
  const auto first = [](const std::string& text) { return Parse(text).Messages().front(); };
  EXPECT_NE(first("\x4e\xef" + nulls).find("this is a tensor file"), std::string::npos);
  EXPECT_NE(first("\xff\xfe" + nulls).find("the text is in UTF-16"), std::string::npos);
  EXPECT_NE(first("\xfe\xff" + nulls).find("the text is in UTF-16"), std::string::npos);
  EXPECT_NE(first("\xff\xff" + nulls).find("this file is in a binary format"), std::string::npos);
  // The first 1024 bytes are read.
  EXPECT_FALSE(is_binary(std::string(1024, ' ') + std::string(1000, '\x01')));
  EXPECT_TRUE(is_binary(std::string(960, ' ') + std::string(64, '\x01')));
  EXPECT_FALSE(is_binary(std::string(961, ' ') + std::string(63, '\x01')));
}

// The ASCII text for each character that looks like it, by the names of Unicode.
TEST(Messages, NameCharactersThatLookLikeAscii) {
  const std::vector<std::pair<const char*, const char*>> characters = {
      {"\u2010", "-"}, {"\u2011", "-"}, {"\u2012", "-"},  {"\u2013", "-"},  {"\u2014", "-"}, {"\u2212", "-"},
      {"\u00D7", "*"}, {"\u00F7", "/"}, {"\u2264", "<="}, {"\u2265", ">="}, {"\u2260", "!="}};
  for (const auto& [character, ascii] : characters) {
    const auto [message, fixed] = MessageAndFix(fmt::format("y = a {} b;", character));
    EXPECT_NE(message.find(fmt::format("stands for `{}`", ascii)), std::string::npos) << message;
    EXPECT_EQ(fixed, fmt::format("y = a {} b;", ascii));
  }
  const std::vector<std::pair<const char*, const char*>> brackets = {
      {"y = f\uFF08x);", "y = f(x);"}, {"y = f(x\uFF09;", "y = f(x);"}, {"y = f(x\uFF0C z);", "y = f(x, z);"},
      {"y = f(x)\uFF1B", "y = f(x);"}, {"y \uFF1D f(x);", "y = f(x);"}, {"y = a[1\uFF1A2];", "y = a[1:2];"}};
  for (const auto& [text, fixed] : brackets) EXPECT_EQ(MessageAndFix(text).second, fixed);
  for (const char* blank : {"\u00A0", "\u2002", "\u2003", "\u2007", "\u2009", "\u202F", "\u3000"}) {
    const auto [message, fixed] = MessageAndFix(fmt::format("y ={}f(x);", blank));
    EXPECT_NE(message.find("stands outside a comment"), std::string::npos) << message;
    EXPECT_EQ(fixed, "y = f(x);");
  }
  for (const char* nothing : {"\u200B", "\u200C", "\u200D", "\u2060", "\uFEFF"})
    EXPECT_EQ(MessageAndFix(fmt::format("y = {}f(x);", nothing)).second, "y = f(x);");
  for (const char* quote : {"\u2018", "\u2019", "\u201A", "\u201C", "\u201D", "\u201E", "\u00AB", "\u00BB",
                            "\u2032", "\u2033", "\u00B4", "`"}) {
    EXPECT_EQ(MessageAndFix(fmt::format("y = {0}a{0};", quote)).second, "y = 'a';");
    EXPECT_EQ(MessageAndFix(fmt::format("y = 'a{0};", quote)).second, "y = 'a';");
  }
}

// Letters of other scripts in names: by the code points of look-alike letters (Unicode's confusables).
TEST(Messages, NameLettersOfOtherScripts) {
  const std::vector<std::tuple<const char*, const char*, const char*>> letters = {
      {"\u0430", "a", "U+0430, Cyrillic"},   {"\u0410", "A", "U+0410, Cyrillic"},
      {"\u0441", "c", "U+0441, Cyrillic"},   {"\u0501", "d", "U+0501, Cyrillic"},
      {"\u0435", "e", "U+0435, Cyrillic"},   {"\u041D", "H", "U+041D, Cyrillic"},
      {"\u0456", "i", "U+0456, Cyrillic"},   {"\u0458", "j", "U+0458, Cyrillic"},
      {"\u043E", "o", "U+043E, Cyrillic"},   {"\u0440", "p", "U+0440, Cyrillic"},
      {"\u0455", "s", "U+0455, Cyrillic"},   {"\u0445", "x", "U+0445, Cyrillic"},
      {"\u0443", "y", "U+0443, Cyrillic"},   {"\u04BB", "h", "U+04BB, Cyrillic"},
      {"\u0391", "A", "U+0391, Greek"},      {"\u0392", "B", "U+0392, Greek"},
      {"\u03BF", "o", "U+03BF, Greek"},      {"\u03BD", "v", "U+03BD, Greek"},
      {"\u03A5", "Y", "U+03A5, Greek"},      {"\uFF21", "A", "U+FF21, full-width"},
      {"\uFF3A", "Z", "U+FF3A, full-width"}, {"\uFF41", "a", "U+FF41, full-width"},
      {"\uFF5A", "z", "U+FF5A, full-width"}, {"\uFF3F", "_", "U+FF3F, full-width"}};
  for (const auto& [letter, ascii, name] : letters) {
    const auto [message, fixed] = MessageAndFix(fmt::format("{}1 = f(x);", letter));
    EXPECT_EQ(message,
              fmt::format("3:1: `{}` ({}) looks like `{}` [syntax.invalid-character]", letter, name, ascii));
    EXPECT_EQ(fixed, fmt::format("{}1 = f(x);", ascii));
    EXPECT_EQ(MessageAndFix(fmt::format("y = f(x{}{});", letter, letter)).second,
              fmt::format("y = f(x{}{});", ascii, ascii));
  }
  for (const auto& [digit, ascii] : std::vector<std::pair<const char*, const char*>>{
           {"\uFF10", "0"}, {"\uFF19", "9"}, {"1\uFF10", "10"}}) {
    EXPECT_EQ(MessageAndFix(fmt::format("y = f({});", digit)).second, fmt::format("y = f({});", ascii));
  }
  // Words with a letter that looks like none, keywords, and the neighbours of full-width letters and digits.
  EXPECT_EQ(MessageAndFix("y = f(\u0430\u0431);").second, "y = f(\u0430\u0431);");
  EXPECT_EQ(MessageAndFix("y = f(\u0430\u00E4);").second, "y = f(\u0430\u00E4);");
  EXPECT_EQ(MessageAndFix("y = [f\u043Er i in x yield i];").second, "y = [for i in x yield i];");
  EXPECT_EQ(MessageAndFix("y = f(x\u0430\u2013b);").second, "y = f(xa-b);");
  for (const char* other : {"\uFF0F", "\uFF20", "\uFF3B", "\uFF40", "\uFF5B", "\uFF00", "\uFF5F"})
    EXPECT_EQ(MessageAndFix(fmt::format("y = f({}1);", other)).second, fmt::format("y = f({}1);", other));
}

// Bytes that begin no character are named alone, whatever follows them.
TEST(Messages, BytesOfNoCharacter) {
  for (const auto& [text, byte] : {std::pair("\t\x80", "0x09"), std::pair("\x80\x80", "0x80"),
                                   std::pair("\xC1\x80", "0xc1"), std::pair("\xC2q", "0xc2")}) {
    const std::string message = MessageAndFix(fmt::format("y = f('{}');", text)).first;
    EXPECT_NE(message.find(fmt::format("byte {} is not printable", byte)), std::string::npos) << message;
  }
  const std::string message = MessageAndFix("y = f('\xC2\x80');").first;
  EXPECT_NE(message.find("`\xC2\x80` is not printable"), std::string::npos) << message;
}

// Digits belong to the version only if they follow its second point at once.
TEST(Messages, PointsOfVersions) {
  const auto message = [](const std::string& version) {
    const std::vector<std::string> messages =
        Parse(version + ";\ngraph g( x ) -> ( y ) { y = x; }").Messages();
    return messages.empty() ? "" : messages.front();
  };
  EXPECT_NE(message("version 1.0.5").find("version `1.0.5` is not supported"), std::string::npos);
  for (const char* version : {"version 1.0. 5", "version 1.0.\n5", "version 1.0.\t5"})
    EXPECT_EQ(message(version).find("is not supported"), std::string::npos) << version;
}

// `x.shape` is read as `shape_of(x)`, an expression over the whole text.
TEST(Messages, RangeOfShapes) {
  for (const std::string statement : {"y = x.shape;", "y = f(x.shape);", "y = x.shape[0];"}) {
    const Parsed parsed = ParseRatified(statement);
    size_t count = 0;
    for (const Expr& expr : parsed.document->exprs) {
      if (!std::holds_alternative<Kept<BuiltinExpr>>(expr.node)) continue;
      ++count;
      EXPECT_EQ(parsed.context->sources.Text(expr.range.file)
                    .substr(expr.range.begin, expr.range.end - expr.range.begin),
                "x.shape");
    }
    EXPECT_EQ(count, 1) << statement;
  }
}

// A long text is not rewritten: 1000 bytes at most.
TEST(Messages, FixesOfCommentsAndArraysAreShort) {
  for (const char* quotes : {"/*", "\"\"\""}) {
    const bool is_c = quotes[0] == '/';
    const std::string close = is_c ? "*/" : quotes;
    const size_t around = is_c ? 4 : 0;
    for (const size_t size : {size_t{999}, size_t{1000}, size_t{1001}}) {
      const std::string body(size - around, 'a');
      const auto [message, fixed] = MessageAndFix(fmt::format("{}{}{}\ny = f(x);", quotes, body, close));
      EXPECT_NE(message.find("begins no comment"), std::string::npos);
      EXPECT_EQ(fixed.starts_with('#'), size <= 1000) << quotes << size;
    }
  }
  for (const size_t size : {size_t{999}, size_t{1000}, size_t{1001}}) {
    const std::string array = "{" + std::string(size - 2, '1') + "}";
    EXPECT_EQ(MessageAndFix("y = f(" + array + ");").second.find('{') == std::string::npos, size <= 1000)
        << size;
  }
}

}  // namespace
}  // namespace nnefc::ast
