// The language service for documents of both dialects, complete and incomplete.

#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>

#include "compiler/language/language_service.h"
#include "gtest/gtest.h"

namespace nnefc::language {
namespace {

constexpr char kUri[] = "file:///net.nnef";

constexpr std::string_view kDocument = R"(version 1.0;
extension KHR_enable_fragment_definitions;
extension KHR_enable_operator_expressions;

fragment layer( input: tensor<scalar>, filter: tensor<scalar>, step: integer = 1 )
-> ( output: tensor<scalar> )
{
    sizes = [for i in [1, 1] yield i * step];
    sum = conv(input, filter, stride = sizes);
    output = relu(sum);
}

graph net( image ) -> ( best, rest )
{
    image = external(shape = [1, 3, 32, 32]);
    filter = variable(shape = [8, 3, 3, 3], label = 'filter');
    filter2 = variable(shape = [8, 8, 3, 3], label = 'filter2');
    first = layer(image, filter, step = 2);
    second = layer(first, filter2);
    (best, rest) = max_pool_with_index(second, size = [1, 1, 2, 2], border = 'ignore');
}
)";

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// A service with one document; positions are found by text.
class LanguageTest : public testing::Test {
 protected:
  void Open(std::string_view text) { ASSERT_TRUE(service_.Open(kUri, 1, std::string(text))); }
  // Returns the offset of the `nth` occurrence of `needle`, 0-based.
  uint32_t At(std::string_view needle, int nth = 0) {
    const std::string_view text = service_.Text(kUri);
    size_t at = text.find(needle);
    while (nth-- > 0 && at != std::string_view::npos) at = text.find(needle, at + 1);
    EXPECT_NE(at, std::string_view::npos) << needle;
    return static_cast<uint32_t>(at);
  }
  std::string Hovered(uint32_t offset) {
    const auto hover = service_.HoverAt(kUri, offset);
    return hover ? hover->Text() : "nothing";
  }
  // Returns "LINE:CHARACTER" for each location.
  static std::string Shown(const std::vector<Place>& places) {
    std::string text;
    for (const Place& place : places)
      text += fmt::format("{}{}:{}", text.empty() ? "" : " ", place.range.start.line,
                          place.range.start.character);
    return text;
  }
  std::string Findings() {
    std::string text;
    for (const Finding& finding : service_.Diagnostics(kUri)) {
      text += fmt::format("{}{} {}:{}", text.empty() ? "" : "\n", finding.rule, finding.range.start.line,
                          finding.range.start.character);
    }
    return text;
  }
  std::vector<std::string> Completed(uint32_t offset) {
    std::vector<std::string> labels;
    for (const Completion& completion : service_.Complete(kUri, offset)) labels.push_back(completion.label);
    return labels;
  }
  bool Offers(uint32_t offset, std::string_view label) {
    return std::ranges::count(Completed(offset), label) == 1;
  }

  LanguageService service_;
};

TEST_F(LanguageTest, ARightDocumentHasNoFindings) {
  Open(kDocument);
  EXPECT_EQ(Findings(), "");
}

// The dialect of a document is the given one, or follows from its text.
TEST_F(LanguageTest, DialectsAreGivenOrFound) {
  constexpr std::string_view kRatified =
      "version 1.0;\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [1]);\n    y = relu(x);\n}\n";
  Open(kRatified);
  EXPECT_EQ(Findings(), "");
  constexpr std::string_view kOther = "file:///other.nnef";
  ASSERT_TRUE(service_.Open(std::string(kOther), 1, std::string(kRatified), ast::Dialect::kProvisional));
  EXPECT_NE(service_.Diagnostics(std::string(kOther)).size(), 0u);
}

TEST_F(LanguageTest, DefinitionsOfEveryKindOfName) {
  Open(kDocument);
  auto defined_at = [&](uint32_t offset) { return service_.Definition(kUri, offset)->range.begin; };
  EXPECT_EQ(defined_at(At("layer(image")), At("layer( input"));
  EXPECT_EQ(defined_at(At("image, filter, step")), At("image )"));
  EXPECT_EQ(defined_at(At("sizes);")), At("sizes ="));
  EXPECT_EQ(defined_at(At("i * step")), At("i in ["));
  EXPECT_EQ(defined_at(At("step];")), At("step: integer"));
  EXPECT_EQ(defined_at(At("step = 2")), At("step: integer"));  // a named argument
  EXPECT_EQ(defined_at(At("filter2);")), At("filter2 = variable"));
  EXPECT_EQ(defined_at(At("best, rest) =")), At("best, rest )"));
  // The offset after a name also belongs to it.
  EXPECT_EQ(defined_at(At("sizes);") + 5), At("sizes ="));
  EXPECT_FALSE(service_.Definition(kUri, At("version")));
}

TEST_F(LanguageTest, OperationsAreDefinedInTheStandardLibrary) {
  Open(kDocument);
  const auto place = service_.Definition(kUri, At("conv(input"));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->uri, LanguageService::LibraryUri("ratified.nnef"));
  EXPECT_EQ(service_.Text(place->uri).substr(place->range.begin, 5), "conv(");
  const auto parameter = service_.Definition(kUri, At("stride = sizes"));
  ASSERT_TRUE(parameter);
  EXPECT_EQ(service_.Text(parameter->uri).substr(parameter->range.begin, 7), "stride:");
}

