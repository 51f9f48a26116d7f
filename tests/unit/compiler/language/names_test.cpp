// Hover, definitions, references and the outline at names of each kind, in valid and invalid documents.

#include "compiler/language/language_service.h"
#include "fmt/core.h"
#include "gtest/gtest.h"

namespace nnefc::language {
namespace {

constexpr char kNamesUri[] = "file:///net.nnef";

// A document in which each name is found by the text around it.
struct Opened {
  LanguageService service;
  std::string text;

  explicit Opened(std::string document, ServiceOptions options = {})
      : service(std::move(options)), text(std::move(document)) {
    EXPECT_TRUE(service.Open(kNamesUri, 1, text));
  }
  uint32_t At(std::string_view needle) const {
    EXPECT_NE(text.find(needle), std::string::npos) << needle;
    return static_cast<uint32_t>(text.find(needle));
  }
  std::string Hovered(std::string_view needle) const {
    const std::optional<Hover> hover = service.HoverAt(kNamesUri, At(needle));
    return hover ? hover->Text() : "nothing";
  }
  // The text from the definition's first byte to its last, with the file it is in.
  std::string Defined(std::string_view needle) const {
    const std::optional<Place> place = service.Definition(kNamesUri, At(needle));
    if (!place) return "nothing";
    return fmt::format(
        "{} {}:{} {}", place->uri, place->range.start.line, place->range.start.character,
        service.Text(place->uri).substr(place->range.begin, place->range.end - place->range.begin));
  }
  std::string References(std::string_view needle) const {
    std::string shown;
    for (const Place& place : service.References(kNamesUri, At(needle)))
      shown += fmt::format("{}:{} ", place.range.start.line, place.range.start.character);
    return shown;
  }
  // The outline: ranges and selections in bytes, children in brackets.
  std::string Outline() const {
    std::string shown;
    for (const DocumentSymbol& symbol : service.Symbols(kNamesUri)) {
      shown += fmt::format("{} {}-{} {}-{} [", symbol.name, symbol.range.begin, symbol.range.end,
                           symbol.selection.begin, symbol.selection.end);
      for (const DocumentSymbol& child : symbol.children) shown += fmt::format(" {}", child.name);
      shown += " ]\n";
    }
    return shown;
  }
};

TEST(Names, OfGraphsHaveADefinition) {
  const Opened net(
      "version 1.0;\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [2]);\n    y = relu(x);\n}\n");
  EXPECT_EQ(net.Defined("net( x"), "file:///net.nnef 1:6 net");
  EXPECT_EQ(net.References("net( x"), "1:6 ");
  EXPECT_EQ(net.Hovered("net( x"), "graph net");
}

// The name of an argument that the operation lacks is none of its parameters.
TEST(Names, OfUnknownArguments) {
  const Opened net(
      "version 1.0;\nextension KHR_enable_fragment_definitions;\n"
      "fragment f( a: tensor<scalar>, n: integer = 1 ) -> ( b: tensor<scalar> ) { b = relu(a); }\n"
      "graph net( x ) -> ( y )\n{\n    x = external(shape = [1, 2]);\n"
      "    z = f(x, foo = 2);\n    y = softmax(z, bar = [1]);\n}\n");
  EXPECT_EQ(net.Hovered("foo ="), "nothing");
  EXPECT_EQ(net.Hovered("bar ="), "nothing");
  EXPECT_EQ(net.References("a: tensor"), "2:12 2:84 ");
}

TEST(Names, OfParametersOfOperations) {
  const Opened net(
      "version 1.0;\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [1, 2]);\n"
      "    y = softmax(x, axes = [1]);\n    z = softmax(x, axes = [0]);\n    w = softmax(x = x);\n}\n");
  EXPECT_EQ(net.Hovered("axes = [1]"), "parameter axes: integer[]\naxes = [1]");
  EXPECT_EQ(net.Hovered("x = x)"), "parameter x: tensor<scalar>");
  EXPECT_EQ(net.References("axes = [1]"), "4:19 5:19 ");
  EXPECT_EQ(net.References("softmax(x, axes = [0]"), "4:8 5:8 6:8 ");
  const auto definition = net.service.Definition(kNamesUri, net.At("axes = [0]"));
  ASSERT_TRUE(definition);
  EXPECT_EQ(definition->uri, LanguageService::LibraryUri("ratified.nnef"));
  EXPECT_EQ(net.service.Definition(kNamesUri, net.At("axes = [1]"))->range.begin, definition->range.begin);
}

// Parameters of an invocation without an argument are shown with their defaults: the first, one between, the
// last.
TEST(Names, OfInvocationsShowOmittedParameters) {
  const Opened net(
      "version 1.0;\nextension KHR_enable_fragment_definitions;\n"
      "fragment f( a: scalar = 1.0, b: scalar = 2.0, c: scalar = 3.0 ) -> ( y: tensor<scalar> )\n{\n"
      "    y = constant(shape = [1], value = [1.0]);\n}\n"
      "graph net( x ) -> ( i, j, k, l )\n{\n    x = external(shape = [2]);\n    i = f(c = 5.0);\n"
      "    j = f(b = 5.0);\n    k = f(a = 5.0, b = 6.0);\n    l = f(c = 7.0, b = 6.0, a = 5.0);\n}\n");
  const auto omitted = [&](std::string_view needle) {
    std::string shown;
    const std::optional<Hover> hover = net.service.HoverAt(kNamesUri, net.At(needle));
    for (const auto& [name, value] : hover ? hover->defaults : decltype(hover->defaults)())
      shown += fmt::format("{} = {} ", name, value);
    return shown;
  };
  EXPECT_EQ(omitted("f(c = 5.0)"), "a = 1.0 b = 2.0 ");
  EXPECT_EQ(omitted("f(b = 5.0)"), "a = 1.0 c = 3.0 ");
  EXPECT_EQ(omitted("f(a = 5.0"), "c = 3.0 ");
  EXPECT_EQ(omitted("f(c = 7.0"), "");
}

// Only open documents and the standard library have a text.
TEST(Names, OfDocumentsThatAreNotOpenHaveNoText) {
  const LanguageService service;
  const std::string library = LanguageService::LibraryUri("");
  EXPECT_FALSE(service.Text(library + "ratified.nnef").empty());
  for (const std::string& uri : {std::string(), std::string("file:///net.nnef"), std::string("ratified.nnef"),
                                 std::string(library.size(), 'x') + "ratified.nnef", library + "other.nnef"})
    EXPECT_EQ(service.Text(uri), "") << uri;
}

// A name has no type where its value has none: an unknown operation, one name more than there are results.
TEST(Names, WithoutAType) {
  const Opened net(
      "version 1.0;\nextension KHR_enable_fragment_definitions;\n"
      "fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n{\n    a = unknown(x);\n"
      "    b, c, d = moments(x, axes = [0]);\n    y = relu(x);\n}\n"
      "graph net( x ) -> ( y )\n{\n    x = external(shape = [2]);\n    e = unknown(x);\n"
      "    g, h, i = moments(x, axes = [0]);\n    (j, (k, l)) = moments(x, axes = [0]);\n    y = f(x);\n}\n");
  EXPECT_EQ(net.Hovered("a = "), "value a");
  EXPECT_EQ(net.Hovered("d = "), "value d");
  EXPECT_EQ(net.Hovered("e = unknown"), "tensor e");
  EXPECT_EQ(net.Hovered("i = moments(x, axes = [0]);\n    (j"), "tensor i");
  EXPECT_EQ(net.Hovered("l)"), "tensor l");
  EXPECT_EQ(net.Hovered("unknown(x);\n    b"), "nothing");
}

// The text of a default value is cut after 80 characters.
TEST(Names, LongDefaultsAreCut) {
  const auto shown = [](size_t size) {
    const std::string value = "'" + std::string(size - 2, 'a') + "'";
    return Opened(
        "version 1.0;\nextension KHR_enable_fragment_definitions;\nfragment f( x: tensor<scalar>, s: "
        "string = " +
        value + " ) -> ( y: tensor<scalar> );\n");
  };
  const auto text = [](size_t size) { return "'" + std::string(size - 1, 'a'); };
  EXPECT_EQ(shown(80).Hovered("f( "),
            "fragment f( x: tensor<scalar>, s: string = " + text(79) + "' ) -> ( y: tensor<scalar> )");
  EXPECT_EQ(shown(81).Hovered("f( "),
            "fragment f( x: tensor<scalar>, s: string = " + text(80) + ".. ) -> ( y: tensor<scalar> )");
  EXPECT_EQ(shown(80).Hovered("s: "), "parameter s: string\ns = " + text(79) + "'");
  EXPECT_EQ(shown(81).Hovered("s: "), "parameter s: string\ns = " + text(80) + "..");
}

// In the order of the text; a declaration without a name is selected at its beginning.
TEST(Names, AreOutlinedInOrder) {
  const std::string first = "graph one( x ) -> ( y )\n{\n    y = relu(x);\n}\n";
  const std::string second =
      "fragment ( a: tensor<scalar> ) -> ( b: tensor<scalar> )\n{\n    b = relu(a);\n}\n";
  const std::string third = "fragment f( c: tensor<scalar> ) -> ( d: tensor<scalar> );\n";
  const std::string head = "version 1.0;\nextension KHR_enable_fragment_definitions;\n";
  const Opened net(head + first + second + third);
  const size_t one = head.size(), two = one + first.size(), three = two + second.size();
  EXPECT_EQ(net.Outline(), fmt::format("one {}-{} {}-{} [ x y ]\n {}-{} {}-{} [ b ]\nf {}-{} {}-{} [ c d ]\n",
                                       one, two - 1, one + 6, one + 9, two, three - 1, two, two, three,
                                       net.text.size() - 1, three + 9, three + 10));
}

// Reading stops within a body after 100 errors. The outline lacks names that only the body declares.
TEST(Names, OfBodiesWithTooManyErrors) {
  const std::string start =
      "version 1.0;\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [2]);\n    z = relu(x);\n";
  const auto symbols = [&](int num_errors) {
    std::string text = start;
    for (int i = 0; i < num_errors; ++i) text += "    y y;\n";
    return Opened(text + "}\n").service.Symbols(kNamesUri);
  };
  const std::vector<DocumentSymbol> whole = symbols(1), cut = symbols(100);
  ASSERT_EQ(whole.size(), 1U);
  EXPECT_EQ(whole.front().children.size(), 3U);
  ASSERT_EQ(cut.size(), 1U);
  EXPECT_EQ(cut.front().name, "net");
  EXPECT_EQ(cut.front().children.size(), 2U);
}

// Parameters that are arrays or tuples show their value if each item has one; equal values of several
// instantiations are one.
TEST(Names, OfParametersShowTheirValues) {
  const auto value = [](std::string_view type, std::initializer_list<std::string_view> arguments) {
    std::string text = fmt::format(
        "version 1.0;\nextension KHR_enable_fragment_definitions;\n"
        "fragment own( x: tensor<scalar>, a: {} ) -> ( y: tensor<scalar> )\n{{\n    y = relu(x);\n}}\n"
        "graph g( x ) -> ( y )\n{{\n    x = external(shape = [4]);\n    y = add_n([x",
        type);
    for (std::string_view argument : arguments) text += fmt::format(", own(x, a = {})", argument);
    const Opened net(text + "]);\n}\n");
    return net.service.HoverAt(kNamesUri, net.At("a: "))->value;
  };
  EXPECT_EQ(value("integer[]", {"[2]"}), "[2]");
  EXPECT_EQ(value("integer[]", {"[2, 3, 4]"}), "[2, 3, 4]");
  EXPECT_EQ(value("integer[]", {"[]"}), "[]");
  EXPECT_EQ(value("integer[][]", {"[[1], [], [2, 3]]"}), "[[1], [], [2, 3]]");
  EXPECT_EQ(value("(integer,integer)[]", {"[(1, 2), (3, 4)]"}), "[(1, 2), (3, 4)]");
  EXPECT_EQ(value("(scalar,logical,string)", {"(1.5, true, '')"}), "(1.5, true, '')");
  EXPECT_EQ(value("tensor<scalar>[]", {"[x, x]"}), "");
  EXPECT_EQ(value("tensor<scalar>[]", {"[1.0, x]"}), "");
  EXPECT_EQ(value("integer[]", {"[2]", "[3]"}), "[2] and 1 other");
  EXPECT_EQ(value("integer[]", {"[2]", "[3]", "[4]"}), "[2] and 2 others");
  EXPECT_EQ(value("integer[]", {"[2]", "[3]", "[2]"}), "[2] and 1 other");
}

// An invalid second assignment does not change what the name denotes.
TEST(Names, OfTwoAssignmentsDenoteTheFirst) {
  const Opened net(
      "version 1.0;\nextension KHR_enable_fragment_definitions;\n"
      "fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n{\n"
      "    a = relu(x);\n    a = max_reduce(x, axes = [1]);\n    y = copy(a);\n}\n"
      "graph g( x ) -> ( y )\n{\n    x = external(shape = [2, 3]);\n    y = f(x);\n}\n");
  for (const char* needle : {"a = relu", "a = max_reduce", "a);"}) {
    const std::string hovered = net.Hovered(needle);
    EXPECT_NE(hovered.find("[2,3]"), std::string::npos) << hovered;
    EXPECT_EQ(hovered.find("[2,1]"), std::string::npos) << hovered;
  }
}

TEST(Names, OfUnknownDocumentsAreNowhere) {
  const LanguageService service;
  EXPECT_EQ(service.Offset("file:///other.nnef", {3, 4}), 0U);
  EXPECT_EQ(service.PositionOf("file:///other.nnef", 7), (Position{0, 0}));
  EXPECT_FALSE(service.Version("file:///other.nnef"));
  EXPECT_EQ(service.Text("file:///other.nnef"), "");
  EXPECT_FALSE(service.Definition("file:///other.nnef", 0U));
  EXPECT_TRUE(service.References("file:///other.nnef", 0U).empty());
  EXPECT_TRUE(service.Symbols("file:///other.nnef").empty());
  EXPECT_TRUE(service.Complete("file:///other.nnef", 0U).empty());
}

}  // namespace
}  // namespace nnefc::language
