#include "compiler/semantics/extensions.h"

#include "checking.h"
#include "fmt/core.h"
#include "gtest/gtest.h"

namespace nnefc::semantics {
namespace {

// Names of several words, and arguments of each kind.
constexpr Extension kKnown[] = {
    {.name = "VND_plain"},
    {.name = "VND_registry"},
    {.name = "VND_registry core"},
    {.name = "VND_symbol", .arguments = 1},
    {.name = "VND_assert", .arguments = Extension::kRest},
    {.name = "hidden", .activation = Activation::kImplicit},
};

// Returns "NAME(ARGUMENTS)" for each use, with `?` for an unknown one, `~` before a misspelt one.
std::string Read(std::string_view words) {
  Context context(StandardLibrary::Shared().base());
  const FileId file = context.sources.AddText("net.nnef", fmt::format("version 1.0;\nextension {};", words));
  const auto document = ast::ParseDocument(file, {}, context);
  std::string text;
  for (const ast::Extension& line : document->extensions) {
    for (const ExtensionUse& use : ExtensionsIn(line, context.symbols, kKnown)) {
      text += text.empty() ? "" : " ";
      if (use.is_misspelt) text += '~';
      text += use.extension != nullptr ? use.extension->name : "?";
      for (const ast::Name& argument : use.arguments)
        text += fmt::format("({})", context.symbols.Text(argument.symbol));
    }
  }
  return text;
}

TEST(ExtensionLine, HoldsSeveralNames) {
  EXPECT_EQ(Read("VND_plain"), "VND_plain");
  EXPECT_EQ(Read("VND_plain VND_plain"), "VND_plain VND_plain");
  EXPECT_EQ(Read("nothing VND_plain"), "? VND_plain");
}

TEST(ExtensionLine, TheLongestNameCounts) {
  EXPECT_EQ(Read("VND_registry core VND_plain"), "VND_registry core VND_plain");
  EXPECT_EQ(Read("VND_registry VND_plain"), "VND_registry VND_plain");
}

TEST(ExtensionLine, ArgumentsFollowTheName) {
  EXPECT_EQ(Read("VND_symbol B VND_plain"), "VND_symbol(B) VND_plain");
  EXPECT_EQ(Read("VND_symbol"), "VND_symbol");
  EXPECT_EQ(Read("VND_plain VND_assert B C"), "VND_plain VND_assert(B)(C)");
}

TEST(ExtensionLine, MisspeltNamesAreThoseThatWereMeant) {
  EXPECT_EQ(Read("VND_plian"), "~VND_plain");
  EXPECT_EQ(Read("hidden"), "?");
}

// The ids of types in a library are valid in every document that has it.
TEST(ExtensionList, LaterLibrariesKnowTheTypesOfEarlierOnes) {
  const StandardLibrary library;
  for (const Extension& extension : Extensions()) {
    if (extension.library == nullptr) continue;
    const TypeTable& standard = library.Get(extension.dialect).types();
    const TypeTable& own = library.Get(extension).types();
    const CheckedDocument& document = library.Get(extension.dialect);
    for (size_t i = 0; i < document.ast().fragments.size(); ++i) {
      for (const TypedName& result : document.signature(ast::FragmentId(static_cast<int32_t>(i))).results)
        EXPECT_EQ(own.Text(result.type, extension.dialect), standard.Text(result.type, extension.dialect));
    }
  }
}

// A lenient extension enables the operations of `tract_core`, too.
TEST(ExtensionList, ALenientExtensionBringsTheCore) {
  const auto check = [](std::string_view line) {
    return Checked(fmt::format("version 1.0;\n{}\ngraph g( x ) -> ( y ) {{\nx = external(shape = [1]); "
                               "y = tract_core_erf(x);\n}}",
                               line))
        .Diagnostics();
  };
  EXPECT_EQ(check("extension tract_registry tract_core;"), "");
  EXPECT_EQ(check("extension tract_registry tract_extra;"), "");
  EXPECT_EQ(check("extension tract_registry tract_onnx;"), "");
  EXPECT_EQ(check("extension tract_symbol S;"), "");
  EXPECT_EQ(check("extension KHR_enable_operator_expressions;"), "extension.not-enabled 4:32");
  EXPECT_EQ(check(""), "extension.not-enabled 4:32");
}

TEST(ExtensionList, LinesTurnSwitchesOn) {
  const Checked none("version 1.0;\ngraph g( x ) -> ( y ) { x = external(shape = [1]); y = copy(x); }");
  EXPECT_FALSE(none.document().dialect().fragments);
  EXPECT_FALSE(none.document().dialect().operators);
  const Checked one(
      "version 1.0;\nextension KHR_enable_operator_expressions;\n"
      "graph g( x ) -> ( y ) { x = external(shape = [1]); y = -x; }");
  EXPECT_FALSE(one.document().dialect().fragments);
  EXPECT_TRUE(one.document().dialect().operators);
  EXPECT_EQ(ExtensionFor(&ast::Dialect::fragments).name, "KHR_enable_fragment_definitions");
}

TEST(Layers, AreKnownToProvisionalDocuments) {
  ExpectDiagnostics({
      {ProvisionalGraph("y = linear_layer(x, channels = 3, scope = 's')"), ""},
      {ProvisionalGraph("y = lstm(x, channels = 3, scope = 's')"), ""},
      {ProvisionalGraph("y = linear_layer(x, channels = 3)"), "binding.missing-argument 4:5"},
      {ProvisionalGraph("y = linear_layr(x, channels = 3)"), "binding.undeclared-operation 4:5"},
      {RatifiedGraph("y = lstm(x, channels = 3, scope = 's');"), "extension.not-enabled 4:5"},
  });
}

TEST(Layers, ADocumentsOwnDefinitionWins) {
  const Checked own(
      Provisional("fragment lstm( input: tensor ) -> ( output: tensor ) { output = idn(input) }\n"
                  "graph g( x ) -> ( y ) { x = external(shape = [1,2]) y = lstm(x) z = gru(x, channels = 2, "
                  "scope = 's') }"));
  EXPECT_EQ(own.Diagnostics(), "");
  EXPECT_EQ(own.document().Find(own.context().symbols.Find("lstm")).document, &own.document());
  const Callee gru = own.document().Find(own.context().symbols.Find("gru"));
  ASSERT_EQ(own.document().extensions().size(), 1u);
  EXPECT_EQ(gru.document, own.document().extensions()[0].library);
}

// They are absent even if none of them is invoked.
TEST(Layers, AreNoPartOfOtherDocuments) {
  EXPECT_TRUE(Checked(ProvisionalGraph("y = relu(x)")).document().extensions().empty());
}

// Returns "lenient" or "strict", then the symbols, of a document with these lines and statements.
std::string ReadWhole(std::string_view lines, std::string_view body, Leniency leniency) {
  Context context(StandardLibrary::Shared().base());
  const FileId file = context.sources.AddText(
      "net.nnef", fmt::format("version 1.0;\n{}graph g(x) -> (y) {{ {} }}", lines, body));
  const auto document = ast::ParseDocument(file, {}, context);
  std::string text = EnabledDialect(*document, context.symbols, leniency).lenient ? "lenient" : "strict";
  for (const ast::Name& name : SymbolsOf(*document, context.symbols, false))
    text += fmt::format(" {}", context.symbols.Text(name.symbol));
  return text;
}

TEST(Leniency, FollowsTheDocumentUnlessItIsTold) {
  constexpr std::string_view kPlain = "x = external(shape = [1]); y = relu(x);";
  constexpr std::string_view kMarked =
      "x = external(shape = [1]); x_aligned_rank_expanded = relu(x); y = relu(x);";
  constexpr std::string_view kLine = "extension tract_registry tract_core;\n";
  EXPECT_EQ(ReadWhole("", kPlain, Leniency::kAuto), "strict");
  EXPECT_EQ(ReadWhole("", kPlain, Leniency::kLenient), "lenient");
  EXPECT_EQ(ReadWhole("", kMarked, Leniency::kAuto), "lenient");
  EXPECT_EQ(ReadWhole("", kMarked, Leniency::kStrict), "strict");
  EXPECT_EQ(ReadWhole(kLine, kPlain, Leniency::kAuto), "lenient");
  EXPECT_EQ(ReadWhole(kLine, kPlain, Leniency::kStrict), "strict");
}

TEST(Symbols, AreTheNamesOfTheirLines) {
  constexpr std::string_view kPlain = "x = external(shape = [1]); y = relu(x);";
  EXPECT_EQ(ReadWhole("extension tract_symbol B;\nextension tract_symbol S;\nextension tract_symbol B;\n"
                      "extension tract_assert S >= 1;\nextension tract_assert tg: S==1;\n",
                      kPlain, Leniency::kAuto),
            "lenient B S");
}

}  // namespace
}  // namespace nnefc::semantics