TEST_F(LanguageTest, LayersAreOfferedToProvisionalDocuments) {
  Open(
      "version 1.0\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [1,3,8,8])\n"
      "    y = conv_layer(x, channels = 2, size = [3,3], scope = 's')\n}\n");
  EXPECT_EQ(Findings(), "lint.not-ratified 0:0\nlint.undefined-layer 4:8");
  EXPECT_TRUE(Offers(At("conv_layer") + 5, "conv_layer"));
  const auto place = service_.Definition(kUri, At("conv_layer"));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->uri, LanguageService::LibraryUri("layers.nnef"));
  EXPECT_EQ(service_.Text(place->uri).substr(place->range.begin, 11), "conv_layer(");
  EXPECT_EQ(Hovered(At("conv_layer")).find("operation conv_layer( input: tensor, channels: extent"), 0u)
      << Hovered(At("conv_layer"));
}

TEST_F(LanguageTest, ReferencesAreThoseOfTheNameInItsScope) {
  Open(kDocument);
  // `filter` of the graph, not the parameter of `layer`.
  EXPECT_EQ(Shown(service_.References(kUri, At("filter = variable"))), "15:4 17:25");
  EXPECT_EQ(Shown(service_.References(kUri, At("filter, stride"))), "4:39 8:22");
  EXPECT_EQ(Shown(service_.References(kUri, At("step: integer"))), "4:63 7:39 17:33");
  EXPECT_EQ(Shown(service_.References(kUri, At("layer(first"))), "4:9 17:12 18:13");
  EXPECT_EQ(Shown(service_.References(kUri, At("layer(first"), /*include_declaration=*/false)),
            "17:12 18:13");
}

TEST_F(LanguageTest, HoverTellsTypesAndShapes) {
  Open(kDocument);
  EXPECT_EQ(Hovered(At("first =")), "tensor first: tensor<scalar>\nshape [1,8,16,16]");
  EXPECT_EQ(Hovered(At("image, filter, step")), "input image: tensor<scalar>\nshape [1,3,32,32]");
  EXPECT_EQ(Hovered(At("rest )")), "result rest: tensor<integer>\nshape [1,8,16,16]");
  EXPECT_EQ(Hovered(At("sizes =")), "value sizes: integer[]");
  EXPECT_EQ(Hovered(At("i * step")), "iterator i: integer");
  EXPECT_EQ(Hovered(At("step];")), "parameter step: integer\nstep = 1\nvalue 2 and 1 other");
  // Both instantiations have this shape; those of their inputs differ.
  EXPECT_EQ(Hovered(At("sum =")), "tensor sum: tensor<scalar>\nshape [1,8,16,16]");
  EXPECT_EQ(Hovered(At("version")), "nothing");
}

