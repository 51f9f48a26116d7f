// What a registry of kernels knows of each operation, and what kernels of plug-ins add to it.

#include "runtime/kernels/registry.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/fast/register.h"
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

// Each operation of a set has a portable kernel, except those that a plan executes itself. NNEF's own ones
// are mostly lowered: these have kernels.
TEST(KernelRegistryTest, OperationsWithPortableKernels) {
  KernelRegistry registry;
  RegisterReferenceKernels(registry);
  std::string without, nnef;
  for (size_t i = 0; i < TestRegistry().size(); ++i) {
    const ir::OpInfo& info = TestRegistry().Info(ir::OpId(static_cast<int32_t>(i)));
    const bool has_kernel = registry.Find(Backend::kReference, info.set, info.name) != nullptr;
    if (info.set == ir::kNnefSet && has_kernel) nnef += " " + info.name;
    if (info.set != ir::kNnefSet && !has_kernel) without += " " + info.set + "." + info.name;
  }
  EXPECT_EQ(without,
            " opset1.Parameter opset1.Const opset1.Result opset3.ReadValue opset3.Assign opset6.ReadValue"
            " opset6.Assign opset1.TensorIterator opset5.Loop opset8.If");
  EXPECT_EQ(nnef,
            " round log2 conv deconv argmax_pool max_pool_with_index avg_roi_pool max_roi_pool roi_resample"
            " min_max_linear_quantize zero_point_linear_quantize");
}

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

// An operation without an entry accepts none, whatever memory is after the registry.
TEST(KernelRegistryTest, StridesOfUnknownOperations) {
  struct Enclosed {
    KernelRegistry registry;
    std::array<int32_t, 256> after;
  };
  Enclosed enclosed;
  enclosed.after.fill(INT32_MAX);
  ExpectStrides(enclosed.registry, 0);
  enclosed.registry.AcceptStrides(Backend::kFast, {"opset4"}, "Add", 2);
  enclosed.registry.AcceptStrides(Backend::kFast, {"opset1"}, "Subtract", 2);
  ExpectStrides(enclosed.registry, 0);
}

FaultOr<tensor::ElementsView> SameElements(const ViewRequest& request) {
  return request.source;
}

// The portable kernel of a view reads its data with any strides; no other kernel does.
TEST(KernelRegistryTest, CopiedViews) {
  KernelRegistry registry;
  registry.AddCopiedView<SameElements>({"opset1"}, "Add");
  TestGraph g;
  const ir::OutputPort sum = g.Op("Add", {g.Parameter("x", {2}), g.Parameter("y", {2})});
  const ir::Node& node = g.graph->node(sum.node);
  EXPECT_TRUE(registry.AcceptsStrides(Backend::kReference, node, 0));
  EXPECT_FALSE(registry.AcceptsStrides(Backend::kReference, node, 1));
  EXPECT_FALSE(registry.AcceptsStrides(Backend::kFast, node, 0));
  EXPECT_NE(registry.Find(Backend::kReference, "opset1", "Add"), nullptr);
  EXPECT_EQ(registry.Find(Backend::kFast, "opset1", "Add"), nullptr);
  EXPECT_EQ(registry.FindView("opset1", "Add"), &SameElements);
  EXPECT_EQ(registry.FindView("opset2", "Add"), nullptr);
}

