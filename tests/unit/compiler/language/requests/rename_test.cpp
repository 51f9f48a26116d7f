// Renaming: what changes, and the conflicts.

#include <initializer_list>

#include "compiler/language/queries.h"
#include "fmt/format.h"
#include "gtest/gtest.h"

namespace nnefc::language {
namespace {

constexpr char kRenamedUri[] = "file:///net.nnef";
constexpr char kRenamedQuantization[] = "file:///graph.quant";
constexpr std::string_view kRenamed = R"(version 1.0;
extension KHR_enable_fragment_definitions;
extension KHR_enable_operator_expressions;
extension NNEFC_control_flow;

fragment one( a: tensor<scalar>, n: integer = 1 ) -> ( b: tensor<scalar> )
{
    c = [for i in [1, n] yield i];
    b = max_pool(a, size = c, border = 'ignore');
}
fragment two( a: tensor<scalar>, n: integer = 2 ) -> ( b: tensor<scalar> )
{
    d = one(a, n = n);
    b = one(a = d, n = 3);
}
fragment ignore( a: tensor<scalar> ) -> ( b: tensor<scalar> ) { b = relu(a); }
fragment none( a: tensor<scalar> ) -> ( b: tensor<scalar> ) { b = ignore(a); }
graph net( x, y ) -> ( z, b )
{
    x = external(shape = [1, 4]);
    y = external<logical>(shape = []);
    v = variable(shape = [1, 4], label = 'v');
    w = variable(shape = [1, 4], label = 'part/w');
    u = variable(shape = [1, 4], label = 'v');
    q = variable(shape = [1, 4], label = 'con' + 'cat');
    t = one(x, n = 1);
    [z] = if_else(y, [t], then_body = 'ignore', else_body = 'none');
    b = v + w + u;
}
)";

class RenameTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(service_.Open(kRenamedUri, 1, std::string(kRenamed))); }
  const Analysis& analysis() { return *service_.AnalysisOf(kRenamedUri); }
  // Returns the analysis of another document.
  const Analysis& Open(std::string_view text) {
    EXPECT_TRUE(service_.Open("file:///other.nnef", 1, std::string(text)));
    return *service_.AnalysisOf("file:///other.nnef");
  }
  static uint32_t At(std::string_view needle, uint32_t more = 0) {
    const size_t at = kRenamed.find(needle);
    EXPECT_NE(at, std::string_view::npos) << needle;
    return static_cast<uint32_t>(at) + more;
  }
  static std::string Apply(std::string_view before, const std::vector<TextEdit>& edits) {
    std::string text(before);
    for (size_t i = edits.size(); i > 0; --i) {
      const TextRange& range = edits[i - 1].range;
      text.replace(range.begin, range.end - range.begin, edits[i - 1].text);
    }
    return text;
  }
  // Returns the document with each of the texts replaced, in order.
  static std::string With(std::initializer_list<std::pair<std::string_view, std::string_view>> changes) {
    std::string text(kRenamed);
    size_t from = 0;
    for (const auto& [before, after] : changes) {
      const size_t at = text.find(before, from);
      EXPECT_NE(at, std::string::npos) << before;
      text.replace(at, before.size(), after);
      from = at + after.size();
    }
    return text;
  }
  void ExpectRenamed(uint32_t offset, std::string_view name, const std::string& expected) {
    const Renaming renaming = Rename(analysis(), offset, name);
    EXPECT_EQ(renaming.error, "");
    EXPECT_EQ(Apply(kRenamed, renaming.edits), expected);
  }

  LanguageService service_;
};

