#include "compiler/support/context.h"

#include "gtest/gtest.h"

namespace nnefc {
namespace {

TEST(ContextTest, BeginsWithTheNamesOfItsBase) {
  ContextBase base;
  const Symbol conv = base.symbols.Intern("conv");
  const Symbol relu = base.symbols.Intern("relu");
  Context first(base), second(base);
  const Symbol mine = first.symbols.Intern("mine");
  const Symbol other = second.symbols.Intern("other");
  EXPECT_EQ(mine, other);  // symbols of one context are invalid in another
  for (Context* context : {&first, &second}) {
    EXPECT_EQ(context->symbols.Find("relu"), relu);
    EXPECT_EQ(context->symbols.Intern("conv"), conv);
    EXPECT_EQ(context->symbols.Intern("conv"), conv);
    EXPECT_EQ(context->symbols.Text(relu), "relu");
    EXPECT_EQ(context->symbols.size(), 3u);
  }
  EXPECT_EQ(first.symbols.Text(mine), "mine");
  EXPECT_EQ(second.symbols.Text(other), "other");
  EXPECT_EQ(first.symbols.Intern("mine"), mine);
  EXPECT_FALSE(first.symbols.Find("other").valid());
  EXPECT_FALSE(base.symbols.Find("mine").valid());
  EXPECT_EQ(base.symbols.size(), 2u);
}

// The defaults of --max-nesting and the other flags.
TEST(ContextTest, LimitsOfADocument) {
  const Limits limits;
  EXPECT_EQ(limits.nesting, 1000);
  EXPECT_EQ(limits.recursion, 10000);
  EXPECT_EQ(limits.steps, 50000000);
  EXPECT_EQ(limits.operations, 400000);
  EXPECT_EQ(limits.items, 20000000);
}

TEST(ContextTest, KeepsItsNamesWhereTheyAre) {
  ContextBase base;
  base.symbols.Intern("base");
  Context context(base);
  std::vector<std::pair<Symbol, std::string_view>> kept;
  for (int i = 0; i < 5000; ++i) {
    const Symbol symbol = context.symbols.Intern("name" + std::to_string(i));
    kept.emplace_back(symbol, context.symbols.Text(symbol));
  }
  for (size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(kept[i].second, "name" + std::to_string(i));
    EXPECT_EQ(context.symbols.Text(kept[i].first).data(), kept[i].second.data());
  }
}

TEST(ContextTest, GivesACalleeAnEmitterOfItsOwn) {
  Context outer;
  outer.limits.nesting = 7;
  Context callee(outer, 10);
  const Symbol name = callee.symbols.Intern("name");
  const FileId file = callee.sources.AddText("file", "text");
  EXPECT_EQ(outer.symbols.Text(name), "name");
  EXPECT_EQ(outer.sources.Text(file), "text");
  EXPECT_EQ(callee.limits.nesting, 7);
  constexpr Rule kRule{"test.rule", Severity::kError, ""};
  callee.emitter.Emit(kRule, {file, 0, 1}, "not for others");
  EXPECT_TRUE(callee.emitter.has_errors());
  EXPECT_FALSE(outer.emitter.has_errors());
}

// Files of the base follow all others, as if they had been read last.
TEST(ContextTest, KnowsTheFilesOfItsBase) {
  ContextBase base;
  const FileId library = base.sources.AddText("library", "one\ntwo\n");
  Context first(base), second(base);
  const FileId mine = first.sources.AddText("mine", "a\nb");
  const FileId other = second.sources.AddText("other", "c");
  EXPECT_EQ(mine, other);
  EXPECT_LT(mine, library);
  for (const Context* context : {&first, &second}) {
    EXPECT_EQ(context->sources.Name(library), "library");
    EXPECT_EQ(context->sources.Line(library, 2), "two");
    EXPECT_EQ(context->sources.Position({library, 5}).line, 2);
    EXPECT_EQ(context->sources.Kind(library), FileKind::kText);
  }
  EXPECT_EQ(first.sources.Name(mine), "mine");
  EXPECT_EQ(first.sources.Line(mine, 2), "b");
  EXPECT_EQ(second.sources.Text(other), "c");
}

}  // namespace
}  // namespace nnefc