// Each name of a fragment that takes one of several results has the shape of that result.
TEST_F(LanguageTest, HoverTellsShapesOfResults) {
  Open(
      "version 1.0;\nextension KHR_enable_fragment_definitions;\n"
      "fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n{\n"
      "    [part, rest] = split(x, axis = 1, ratios = [1, 3]);\n"
      "    y = copy(rest);\n}\n"
      "graph g( a ) -> ( b )\n{\n    a = external(shape = [2, 8]);\n    b = f(a);\n}\n");
  EXPECT_EQ(Hovered(At("part,")), "tensor part: tensor<scalar>\nshape [2,2]");
  EXPECT_EQ(Hovered(At("rest]")), "tensor rest: tensor<scalar>\nshape [2,6]");
}

TEST_F(LanguageTest, HoverTellsDifferentShapesOfInstantiations) {
  std::string text(kDocument);
  const size_t at = text.find("layer(first, filter2)");
  text.replace(at, 21, "layer(first, filter2, step = 2)");
  Open(text);
  EXPECT_EQ(Hovered(At("sum =")), "tensor sum: tensor<scalar>\nshape [1,8,16,16] and 1 other");
}

TEST_F(LanguageTest, HoverTellsTheCalleeItsDefaultsAndWhatStandsForGenerics) {
  Open(kDocument);
  EXPECT_EQ(Hovered(At("layer(first")),
            "fragment layer( input: tensor<scalar>, filter: tensor<scalar>, step: integer = 1 ) -> ( output: "
            "tensor<scalar> )\nstep = 1");
  const auto conv = service_.HoverAt(kUri, At("conv(input"));
  ASSERT_TRUE(conv);
  EXPECT_EQ(conv->kind, SymbolKind::kOperation);
  EXPECT_EQ(conv->shape, "[1,8,16,16]");
  EXPECT_EQ(conv->signature.substr(0, 14), "conv( input: t");
  const std::vector<std::pair<std::string, std::string>> defaults = {
      {"bias", "0.0"}, {"border", "'constant'"}, {"padding", "[]"}, {"dilation", "[]"}, {"groups", "1"}};
  EXPECT_EQ(conv->defaults, defaults);
  const auto external = service_.HoverAt(kUri, At("external("));
  ASSERT_TRUE(external);
  EXPECT_EQ(external->generic, "scalar");
  EXPECT_EQ(external->shape, "[1,3,32,32]");
}

TEST_F(LanguageTest, SymbolsAreTheOutline) {
  Open(kDocument);
  const std::vector<DocumentSymbol> symbols = service_.Symbols(kUri);
  ASSERT_EQ(symbols.size(), 2u);
  EXPECT_EQ(symbols[0].name, "layer");
  EXPECT_EQ(symbols[1].name, "net");
  auto names = [](const DocumentSymbol& symbol) {
    std::string text;
    for (const DocumentSymbol& child : symbol.children) text += child.name + ":" + child.detail + " ";
    return text;
  };
  EXPECT_EQ(names(symbols[0]),
            "input:tensor<scalar> filter:tensor<scalar> step:integer output:tensor<scalar> sizes:integer[] "
            "sum:tensor<scalar> ");
  EXPECT_EQ(names(symbols[1]),
            "image:tensor<scalar> best:tensor<scalar> rest:tensor<integer> filter:tensor<scalar> "
            "filter2:tensor<scalar> first:tensor<scalar> second:tensor<scalar> ");
  EXPECT_EQ(symbols[1].selection.start, (Position{12, 6}));
}

TEST_F(LanguageTest, CompletionOffersWhatHasAValueThere) {
  Open(kDocument);
  const uint32_t in_second = At("first, filter2)");
  EXPECT_TRUE(Offers(in_second, "first"));
  EXPECT_TRUE(Offers(in_second, "image"));
  EXPECT_TRUE(Offers(in_second, "layer"));
  EXPECT_TRUE(Offers(in_second, "conv"));
  EXPECT_FALSE(Offers(in_second, "second"));  // not assigned yet
  EXPECT_FALSE(Offers(in_second, "sum"));     // local to another body
  // The letters before the cursor filter the list.
  EXPECT_EQ(Completed(in_second + 2), std::vector<std::string>({"filter", "filter2", "first"}));
}

