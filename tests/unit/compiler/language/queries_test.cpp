// Queries for editing and display over an analysis.
#include "compiler/language/queries.h"

#include <fstream>
#include <random>
#include <sstream>

#include "compiler/language/code_text.h"
#include "fmt/ranges.h"
#include "gtest/gtest.h"

namespace nnefc::language {
namespace {

constexpr char kQueriesUri[] = "file:///net.nnef";
constexpr std::string_view kQueriesNet = R"(version 1.0;
extension KHR_enable_fragment_definitions;
extension KHR_enable_operator_expressions;

fragment layer(
    input: tensor<scalar>,
    filter: tensor<scalar>,
    step: integer = 1 )
-> ( output: tensor<scalar> )
{
    sizes = [for i in [1, 1] yield i * step];
    sum = conv(input, filter, stride = sizes);
    output = relu(sum);
}

graph net( image ) -> ( output )
{
    image = external(shape = [1, 3, 32, 32]);
    filter = variable(shape = [8, 3, 3, 3], label = 'filter');
    first = layer(image, filter, step = 2);
    output = softmax(first);
}
)";

class QueriesTest : public testing::Test {
 protected:
  void Open(std::string_view text, PositionEncoding encoding = PositionEncoding::kUtf16) {
    service_ = LanguageService({.encoding = encoding});
    ASSERT_TRUE(service_.Open(kQueriesUri, 1, std::string(text)));
  }
  const Analysis& analysis() { return *service_.AnalysisOf(kQueriesUri); }
  uint32_t At(std::string_view needle) {
    const size_t at = service_.Text(kQueriesUri).find(needle);
    EXPECT_NE(at, std::string_view::npos) << needle;
    return static_cast<uint32_t>(at);
  }
  std::string Apply(const std::vector<TextEdit>& edits) {
    std::string text(service_.Text(kQueriesUri));
    for (size_t i = edits.size(); i > 0; --i) {
      const TextRange& range = edits[i - 1].range;
      text.replace(range.begin, range.end - range.begin, edits[i - 1].text);
    }
    return text;
  }
  // Returns the parameter at the cursor; "none" without a signature.
  std::string Active(uint32_t offset) {
    const auto help = FindSignature(analysis(), offset);
    if (!help) return "none";
    if (!help->active) return "";
    const auto [begin, end] = help->parameters[*help->active];
    return help->label.substr(begin, end - begin);
  }

