#include <thread>

#include "checking.h"
#include "compiler/semantics/extensions.h"
#include "compiler/support/diagnostics/suggest.h"
#include "gtest/gtest.h"

namespace nnefc::semantics {
namespace {

TEST(StandardLibrary, BothDialectsAreSound) {
  const StandardLibrary library;
  for (ast::Dialect dialect : {ast::Dialect::kRatified, ast::Dialect::kProvisional}) {
    const CheckedDocument& document = library.Get(dialect);
    EXPECT_TRUE(document.is_library());
    EXPECT_EQ(&library.Get(dialect), &document);
    EXPECT_GT(document.ast().fragments.size(), 60u);
    for (size_t i = 0; i < document.ast().fragments.size(); ++i) {
      EXPECT_TRUE(document.sound(ast::FragmentId(static_cast<int32_t>(i))));
    }
  }
  for (const Extension& extension : Extensions()) {
    if (extension.library == nullptr) continue;
    const CheckedDocument& document = library.Get(extension);
    EXPECT_TRUE(document.is_library());
    EXPECT_EQ(document.dialect(), extension.dialect);
    EXPECT_EQ(library.FileName(document.ast().file), extension.file);
    EXPECT_EQ(library.Text(extension.file), extension.library());
    EXPECT_GT(document.ast().fragments.size(), 0u);
    for (size_t i = 0; i < document.ast().fragments.size(); ++i) {
      EXPECT_TRUE(document.sound(ast::FragmentId(static_cast<int32_t>(i))));
    }
  }
}

TEST(StandardLibrary, IsOneForTheProcess) {
  const StandardLibrary& library = StandardLibrary::Shared();
  EXPECT_EQ(&StandardLibrary::Shared(), &library);
  const Checked first(RatifiedGraph("y = relu(x);")), second(RatifiedGraph("y = relu(x);"));
  EXPECT_EQ(first.document().library(), &library.Get(ast::Dialect::kRatified));
  EXPECT_EQ(second.document().library(), first.document().library());
}

// The type ids of a library are valid in every document that is checked against it, and in libraries that are
// loaded after it.
TEST(StandardLibrary, TypesKeepTheirIds) {
  const StandardLibrary library;
  const CheckedDocument& ratified = library.Get(ast::Dialect::kRatified);
  const CheckedDocument& provisional = library.Get(ast::Dialect::kProvisional);
  for (size_t i = 0; i < ratified.ast().fragments.size(); ++i) {
    const Signature& signature = ratified.signature(ast::FragmentId(static_cast<int32_t>(i)));
    for (const TypedName& parameter : signature.parameters) {
      EXPECT_EQ(provisional.types().Text(parameter.type, ast::Dialect::kRatified),
                ratified.types().Text(parameter.type, ast::Dialect::kRatified));
    }
  }
}

constexpr char kAdded[] =
    "version 1.0;\nextension KHR_enable_fragment_definitions;\n"
    "fragment added_sum( terms: tensor<scalar>[], named: string = 'a name' ) -> ( total: tensor<scalar> );\n"
    "fragment added_twice( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n{\n    y = added_sum([x, x]);\n}\n";

TEST(AddedLibrary, TellsItsFragmentsAndItsFirstMistake) {
  const AddedLibraryReport report = CheckAddedLibrary({"added", kAdded});
  EXPECT_EQ(report.mistake, "");
  EXPECT_EQ(report.fragments, (std::vector<std::string>{"added_sum", "added_twice"}));
  const std::string head = "version 1.0; extension KHR_enable_fragment_definitions;\n";
  EXPECT_EQ(CheckAddedLibrary({"added", head + "fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n{\n"
                                               "    y = nothing(x);\n}\n"})
                .mistake,
            "4:9: undeclared operation `nothing` [binding.undeclared-operation]");
  EXPECT_NE(
      CheckAddedLibrary({"added", head + "fragment relu( x: tensor<scalar> ) -> ( y: tensor<scalar> );"})
          .mistake,
      "");
  EXPECT_EQ(
      CheckAddedLibrary({"added", head + "fragment tanh( x: tensor<scalar> ) -> ( y: tensor<scalar> );\n"
                                         "fragment relu( x: tensor<scalar> ) -> ( y: tensor<scalar> );"})
          .mistake,
      "2:10: fragment `tanh` redefines a standard operation [declaration.redefined-operation]");
  EXPECT_NE(CheckAddedLibrary({"added", "no document"}).mistake, "");
  // A library is not described by the other dialect.
  EXPECT_EQ(CheckAddedLibrary({"added", head + "fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n{\n"
                                               "    y = planewise_conv(x, x);\n}\n"})
                .mistake,
            "4:9: undeclared operation `planewise_conv`; write `conv(x, filter, groups = 0)` "
            "[binding.undeclared-operation]");
}

TEST(AddedLibrary, IsKnownWhereItWasAddedUnlessTheDocumentDefinesTheName) {
  const StandardLibrary library(std::vector<AddedLibrary>{{"added", kAdded}});
  const auto check = [&](const std::string& text) {
    Context context(library.base());
    const FileId file = context.sources.AddText("net.nnef", text);
    const auto document = CheckDocument(ast::ParseDocument(file, {}, context), library, {}, context);
    const Symbol name = context.symbols.Find("added_twice");
    const Callee callee = document->Find(name);
    if (context.emitter.has_errors()) return std::string(context.emitter.diagnostics().front().rule->label);
    return std::string(callee.document == document.get() ? "its own" : "the library's");
  };
  const std::string body =
      "graph g(x) -> (y)\n{\n    x = external(shape = [1]);\n    y = added_twice(x);\n}\n";
  EXPECT_EQ(check("version 1.0;\n" + body), "the library's");
  EXPECT_EQ(
      check("version 1.0; extension KHR_enable_fragment_definitions;\n"
            "fragment added_twice( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n{\n    y = relu(x);\n}\n" +
            body),
      "its own");
  EXPECT_EQ(Checked("version 1.0;\n" + body).Diagnostics(), "binding.undeclared-operation 5:9");
  // Another library loaded at the same time does not include it, nor does the provisional dialect.
  EXPECT_EQ(
      check("version 1.0\ngraph g(x) -> (y)\n{\n    x = external(shape = [1])\n    y = added_twice(x)\n}\n"),
      "extension.not-enabled");
}

// Operations of libraries run bodies if a string names one.
TEST(AddedLibrary, RunsBodiesThatStringsName) {
  const auto runs = [](std::string_view parameter) {
    const std::string text = fmt::format(
        "version 1.0;\nextension KHR_enable_fragment_definitions;\n"
        "fragment added_op( x: tensor<scalar>, {} ) -> ( y: tensor<>[] );\n",
        parameter);
    const StandardLibrary library(std::vector<AddedLibrary>{{"added", text}});
    for (const Extension* extension : library.extensions()) {
      const CheckedDocument& document = library.Get(*extension);
      const Callee callee = document.FindOwn(library.base().symbols.Find("added_op"));
      if (callee.valid()) return document.signature(callee.fragment).runs_bodies;
    }
    ADD_FAILURE();
    return false;
  };
  EXPECT_TRUE(runs("body: string"));
  EXPECT_TRUE(runs("loop_body: string"));
  EXPECT_FALSE(runs("body: integer"));
  EXPECT_FALSE(runs("loop_body: string[]"));
  EXPECT_FALSE(runs("body_name: string"));
  EXPECT_FALSE(runs("somebody: string"));
}

// Independent of the first thread and its request.
TEST(StandardLibrary, IsSharedByThreads) {
  const std::string texts[] = {
      RatifiedGraph("y = relu(x);"),
      ProvisionalGraph("y = relu(x)"),
      RatifiedGraph("y = relu(x, z = 1);"),
      ProvisionalGraph("y = rleu(x)"),
      RatifiedGraph("y = if_else(x, x);"),
      Ratified("fragment relu( a: tensor<scalar> ) -> ( b: tensor<scalar> ) { b = a; }")};
  std::vector<std::string> expected;
  for (const std::string& text : texts) expected.push_back(Checked(text).Rendered());
  EXPECT_NE(expected.back().find("<ratified standard library>:"), std::string::npos);
  for (int round = 0; round < 3; ++round) {
    const StandardLibrary library;  // not loaded yet
    std::vector<std::string> found(std::size(texts));
    std::vector<std::thread> threads;
    for (size_t i = 0; i < found.size(); ++i) {
      threads.emplace_back([&, i] {
        for (int repeat = 0; repeat < 20; ++repeat) {
          Context context(library.base());
          auto document = ast::ParseDocument(context.sources.AddText("test.nnef", texts[i]), {}, context);
          const auto checked = CheckDocument(std::move(document), library, {}, context);
          found[i] = RenderText(context.emitter.diagnostics(), context.sources, {});
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(found, expected);
  }
}

TEST(StandardLibrary, Signatures) {
  const StandardLibrary library;
  const CheckedDocument& document = library.Get(ast::Dialect::kRatified);
  const Callee external = document.Find(library.base().symbols.Find("external"));
  ASSERT_TRUE(external.valid());
  const Signature& signature = document.signature(external.fragment);
  EXPECT_TRUE(signature.is_generic);
  EXPECT_FALSE(signature.has_body);
  EXPECT_EQ(document.types().Kind(signature.generic_default), TypeKind::kScalar);
  EXPECT_EQ(document.types().Text(signature.results[0].type, ast::Dialect::kRatified), "tensor<?>");
}

TEST(Suggestion, IsTheNearest) {
  auto best = [](std::string_view wanted) {
    Suggestion suggestion(wanted);
    for (std::string_view name : {"conv", "deconv", "relu", "elu", "selu", "max_pool", "avg_pool", "x"}) {
      suggestion.Offer(name);
    }
    return std::string(suggestion.best());
  };
  EXPECT_EQ(best("cnov"), "conv");
  EXPECT_EQ(best("conf"), "conv");
  EXPECT_EQ(best("max_pol"), "max_pool");
  EXPECT_EQ(best("reluu"), "relu");
  EXPECT_EQ(best("y"), "");
  EXPECT_EQ(best("softmax"), "");
}

TEST(Suggestion, PrefersAnotherSpelling) {
  Suggestion suggestion("transpose_b");
  for (std::string_view name : {"A", "B", "transposeA", "transposeB"}) suggestion.Offer(name);
  EXPECT_EQ(suggestion.best(), "transposeB");
  EXPECT_TRUE(suggestion.is_spelling());
  EXPECT_TRUE(suggestion.is_typo());
}

// One transposed, missing or doubled letter is a typo, which a fix may correct; other differences yield a
// question.
TEST(Suggestion, IsATypoByOneSlip) {
  const auto is_typo = [](std::string_view wanted, std::initializer_list<std::string_view> names) {
    Suggestion suggestion(wanted);
    for (std::string_view name : names) suggestion.Offer(name);
    EXPECT_FALSE(suggestion.best().empty()) << wanted;
    return suggestion.is_typo();
  };
  for (std::string_view wanted : {"sigmiod", "isgmoid", "sigmodi", "igmoid", "sigmod", "sigmoi", "ssigmoid",
                                  "sigmmoid", "sigmoidd", "Sigmoid", "sig_moid"})
    EXPECT_TRUE(is_typo(wanted, {"sigmoid"})) << wanted;
  for (std::string_view wanted : {
           "sigmoit", "zigmoid",                // a replaced letter
           "sigmxoid", "sigmoids", "xsigmoid",  // an added letter
           "sgimodi", "sgmoidd", "ssigmooid",   // two typos
           "sogmiid",                           // transposed letters that are not adjacent
           "Sigmiod",                           // case and a typo
       })
    EXPECT_FALSE(is_typo(wanted, {"sigmoid"})) << wanted;
  // Another name is equally near, or a digit differs.
  EXPECT_FALSE(is_typo("conv_a", {"conv_aa", "conv_ab"}));
  EXPECT_FALSE(is_typo("conv1", {"conv11"}));
}

TEST(Suggestion, IsNoOtherWord) {
  auto best = [](std::string_view wanted, std::string_view name) {
    Suggestion suggestion(wanted);
    suggestion.Offer(name);
    return std::string(suggestion.best());
  };
  EXPECT_EQ(best("len", "le"), "");
  EXPECT_EQ(best("sum", "sub"), "");
  EXPECT_EQ(best("upsample", "sample"), "");
  EXPECT_EQ(best("ad", "add"), "");
  EXPECT_EQ(best("sbu", "sub"), "sub");
  EXPECT_EQ(best("kep", "keep"), "keep");
}

}  // namespace
}  // namespace nnefc::semantics