TEST_F(LanguageTest, CompletionOffersParametersThatAreNotGiven) {
  Open(kDocument);
  const uint32_t at = At("stride = sizes");
  const std::vector<std::string> offered = Completed(at);
  const std::vector<std::string> first(offered.begin(), offered.begin() + 4);
  EXPECT_EQ(first, std::vector<std::string>({"border", "padding", "stride", "dilation"}));
  EXPECT_FALSE(Offers(At("sizes);"), "padding"));  // `stride =` is followed by a value
}

TEST_F(LanguageTest, AHalfWrittenDocumentKeepsWhatParses) {
  std::string text(kDocument);
  text.replace(text.find("    second = layer(first, filter2);"), 35, "    second = layer(first, fil");
  Open(text);
  EXPECT_NE(Findings(), "");
  // Statements above have types and shapes, and their names are known.
  EXPECT_EQ(Hovered(At("first =")), "tensor first: tensor<scalar>\nshape [1,8,16,16]");
  EXPECT_EQ(service_.Definition(kUri, At("layer(image"))->range.begin, At("layer( input"));
  EXPECT_TRUE(Offers(At("fil\n") + 3, "filter2"));
  EXPECT_TRUE(Offers(At("fil\n"), "step"));
}

TEST_F(LanguageTest, MistakesLeaveTheShapesOfTheRest) {
  std::string text(kDocument);
  text.replace(text.find("shape = [8, 8, 3, 3]"), 20, "shape = [8, 7, 3, 3]");
  Open(text);
  EXPECT_NE(Findings(), "");
  EXPECT_EQ(Hovered(At("first =")), "tensor first: tensor<scalar>\nshape [1,8,16,16]");
  EXPECT_EQ(Hovered(At("second =")), "tensor second: tensor<scalar>");
}

TEST_F(LanguageTest, FindingsCarryNotesAndFixes) {
  std::string text(kDocument);
  text.replace(text.find("layer(image"), 5, "layr(");
  Open(text.replace(text.find("layr(("), 6, "layr("));
  const std::vector<Finding> findings = service_.Diagnostics(kUri);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "binding.undeclared-operation");
  EXPECT_EQ(findings[0].range.start, (Position{17, 12}));
  EXPECT_EQ(findings[0].range.stop, (Position{17, 16}));
  EXPECT_EQ(findings[0].range.begin, At("layr"));
  EXPECT_EQ(findings[0].range.end, At("layr") + 4);
  ASSERT_EQ(findings[0].fixes.size(), 1u);
  EXPECT_EQ(findings[0].fixes[0].text, "layer");
}

TEST_F(LanguageTest, ProvisionalDocumentsHaveTheirOwnWords) {
  Open(
      "version 1.0\nfragment f( x: tensor, n: extent = 2 ) -> ( y: tensor ) { y = x * scalar(n) }\n"
      "graph g( x ) -> ( y ) { x = external(shape = [2,3]) y = f(x) }\n");
  EXPECT_EQ(Findings(), "lint.not-ratified 0:0");
  EXPECT_EQ(Hovered(At("n)")), "parameter n: extent\nn = 2\nvalue 2");
  EXPECT_EQ(Hovered(At("y = f")), "result y: tensor\nshape [2,3]");
}

// A document with lint findings at known locations.
constexpr std::string_view kCareless = R"(version 1.0;
extension KHR_enable_operator_expressions;
extension KHR_enable_fragment_definitions;
fragment unused( x: tensor<scalar> ) -> ( y: tensor<scalar> )
{
    y = x ^ 2.0 ^ 3.0;
}
graph net( x, spare ) -> ( y )
{
    x = external(shape = [1, 3]);
    spare = external(shape = [1, 3]);  # nnefc: allow(unused-input)
    y = relu(x = x);
}
)";
TEST_F(LanguageTest, LintIsToldWithFixes) {
  Open(kCareless);
  EXPECT_EQ(Findings(),
            "lint.unused-fragment 3:9\nlint.chained-power 5:16\nlint.named-tensor-argument 11:13");
  const Finding named = service_.Diagnostics(kUri)[2];
  EXPECT_EQ(named.severity, Severity::kWarning);
  EXPECT_EQ(named.section, "R 3.3.2");
  ASSERT_EQ(named.fixes.size(), 1u);
  EXPECT_EQ(named.fixes[0].text, "");
  EXPECT_EQ(named.fixes[0].range.start, (Position{11, 13}));
  EXPECT_EQ(named.fixes[0].range.stop, (Position{11, 17}));
}

