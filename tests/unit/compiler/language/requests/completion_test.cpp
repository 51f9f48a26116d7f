// Parameters that completion offers, by what is written before the cursor.

#include "compiler/language/language_service.h"

#include <algorithm>

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
        "y = conv(x, relu(f; g), ", "y = conv(x, [f; g], ", "y = conv(x, # relu(\n    f,\t",
        "z = relu(x); y = conv(x, f, ", "y = conv(x, f, \n  "}) {
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
                            "y = conv(x }, ",
                            "y = conv(x, (f }), ",
                            "y = conv(x; ",
                            "y = conv(x, f; z, ",
                            "y = conv(x, { a), ",
                            "y = conv(x, { a }, ",
                            "y = conv(x, [{ a], ",
                            "y = relu(x); } conv(x"}) {
    EXPECT_EQ(Offered(start), "") << start;
  }
}

// Documents without a brace or a semicolon before the cursor.
TEST(CompletedParameters, AreFoundAtTheBeginningOfAText) {
  for (const char* text : {"", "c", ",", "a, b", "conv", ")", "a), ", "], b"})
    EXPECT_EQ(ParametersAfter(text), "") << text;
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
  EXPECT_EQ(Offered("y = pick(second=1==1, "), "first third");
  EXPECT_EQ(Offered("y = pick(second\n    =\n    1, "), "first third");
  EXPECT_EQ(Offered("y = pick(a, third = [1 <= 2], "), "second");
}

// Comments and strings end with their line; a form feed ends a line.
TEST(CompletedParameters, IgnoreCommentsAndStrings) {
  const std::string all = "border padding stride dilation groups";
  for (const char* start :
       {"# conv(\n y = conv(x, f, ", "# conv(\fy = conv(x, f, ", "# a\\\fy = conv(x, f, ",
        "# a\\\n y = conv(x, f, ", "# it's\n y = conv(x, f, ", "y = relu('a\n); y = conv(x, f, ",
        "y = relu('a\\\n); y = conv(x, f, ", "y = conv(x, '\\\\', ", "y = conv(x, '#', ",
        "y = conv(x, \"it's\", ", "y = conv(x, '\"', ", "y = conv(x, 'a', 'b'[", "y = conv(x, '\\'(', "}) {
    EXPECT_EQ(Offered(start), std::string_view(start).ends_with('[') ? "" : all) << start;
  }
  for (const char* start :
       {"y = conv(x, 'a\\', ", "y = conv(x, \"a', ", "y = conv(x, # \\\\ ", "y = conv(x, # it's "})
    EXPECT_EQ(Offered(start), "") << start;
  // A document of one line.
  EXPECT_EQ(ParametersAfter("version 1.0; graph g( x ) -> ( y ) { y = conv(x, f, "), all);
}