  LanguageService service_;
};

TEST_F(QueriesTest, SignaturesFollowTheCursor) {
  Open(kQueriesNet);
  EXPECT_EQ(Active(At("image, filter, step")), "input: tensor<scalar>");
  EXPECT_EQ(Active(At("filter, step = 2")), "filter: tensor<scalar>");
  EXPECT_EQ(Active(At("2);")), "step: integer = 1");
  EXPECT_EQ(Active(At("step = 2") + 2), "step: integer = 1");  // the third argument, as far as it is typed
  EXPECT_EQ(Active(At("32, 32]")), "shape: integer[]");        // within an array
  EXPECT_EQ(Active(At("filter');")), "label: string");         // within a string
  EXPECT_EQ(Active(At("first = ")), "none");
  EXPECT_EQ(Active(UINT32_MAX), "none");
  Open(
      "version 1.0;\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [1]);\n    y = relu(x, x, # relu(\n");
  EXPECT_EQ(Active(At("x, x,")), "x: tensor<scalar>");
  EXPECT_EQ(Active(At(", #") + 1), "");  // beyond the parameters
  EXPECT_EQ(Active(At("relu(\n") + 5), "none");
}

// Items of an array or a tuple belong to the argument that it is in.
TEST_F(QueriesTest, SignaturesWithinArrays) {
  const auto active = [&](std::string_view statement) {
    Open("version 1.0;\ngraph g( x, f ) -> ( y )\n{\n    y = " + std::string(statement));
    return Active(UINT32_MAX);
  };
  const std::string bias = "bias: tensor<scalar> = 0.0", padding = "padding: (integer,integer)[] = []";
  EXPECT_EQ(active("conv(x, f, ["), bias);
  EXPECT_EQ(active("conv(x, f, [1"), bias);
  EXPECT_EQ(active("conv(x, f, [1, 2"), bias);
  EXPECT_EQ(active("conv(x, f, [1, 2, "), bias);
  EXPECT_EQ(active("conv(x, f, (1, 2, 3"), bias);
  EXPECT_EQ(active("conv(x, f, padding = ["), padding);
  EXPECT_EQ(active("conv(x, f, padding = [(1, 2), (3"), padding);
  EXPECT_EQ(active("conv(x, f, padding = [(1, 2), (3, 4"), padding);
  EXPECT_EQ(active("conv(x, f, padding = [(1, 2)], [3, "), bias);
}

// A comment lasts to the end of its line, whatever it has.
TEST_F(QueriesTest, SignaturesIgnoreComments) {
  for (const char* comment : {"# relu(", "# # relu(", "# ' # relu(", "# \" # ' relu(", "## relu("}) {
    Open(std::string("version 1.0;\ngraph g( x ) -> ( y )\n{\n    y = ") + comment + "\n");
    EXPECT_EQ(Active(At("relu(") + 5), "none") << comment;
  }
}

TEST(StatementStart, IsThatOfTheUnfinishedStatement) {
  // The cursor is the end of the text.
  auto start = [](std::string_view text, bool has_semicolons = true) {
    return StatementStart(text, text.size(), has_semicolons);
  };
  EXPECT_EQ(start("a = 1; b = c"), 7u);
  EXPECT_EQ(start("a = 1; "), 7u);
  EXPECT_EQ(start("a = 1;"), 6u);
  EXPECT_EQ(start("graph g( x"), 0u);
  EXPECT_EQ(start("{ b = f(c,\n  d"), 2u);
  EXPECT_EQ(start("{ b = f(c,\n  "), 2u);  // a bracket is open
  EXPECT_EQ(start("{ b = f(c)\n  "), 13u);
  EXPECT_EQ(start("{ a = 1\n b = f(c,\n  d", false), 9u);
  EXPECT_EQ(start("{ a = 1\n b = f(c,\n  d", true), 2u);
  EXPECT_EQ(start("a = 'b; c"), 0u);  // within a string
  EXPECT_EQ(start(""), 0u);
}

TEST(StatementStart, ALineEndDoesNotEndAnIncompleteStatement) {
  auto is_ended = [](std::string_view text, bool has_semicolons = true) {
    return StatementStart(text, text.size(), has_semicolons) == text.size();
  };
  EXPECT_TRUE(is_ended("{ y = relu(x)\n"));
  EXPECT_FALSE(is_ended("fragment f( x: tensor<scalar> )\n"));
  EXPECT_FALSE(is_ended("graph net( x ) -> ( y )\n"));
  EXPECT_TRUE(is_ended("{ y = graph\n"));
  EXPECT_FALSE(is_ended("{ y = a if b > 3\n"));
  EXPECT_FALSE(is_ended("{ y = a if b > 3\n  else\n"));
  EXPECT_TRUE(is_ended("{ y = a if b > 3\n  else c\n"));
  EXPECT_FALSE(is_ended("{ y = a if b else c if d\n"));
  EXPECT_TRUE(is_ended("{ y = ifs\n"));
  for (const char* text : {"{ y =\n", "{ y = a +\n", "{ y = a <= # note\n", "{ y,\n", "graph net( x ) ->\n"})
    EXPECT_FALSE(is_ended(text)) << text;
  EXPECT_TRUE(is_ended("\n"));
  EXPECT_TRUE(is_ended("{ y = 1\n", false));
  EXPECT_FALSE(is_ended("{ y = 1 +\n", false));
}

TEST_F(QueriesTest, FormattingIsRestrictedToLines) {
  std::string untidy(kQueriesNet);
  untidy.replace(untidy.find("    first ="), 11, "  first  =");
  untidy.replace(untidy.find("    output = softmax"), 12, "output=");
  Open(untidy);
  EXPECT_EQ(Apply(*FormatDocument(analysis())), kQueriesNet);
  const uint32_t line = At("  first");
  const std::string one = Apply(*FormatRange(analysis(), line, line));
  EXPECT_NE(one.find("\n    first = layer"), std::string::npos);
  EXPECT_NE(one.find("\noutput="), std::string::npos);
  // A completed statement.
  const std::vector<TextEdit> typed = FormatTyped(analysis(), At("step = 2);") + 10, ';');
  EXPECT_EQ(Apply(typed), one);
  // The first line of a statement whose last one was completed, but no other statement.
  std::string items = "x";
  for (int i = 0; i < 40; ++i) items += ", x";
  Open(
      "version 1.0;\n\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [1, 4]);\n    z = relu(x);\n    y "
      "= concat([" +
      items + "], axis = 0);\n}\n");
  std::string tidy = Apply(*FormatDocument(analysis()));
  ASSERT_LT(tidy.find("concat"), tidy.find("\n                x")) << "in one line: " << tidy;
  tidy.replace(tidy.find("z = relu"), 3, "z  =");
  std::string first = tidy;
  first.replace(first.find("y = concat"), 3, "y  =");
  Open(first);
  EXPECT_EQ(Apply(FormatTyped(analysis(), At("axis = 0);") + 10, ';')), tidy);
  // The line of a version that was completed.
  Open("version  1.0;\n\n" + tidy.substr(tidy.find("graph")));
  EXPECT_EQ(Apply(FormatTyped(analysis(), At(";") + 1, ';')), tidy);
  Open("version 1.0;\ngraph g( x ) -> ( y )\n{\n    x = external(");
  EXPECT_FALSE(FormatDocument(analysis()));
  EXPECT_TRUE(FormatTyped(analysis(), UINT32_MAX, ';').empty());
}

// An edit of several lines is that of each of them, and ends where the next line begins.
TEST_F(QueriesTest, FormattingJoinsLines) {
  Open(
      "version 1.0;\n\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [1, 4]);\n"
      "    y = concat([x,\n        x,\n        x], axis = 0);\n}\n");
  const auto edits = [&](std::string_view line) {
    const uint32_t at = At(line);
    const auto found = FormatRange(analysis(), at, at);
    std::string shown;
    for (const TextEdit& edit : *found) {
      const auto& [begin, end, start, stop] = edit.range;
      EXPECT_EQ(service_.Text(kQueriesUri)[begin - 1], '\n');
      EXPECT_EQ(service_.Text(kQueriesUri)[end - 1], '\n');
      shown +=
          fmt::format("{}:{}-{}:{} {}", start.line, start.character, stop.line, stop.character, edit.text);
    }
    return shown;
  };
  const std::string joined = "5:0-8:0     y = concat([x, x, x], axis = 0);\n";
  for (const char* line : {"    y =", "        x,", "        x]"}) EXPECT_EQ(edits(line), joined) << line;
  for (const char* line : {"{\n", "    x = ", "}\n"}) EXPECT_EQ(edits(line), "") << line;
}

TEST_F(QueriesTest, ALineEndIsFollowedByIndentation) {
  auto indented = [&](std::string_view before, std::string_view after) {
    Open(std::string(before) + std::string(after));
    const std::string text = Apply(FormatTyped(analysis(), static_cast<uint32_t>(before.size()), '\n'));
    return text.substr(before.size());
  };
  EXPECT_EQ(indented("version 1.0;\n", "  "), "");
  EXPECT_EQ(indented("graph g( x ) -> ( y )\n{\n", "y"), "    y");
  EXPECT_EQ(indented("graph g( x ) -> ( y )\n{\n", " \tz"), "    z");
  EXPECT_EQ(indented("graph g( x ) -> ( y )\n{\n", "    y"), "    y");
  const std::string body = "graph g( x ) -> ( y )\n{\n";
  for (const char* after : {"    y", "    y = relu(x);\n", "    "}) {
    Open(body + after);  // nothing is to change
    EXPECT_TRUE(FormatTyped(analysis(), static_cast<uint32_t>(body.size()), '\n').empty()) << after;
  }
  EXPECT_EQ(indented("graph g( x ) -> ( y )\n{\n", "    }"), "}");
  EXPECT_EQ(indented("graph g( x ) -> ( y )\n{\n    x = f([1,\n", ""), "        ");
  EXPECT_EQ(indented("graph g( x ) -> ( y )\n{\n}\n", ""), "");
  EXPECT_EQ(indented("graph g( x ) -> ( y )\n{ # (\n", ""), "    ");
  for (const char* statement : {"y = f([1]);", "y = f([(1, 2)]);", "[y] = f(x);", "y = f((1, [2]), [3]);"}) {
    EXPECT_EQ(indented(fmt::format("graph g( x ) -> ( y )\n{{\n    {}\n", statement), ""), "    ")
        << statement;
    EXPECT_EQ(indented(fmt::format("graph g( x ) -> ( y )\n{{\n    {}\n}}\n", statement), ""), "")
        << statement;
  }
  // A body begins with its brace, whatever is open before it.
  EXPECT_EQ(indented("fragment f( x: tensor<scalar>,\ngraph g( x ) -> ( y )\n{\n", ""), "    ");
}

TEST_F(QueriesTest, QuantizationFilesAreFormatted) {
  const auto edits = FormatQuantization("\"x\":  f(a=1);\n", PositionEncoding::kUtf8, {});
  ASSERT_TRUE(edits);
  ASSERT_EQ(edits->size(), 1u);
  EXPECT_EQ(edits->front().text, "\"x\": f(a = 1);\n");
  EXPECT_FALSE(FormatQuantization("\"x\":", PositionEncoding::kUtf8, {}));
}

TEST_F(QueriesTest, SafeFixesAreAppliedTogether) {
  Open("version 1.0;\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [1, 4])\n    y = relu(x = x);\n}\n");
  const std::string fixed = Apply(FixAll(analysis()));
  EXPECT_NE(fixed.find("[1, 4]);"), std::string::npos) << fixed;
  Open(kQueriesNet);
  EXPECT_TRUE(FixAll(analysis()).empty());
  const std::string rest =
      ";\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [1, 4]);\n    y = relu(x);\n}\n";
  Open("version 1" + rest);
  EXPECT_EQ(Apply(FixAll(analysis())), "version 1.0" + rest);
  Open("version 1.1" + rest);  // possibly features of another version
  EXPECT_TRUE(FixAll(analysis()).empty());
}

TEST_F(QueriesTest, NamesOfTheDocumentAreRenamed) {
  Open(kQueriesNet);
  EXPECT_EQ(FindRenamable(analysis(), At("step: integer"))->name, "step");
  EXPECT_FALSE(FindRenamable(analysis(), At("conv(")));
  EXPECT_FALSE(FindRenamable(analysis(), At("stride =")));
  EXPECT_FALSE(FindRenamable(analysis(), At("version")));
  const Renaming step = Rename(analysis(), At("step: integer"), "by");
  EXPECT_EQ(step.error, "");
  EXPECT_EQ(step.edits.size(), 3u);
  EXPECT_NE(Apply(step.edits).find("layer(image, filter, by = 2)"), std::string::npos);
  // The same name in another body does not conflict: `output` of the graph and of the fragment.
  EXPECT_EQ(Rename(analysis(), At("first = "), "sum").error, "");
  EXPECT_EQ(Rename(analysis(), At("first = "), "step").error, "");  // also the name of an argument
  EXPECT_EQ(Rename(analysis(), At("sum = "), "input").error, "there is already a name `input` in this body");
  EXPECT_EQ(Rename(analysis(), At("sum = "), "i").error, "there is already a name `i` in this body");
  EXPECT_EQ(Rename(analysis(), At("sum = "), "sum").error, "");
  EXPECT_EQ(Rename(analysis(), At("sum = "), "stride").error, "");  // a parameter of `conv`
  EXPECT_EQ(Rename(analysis(), At("layer("), "relu").error,
            "there is already a fragment or operation `relu`");
  EXPECT_EQ(Rename(analysis(), At("first = "), "1a").error,
            "`1a` is not a valid name: expected letters, digits and `_`");
  EXPECT_NE(Rename(analysis(), At("version"), "a").error, "");
}

TEST_F(QueriesTest, LabelsAreRenamedWithTheirFiles) {
  Open(kQueriesNet);
  const auto renamable = FindRenamable(analysis(), At("filter');"));
  ASSERT_TRUE(renamable && renamable->is_label);
  const Renaming renaming = Rename(analysis(), At("filter');"), "a/it's");
  EXPECT_EQ(renaming.error, "");
  EXPECT_NE(Apply(renaming.edits).find("label = 'a/it\\'s')"), std::string::npos) << Apply(renaming.edits);
  EXPECT_EQ(renaming.old_file, "filter");
  EXPECT_EQ(renaming.new_file, "a/it's");
  EXPECT_EQ(Rename(analysis(), At("filter');"), "../x").error,
            "`../x` does not name a file inside the model");
}

TEST_F(QueriesTest, BodiesAreRenamedWithTheirFragment) {
  Open(
      "version 1.0;\nextension NNEFC_control_flow;\nextension KHR_enable_fragment_definitions;\n"
      "fragment yes( a: tensor<scalar> ) -> ( b: tensor<scalar> )\n{\n    b = relu(a);\n}\n"
      "graph g( x, c ) -> ( y )\n{\n    x = external(shape = [1]);\n    c = external<logical>(shape = []);\n"
      "    [y] = if_else(c, [x], then_body = 'yes', else_body = 'yes');\n}\n");
  const Renaming renaming = Rename(analysis(), At("yes( a"), "so");
  EXPECT_EQ(renaming.edits.size(), 3u);
  EXPECT_NE(Apply(renaming.edits).find("then_body = 'so', else_body = 'so'"), std::string::npos);
}

TEST_F(QueriesTest, CallsAreThoseOfFragments) {
  Open(kQueriesNet);
  const auto item = FindCallItem(analysis(), At("layer(image"));
  ASSERT_TRUE(item);
  EXPECT_EQ(item->selection.begin, At("layer("));
  EXPECT_FALSE(FindCallItem(analysis(), At("conv(")));
  const std::vector<Calls> incoming = IncomingCalls(analysis(), At("layer("));
  ASSERT_EQ(incoming.size(), 1u);
  EXPECT_EQ(incoming[0].item.name, "net");
  EXPECT_EQ(incoming[0].ranges[0].begin, At("layer(image"));
  EXPECT_TRUE(OutgoingCalls(analysis(), At("layer(")).empty());
  EXPECT_EQ(OutgoingCalls(analysis(), At("net( image")).size(), 1u);
}

// The calls between two fragments are one item, in the order of the first ones.
TEST_F(QueriesTest, CallsAreGrouped) {
  const auto fragment = [](const std::string& name, const std::string& body) {
    return "fragment " + name + "( a: tensor<scalar> ) -> ( b: tensor<scalar> )\n{\n" + body + "}\n";
  };
  Open("version 1.0;\nextension KHR_enable_fragment_definitions;\n" + fragment("one", "    b = relu(a);\n") +
       fragment("two", "    b = exp(a);\n") +
       fragment("all", "    c = one(a);\n    d = two(c);\n    e = one(d);\n    b = one(e);\n") +
       "graph g( x ) -> ( y )\n{\n    x = external(shape = [1]);\n    z = one(x);\n    y = all(z);\n}\n");
  const auto counts = [](const std::vector<Calls>& calls) {
    std::string text;
    for (const Calls& each : calls) text += fmt::format("{} {}; ", each.item.name, each.ranges.size());
    return text;
  };
  EXPECT_EQ(counts(OutgoingCalls(analysis(), At("all( a"))), "one 3; two 1; ");
  EXPECT_EQ(counts(IncomingCalls(analysis(), At("one( a"))), "all 3; g 1; ");
  EXPECT_EQ(counts(IncomingCalls(analysis(), At("two( a"))), "all 1; ");
}

TEST_F(QueriesTest, TokensOfBrokenTexts) {
  Open("version 1.0;\ngraph g( x -> \"\xC3\xA9 # 'a\n# c 1e5\n 12.5e-3 1e 7.x 'open\n");
  std::vector<std::string> shown;
  for (const SemanticToken& token : FindTokens(analysis(), 0, UINT32_MAX)) {
    const std::string_view text =
        service_.Text(kQueriesUri).substr(token.range.begin, token.range.end - token.range.begin);
    shown.push_back(fmt::format("{}:{}", static_cast<int>(token.kind), text));
  }
  const std::vector<std::string> wanted = {"3:version", "2:1.0", "3:graph"};
  EXPECT_EQ(std::vector<std::string>(shown.begin(), shown.begin() + 3), wanted);
  const std::vector<std::string> end = {
      "1:\"\xC3\xA9 # 'a", "0:# c 1e5", "2:12.5e-3", "2:1", "2:7.", "1:'open"};
  ASSERT_GE(shown.size(), end.size());
  EXPECT_EQ(std::vector<std::string>(shown.end() - 6, shown.end()), end)
      << fmt::format("{}", fmt::join(shown, " "));
}

TEST_F(QueriesTest, SelectionsGrow) {
  for (std::string_view text :
       {kQueriesNet, kQueriesNet.substr(0, 500), std::string_view("graph g( x"), std::string_view()}) {
    Open(text);
    for (uint32_t offset = 0; offset <= text.size() + 1; offset += 7) {
      const std::vector<TextRange> ranges = FindSelections(analysis(), offset);
      ASSERT_FALSE(ranges.empty());
      EXPECT_EQ(ranges.back().begin, 0u);
      EXPECT_EQ(ranges.back().end, text.size());
      for (size_t i = 1; i < ranges.size(); ++i) {
        EXPECT_LE(ranges[i].begin, ranges[i - 1].begin);
        EXPECT_GE(ranges[i].end, ranges[i - 1].end);
        EXPECT_GT(ranges[i].end - ranges[i].begin, ranges[i - 1].end - ranges[i - 1].begin);
      }
    }
  }
}

// From the smallest expression to the document, also at the end of a long statement.
TEST_F(QueriesTest, SelectionsBeginWithTheSmallest) {
  Open(kQueriesNet);
  std::vector<std::string_view> texts;
  for (const TextRange& range : FindSelections(analysis(), At("2);")))
    texts.push_back(kQueriesNet.substr(range.begin, range.end - range.begin));
  ASSERT_EQ(texts.size(), 6u);
  EXPECT_EQ(texts[0], "2");
  EXPECT_EQ(texts[1], "layer(image, filter, step = 2)");
  EXPECT_EQ(texts[2], "first = layer(image, filter, step = 2);");
  EXPECT_TRUE(texts[3].starts_with("{") && texts[3].ends_with("}"));
  EXPECT_TRUE(texts[4].starts_with("graph net") && texts[4].ends_with("}"));
  EXPECT_EQ(texts[5], kQueriesNet);
  // Of two statements that meet at the offset, one is selected.
  const std::string text = "version 1.0;\ngraph g( x ) -> ( y ){x = external(shape = [1]);y = relu(x);}";
  Open(text);
  const std::vector<TextRange> ranges = FindSelections(analysis(), At("y = relu"));
  for (size_t i = 1; i < ranges.size(); ++i) {
    EXPECT_LE(ranges[i].begin, ranges[i - 1].begin);
    EXPECT_GE(ranges[i].end, ranges[i - 1].end);
  }
}

TEST_F(QueriesTest, HintsAreInTheRange) {
  Open(kQueriesNet);
  const uint32_t line = At("    first =");
  std::vector<std::string> labels;
  for (const InlayHint& hint : FindHints(analysis(), line, At("    output = softmax")))
    labels.push_back(hint.label);
  EXPECT_EQ(labels, std::vector<std::string>{": [1,8,16,16]"});
  EXPECT_TRUE(FindHints(analysis(), line, line).empty());
  // The shape follows the name, the type of a generic operation the operation.
  Open("version 1.0;\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [1, 4]);\n    y = copy(x);\n}\n");
  const auto hints = [&](uint32_t begin, uint32_t end) {
    std::string text;
    for (const InlayHint& hint : FindHints(analysis(), begin, end)) {
      const std::string_view before = service_.Text(kQueriesUri).substr(0, hint.offset);
      text += fmt::format("{}|{} ", before.substr(before.rfind(' ') + 1), hint.label);
    }
    return text;
  };
  EXPECT_EQ(hints(0, UINT32_MAX), "x|: [1,4] external|<scalar> y|: [1,4] copy|<scalar> ");
  const uint32_t y = At("y = copy"), copied = y + 8;
  EXPECT_EQ(hints(y, copied), "y|: [1,4] ");
  EXPECT_EQ(hints(y + 1, copied + 1), "y|: [1,4] copy|<scalar> ");
  EXPECT_EQ(hints(y + 2, copied + 1), "copy|<scalar> ");
  // Operations that end together.
  Open(
      "version 1.0;\nextension KHR_enable_operator_expressions;\ngraph g( x ) -> ( y )\n{\n"
      "    x = external(shape = [1, 4]);\n    y = x + relu(x);\n}\n");
  EXPECT_EQ(hints(0, UINT32_MAX), "x|: [1,4] external|<scalar> y|: [1,4] ");
  // A type that is written is not repeated.
  Open(
      "version 1.0;\ngraph g( x ) -> ( y )\n{\n    x = external<integer>(shape = [1, 4]);\n"
      "    y = copy<integer>(x);\n}\n");
  EXPECT_EQ(hints(0, UINT32_MAX), "x|: [1,4] y|: [1,4] ");
}

TEST_F(QueriesTest, ValuesOfInstantiations) {
  Open(kQueriesNet);
  EXPECT_EQ(service_.HoverAt(kQueriesUri, At("step]"))->value, "2");
  EXPECT_EQ(service_.HoverAt(kQueriesUri, At("input, filter, stride"))->value, "");  // a tensor
  // `external`, the first fragment of its library, is not the first one of the document.
  Open(
      "version 1.0;\nextension KHR_enable_fragment_definitions;\n"
      "fragment first( n: integer ) -> ( y: tensor<scalar> )\n{\n"
      "    y = constant(shape = [n], value = [0.5]);\n}\n"
      "graph g( x ) -> ( y )\n{\n    x = external(shape = [4]);\n    y = add(x, first(n = 4));\n}\n");
  EXPECT_EQ(service_.HoverAt(kQueriesUri, At("n = 4"))->value, "4");
  EXPECT_EQ(service_.HoverAt(kQueriesUri, At("shape = [4]"))->value, "");
}

TEST_F(QueriesTest, FormulasOfOperations) {
  Open(kQueriesNet);
  const auto conv = service_.HoverAt(kQueriesUri, At("conv("));
  EXPECT_EQ(conv->section, "R 4.3.1");
  EXPECT_NE(conv->formula, "");
  EXPECT_NE(conv->summary, "");
}

TEST_F(QueriesTest, SectionsHaveAddresses) {
  EXPECT_EQ(SectionUrl("R 4.3.1"),
            "https://registry.khronos.org/NNEF/specs/1.0/nnef-1.0.5.html#convolution-ops");
  EXPECT_EQ(SectionUrl("R 3.3.2, R 4.1"),
            "https://registry.khronos.org/NNEF/specs/1.0/nnef-1.0.5.html#fragment-definition-invocation");
  EXPECT_EQ(SectionUrl("R 99"), "https://registry.khronos.org/NNEF/specs/1.0/nnef-1.0.5.html");
  EXPECT_EQ(SectionUrl("P 4.3"), "");
  EXPECT_EQ(SectionUrl(""), "");
}

TEST_F(QueriesTest, ColumnsOfUtf8AreBytes) {
  Open("# \xC3\xA9\xF0\x9F\x98\x80x\r\ny\n", PositionEncoding::kUtf8);
  EXPECT_EQ(service_.PositionOf(kQueriesUri, 8), (Position{0, 8}));
  EXPECT_EQ(service_.PositionOf(kQueriesUri, 3), (Position{0, 2}));  // within a character
  EXPECT_EQ(service_.PositionOf(kQueriesUri, 6), (Position{0, 4}));
  EXPECT_EQ(service_.Offset(kQueriesUri, {0, 8}), 8u);
  EXPECT_EQ(service_.Offset(kQueriesUri, {0, 3}), 2u);
  EXPECT_EQ(service_.Offset(kQueriesUri, {0, 7}), 4u);
  EXPECT_EQ(service_.Offset(kQueriesUri, {0, 99}), 9u);
  const PositionMap map(analysis().context().sources, analysis().file(), PositionEncoding::kUtf8);
  for (uint32_t offset = 0; offset < 15; ++offset)
    EXPECT_EQ(map.PositionAt(offset), service_.PositionOf(kQueriesUri, offset)) << offset;
  ASSERT_TRUE(service_.Change(kQueriesUri, 2, {{{{{0, 4}, {0, 8}}}, "z"}}));
  EXPECT_EQ(service_.Text(kQueriesUri), "# \xC3\xA9zx\r\ny\n");
}

// An offset within a character is that of its first byte, also in the first character of a text.
TEST_F(QueriesTest, ColumnsBeginCharacters) {
  for (const std::string_view character : {"\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"}) {
    for (const uint32_t begin : {0U, 1U, 3U}) {
      Open(std::string(begin, '#') + std::string(character) + "x", PositionEncoding::kUtf8);
      const PositionMap map(analysis().context().sources, analysis().file(), PositionEncoding::kUtf8);
      const auto size = static_cast<uint32_t>(character.size());
      for (uint32_t offset = 0; offset <= begin + size + 1; ++offset) {
        const bool is_within = offset > begin && offset < begin + size;
        const Position expected{0, static_cast<int32_t>(is_within ? begin : offset)};
        EXPECT_EQ(service_.PositionOf(kQueriesUri, offset), expected) << character << " at " << begin;
        EXPECT_EQ(map.PositionAt(offset), expected) << character << " at " << begin;
      }
    }
  }
}

// The published numbers of ResNet-50 at 224x224.
TEST_F(QueriesTest, CostsOfResNet50) {
  std::ifstream file("tests/networks/resnet50.nnef");
  std::stringstream text;
  text << file.rdbuf();
  Open(text.str());
  const auto costs = FindCosts(analysis());
  ASSERT_TRUE(costs && costs->macs);
  EXPECT_NEAR(static_cast<double>(costs->parameters), 25.56e6, 0.005 * 25.56e6);
  EXPECT_NEAR(*costs->macs, 4.09e9, 0.005 * 4.09e9);
  Open("version 1.0;\ngraph g( x ) -> ( y )\n{\n    y = relu(x);\n}\n");
  EXPECT_FALSE(FindCosts(analysis()));
  EXPECT_FALSE(Expansion(analysis()));
}

TEST_F(QueriesTest, ConfigurationsAreChecked) {
  const std::string uri = "file:///.nnefc.json";
  LanguageService service;
  ASSERT_TRUE(service.OpenConfiguration(uri, 1, R"({"lint": {"disable": ["unused-tensor", "nonsense"]}})"));
  ASSERT_EQ(service.Diagnostics(uri).size(), 1u);
  EXPECT_EQ(service.Diagnostics(uri)[0].range.start, (Position{0, 39}));
  ASSERT_EQ(service.Configuration(uri)->disabled.size(), 1u);
  EXPECT_EQ(service.AnalysisOf(uri), nullptr);
  ASSERT_TRUE(service.Change(uri, 2, {{{}, "{}"}}));
  EXPECT_TRUE(service.Diagnostics(uri).empty());
  EXPECT_FALSE(service.Configuration("file:///other.json"));
}

// A note has the place of what it refers to.
TEST_F(QueriesTest, NotesOfConfigurationsHavePlaces) {
  const std::string uri = "file:///.nnefc.json", text = R"({"lint": {}, "lint": {}})";
  LanguageService service;
  ASSERT_TRUE(service.OpenConfiguration(uri, 1, text));
  const std::vector<Finding> findings = service.Diagnostics(uri);
  ASSERT_EQ(findings.size(), 1u);
  ASSERT_EQ(findings[0].notes.size(), 1u);
  ASSERT_TRUE(findings[0].notes[0].place);
  const TextRange& range = findings[0].notes[0].place->range;
  EXPECT_EQ(text.substr(range.begin, range.end - range.begin), R"("lint")");
  EXPECT_EQ(range.begin, 1u);
  EXPECT_EQ(range.start, (Position{0, 1}));
  EXPECT_EQ(range.stop, (Position{0, 7}));
}

TEST_F(QueriesTest, GraphsAreNotDocuments) {
  EXPECT_FALSE(service_.Open("file:///net.xml", 1, "version 1.0;\n"));
  EXPECT_FALSE(service_.Open("file:///net.ir", 1, "version 1.0;\n"));
}

// After each change of a random text, places agree with those of the whole text.
TEST(EditedTextTest, LinesFollowChanges) {
  const std::vector<std::string> pieces = {
      "", "a", "\n", "\r\n", "\r", "\xC3\xA9", "\xF0\x9F\x98\x80", "ab\ncd\n", "\n\n", "x y"};
  std::mt19937 random(5);
  const auto below = [&](size_t bound) { return static_cast<uint32_t>(random() % bound); };
  std::string text = "one\ntwo\r\n\nfour";
  EditedText edited(text);
  for (int step = 0; step < 500; ++step) {
    const uint32_t begin = below(text.size() + 1);
    const uint32_t end = begin + below(std::min<size_t>(text.size() - begin, 12) + 1);
    const std::string& piece = pieces[below(pieces.size())];
    text.replace(begin, end - begin, piece);
    edited.Replace(begin, end, piece);
    ASSERT_EQ(edited.text(), text) << step;
    SourceManager sources;
    const FileId file = sources.AddText("text", text);
    const int32_t lines = sources.Position({file, static_cast<uint32_t>(text.size())}).line;
    for (const PositionEncoding encoding : {PositionEncoding::kUtf8, PositionEncoding::kUtf16}) {
      for (int32_t line = -1; line <= lines; ++line) {
        for (int32_t character = -1; character < 9; ++character)
          ASSERT_EQ(edited.OffsetAt({line, character}, encoding),
                    OffsetAt(sources, file, {line, character}, encoding))
              << step << ": " << line << ":" << character;
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::language