TEST_F(LanguageTest, LintIsToldBesideMistakes) {
  std::string text(kCareless);
  text.replace(text.find("y = relu"), 8, "y = rellu");
  Open(text);
  // No finding that the error may explain: the fragment may be the intended operation.
  EXPECT_EQ(Findings(), "lint.chained-power 5:16\nbinding.undeclared-operation 11:8");
}

TEST(LanguageLint, SettingsAreThoseOfTheOptions) {
  lint::Settings settings;
  settings.Set(*lint::Settings::Find("unused-fragment"), false);
  settings.SetLevel(*lint::Settings::Find("chained-power"), Severity::kError);
  LanguageService service({.lint = settings});
  ASSERT_TRUE(service.Open(kUri, 1, std::string(kCareless)));
  const std::vector<Finding> findings = service.Diagnostics(kUri);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].rule, "lint.chained-power");
  EXPECT_EQ(findings[0].severity, Severity::kError);
  LanguageService silent({.lint = {}});
  ASSERT_TRUE(silent.Open(kUri, 1, std::string(kCareless)));
  EXPECT_TRUE(silent.Diagnostics(kUri).empty());
}

TEST_F(LanguageTest, QuantizationIsCheckedAgainstItsModel) {
  const std::string quant = "file:///graph.quant";
  auto told = [&] {
    std::string text;
    for (const Finding& finding : service_.Diagnostics(quant))
      text += fmt::format("{} {}:{} ", finding.rule, finding.range.start.line, finding.range.start.character);
    return text;
  };
  // Without a model only its syntax is checked.
  ASSERT_TRUE(service_.OpenQuantization(quant, 1, "\"image\": linear_quantize(min = 0.0, bits = 8)\n", kUri));
  EXPECT_EQ(told(), "syntax.missing-semicolon 0:45 ");
  EXPECT_FALSE(service_.OpenQuantization("file:///other.quant", 1, "", kUri));
  EXPECT_FALSE(service_.Open(quant, 1, ""));
  Open(kDocument);
  EXPECT_EQ(Findings(), "");
  EXPECT_EQ(told(), "binding.missing-argument 0:9 lint.linear-quantize 0:9 syntax.missing-semicolon 0:45 ");
  const TextChange right{
      {},
      "\"image\": linear_quantize(min = 0.0, max = 1.0, bits = 8);\n"
      "\"imagine\": zero_point_linear_quantize(zero_point = 0, scale = [[1.0], [2.0]]);\n"};
  ASSERT_TRUE(service_.Change(quant, 2, {right}));
  EXPECT_EQ(told(), "lint.linear-quantize 0:9 quantization.unknown-key 1:0 binding.missing-argument 1:11 ");
  ASSERT_EQ(service_.Diagnostics(quant)[0].fixes.size(), 2u);
  EXPECT_EQ(service_.Diagnostics(quant)[1].section, "R 5.3");  // not that of the other dialect
  EXPECT_EQ(Findings(), "");
  // The model changes while the file is open.
  const uint32_t at = At("graph net( image");
  const Position place = service_.PositionOf(kUri, at + 11);
  ASSERT_TRUE(service_.Change(kUri, 2, {{{{place, place}}, "imagine, "}}));
  EXPECT_EQ(service_.PositionOf(quant, 3).character, 3);
  EXPECT_FALSE(service_.HoverAt(quant, 3));
  ASSERT_TRUE(service_.Close(kUri));
  EXPECT_EQ(told(), "");
  ASSERT_TRUE(service_.Close(quant));
}

