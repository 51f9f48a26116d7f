#include "compiler/support/text/json_value.h"

#include <gtest/gtest.h>

#include <limits>

#include "compiler/support/context.h"

namespace nnefc {
namespace {

constexpr Rule kSyntax{"test.syntax", Severity::kError, ""};
constexpr Rule kRepetition{"test.repetition", Severity::kError, ""};

struct ReadText {
  explicit ReadText(const std::string& text) {
    const FileId file = context.sources.AddText("x.json", text);
    value = ReadJson(text, file, 0, {.syntax = &kSyntax, .repetition = &kRepetition, .holds = "an object"},
                     context.emitter);
  }
  bool Has(std::string_view label) const {
    for (const Diagnostic& diagnostic : context.emitter.diagnostics()) {
      if (diagnostic.rule->label == label) return true;
    }
    return false;
  }

  Context context;
  std::optional<JsonValue> value;
};

// As deep as 64, and not one more: of arrays, of objects, and of both by turns.
TEST(JsonValueTest, DeepestNesting) {
  for (const size_t depth : {1, 63, 64, 65, 66}) {
    for (const int kind : {0, 1, 2}) {
      std::string begin, end;
      for (size_t i = 0; i < depth; ++i) {
        const bool is_object = kind == 1 || (kind == 2 && i % 2 == 0);
        begin += is_object ? "{\"k\": " : "[";
        end.insert(0, is_object ? "}" : "]");
      }
      begin += "1";
      begin += end;
      const ReadText read(begin);
      EXPECT_EQ(read.value.has_value(), depth <= 64) << depth;
      EXPECT_EQ(read.Has("test.syntax"), depth > 64) << depth;
    }
  }
}

// What is closed does not count: many containers side by side are no nesting.
TEST(JsonValueTest, ContainersSideBySide) {
  std::string text = "[";
  for (int i = 0; i < 200; ++i) text += "[[]], {\"a\": {}}, ";
  EXPECT_TRUE(ReadText(text + "1]").value.has_value());
}

TEST(JsonValueTest, LargestIntegers) {
  const ReadText read("[9223372036854775807, 9223372036854775808, -9223372036854775808, 0]");
  ASSERT_TRUE(read.value.has_value());
  const auto* items = read.value->get<JsonValue::Items>();
  ASSERT_NE(items, nullptr);
  ASSERT_EQ(items->size(), 4U);
  ASSERT_NE((*items)[0].get<int64_t>(), nullptr);
  EXPECT_EQ(*(*items)[0].get<int64_t>(), std::numeric_limits<int64_t>::max());
  ASSERT_NE((*items)[1].get<double>(), nullptr);
  EXPECT_EQ(*(*items)[1].get<double>(), 0x1p63);
  ASSERT_NE((*items)[2].get<int64_t>(), nullptr);
  EXPECT_EQ(*(*items)[2].get<int64_t>(), std::numeric_limits<int64_t>::min());
  ASSERT_NE((*items)[3].get<int64_t>(), nullptr);
}

// The range of a value is its text. Of an array or an object it is the opening bracket.
TEST(JsonValueTest, RangesOfValues) {
  for (const char* word :
       {"null",       "true",     "false",         "0",        "-7",        "12",       "1.5",  "-2.25",
        "1e5",        "1E5",      "1909",          "1E+5",     "1e-5",      "-0.5E-10", "\"\"", "\"a\"",
        "\"a\\\"b\"", "\"\\\\\"", "\"a\\\\\\\"\"", "\"\\\"\"", "\"[]{}:,\""}) {
    for (const auto& [before, after] :
         {std::pair("[", "]"), {"[ ", " ]"}, {"[1,", ",2]"}, {"[\n1 , ", "\n, 2]"}}) {
      const std::string text = std::string(before) + word + after;
      const ReadText read(text);
      ASSERT_TRUE(read.value.has_value()) << text;
      const JsonValue& value =
          (*read.value->get<
              JsonValue::Items>())[std::string_view(before).find('1') != std::string_view::npos ? 1 : 0];
      EXPECT_EQ(text.substr(value.range.begin, value.range.end - value.range.begin), word) << text;
    }
    // A value that is the whole text.
    const ReadText whole(word);
    ASSERT_TRUE(whole.value.has_value()) << word;
    EXPECT_EQ(whole.value->range.begin, 0U) << word;
    EXPECT_EQ(whole.value->range.end, std::string(word).size()) << word;
  }
  const std::string text = "{\"k\": [], \"\\\"\\\\\": {}}";
  const ReadText read(text);
  ASSERT_TRUE(read.value.has_value());
  const auto& members = *read.value->get<JsonValue::Members>();
  ASSERT_EQ(members.size(), 2U);
  const auto part = [&](SourceRange range) { return text.substr(range.begin, range.end - range.begin); };
  EXPECT_EQ(part(read.value->range), "{");
  EXPECT_EQ(part(members[0].key_range), "\"k\"");
  EXPECT_EQ(part(members[0].value.range), "[");
  EXPECT_EQ(part(members[1].key_range), "\"\\\"\\\\\"");
  EXPECT_EQ(part(members[1].value.range), "{");
}

// A mistake is at the character that the syntax does not permit, or at the end of the text.
TEST(JsonValueTest, PlacesOfMistakes) {
  struct Row {
    std::string text;
    uint32_t begin, end;
  };
  for (const Row& row : {Row{"[1, ;]", 4, 5}, Row{";", 0, 1}, Row{"[1", 2, 2}, Row{"", 0, 0}}) {
    const ReadText read(row.text);
    ASSERT_TRUE(read.Has("test.syntax")) << row.text;
    const SourceRange range = read.context.emitter.diagnostics().front().range;
    EXPECT_EQ(range.begin, row.begin) << row.text;
    EXPECT_EQ(range.end, row.end) << row.text;
  }
}

// A text of more bytes than the format permits is refused at its first one, wherever it begins in the file.
TEST(JsonValueTest, LongestText) {
  const std::string text = "[1, 2]";
  for (const uint32_t offset : {0, 8}) {
    for (const size_t max_bytes : {text.size() - 1, text.size(), text.size() + 1}) {
      Context context;
      const FileId file = context.sources.AddText("x.json", std::string(offset, ' ') + text);
      const auto value = ReadJson(
          text, file, offset,
          {.syntax = &kSyntax, .repetition = &kRepetition, .holds = "an object", .max_bytes = max_bytes},
          context.emitter);
      ASSERT_EQ(value.has_value(), text.size() <= max_bytes) << max_bytes;
      if (value) continue;
      ASSERT_EQ(context.emitter.diagnostics().size(), 1U);
      EXPECT_EQ(context.emitter.diagnostics()[0].message, "the file has more than 5 bytes");
      EXPECT_EQ(context.emitter.diagnostics()[0].range.begin, offset);
      EXPECT_EQ(context.emitter.diagnostics()[0].range.end, offset + 1);
    }
  }
}

TEST(JsonValueTest, RepeatedKeys) {
  EXPECT_TRUE(ReadText("{\"a\": 1, \"b\": {\"a\": 2}}").value.has_value());
  const ReadText read("{\"a\": 1, \"b\": 2, \"a\": 3}");
  EXPECT_TRUE(read.Has("test.repetition"));
}

// Keys are those of their own object, whatever objects and arrays are within it or before it.
TEST(JsonValueTest, KeysAfterInnerContainers) {
  for (const char* inner : {"{}", "{\"b\": 1}", "[]", "[{\"b\": 1}, {\"b\": 2}]", "{\"a\": {\"b\": 1}}"}) {
    const ReadText other(std::string("{\"a\": ") + inner + ", \"b\": 2}");
    EXPECT_TRUE(other.value.has_value()) << inner;
    for (const char* key : {"a", "c"}) {
      const ReadText repeated(std::string("{\"c\": 0, \"a\": ") + inner + ", \"" + key + "\": 2}");
      EXPECT_FALSE(repeated.value.has_value()) << inner;
      EXPECT_TRUE(repeated.Has("test.repetition")) << inner;
    }
  }
}

}  // namespace
}  // namespace nnefc