// A comment of which the beginning is too far back is one.
TEST(CompletedParameters, IgnoreCommentsThatBeganFarBack) {
  const std::string comment = "# " + std::string(70'000, 'a') + " conv(x, f, ";
  EXPECT_EQ(Offered(comment + "\n"), "");
  EXPECT_EQ(Offered(comment + "\n    y = conv(x, f, "), "border padding stride dilation groups");
}

// All that is offered at the end of a text.
struct Offers {
  std::vector<Completion> all;

  explicit Offers(const std::string& text) {
    LanguageService service;
    EXPECT_TRUE(service.Open(kNet, 1, text));
    all = service.Complete(kNet, static_cast<uint32_t>(text.size()));
  }
  // The labels of a kind.
  std::string Of(SymbolKind kind) const {
    std::vector<std::string> labels;
    for (const Completion& completion : all) {
      if (completion.kind == kind) labels.push_back(completion.label);
    }
    return fmt::format("{}", fmt::join(labels, " "));
  }
};

constexpr char kOpenGraph[] =
    "version 1.0;\nextension KHR_enable_fragment_definitions;\n"
    "fragment own<?>( x: tensor<?>, n: integer = 1 ) -> ( y: tensor<?> );\n"
    "fragment ( x: tensor<scalar> ) -> ( y: tensor<scalar> );\n"
    "graph g( x, x2 ) -> ( y )\n{\n    x = external(shape = [2]);\n    a, b = moments(x, axes = [0]);\n"
    "    v = [1, 2];\n    y = ";

TEST(Completions, AreOfEveryKind) {
  const Offers offers(kOpenGraph);
  EXPECT_EQ(offers.Of(SymbolKind::kInput), "x");
  EXPECT_EQ(offers.Of(SymbolKind::kTensor), "a b v");
  EXPECT_EQ(offers.Of(SymbolKind::kFragment), "own");
  EXPECT_TRUE(offers.Of(SymbolKind::kOperation).starts_with("external constant variable copy neg "));
  EXPECT_EQ(offers.Of(SymbolKind::kKeyword),
            "shape_of length_of range_of scalar logical string for in if else true false integer yield");
  EXPECT_EQ(offers.Of(SymbolKind::kParameter), "");
  const auto detail = [&](std::string_view label) {
    for (const Completion& completion : offers.all) {
      if (completion.label == label) return completion.insert + " | " + completion.detail;
    }
    return std::string("nothing");
  };
  EXPECT_EQ(detail("a"), "a | tensor<scalar>");
  EXPECT_EQ(detail("own"), "own | own<?>( x: tensor<?>, n: integer = 1 ) -> ( y: tensor<?> )");
  EXPECT_EQ(detail("relu"), "relu | relu( x: tensor<scalar> ) -> ( y: tensor<scalar> )");
  EXPECT_EQ(detail("for"), "for | ");
  EXPECT_EQ(detail("x2"), "nothing");  // an input without a value
  EXPECT_EQ(detail(""), "nothing");    // the fragment without a name
}

// Parameters are known in a whole body, assigned names after their statement.
TEST(Completions, AreOfTheNamesBeforeTheCursor) {
  const std::string head =
      "version 1.0;\nextension KHR_enable_fragment_definitions;\n"
      "fragment f( name_in: tensor<scalar>, name_at: integer ) -> ( name_out: tensor<scalar> )\n{\n";
  const auto offered = [&](const std::string& before, const std::string& after) {
    const std::string text = head + before + after + "\n}\ngraph g( x ) -> ( y )\n{\n}\n";
    LanguageService service;
    EXPECT_TRUE(service.Open(kNet, 1, text));
    std::vector<std::string> labels;
    for (const Completion& each : service.Complete(kNet, static_cast<uint32_t>(head.size() + before.size())))
      if (each.label.starts_with("name_")) labels.push_back(each.label);
    std::sort(labels.begin(), labels.end());
    return fmt::format("{}", fmt::join(labels, " "));
  };
  const std::string rest = ";\n    name_a = relu(name_in);\n    name_out = relu(name_a);";
  EXPECT_EQ(offered("    name_b = name_", rest), "name_at name_in");
  EXPECT_EQ(offered("    name_b = relu(name_in);\n    name_c = name_", rest), "name_at name_b name_in");
}

// Bodies are found in any order of the declarations.
TEST(Completions, AreOfTheBodyAroundTheCursor) {
  const std::string head = "version 1.0;\nextension KHR_enable_fragment_definitions;\n";
  const std::string graph = "graph g( x ) -> ( y )\n{\n    name_x = relu(x);\n    y = name_\n}\n";
  const std::string first =
      "fragment f( name_a: integer ) -> ( b: integer )\n{\n    name_b = name_a;\n    b = name_\n}\n";
  const std::string second = "fragment h( name_c: integer ) -> ( d: integer )\n{\n    d = name_\n}\n";
  const auto offered_at = [](const std::string& text, size_t offset) {
    LanguageService service;
    EXPECT_TRUE(service.Open(kNet, 1, text));
    std::vector<std::string> labels;
    for (const Completion& each : service.Complete(kNet, static_cast<uint32_t>(offset)))
      if (each.label.starts_with("name_")) labels.push_back(each.label);
    std::sort(labels.begin(), labels.end());
    return fmt::format("{}", fmt::join(labels, " "));
  };
  const auto offered = [&](const std::string& text, std::string_view marked) {
    return offered_at(text, text.find("name_\n", text.find(marked)) + 5);
  };
  const std::vector<std::string_view> orders[] = {{head, graph, first, second},
                                                  {head, first, graph, second},
                                                  {head, first, second, graph},
                                                  {head, second, graph, first}};
  for (const std::vector<std::string_view>& order : orders) {
    const std::string text = fmt::format("{}", fmt::join(order, ""));
    EXPECT_EQ(offered(text, "graph g"), "name_x") << text;
    EXPECT_EQ(offered(text, "fragment f"), "name_a name_b") << text;
    EXPECT_EQ(offered(text, "fragment h"), "name_c") << text;
  }
  // A body includes the positions next to its braces.
  const std::string text =
      head + "fragment b( name_d: integer ) -> ( d: integer );\n" + first + second + graph;
  const size_t begin = text.find('{'), end = text.find("}\n");
  EXPECT_EQ(offered_at(text, 0), "");
  EXPECT_EQ(offered_at(text, begin - 1), "");
  EXPECT_EQ(offered_at(text, begin), "name_a");
  EXPECT_EQ(offered_at(text, begin + 1), "name_a");
  EXPECT_EQ(offered_at(text, end), "name_a name_b");
  EXPECT_EQ(offered_at(text, end + 1), "name_a name_b");
  EXPECT_EQ(offered_at(text, end + 2), "");
}

TEST(Completions, AreTheWordsOfTheDialect) {
  const Offers offers("version 1.0\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [2])\n    y = ");
  EXPECT_EQ(offers.Of(SymbolKind::kKeyword),
            "shape_of length_of range_of scalar logical string for in if else true false extent");
}

// Operations of extensions are offered where the document enables them.
TEST(Completions, AreOfEnabledExtensions) {
  const std::string graph = "graph g( x ) -> ( y ) {\n y = tens";
  EXPECT_EQ(Offers("version 1.0;\n" + graph).all.size(), 0U);
  EXPECT_EQ(Offers("version 1.0;\nextension NNEFC_control_flow;\n" + graph).Of(SymbolKind::kOperation),
            "tensor_iterator");
  EXPECT_EQ(
      Offers(
          "version 1.0;\nextension tract_registry tract_core;\ngraph g( x ) -> ( y ) {\n y = tract_core_er")
          .Of(SymbolKind::kOperation),
      "tract_core_erf");
  // Those of the other dialect are not.
  const std::string layers = "graph g( x ) -> ( y ) {\n y = conv_";
  EXPECT_EQ(Offers("version 1.0\n" + layers).Of(SymbolKind::kOperation), "conv_layer");
  EXPECT_EQ(Offers("version 1.0;\n" + layers).Of(SymbolKind::kOperation), "");
}

TEST(Completions, AreNotOfCommentsAndStrings) {
  for (const char* end : {"# ", "# re", "'", "'re", "\"it's re", "'a\\' re", "f('a', \"b"})
    EXPECT_TRUE(Offers(std::string(kOpenGraph) + end).all.empty()) << end;
  for (const char* end : {"'a' re", "'it\\'s' re", "# a\n re", "\"a\"\n + re", "'a\n re", "# 'a\n re"})
    EXPECT_EQ(Offers(std::string(kOpenGraph) + end).Of(SymbolKind::kOperation), "reshape relu") << end;
}

// Every character of names belongs to the word before the cursor, and no other one does.
TEST(Completions, BeginWithTheWordBeforeTheCursor) {
  for (const char c : std::string_view("azAZ09_bM5")) {
    const std::string name = fmt::format("n{}x", c);
    EXPECT_EQ(Offers(fmt::format("version 1.0;\ngraph g( x ) -> ( y )\n{{\n    x = external(shape = [2]);\n"
                                 "    {}1 = relu(x);\n    y = {}",
                                 name, name))
                  .Of(SymbolKind::kTensor),
              name + "1");
  }
  for (const char c : std::string_view("`{@[/:^ -.+<")) {
    EXPECT_EQ(
        Offers(fmt::format("version 1.0;\ngraph g( x ) -> ( y )\n{{\n    xy = relu(x);\n    n = relu(x);\n"
                           "    y = n{}x",
                           c))
            .Of(SymbolKind::kTensor),
        "xy")
        << c;
  }
  // The word is the whole text.
  EXPECT_EQ(Offers("relu").Of(SymbolKind::kOperation), "relu");
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
  // Nor do changes exceed the limit, as a whole or at the end of a text.
  EXPECT_FALSE(service.Change(kNet, 2, {{{}, std::string(31, 'a')}}));
  EXPECT_FALSE(service.Change(kNet, 2, {{{{{0, 30}, {0, 30}}}, "a"}}));
  EXPECT_EQ(service.Text(kNet), std::string(30, ' '));
  EXPECT_TRUE(service.Change(kNet, 2, {{{}, std::string(30, 'a')}}));
}

}  // namespace
}  // namespace nnefc::language
