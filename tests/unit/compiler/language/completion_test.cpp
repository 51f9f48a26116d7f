// Parameters that completion offers, by what is written before the cursor.

#include "compiler/language/language_service.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "gtest/gtest.h"

namespace nnefc::language {
namespace {

constexpr char kNet[] = "file:///net.nnef";

// The labels of parameters that are offered at the end of `text`.
std::string ParametersAfter(const std::string& text) {
  LanguageService service;
  EXPECT_TRUE(service.Open(kNet, 1, text));
  std::vector<std::string> labels;
  for (const Completion& completion : service.Complete(kNet, static_cast<uint32_t>(text.size()))) {
    if (completion.kind == SymbolKind::kParameter) labels.push_back(completion.label);
  }
  return fmt::format("{}", fmt::join(labels, " "));
}

std::string Offered(const std::string& statement) {
  return ParametersAfter(
      "version 1.0;\nextension KHR_enable_fragment_definitions;\n"
      "fragment pick( first: logical, second: integer, third: integer ) -> ( y: integer );\n"
      "graph g( x ) -> ( y ) {\n    " +
      statement);
}

TEST(CompletedParameters, AreThoseThatAreNotGiven) {
  const std::string all = "border padding stride dilation groups";
  for (const char* start :
       {"y = conv(", "y = conv(x, ", "y = conv(x, f, ", "y = conv (x, f, ", "y = conv  (x, f, ",
        "y = conv\n    (x, f, ", "y = conv(x,f,", "y = conv(x, relu(f), ", "y = relu(conv(x, f, ",
        "y = conv(x, [f, f][0], ", "y = conv(x, 'a(', ", "y = conv(x, \"}\", ", "y = conv(x, 'it\\'s(', ",
        "y = conv(x, # relu(\n    f,\t", "z = relu(x); y = conv(x, f, ", "y = conv(x, f, \n  "}) {
    EXPECT_EQ(Offered(start), all) << start;
  }
  EXPECT_EQ(Offered("y = conv(x, f, border = 'constant', "), "padding stride dilation groups");
  EXPECT_EQ(Offered("y = conv(x, f, border='constant',"), "padding stride dilation groups");
  EXPECT_EQ(Offered("y = conv(x, f, border   = 'constant', "), "padding stride dilation groups");
  EXPECT_EQ(Offered("y = conv(x, f, stride = [1, 1], padding = [(0, 0), (0, 0)], "),
            "border dilation groups");
  EXPECT_EQ(Offered("y = conv(x, f, groups = 1, bo"), "border");
}

TEST(CompletedParameters, AreNoneWhereNoArgumentBegins) {
  for (const char* start : {"",
                            "y",
                            "y = ",
                            "y = conv",
                            "y = conv(x, f, border = ",
                            "y = conv(x, f, border = 'c",
                            "y = conv(x f ",
                            "y = conv(x, f, stride = [1, ",
                            "y = conv(x, f, padding = [(1, ",
                            "y = conv(x, f);",
                            "y = conv(x, f) ",
                            "y = conv(x, f); z = ",
                            "# conv(x, f, ",
                            "y = 'conv(x, f, ",
                            "y = (x, ",
                            "y = [x, ",
                            "y = unknown(x, ",
                            "y = conv((x }, ",
                            "y = conv(x, { ",
                            "y = relu(x); } conv(x"}) {
    EXPECT_EQ(Offered(start), "") << start;
  }
}

// Arguments without a name count, whatever operators they have.
TEST(CompletedParameters, FollowThosePassedByPosition) {
  EXPECT_EQ(Offered("y = pick("), "first second third");
  for (const char* value : {"true", "a", "a <= b", "a >= b", "a != b", "a == b", "a<=b", "a>=b", "a!=b",
                            "a==b", "f(k = 1)", "[a = b]", "(a, b)", "a < b", "!a"})
    EXPECT_EQ(Offered(fmt::format("y = pick({}, ", value)), "second third") << value;
  EXPECT_EQ(Offered("y = pick(a <= b, 1, "), "third");
  EXPECT_EQ(Offered("y = pick(a, 1, 2, "), "");
  EXPECT_EQ(Offered("y = pick(a, third = 1, "), "second");
  EXPECT_EQ(Offered("y = pick(second = 1, "), "first third");
  EXPECT_EQ(Offered("y = pick(a, , "), "second third");
}

// A comment of which the beginning is too far back is one.
TEST(CompletedParameters, IgnoreCommentsThatBeganFarBack) {
  const std::string comment = "# " + std::string(70'000, 'a') + " conv(x, f, ";
  EXPECT_EQ(Offered(comment + "\n"), "");
  EXPECT_EQ(Offered(comment + "\n    y = conv(x, f, "), "border padding stride dilation groups");
}

TEST(LanguageDocuments, AreOpenedOnce) {
  const std::string quant = "file:///graph.quant", other = "file:///other.quant";
  LanguageService service({.max_text = 30});
  EXPECT_FALSE(service.OpenQuantization(quant, 1, "", ""));
  EXPECT_FALSE(service.OpenQuantization(quant, 1, "", quant));
  EXPECT_FALSE(service.OpenQuantization(quant, 1, std::string(31, ' '), kNet));
  EXPECT_TRUE(service.OpenQuantization(quant, 1, std::string(30, ' '), kNet));
  EXPECT_FALSE(service.OpenQuantization(quant, 1, "", "file:///second.nnef"));
  EXPECT_FALSE(service.OpenQuantization(other, 1, "", kNet));
  EXPECT_FALSE(service.Open(kNet, 1, std::string(31, ' ')));
  EXPECT_TRUE(service.Open(kNet, 1, std::string(30, ' ')));
  EXPECT_FALSE(service.Open(kNet, 1, ""));
  EXPECT_FALSE(service.OpenQuantization(kNet, 1, "", "file:///second.nnef"));
  EXPECT_TRUE(service.OpenQuantization(other, 1, "", "file:///second.nnef"));
}

}  // namespace
}  // namespace nnefc::language
