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

// A document knows the operations of an extension that it enables, invoked or not, and only those.
TEST(ExtensionList, ADocumentKnowsWhatItEnables) {
  const auto knows = [](std::string_view line, std::string_view name, std::string_view call) {
    const Checked checked(fmt::format(
        "version 1.0;\n{}\ngraph g( x ) -> ( y ) {{ x = external(shape = [1]); y = {}; }}", line, call));
    return checked.document().Find(checked.context().symbols.Find(name)).valid();
  };
  constexpr std::string_view kCore = "extension tract_registry tract_core;";
  for (const char* call : {"copy(x)", "tract_core_erf(x)", "unknown(x)"}) {
    EXPECT_TRUE(knows(kCore, "tract_core_erf", call)) << call;
    EXPECT_FALSE(knows("", "tract_core_erf", call)) << call;
    EXPECT_FALSE(knows(kCore, "while_loop", call)) << call;
    EXPECT_TRUE(knows("extension NNEFC_control_flow;", "while_loop", call)) << call;
  }
}

// Only an extension that the document enables may run its fragments.
TEST(ExtensionList, OnlyEnabledOnesRunBodies) {
  const auto runs = [](std::string_view line) {
    return Checked(Ratified(fmt::format("{}\ngraph g( x ) -> ( y ) {{\nx = external(shape = [1]);\n"
                                        "[y] = if_else(true, [x], then_body = 'f', else_body = 'f');\n}}",
                                        line)))
        .document()
        .may_run_bodies();
  };
  EXPECT_TRUE(runs("extension NNEFC_control_flow;"));
  EXPECT_FALSE(runs(""));
}

// The text of an extension's library has the name of the line that enables it; others have only their own.
TEST(ExtensionList, LibrariesHaveTheirNames) {
  const StandardLibrary library;
  for (const Extension* extension : library.extensions()) {
    const bool is_line = extension->activation == Activation::kLine;
    EXPECT_EQ(library.base().sources.Name(library.Get(*extension).ast().file),
              fmt::format("<{}{}>", is_line ? "extension " : "", extension->name));
  }
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
  // Nor if the document defines the only one that it invokes, however often.
  const Checked own(
      Provisional("fragment lstm( input: tensor ) -> ( output: tensor ) { output = idn(input) }\n"
                  "graph g( x ) -> ( y ) { x = external(shape = [1,2]) z = lstm(x) y = lstm(z) }"));
  EXPECT_EQ(own.Diagnostics(), "");
  EXPECT_TRUE(own.document().extensions().empty());
}

