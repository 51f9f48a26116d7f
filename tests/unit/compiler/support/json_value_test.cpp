#include "compiler/support/json_value.h"

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
      const ReadText read(begin + "1" + end);
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

TEST(JsonValueTest, RepeatedKeys) {
  EXPECT_TRUE(ReadText("{\"a\": 1, \"b\": {\"a\": 2}}").value.has_value());
  const ReadText read("{\"a\": 1, \"b\": 2, \"a\": 3}");
  EXPECT_TRUE(read.Has("test.repetition"));
}

}  // namespace
}  // namespace nnefc