TEST_F(RenameTest, EachOccurrenceInItsScope) {
  ExpectRenamed(At("c = ["), "s", With({{"c = [", "s = ["}, {"size = c", "size = s"}}));
  ExpectRenamed(At("i in"), "k", With({{"for i in", "for k in"}, {"yield i", "yield k"}}));
  ExpectRenamed(At("n: integer = 1"), "m",
                With({{"n: integer = 1", "m: integer = 1"},
                      {"[1, n]", "[1, m]"},
                      {"one(a, n = n)", "one(a, m = n)"},
                      {"n = 3", "m = 3"},
                      {"one(x, n = 1)", "one(x, m = 1)"}}));
  ExpectRenamed(At("n: integer = 2"), "m",
                With({{"n: integer = 2", "m: integer = 2"}, {"one(a, n = n)", "one(a, n = m)"}}));
  ExpectRenamed(At("a = d"), "k",
                With({{"one( a:", "one( k:"}, {"max_pool(a", "max_pool(k"}, {"one(a = d", "one(k = d"}}));
  ExpectRenamed(
      At("x = external"), "input",
      With({{"net( x,", "net( input,"}, {"x = external", "input = external"}, {"one(x,", "one(input,"}}));
  ExpectRenamed(At("net("), "other", With({{"graph net(", "graph other("}}));
}

// The strings that name bodies change with their fragment; equal strings of other attributes do not.
TEST_F(RenameTest, Fragments) {
  ExpectRenamed(At("one( a"), "first",
                With({{"fragment one(", "fragment first("},
                      {"d = one(", "d = first("},
                      {"b = one(", "b = first("},
                      {"t = one(", "t = first("}}));
  ExpectRenamed(At("ignore( a"), "first",
                With({{"fragment ignore(", "fragment first("},
                      {"b = ignore(", "b = first("},
                      {"then_body = 'ignore'", "then_body = 'first'"}}));
  ExpectRenamed(At("none( a"), "net",
                With({{"fragment none(", "fragment net("}, {"else_body = 'none'", "else_body = 'net'"}}));
}

TEST_F(RenameTest, Conflicts) {
  struct Case {
    uint32_t offset;
    std::string_view name, error;
  };
  constexpr std::string_view kTaken = "there is already a name `{}` in this body";
  constexpr std::string_view kFragment = "there is already a fragment or operation `{}`";
  for (const Case& each : std::initializer_list<Case>{
           {At("c = ["), "a", kTaken},
           {At("c = ["), "b", kTaken},
           {At("c = ["), "n", kTaken},
           {At("c = ["), "i", kTaken},
           {At("c = ["), "d", ""},  // of another fragment
           {At("c = ["), "z", ""},
           {At("c = ["), "size", ""},  // of `max_pool`
           {At("c = ["), "max_pool", ""},
           {At("c = ["), "one", ""},
           {At("c = ["), "net", ""},
           {At("d = one"), "c", ""},
           {At("d = one"), "a", kTaken},  // also the name of an argument
           {At("d = one"), "b", kTaken},
           {At("t = one"), "n", ""},  // a parameter of `one`
           {At("t = one"), "a", ""},
           {At("t = one"), "x", kTaken},
           {At("t = one"), "b", kTaken},
           {At("t = one"), "shape", ""},
           {At("t = one"), "net", ""},
           {At("t = one"), "one", ""},
           {At("t = one"), "external", ""},
           {At("n: integer = 1"), "a", kTaken},
           {At("n: integer = 1"), "c", kTaken},
           {At("n: integer = 1"), "d", ""},
           {At("one( a"), "two", kFragment},
           {At("one( a"), "conv", kFragment},
           {At("one( a"), "if_else", kFragment},
           {At("one( a"), "a", ""},
           {At("one( a"), "net", ""},
           {At("net("), "one", ""},
           {At("c = ["), "", "`{}` is not a valid name: expected letters, digits and `_`"},
           {At("c = ["), "a b", "`{}` is not a valid name: expected letters, digits and `_`"},
           {At("c = ["), "yield", "`{}` is a keyword of the ratified dialect"},
           {At("one( a"), "version", "`{}` is a keyword of the ratified dialect"},
           {At("net("), "integer", "`{}` is a keyword of the ratified dialect"},
           {At("c = ["), "extent", ""},  // of the provisional dialect
           {At("max_pool("), "x", "expected a name of the document or the label of a variable"},
           {At("version"), "x", "expected a name of the document or the label of a variable"},
       }) {
    const Renaming renaming = Rename(analysis(), each.offset, each.name);
    EXPECT_EQ(renaming.error, fmt::format(fmt::runtime(each.error), each.name)) << each.offset << each.name;
    EXPECT_EQ(renaming.edits.empty(), !renaming.error.empty());
  }
}