// How many of the first inputs the kernels of each backend read with strides.
TEST(KernelRegistryTest, StridesOfOperations) {
  KernelRegistry registry;
  RegisterReferenceKernels(registry);
  fast::RegisterFastKernels(registry, {});
  const auto expect = [&](Backend backend, const TestGraph& g, ir::OutputPort port, int32_t count) {
    const ir::Node& node = g.graph->node(port.node);
    for (int32_t input = 0; input < 5; ++input)
      EXPECT_EQ(registry.AcceptsStrides(backend, node, input), input < count)
          << node.type() << ", input " << input << " of backend " << static_cast<int>(backend);
  };
  TestGraph g;
  const auto x = g.Parameter("x", {2, 3, 4});
  const auto concat = g.Op("Concat", {x, x}, With("axis", int64_t{1}));
  expect(Backend::kReference, g, concat, 5);
  expect(Backend::kFast, g, concat, 0);
  ir::AttributeMap floor = With("eps", 1e-6);
  floor.Set("eps_mode", "add");
  const auto unit = g.Op("NormalizeL2", {x, g.Ints({2})}, floor);
  expect(Backend::kReference, g, unit, 0);
  expect(Backend::kFast, g, unit, 1);
  const auto attention = g.Op("opset13", "ScaledDotProductAttention", {x, x, x}, With("causal", false));
  expect(Backend::kReference, g, attention, 0);
  expect(Backend::kFast, g, attention, 3);
  const auto moved = g.Op("Transpose", {x, g.Ints({2, 1, 0})});
  expect(Backend::kReference, g, moved, 1);
  const auto sum = g.Op("Add", {x, x});
  expect(Backend::kReference, g, sum, 0);
  expect(Backend::kFast, g, sum, 0);
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

// A kernel of a plug-in all of whose functions throw.
class ThrowingKernel final : public Kernel {
 public:
  std::string implementation() const override { throw std::runtime_error("no name"); }
  std::unique_ptr<KernelState> NewState() const override { throw std::runtime_error("no state"); }
  FaultOr<Success> Run(const KernelRun&) const override { throw std::runtime_error("no run"); }
};

// Returns what the factory of a plug-in prepares for a sum of two values.
std::optional<PreparedKernel> PreparedByForeign(const KernelFactory& factory) {
  KernelRegistry registry;
  EXPECT_TRUE(registry.AddForeign(
      [&](KernelRegistry& foreign) { foreign.Add(Backend::kReference, {"acme"}, "Sum", factory); }));
  const ValueInfo info{.type = ElementType::kF32, .shape = {2}};
  const std::vector<ValueInfo> inputs = {info, info};
  return (*registry.Find(Backend::kReference, "acme", "Sum"))({.inputs = inputs, .outputs = info});
}

std::string MessageOf(const FaultOr<Success>& done) {
  return done ? "" : done.error().message;
}

TEST(ForeignKernelTest, WhatItThrowsIsAFaultOfTheRun) {
  const auto prepared = PreparedByForeign(
      [](const KernelRequest&) { return PreparedKernel{.kernel = std::make_shared<ThrowingKernel>()}; });
  ASSERT_TRUE(prepared.has_value());
  EXPECT_EQ(prepared->kernel->implementation(), "plug-in");
  const std::unique_ptr<KernelState> state = prepared->kernel->NewState();
  ASSERT_NE(state, nullptr);
  EXPECT_EQ(MessageOf(prepared->kernel->Run({.state = state.get()})),
            "the kernel of `acme.Sum` failed: no state");
  EXPECT_EQ(MessageOf(prepared->kernel->Run({})), "the kernel of `acme.Sum` failed: no run");
}

TEST(ForeignKernelTest, WhatItsFactoryThrowsIsAFaultOfTheRun) {
  const auto prepared = PreparedByForeign(
      [](const KernelRequest&) -> std::optional<PreparedKernel> { throw std::runtime_error("no kernel"); });
  ASSERT_TRUE(prepared.has_value());
  EXPECT_EQ(prepared->inputs.size(), 2U);
  EXPECT_EQ(prepared->outputs.size(), 1U);
  EXPECT_EQ(prepared->kernel->implementation(), "failed");
  EXPECT_EQ(MessageOf(prepared->kernel->Run({})), "the kernel of `acme.Sum` failed: no kernel");
}

// A factory declines by an absent kernel as well as by an absent result.
TEST(ForeignKernelTest, ItsFactoryMayDecline) {
  EXPECT_FALSE(PreparedByForeign([](const KernelRequest&) { return std::optional<PreparedKernel>(); }));
  EXPECT_FALSE(PreparedByForeign([](const KernelRequest&) { return PreparedKernel(); }));
}

}  // namespace
}  // namespace nnefc::runtime::kernels