TEST_F(LanguageTest, ChangesAreAppliedInOrderAndChecked) {
  Open(
      "version 1.0;\ngraph g( x ) -> ( y ) {\n  x = external(shape = [2]); # \xF0\x9F\x98\x80 \xC3\xA9\n  y "
      "= relu(x);\n}\n");
  EXPECT_EQ(Findings(), "");
  // After a character of two UTF-16 code units and one of one.
  const Position end_of_comment = service_.PositionOf(kUri, At("\n  y"));
  EXPECT_EQ(end_of_comment, (Position{2, 35}));
  EXPECT_EQ(service_.Offset(kUri, end_of_comment), At("\n  y"));
  ASSERT_TRUE(service_.Change(kUri, 2, {{{{{2, 31}, {2, 35}}}, "plain"}, {{{{3, 6}, {3, 10}}}, "rleu"}}));
  EXPECT_EQ(Findings(), "binding.undeclared-operation 3:6");
  EXPECT_NE(service_.Text(kUri).find("# plain\n  y = rleu(x);"), std::string_view::npos)
      << service_.Text(kUri);
  // A stale version and a range that ends before it begins change nothing.
  EXPECT_FALSE(service_.Change(kUri, 2, {{{}, ""}}));
  EXPECT_FALSE(service_.Change(kUri, 3, {{{{{3, 2}, {2, 0}}}, ""}}));
  EXPECT_EQ(service_.Version(kUri), 2);
  ASSERT_TRUE(service_.Change(kUri, 3, {{{}, std::string(kDocument)}}));
  EXPECT_EQ(Findings(), "");
}

// Fragments of each library are numbered from 0.
TEST_F(LanguageTest, OperationsOfTwoLibrariesAreTwo) {
  std::string text =
      "version 1.0;\nextension tract_registry tract_core;\ngraph g( x ) -> ( y ) {\n"
      "  x = tract_core_external(shape = [2], datum_type = 'f32');\n";
  const std::vector<std::string> names = {"copy",
                                          "neg",
                                          "rcp",
                                          "exp",
                                          "log",
                                          "sin",
                                          "cos",
                                          "abs",
                                          "sign",
                                          "sqr",
                                          "sqrt",
                                          "rsqr",
                                          "rsqrt",
                                          "relu",
                                          "elu",
                                          "selu",
                                          "gelu",
                                          "silu",
                                          "softplus",
                                          "sigmoid",
                                          "tanh",
                                          "floor",
                                          "ceil",
                                          "round",
                                          "tract_core_erf",
                                          "tract_core_round_even",
                                          "tract_core_cast",
                                          "tract_core_cumsum",
                                          "tract_core_product_reduce",
                                          "tract_core_argmax_reduce_last",
                                          "tract_core_trilu",
                                          "tract_core_broadcast",
                                          "tract_core_rms_norm",
                                          "tract_core_softmax",
                                          "tract_core_downsample"};
  for (size_t i = 0; i < names.size(); ++i) text += fmt::format("  a{} = {}(x);\n", i, names[i]);
  Open(text + "  y = relu(x);\n}\n");
  for (const std::string& name : names)
    EXPECT_NE(Hovered(At(" " + name + "(x)") + 1).find(" " + name), std::string::npos) << name;
}

TEST_F(LanguageTest, VersionsBeginWithThatOfOpening) {
  ASSERT_TRUE(service_.Open(kUri, 7, std::string(kDocument)));
  ASSERT_TRUE(service_.OpenQuantization("file:///graph.quant", 4, "", kUri));
  EXPECT_EQ(service_.Version(kUri), 7);
  EXPECT_EQ(service_.Version("file:///graph.quant"), 4);
  EXPECT_FALSE(service_.Change(kUri, 7, {{{}, ""}}));
  EXPECT_FALSE(service_.Change("file:///graph.quant", 4, {{{}, ""}}));
  EXPECT_EQ(service_.Text(kUri), kDocument);
  ASSERT_TRUE(service_.Change(kUri, 8, {{{}, ""}}));
  EXPECT_EQ(service_.Text(kUri), "");
}

