#include "compiler/ir/algorithms/output_groups.h"

#include "gtest/gtest.h"

namespace nnefc::ir {
namespace {

// "FIRST+COUNT" for each result; an array has brackets.
std::string Groups(std::vector<std::string> outputs, int32_t num_outputs) {
  OpRegistry registry(&StandardOps());
  registry.Add({.set = "test", .name = "op", .outputs = std::move(outputs)});
  Graph graph(&registry, "g");
  const NodeId node = AddNode(graph, "test", "op", {.name = "n", .num_outputs = num_outputs});
  std::string text;
  for (const OutputGroup& group : OutputGroups(graph.node(node))) {
    const std::string range = fmt::format("{}+{}", group.first, group.count);
    text += (text.empty() ? "" : " ") + (group.array ? "[" + range + "]" : range);
  }
  return text;
}

TEST(OutputGroupsTest, AnArrayHasTheRemainingOutputs) {
  EXPECT_EQ(Groups({"a"}, 1), "0+1");
  EXPECT_EQ(Groups({"a", "b"}, 2), "0+1 1+1");
  EXPECT_EQ(Groups({"a[]"}, 0), "[0+0]");
  EXPECT_EQ(Groups({"a[]"}, 3), "[0+3]");
  EXPECT_EQ(Groups({"a", "b[]"}, 1), "0+1 [1+0]");
  EXPECT_EQ(Groups({"a", "b[]"}, 4), "0+1 [1+3]");
  EXPECT_EQ(Groups({"a[]", "b"}, 3), "[0+2] 2+1");
  EXPECT_EQ(Groups({"a", "b[]", "c"}, 5), "0+1 [1+3] 4+1");
  EXPECT_EQ(Groups({"a", "b[]", "c"}, 2), "0+1 [1+0] 1+1");
}

// Trailing results may be omitted.
TEST(OutputGroupsTest, OmittedResultsHaveNoOutputs) {
  EXPECT_EQ(Groups({"a", "b"}, 1), "0+1 1+0");
  EXPECT_EQ(Groups({"a", "b"}, 0), "0+0 0+0");
  EXPECT_EQ(Groups({"a", "b[]", "c"}, 1), "0+1 [1+0] 1+0");
}

}  // namespace
}  // namespace nnefc::ir