// A name does not become that of a symbol or a number that the document uses.
TEST_F(RenameTest, UndeclaredIdentifiers) {
  constexpr std::string_view kText =
      "version 1.0;\nextension tract_registry tract_core;\nextension tract_symbol N;\n"
      "graph g( x, n ) -> ( y ) { x = tract_core_external(shape = [N,M]); n = external(shape = [K]);\n"
      "a = leaky_relu(x, alpha = inf); y = relu(a); }\n"
      "fragment f( a: tensor<scalar> ) -> ( b: tensor<scalar> ) { b = leaky_relu(a, alpha = nan); }\n";
  const Analysis& other = Open(kText);
  const auto error = [&](std::string_view old_name, std::string_view name) {
    return Rename(other, static_cast<uint32_t>(kText.find(old_name)), name).error;
  };
  for (const std::string_view name : {"N", "M", "K", "inf"})
    EXPECT_EQ(error("a = leaky", name), fmt::format("there is already a name `{}` in this body", name));
  for (const std::string_view name : {"S", "nan", "b"}) EXPECT_EQ(error("a = leaky", name), "");
  EXPECT_EQ(error("b = leaky", "nan"), "there is already a name `nan` in this body");
  EXPECT_EQ(error("b = leaky", "inf"), "");
  EXPECT_EQ(error("f( a", "N"), "");
  EXPECT_EQ(error("a = leaky", "a"), "");
}

// The names of a body are distinct in any order of the declarations.
TEST_F(RenameTest, GraphsBeforeFragments) {
  constexpr std::string_view kText =
      "version 1.0;\nextension KHR_enable_fragment_definitions;\n"
      "graph g( x ) -> ( y ) { x = external(shape = [1]); z = relu(x); y = relu(z); }\n"
      "fragment f( a: tensor<scalar> ) -> ( b: tensor<scalar> ) { b = relu(a); }\n";
  const Analysis& other = Open(kText);
  const auto at = static_cast<uint32_t>(kText.find("z = "));
  EXPECT_EQ(Rename(other, at, "y").error, "there is already a name `y` in this body");
  EXPECT_EQ(Rename(other, at, "a").error, "");
}

// After a comprehension the name of its iterator may be another's.
TEST_F(RenameTest, IteratorsEndWithTheirLoop) {
  constexpr std::string_view kText =
      "version 1.0;\nextension KHR_enable_fragment_definitions;\n"
      "fragment f( a: integer[] ) -> ( b: integer[] ) { b = [for i in a yield i]; }\n"
      "graph g( x ) -> ( y ) { x = external(shape = [1]); i = relu(x); y = relu(i); }\n";
  const Renaming renaming = Rename(Open(kText), static_cast<uint32_t>(kText.find("i = relu")), "k");
  EXPECT_EQ(renaming.error, "");
  const std::string expected = Apply(kText, renaming.edits);
  EXPECT_NE(expected.find("yield i]"), std::string::npos) << expected;
  EXPECT_NE(expected.find("k = relu(x); y = relu(k);"), std::string::npos) << expected;
}

TEST_F(RenameTest, Labels) {
  const uint32_t begin = At("'v'", 1);
  for (const uint32_t offset : {begin, begin + 1}) {
    ASSERT_TRUE(FindRenamable(analysis(), offset)) << offset;
    EXPECT_TRUE(FindRenamable(analysis(), offset)->is_label);
    EXPECT_EQ(FindRenamable(analysis(), offset)->range.begin, begin);
    EXPECT_EQ(FindRenamable(analysis(), offset)->range.end, begin + 1);
  }
  EXPECT_FALSE(FindRenamable(analysis(), begin - 1));
  EXPECT_FALSE(FindRenamable(analysis(), begin + 2));
  EXPECT_FALSE(FindRenamable(analysis(), At("'ignore'", 1)));  // an attribute
  // All variables with the label.
  ExpectRenamed(begin, "part/v",
                With({{"label = 'v'", "label = 'part/v'"}, {"label = 'v'", "label = 'part/v'"}}));
  ExpectRenamed(begin, "v", std::string(kRenamed));
  ExpectRenamed(At("part/w"), "w", With({{"'part/w'", "'w'"}}));
  EXPECT_EQ(Rename(analysis(), begin, "part/w").error, "there is already a variable with the label `part/w`");
  EXPECT_EQ(Rename(analysis(), At("part/w"), "v").error, "there is already a variable with the label `v`");
  EXPECT_EQ(Rename(analysis(), At("part/w"), "one").error, "");  // no label
  // Labels that differ by case alone are equal in the ratified dialect.
  EXPECT_EQ(Rename(analysis(), At("part/w"), "V").error, "there is already a variable with the label `V`");
  EXPECT_EQ(Rename(analysis(), begin, "Part/W").error, "there is already a variable with the label `Part/W`");
  EXPECT_EQ(Rename(analysis(), At("part/w"), "Part/w").error, "");
  const Renaming renaming = Rename(analysis(), At("part/w"), "other/w");
  EXPECT_EQ(renaming.old_file, "part/w");
  EXPECT_EQ(renaming.new_file, "other/w");
  EXPECT_TRUE(renaming.quantization_edits.empty());
}