TEST_F(LanguageTest, PositionsAreClamped) {
  Open(
      "ab\r\n\xC3\xA9"
      "c\n");
  EXPECT_EQ(service_.Offset(kUri, {0, 99}), 2u);
  EXPECT_EQ(service_.Offset(kUri, {1, 1}), 6u);
  EXPECT_EQ(service_.Offset(kUri, {9, 0}), 8u);
  EXPECT_EQ(service_.Offset(kUri, {2, 0}), 8u);
  EXPECT_EQ(service_.Offset(kUri, {3, 0}), 8u);
  EXPECT_EQ(service_.Offset(kUri, {-1, -1}), 0u);
  EXPECT_EQ(service_.PositionOf(kUri, 5), (Position{1, 0}));  // inside the character
  EXPECT_EQ(service_.PositionOf(kUri, 7), (Position{1, 2}));
  EXPECT_EQ(service_.PositionOf(kUri, 999), (Position{2, 0}));
}

TEST_F(LanguageTest, SeveralDocumentsAreApart) {
  Open(kDocument);
  ASSERT_TRUE(service_.Open("file:///other.nnef", 7, "version 1.0;\n"));
  EXPECT_FALSE(service_.Open("file:///other.nnef", 8, "version 1.0;\n"));
  EXPECT_EQ(Findings(), "");
  EXPECT_FALSE(service_.Diagnostics("file:///other.nnef").empty());
  EXPECT_EQ(service_.Documents().size(), 2u);
  EXPECT_TRUE(service_.Close("file:///other.nnef"));
  EXPECT_FALSE(service_.Close("file:///other.nnef"));
  EXPECT_TRUE(service_.Diagnostics("file:///other.nnef").empty());
  EXPECT_FALSE(service_.HoverAt("file:///other.nnef", 0u));
}

TEST(LanguageNetworks, EveryNameOfANetworkIsFound) {
  for (const char* name : {"googlenet", "resnet50", "resnet18_spp", "mobilenetv2", "vgg19_provisional",
                           "resnet101_provisional"}) {
    LanguageService service;
    ASSERT_TRUE(service.Open(kUri, 1, ReadText(fmt::format("tests/networks/{}.nnef", name))));
    for (const Finding& finding : service.Diagnostics(kUri)) {
      EXPECT_EQ(finding.rule, "lint.not-ratified") << name << " " << finding.message;
    }
    for (const DocumentSymbol& symbol : service.Symbols(kUri)) {
      for (const DocumentSymbol& child : symbol.children) {
        const auto place = service.Definition(kUri, child.selection.begin);
        ASSERT_TRUE(place) << name << " " << child.name;
        EXPECT_EQ(place->range.begin, child.selection.begin) << name << " " << child.name;
        const auto hover = service.HoverAt(kUri, child.selection.begin);
        ASSERT_TRUE(hover) << name << " " << child.name;
        EXPECT_FALSE(hover->type.empty()) << name << " " << child.name;
        if (symbol.kind == SymbolKind::kGraph) {
          EXPECT_FALSE(hover->shape.empty()) << name << " " << child.name;
        }
      }
    }
  }
}

// Every query at many positions of a truncated or incomplete text.
TEST(LanguageNetworks, DamagedTextsAreServed) {
  const std::string text = ReadText("tests/networks/resnet18_spp.nnef");
  ASSERT_FALSE(text.empty());
  for (size_t at = 7; at < text.size(); at += 211) {
    for (const std::string& damaged : {text.substr(0, at), text.substr(0, at) + text.substr(at + 3)}) {
      LanguageService service;
      ASSERT_TRUE(service.Open(kUri, 1, damaged));
      for (const Finding& finding : service.Diagnostics(kUri)) {
        EXPECT_LE(finding.range.end, damaged.size());
      }
      for (uint32_t offset = static_cast<uint32_t>(at) % 97; offset <= damaged.size(); offset += 97) {
        service.HoverAt(kUri, offset);
        service.References(kUri, offset);
        service.Definition(kUri, offset);
      }
      service.Complete(kUri, static_cast<uint32_t>(at));
      service.Symbols(kUri);
    }
  }
}

TEST(LanguageThreads, ServicesAreIndependent) {
  auto work = [] {
    for (int i = 0; i < 10; ++i) {
      LanguageService service;
      EXPECT_TRUE(service.Open(kUri, 1, std::string(kDocument)));
      EXPECT_TRUE(service.Diagnostics(kUri).empty());
    }
  };
  std::thread other(work);
  work();
  other.join();
}

}  // namespace
}  // namespace nnefc::language
