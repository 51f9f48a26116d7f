// What a registry of kernels knows of each operation, and what kernels of plug-ins add to it.

#include "runtime/kernels/registry.h"

#include <gtest/gtest.h>

#include "runtime/kernels/implementation.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::kernels {
namespace {

Cost CostOfTable(const KernelRequest&) {
  return Cost{1};
}
KernelOrReason MakeOfTable(const KernelRequest&) {
  return PreparedKernel();
}

constexpr Implementation kRowsOfTable[] = {{"some", AlwaysApplies, CostOfTable, MakeOfTable}};
const ImplementationTable kTables[] = {{"f32", AlwaysApplies, kRowsOfTable}};

// A kernel accepts strides of its first inputs, as many as were registered.
void ExpectStrides(const KernelRegistry& registry, int32_t count) {
  TestGraph g;
  const ir::OutputPort sum = g.Op("Add", {g.Parameter("x", {2}), g.Parameter("y", {2})});
  const ir::Node& node = g.graph->node(sum.node);
  for (int32_t input = 0; input < 3; ++input)
    EXPECT_EQ(registry.AcceptsStrides(Backend::kFast, node, input), input < count)
        << input << " of " << count;
  EXPECT_FALSE(registry.AcceptsStrides(Backend::kReference, node, 0));
}

TEST(KernelRegistryTest, StridesOfTheFirstInputs) {
  ExpectStrides(KernelRegistry(), 0);
  for (const int32_t count : {0, 1, 2}) {
    KernelRegistry registry;
    registry.AcceptStrides(Backend::kFast, {"opset1"}, "Add", count);
    ExpectStrides(registry, count);
  }
}

TEST(KernelRegistryTest, ForeignKernelsBringAllThatBelongsToThem) {
  KernelRegistry registry;
  const FaultOr<Success> added = registry.AddForeign([](KernelRegistry& foreign) {
    foreign.AddTables(Backend::kFast, {"opset1"}, "Add", kTables);
    foreign.AcceptStrides(Backend::kFast, {"opset1"}, "Add", 1);
    foreign.AddView({"opset1"}, "Add",
                    [](const ViewRequest& request) { return FaultOr<tensor::ElementsView>(request.source); });
  });
  ASSERT_TRUE(added.ok());
  ExpectStrides(registry, 1);
  EXPECT_NE(registry.Find(Backend::kFast, "opset1", "Add"), nullptr);
  EXPECT_NE(registry.FindView("opset1", "Add"), nullptr);
  EXPECT_EQ(registry.Ways(Backend::kFast, "opset1", "Add").size(), 1U);
}

}  // namespace
}  // namespace nnefc::runtime::kernels
