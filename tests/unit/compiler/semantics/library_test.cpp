#include "checking.h"
#include "compiler/support/suggest.h"
#include "gtest/gtest.h"

namespace nnefc {
namespace {

TEST(StandardLibrary, BothDialectsAreSound) {
  Context context;
  StandardLibrary library(context);
  for (ast::Dialect dialect : {ast::Dialect::kRatified, ast::Dialect::kProvisional}) {
    const CheckedDocument& document = library.Get(dialect);
    EXPECT_TRUE(document.is_library());
    EXPECT_EQ(&library.Get(dialect), &document);
    EXPECT_GT(document.ast().fragments.size(), 60u);
    for (size_t i = 0; i < document.ast().fragments.size(); ++i) {
      EXPECT_TRUE(document.sound(ast::FragmentId(static_cast<int32_t>(i))));
    }
  }
  EXPECT_TRUE(library.ControlFlow().is_library());
  EXPECT_EQ(library.ControlFlow().ast().fragments.size(), 2u);
  EXPECT_TRUE(context.emitter.diagnostics().empty());
}

TEST(StandardLibrary, Signatures) {
  Context context;
  StandardLibrary library(context);
  const CheckedDocument& document = library.Get(ast::Dialect::kRatified);
  const Callee external = document.Find(context.symbols.Find("external"));
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

}  // namespace
}  // namespace nnefc