// The keys of graph.quant are tensors of the graph.
TEST_F(RenameTest, QuantizationFiles) {
  const std::string text =
      "\"x\": linear_quantize(min = 0.0, max = 1.0, bits = 8);\n"
      "\"t\": linear_quantize(min = 0.0, max = 1.0, bits = 8);\n"
      "'z': linear_quantize(min = 0.0, max = 1.0, bits = 8);\n";
  ASSERT_TRUE(service_.OpenQuantization(kRenamedQuantization, 1, text, kRenamedUri));
  const auto renamed = [&](uint32_t offset, std::string_view name) {
    const Renaming renaming = Rename(analysis(), offset, name);
    EXPECT_EQ(renaming.error, "");
    return Apply(text, renaming.quantization_edits);
  };
  const auto with = [&](std::string_view before, std::string_view after) {
    std::string changed = text;
    changed.replace(text.find(before), before.size(), after);
    return changed;
  };
  EXPECT_EQ(renamed(At("x = external"), "input"), with("\"x\"", "\"input\""));
  EXPECT_EQ(renamed(At("one(x", 4), "input"), with("\"x\"", "\"input\""));
  EXPECT_EQ(renamed(At("t = one"), "tensor_2"), with("\"t\"", "\"tensor_2\""));
  EXPECT_EQ(renamed(At("z, b )"), "result"), with("'z'", "'result'"));
  EXPECT_EQ(renamed(At("w = variable"), "other"), text);
  EXPECT_EQ(renamed(At("a: tensor"), "other"), text);
  EXPECT_EQ(renamed(At("net("), "x"), text);
  EXPECT_EQ(renamed(At("one( a"), "other"), text);
  // A file that is closed is that of no model.
  ASSERT_TRUE(service_.Close(kRenamedQuantization));
  EXPECT_EQ(renamed(At("x = external"), "input"), text);
}

// A key, with its quotes and the offset after it, leads to the tensor of the graph, not to a name of a
// fragment.
TEST_F(RenameTest, KeysOfQuantizationFiles) {
  const std::string text =
      "  \"x\": linear_quantize(min = 0.0, max = 1.0, bits = 8);\n"
      "  'b': linear_quantize(min = 0.0, max = 1.0, bits = 8);\n";
  ASSERT_TRUE(service_.OpenQuantization(kRenamedQuantization, 1, text, kRenamedUri));
  const auto tensor = [&](size_t offset) {
    const std::optional<Place> place =
        service_.QuantizedTensor(kRenamedQuantization, static_cast<uint32_t>(offset));
    return place ? place->range.begin : 0;
  };
  const size_t x = text.find("\"x\""), b = text.find("'b'");
  EXPECT_EQ(tensor(x - 1), 0u);
  for (size_t i = 0; i <= 3; ++i) {
    EXPECT_EQ(tensor(x + i), At("x, y ) -> ( z")) << i;
    EXPECT_EQ(tensor(b + i), At("b )\n{\n    x =")) << i;
  }
  EXPECT_EQ(tensor(x + 4), 0u);
  EXPECT_EQ(tensor(b + 4), 0u);
}

}  // namespace
}  // namespace nnefc::language
