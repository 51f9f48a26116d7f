// Tokens of the text form of graphs: the end of each, and the error if there is none.

#include "compiler/ir/text/text_scanner.h"

#include <algorithm>
#include <functional>

#include "gtest/gtest.h"

namespace nnefc::ir {
namespace {

// Returns the result of `read` for a text: the token in brackets ("none" without one) and the text after it,
// without leading blanks, or "begin-end: message" of the error.
std::string Scan(std::string text, const std::function<std::optional<std::string>(TextScanner&)>& read) {
  Context context;
  const FileId file = context.sources.AddText("graph", text);
  TextScanner scanner(file, context);
  const std::optional<std::string> token = read(scanner);
  const llvm::ArrayRef<Diagnostic> diagnostics = context.emitter.diagnostics();
  EXPECT_EQ(scanner.failed(), !diagnostics.empty()) << text;
  if (!diagnostics.empty()) {
    EXPECT_EQ(diagnostics.size(), 1u);
    EXPECT_FALSE(token.has_value()) << text;
    const SourceRange range = diagnostics[0].range;
    return fmt::format("{}-{}: {}", range.begin, range.end, diagnostics[0].message);
  }
  const std::string rest = text.substr(std::min<size_t>(scanner.position(), text.size()));
  return token ? fmt::format("[{}]{}", *token, rest) : "none" + rest;
}

template <typename T>
std::optional<std::string> Printed(const std::optional<T>& value) {
  return value ? std::optional(fmt::format("{}", *value)) : std::nullopt;
}

// The first error ends the text: nothing is read after it, and no other error is reported.
TEST(TextScannerTest, NothingFollowsAnError) {
  const std::function<void(TextScanner&)> reads[] = {
      [](TextScanner& scanner) { EXPECT_FALSE(scanner.Accept("word")); },
      [](TextScanner& scanner) { EXPECT_FALSE(scanner.Accept(")")); },
      [](TextScanner& scanner) { EXPECT_FALSE(scanner.Expect("word")); },
      [](TextScanner& scanner) { EXPECT_FALSE(scanner.AtWord("word")); },
      [](TextScanner& scanner) { EXPECT_FALSE(scanner.AcceptWord().has_value()); },
      [](TextScanner& scanner) { EXPECT_FALSE(scanner.Word().has_value()); },
      [](TextScanner& scanner) { EXPECT_FALSE(scanner.Number().has_value()); },
      [](TextScanner& scanner) { EXPECT_FALSE(scanner.Integer().has_value()); },
      [](TextScanner& scanner) { EXPECT_FALSE(scanner.Index().has_value()); },
  };
  for (const char* text : {"word", "12", ")"}) {
    for (const auto& read : reads) {
      const auto with_error = [&](TextScanner& scanner) -> std::optional<std::string> {
        EXPECT_FALSE(scanner.Expect("("));
        read(scanner);
        return std::nullopt;
      };
      EXPECT_EQ(Scan(text, with_error), fmt::format("0-1: expected `(`, found `{}`", text));
    }
  }
}

TEST(TextScannerTest, Numbers) {
  const auto number = [](const char* text) {
    return Scan(text, [](TextScanner& scanner) { return Printed(scanner.Number()); });
  };
  for (const char* text : {"0", "9", "10", "-1", "12.5", "-12.5", "1.", "1e5", "1E5", "1e+5", "1e-5", "1.e5",
                           "1.5e-10", "inf", "-inf", "nan", "-nan", "0190"}) {
    EXPECT_EQ(number(text), fmt::format("[{}]", text));
    for (const char* rest : {":", "/", "{", "@", "[", "`", ",1", "-1"}) {
      if (std::string_view(text).ends_with('.') && rest[0] == '.') continue;
      EXPECT_EQ(number(fmt::format("{}{}", text, rest).c_str()), fmt::format("[{}]{}", text, rest));
    }
    for (const char* word : {"x", "a", "z", "A", "Z", "_"})
      EXPECT_TRUE(
          number(fmt::format("{}{}", text, word).c_str()).starts_with("0-1: expected a number, found `"))
          << text;
  }
  EXPECT_EQ(number("1.5.2"), "[1.5].2");
  EXPECT_EQ(number(" \t\r\n12 x"), "[12]x");
  EXPECT_EQ(number("1+5"), "[1]+5");
  EXPECT_EQ(number(""), "0-0: expected a number, found the end of the text");
  EXPECT_EQ(number("-"), "0-1: expected a number, found `-`");
  EXPECT_EQ(number("--1"), "0-1: expected a number, found `--1`");
  EXPECT_EQ(number(".5"), "0-1: expected a number, found `.`");
  EXPECT_EQ(number("-.5"), "0-1: expected a number, found `-`");
  EXPECT_EQ(number("e5"), "0-1: expected a number, found `e5`");
  EXPECT_EQ(number("1e"), "0-1: expected a number, found `1e`");
  EXPECT_EQ(number("1e-"), "0-1: expected a number, found `1e-`");
  EXPECT_EQ(number("1e+"), "0-1: expected a number, found `1e`");
  EXPECT_EQ(number("1e*5"), "0-1: expected a number, found `1e`");
  EXPECT_EQ(number("in"), "0-1: expected a number, found `in`");
  EXPECT_EQ(number("  x"), "2-3: expected a number, found `x`");
}

TEST(TextScannerTest, Integers) {
  const auto integer = [](const char* text) {
    return Scan(text, [](TextScanner& scanner) { return Printed(scanner.Integer()); });
  };
  EXPECT_EQ(integer("-12,"), "[-12],");
  EXPECT_EQ(integer("9223372036854775807"), "[9223372036854775807]");
  EXPECT_EQ(integer(" 9223372036854775808"), "1-2: `9223372036854775808` is not a 64-bit integer");
  EXPECT_EQ(integer("-9223372036854775808"), "[-9223372036854775808]");
  EXPECT_EQ(integer("-9223372036854775809"), "0-1: `-9223372036854775809` is not a 64-bit integer");
  EXPECT_EQ(integer("1.0"), "0-1: `1.0` is not a 64-bit integer");
  EXPECT_EQ(integer("inf"), "0-1: `inf` is not a 64-bit integer");
  EXPECT_EQ(integer("x"), "0-1: expected a number, found `x`");
}

TEST(TextScannerTest, Indices) {
  const auto index = [](const char* text) {
    return Scan(text, [](TextScanner& scanner) { return Printed(scanner.Index()); });
  };
  EXPECT_EQ(index("0"), "[0]");
  EXPECT_EQ(index("3.1"), "[3].1");
  EXPECT_EQ(index(" 09x"), "[9]x");
  EXPECT_EQ(index("19/"), "[19]/");
  EXPECT_EQ(index("19:"), "[19]:");
  EXPECT_EQ(index("2147483646"), "[2147483646]");
  EXPECT_EQ(index(" 2147483647 "), "1-11: `2147483647` is too large an index");
  EXPECT_EQ(index("99999999999"), "0-11: `99999999999` is too large an index");
  EXPECT_EQ(index("-1"), "0-1: expected an index, found `-1`");
  EXPECT_EQ(index(""), "0-0: expected an index, found the end of the text");
}

TEST(TextScannerTest, Words) {
  const auto word = [](const char* text) {
    return Scan(text, [](TextScanner& scanner) { return scanner.Word(); });
  };
  EXPECT_EQ(word("azAZ_09-x y"), "[azAZ_09-x]y");
  for (const char* first : {"a", "z", "A", "Z", "_"}) EXPECT_EQ(word(first), fmt::format("[{}]", first));
  for (const char* other : {"`", "{", "@", "[", "/", ":", "."}) {
    EXPECT_EQ(word(fmt::format("x{}", other).c_str()), fmt::format("[x]{}", other));
    EXPECT_EQ(word(other), fmt::format("0-1: expected a word, found `{}`", other));
  }
  EXPECT_EQ(word("0a"), "0-1: expected a word, found `0a`");
  EXPECT_EQ(word("9"), "0-1: expected a word, found `9`");
  EXPECT_EQ(word("-a"), "0-1: expected a word, found `-a`");
  EXPECT_EQ(word(" // x\n  // y\n z"), "[z]");
  EXPECT_EQ(word("//x"), "3-3: expected a word, found the end of the text");
  EXPECT_EQ(word("/x"), "0-1: expected a word, found `/`");
  // Messages show 40 characters of a long word.
  const std::string digits = "0123456789012345678901234567890123456789";
  EXPECT_EQ(word(digits.c_str()), "0-1: expected a word, found `" + digits + "`");
  EXPECT_EQ(word((digits + "0").c_str()), "0-1: expected a word, found `" + digits + "`");
  const auto accepted = [](const char* text) {
    return Scan(text, [](TextScanner& scanner) { return Printed(scanner.AcceptWord()); });
  };
  EXPECT_EQ(accepted("a-b c"), "[a-b]c");
  EXPECT_EQ(accepted(" \"a\""), "none\"a\"");
  EXPECT_EQ(accepted("1"), "none1");
  EXPECT_EQ(accepted(""), "none");
}

TEST(TextScannerTest, Strings) {
  const auto string = [](const char* text) {
    return Scan(text, [](TextScanner& scanner) { return scanner.Word(); });
  };
  EXPECT_EQ(string(R"("" x)"), "[]x");
  EXPECT_EQ(string(R"("a b\n\"\\c" x)"), "[a b\n\"\\c]x");
  EXPECT_EQ(string(R"("\x41\x4a\x4A\x7f")"), "[AJJ\x7f]");
  EXPECT_EQ(string(R"("\x09\x90")"), "[\t\x90]");
  EXPECT_EQ(string(R"("\xaf\xAF\xfa")"), "[\xaf\xaf\xfa]");
  for (const char* wrong : {R"("\q")", R"("\x4")", R"("\xg0")", R"("\x0g")", R"("\xG0")", R"("\x`0")",
                            R"("\x@0")", R"("\x:0")", R"("\x/0")", R"("\x)", R"("\x4)", R"("\)", R"("\t")"}) {
    const std::string message = string(wrong);
    EXPECT_TRUE(message.starts_with("0-") && message.ends_with(": unknown escape in a string"))
        << wrong << message;
  }
  EXPECT_EQ(string(R"(  "a\q")"), "2-6: unknown escape in a string");
  EXPECT_EQ(string(R"( "\x41)"), "1-6: the string does not end");
  EXPECT_EQ(string(R"( "abc)"), "1-5: the string does not end");
  EXPECT_EQ(string("\"ab\ncd\""), "0-3: the string does not end");
  EXPECT_EQ(string("\""), "0-1: the string does not end");
}

TEST(TextScannerTest, TokensAndWords) {
  const auto accept = [](const char* text, const char* token) {
    return Scan(text, [&](TextScanner& scanner) { return Printed(std::optional(scanner.Accept(token))); });
  };
  EXPECT_EQ(accept("graph \"a\"", "graph"), "[true]\"a\"");
  EXPECT_EQ(accept("graph{", "graph"), "[true]{");
  EXPECT_EQ(accept("graph", "graph"), "[true]");
  EXPECT_EQ(accept("graphs", "graph"), "[false]graphs");
  EXPECT_EQ(accept("graph-x", "graph"), "[false]graph-x");
  EXPECT_EQ(accept("graph1", "graph"), "[false]graph1");
  EXPECT_EQ(accept("grap", "graph"), "[false]grap");
  EXPECT_EQ(accept(" ::", ":"), "[true]:");
  EXPECT_EQ(accept("->x", "->"), "[true]x");
  EXPECT_EQ(accept("- >", "->"), "[false]- >");
  const auto expect = [](const char* text, const char* token) {
    return Scan(text, [&](TextScanner& scanner) {
      return scanner.Expect(token) ? std::optional<std::string>("") : std::nullopt;
    });
  };
  EXPECT_EQ(expect("(x", "("), "[]x");
  EXPECT_EQ(expect(" )x", "("), "1-2: expected `(`, found `)`");
  EXPECT_EQ(expect("graphs", "graph"), "0-1: expected `graph`, found `graphs`");
  EXPECT_EQ(expect(" ", "("), "1-1: expected `(`, found the end of the text");
  const auto at = [](const char* text, const char* word) {
    return Scan(text, [&](TextScanner& scanner) { return Printed(std::optional(scanner.AtWord(word))); });
  };
  EXPECT_EQ(at("sinks (", "sinks"), "[true]sinks (");
  EXPECT_EQ(at("sinks", "sinks"), "[true]sinks");
  EXPECT_EQ(at("sinks2", "sinks"), "[false]sinks2");
  EXPECT_EQ(at("sink", "sinks"), "[false]sink");
}

TEST(TextScannerTest, PartialShapes) {
  const auto shape = [](const char* text) {
    return Scan(text, [](TextScanner& scanner) { return Printed(scanner.AcceptPartialShape()); });
  };
  EXPECT_EQ(shape("[1,?]x"), "[[1,?]]x");
  EXPECT_EQ(shape(" [?]"), "[[?]]");
  EXPECT_EQ(shape("[...]"), "[[...]]");
  EXPECT_EQ(shape("[ 1 , 2..8 ],"), "[[ 1 , 2..8 ]],");
  EXPECT_EQ(shape("[1,2]"), "none[1,2]");
  EXPECT_EQ(shape("[1.5]"), "none[1.5]");
  EXPECT_EQ(shape("[]"), "none[]");
  EXPECT_EQ(shape("[?"), "none[?");
  EXPECT_EQ(shape("[?,x]"), "none[?,x]");
  EXPECT_EQ(shape("[?)"), "none[?)");
  EXPECT_EQ(shape("(?]"), "none(?]");
  EXPECT_EQ(shape("?]"), "none?]");
}

TEST(TextScannerTest, TextUntilACharacter) {
  const auto until = [](const char* text) {
    return Scan(text, [](TextScanner& scanner) { return Printed(scanner.Until(']')); });
  };
  EXPECT_EQ(until("a, b]c]"), "[a, b]c]");
  EXPECT_EQ(until("]"), "[]");
  EXPECT_EQ(until("a, b"), "0-1: expected `]`, found the end of the text");
}

// Only the first error is reported. All later calls fail.
TEST(TextScannerTest, CallsFailAfterAnError) {
  Context context;
  TextScanner scanner(context.sources.AddText("graph", "a 1 \"b\" [?] ]"), context);
  EXPECT_FALSE(scanner.Expect("("));
  EXPECT_TRUE(scanner.failed());
  EXPECT_FALSE(scanner.Accept("a"));
  EXPECT_FALSE(scanner.AtWord("a"));
  EXPECT_EQ(scanner.AcceptWord(), std::nullopt);
  EXPECT_EQ(scanner.Word(), std::nullopt);
  EXPECT_EQ(scanner.Number(), std::nullopt);
  EXPECT_EQ(scanner.Integer(), std::nullopt);
  EXPECT_EQ(scanner.Index(), std::nullopt);
  EXPECT_EQ(scanner.String(), std::nullopt);
  EXPECT_EQ(scanner.AcceptPartialShape(), std::nullopt);
  EXPECT_EQ(scanner.Until(']'), std::nullopt);
  EXPECT_EQ(context.emitter.diagnostics().size(), 1u);
}

TEST(TextScannerTest, TheFirstElidedConstant) {
  Context context;
  TextScanner scanner(context.sources.AddText("graph", ""), context);
  EXPECT_TRUE(scanner.IsFirstElided());
  EXPECT_FALSE(scanner.IsFirstElided());
  EXPECT_FALSE(scanner.IsFirstElided());
}

TEST(TextScannerTest, AZeroByteIsNotTheEnd) {
  Context context;
  TextScanner scanner(context.sources.AddText("graph", std::string(" \0 ", 3)), context);
  EXPECT_FALSE(scanner.AtEnd());
  TextScanner blank(context.sources.AddText("blank", " \t\r\n // x"), context);
  EXPECT_TRUE(blank.AtEnd());
}

}  // namespace
}  // namespace nnefc::ir
