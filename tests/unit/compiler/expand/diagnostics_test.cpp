#include <gtest/gtest.h>

#include "tests/unit/compiler/expand/expansion.h"

namespace nnefc::expand {
namespace {

TEST(DiagnosticsTest, OncePerPlaceWithTheStack) {
  Expansion expansion(Ratified(R"(
fragment inner( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> )
{
    y = reshape(x, shape = [1 / n]);
}
fragment outer( x: tensor<scalar> ) -> ( y: tensor<scalar> )
{
    a = inner(x, n = 0);
    y = relu(a);
})",
                               "    a = outer(x);\n    b = outer(x);\n    y = a + b;"));
  EXPECT_EQ(expansion.graph, nullptr);
  ASSERT_EQ(expansion.context.emitter.error_count(), 1u) << expansion.Diagnostics();
  const Diagnostic* error = expansion.Find("arithmetic.division-by-zero");
  ASSERT_NE(error, nullptr) << expansion.Diagnostics();
  ASSERT_EQ(error->notes.size(), 2u);
  EXPECT_NE(error->notes[0].message.find("`inner`"), std::string::npos);
  EXPECT_NE(error->notes[1].message.find("`outer`"), std::string::npos);
}

TEST(DiagnosticsTest, SeveralAndNoCascade) {
  Expansion expansion(Ratified("", R"(
    a = reshape(x, shape = [1 / 0]);
    b = reshape(x, shape = [[1][5]]);
    c = a + b;
    d = reshape(x, shape = [2 ^ -1]);
    y = relu(d + c);)"));
  EXPECT_EQ(expansion.context.emitter.error_count(), 3u) << expansion.Diagnostics();
  EXPECT_TRUE(expansion.Has("arithmetic.division-by-zero"));
  EXPECT_TRUE(expansion.Has("subscript.out-of-range"));
}

TEST(DiagnosticsTest, ShapesAreToldWithTheStack) {
  Expansion expansion(Ratified(R"(
fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> )
{
    y = concat([x, x], axis = 7);
})",
                               "    y = f(x);"));
  ASSERT_EQ(expansion.context.emitter.error_count(), 1u) << expansion.Diagnostics();
  EXPECT_EQ(expansion.context.emitter.diagnostics()[0].notes.size(), 1u);
}

TEST(DiagnosticsTest, BrokenFragmentsAreNotExpanded) {
  Expansion expansion(Ratified(R"(
fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> )
{
    y = nothing(x);
})",
                               "    a = f(x);\n    y = relu(a);"));
  EXPECT_EQ(expansion.graph, nullptr);
  EXPECT_EQ(expansion.context.emitter.error_count(), expansion.check_errors) << expansion.Diagnostics();
}

// Each stage returns the parts that do not depend on an error.
TEST(DiagnosticsTest, WhatCouldBeMadeIsReturned) {
  const Expansion right(Ratified("", "    y = relu(x);"));
  EXPECT_TRUE(right.expanded.complete);
  EXPECT_TRUE(right.expanded.diagnostics.empty());
  const Expansion late(Ratified("", "    a = relu(x);\n    y = reshape(a, shape = [1 / 0]);"));
  EXPECT_TRUE(late.checked->complete());
  EXPECT_FALSE(late.expanded.complete);
  ASSERT_EQ(late.expanded.diagnostics.size(), 1u) << late.Diagnostics();
  const Expansion early(Ratified("", "    a = relu(x);\n    y = reshape(a, shape = );"));
  EXPECT_FALSE(early.checked->ast().complete);
  EXPECT_FALSE(early.checked->complete());
  EXPECT_FALSE(early.expanded.complete);
  EXPECT_TRUE(early.expanded.diagnostics.empty()) << early.Diagnostics();
  for (const Expansion* expansion : {&right, &late, &early}) {
    ASSERT_NE(expansion->expanded.graph, nullptr);
    const ir::Graph& graph = *expansion->expanded.graph;
    EXPECT_TRUE(llvm::any_of(graph.nodes(), [&](ir::NodeId id) { return graph.node(id).type() == "relu"; }));
  }
}

}  // namespace
}  // namespace nnefc::expand