// Returns "lenient" or "strict", then the symbols, of a document with these lines and statements.
std::string ReadWhole(std::string_view lines, std::string_view body, Leniency leniency,
                      bool finds_undeclared = false) {
  Context context(StandardLibrary::Shared().base());
  const FileId file = context.sources.AddText(
      "net.nnef", fmt::format("version 1.0;\n{}graph g(x) -> (y) {{ {} }}", lines, body));
  const auto document = ast::ParseDocument(file, {}, context);
  std::string text = EnabledDialect(*document, context.symbols, leniency).lenient ? "lenient" : "strict";
  for (const ast::Name& name : SymbolsOf(*document, context.symbols, finds_undeclared))
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
  for (const char* name : {"fp_tensor_clone", "fp_tensor_clone_1", "a_aligned_rank_expanded"}) {
    const std::string body = fmt::format("x = external(shape = [1]); {} = relu(x); y = relu(x);", name);
    EXPECT_EQ(ReadWhole("", body, Leniency::kAuto), "lenient") << name;
  }
  for (const char* name : {"a_fp_tensor_clone", "fp_tensor", "aligned_rank_expanded_a", "rank_expanded"}) {
    const std::string body = fmt::format("x = external(shape = [1]); {} = relu(x); y = relu(x);", name);
    EXPECT_EQ(ReadWhole("", body, Leniency::kAuto), "strict") << name;
  }
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

// Symbols are values of the graph and are not assigned.
TEST(Symbols, AreNotAssigned) {
  const auto check = [](std::string_view body) {
    return Checked(fmt::format("version 1.0;\nextension tract_symbol S;\nextension tract_assert S >= 1;\n"
                               "graph g( x ) -> ( y ) {{ x = external(shape = [S]);\n{}\n}}",
                               body))
        .Diagnostics();
  };
  EXPECT_EQ(check("y = relu(x);"), "");
  EXPECT_EQ(check("S = relu(x); y = relu(x);"), "identifier.parameter-assigned 5:1");
}

// Without a line for it, a name in the shape of an input is a symbol unless something assigns it.
TEST(Symbols, AreUndeclaredNamesInShapes) {
  const auto symbols = [](std::string_view body, std::string_view lines = "") {
    const std::string found = ReadWhole(lines, body, Leniency::kStrict, true);
    EXPECT_TRUE(found.starts_with("strict")) << found;
    return found.substr(std::min(found.size(), std::string_view("strict ").size()));
  };
  const std::string rest = " y = relu(x);";
  EXPECT_EQ(symbols("x = external(shape = [1, 2]);" + rest), "");
  EXPECT_EQ(symbols("x = external(shape = [N, 2, M]);" + rest), "N M");
  EXPECT_EQ(symbols("x = external(shape = [1, N, M, N]); z = external(shape = [K, N]);" + rest), "N M K");
  EXPECT_EQ(symbols("x = external<integer>(shape = [(N), M + 2 * K, [L]]);" + rest), "N M K L");
  EXPECT_EQ(symbols("x = tract_core_external(shape = [N], datum_type = F);" + rest), "N");
  EXPECT_EQ(symbols("x = external(datum_type = F, shape = [N]);" + rest), "N");
  EXPECT_EQ(symbols("x = external([N]);" + rest), "N");
  EXPECT_EQ(symbols("x = other(shape = [N]);" + rest), "");
  EXPECT_EQ(symbols("x = externals(shape = [N]);" + rest), "");
  EXPECT_EQ(symbols("N = other(z); x = external(shape = [N, M]);" + rest), "M");
  EXPECT_EQ(symbols("x = external(shape = [N, M]); M = other(x);" + rest), "N");
  EXPECT_EQ(symbols("M = ; x = external(shape = [N, M]);" + rest), "N");
  EXPECT_EQ(symbols(" = other(x); x = external(shape = [N, M]);" + rest), "N M");
  EXPECT_EQ(symbols("[N, M] = other(z); x = external(shape = [N, M, K]);" + rest), "K");
  // Those of lines come first, each once.
  EXPECT_EQ(symbols("x = external(shape = [N, B]);" + rest, "extension tract_symbol B;\n"), "B N");
  EXPECT_EQ(
      ReadWhole("extension tract_symbol B;\n", "x = external(shape = [N, B]);" + rest, Leniency::kStrict),
      "strict B");
  EXPECT_EQ(symbols("x = external(shape = [S]);" + rest, "extension tract_pulse_streaming_symbol;\n"), "S");
  EXPECT_EQ(ReadWhole("extension tract_pulse_streaming_symbol;\n", "x = external(shape = [S]);" + rest,
                      Leniency::kStrict),
            "strict S");
}

// The switches that each line turns on, and lenient mode's own.
TEST(ExtensionList, Switches) {
  struct Switch {
    const char* name;
    bool ast::Dialect::*value;
  };
  constexpr Switch kSwitches[] = {{"fragments", &ast::Dialect::fragments},
                                  {"operators", &ast::Dialect::operators},
                                  {"untyped_results", &ast::Dialect::untyped_results},
                                  {"open_extents", &ast::Dialect::open_extents},
                                  {"non_finite", &ast::Dialect::non_finite},
                                  {"empty_declarations", &ast::Dialect::empty_declarations},
                                  {"vendor_meanings", &ast::Dialect::vendor_meanings},
                                  {"any_label", &ast::Dialect::any_label},
                                  {"lenient", &ast::Dialect::lenient},
                                  {"loose_values", &ast::Dialect::loose_values},
                                  {"surplus_arguments", &ast::Dialect::surplus_arguments},
                                  {"reassignment", &ast::Dialect::reassignment},
                                  {"own_operations", &ast::Dialect::own_operations},
                                  {"values_in_graph", &ast::Dialect::values_in_graph},
                                  {"quoted_names", &ast::Dialect::quoted_names}};
  const auto read = [&](std::string_view lines, Leniency leniency) {
    Context context(StandardLibrary::Shared().base());
    const FileId file = context.sources.AddText(
        "net.nnef",
        fmt::format("version 1.0;\n{}\ngraph g(x) -> (y) {{ x = external(shape = [1]); y = relu(x); }}",
                    lines));
    const auto document = ast::ParseDocument(file, {}, context);
    const ast::Dialect dialect = EnabledDialect(*document, context.symbols, leniency);
    std::string text;
    for (const Switch& each : kSwitches) {
      if (dialect.*each.value) text += fmt::format("{}{}", text.empty() ? "" : " ", each.name);
    }
    return text;
  };
  const std::string vendor = "fragments operators empty_declarations vendor_meanings any_label";
  const std::string lenient =
      "lenient loose_values surplus_arguments reassignment own_operations values_in_graph quoted_names";
  const std::string plain_lenient = "fragments operators non_finite empty_declarations " + lenient;
  const std::string vendor_lenient =
      "fragments operators non_finite empty_declarations vendor_meanings any_label " + lenient;
  EXPECT_EQ(read("", Leniency::kAuto), "");
  EXPECT_EQ(read("", Leniency::kStrict), "");
  EXPECT_EQ(read("", Leniency::kLenient), plain_lenient);
  const std::pair<const char*, const char*> kPlain[] = {
      {"extension KHR_enable_fragment_definitions;", "fragments"},
      {"extension KHR_enable_operator_expressions;", "operators"},
      {"extension KHR_enable_operator_expressions KHR_enable_fragment_definitions;", "fragments operators"},
      {"extension NNEFC_control_flow;", ""},
      {"extension NNEFC_opset;", "fragments untyped_results open_extents non_finite"}};
  for (const auto& [line, switches] : kPlain) {
    EXPECT_EQ(read(line, Leniency::kAuto), switches) << line;
    EXPECT_EQ(read(line, Leniency::kStrict), switches) << line;
  }
  const std::string properties =
      "fragment tract_core_properties( ) -> ( properties: (string, tensor<scalar>)[] ) { properties = []; }";
  for (const std::string& line :
       {std::string("extension tract_registry tract_core;"),
        std::string("extension tract_registry tract_onnx;"),
        std::string("extension tract_registry tract_resource;"), std::string("extension tract_symbol B;"),
        std::string("extension tract_pulse_streaming_symbol;"), std::string("extension tract_assert B >= 1;"),
        std::string("extension tract_registry tract_core;\n") + properties}) {
    EXPECT_EQ(read(line, Leniency::kAuto), vendor_lenient) << line;
    EXPECT_EQ(read(line, Leniency::kLenient), vendor_lenient) << line;
    EXPECT_EQ(read(line, Leniency::kStrict), vendor) << line;
  }
  // The properties alone imply the vendor, except in strict mode.
  EXPECT_EQ(read(properties, Leniency::kAuto), vendor_lenient);
  EXPECT_EQ(read(properties, Leniency::kLenient), vendor_lenient);
  EXPECT_EQ(read(properties, Leniency::kStrict), "");
  // Unknown lines turn nothing on.
  EXPECT_EQ(read("extension tract_registry nothing;", Leniency::kAuto), "");
}

// An operation that is unknown has nothing to do with an extension that another one needs.
TEST(Extensions, UnknownOperationsBesideThoseOfExtensions) {
  ExpectDiagnostics({{RatifiedGraph("z = qwertz(x);\ny = tract_core_erf(z);"),
                      "binding.undeclared-operation 4:5\nextension.not-enabled 5:5"}});
}

}  // namespace
}  // namespace nnefc::semantics
