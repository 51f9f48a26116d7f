#include "runtime/kernels/implementation.h"

#include <gtest/gtest.h>

#include <string>

#include "runtime/kernels/registry.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::kernels {
namespace {

TEST(ReasonTest, IsFormattedWithItsNumbers) {
  EXPECT_EQ(Reason("no numbers").ToString(), "no numbers");
  EXPECT_EQ(Reason("{} rows", 7).ToString(), "7 rows");
  EXPECT_EQ(Reason("filter {}x{}", 1, -3).ToString(), "filter 1x-3");
  EXPECT_EQ(Reason("{} of {}").ToString(), "0 of 0");
  EXPECT_EQ(Reason().ToString(), "");
  EXPECT_TRUE(Reason().empty());
  EXPECT_FALSE(Reason("").empty());
}

TEST(ReasonTest, IsWhatAValueLacks) {
  const OrReason<int> value = 3, none = Reason("{} elements", 0);
  ASSERT_TRUE(value);
  EXPECT_EQ(*value, 3);
  EXPECT_TRUE(value.reason().empty());
  EXPECT_FALSE(none);
  EXPECT_EQ(none.reason().ToString(), "0 elements");
}

Reason IsRejected(const KernelRequest&) {
  return Reason("filter {}x{}", 1, 1);
}
Cost NotByDefault(const KernelRequest&) {
  return Cost::NotByDefault(Reason("{} rows", 7));
}
Cost CheapWithReason(const KernelRequest&) {
  return {0.01, Reason("it is unusual")};
}
KernelOrReason MakeNothing(const KernelRequest&) {
  return Reason("it cannot be made");
}
KernelOrReason MakeSomething(const KernelRequest&) {
  return PreparedKernel();
}

// Returns the id of the choice, and the rejected ids with reasons.
std::string Choice(llvm::ArrayRef<ImplementationTable> tables, std::string_view way = "") {
  std::vector<RejectedImplementation> rejected;
  const auto kernel = ChooseImplementation(tables, {.way = way, .rejected = &rejected});
  // The same without a report.
  const auto other = ChooseImplementation(tables, {.way = way});
  EXPECT_EQ(kernel.has_value(), other.has_value());
  std::string text = kernel ? std::string(kernel->implementation) : "none";
  for (const RejectedImplementation& each : rejected)
    text += "; " + std::string(each.id) + ": " + each.reason.ToString();
  return text;
}

std::string Choice(llvm::ArrayRef<Implementation> rows, std::string_view way = "") {
  const ImplementationTable table{"f32", AlwaysApplies, rows};
  return Choice(llvm::ArrayRef<ImplementationTable>(table), way);
}

TEST(ChooseImplementationTest, TheLowestCostWins) {
  const Implementation rows[] = {{"first", AlwaysApplies, FixedCost<30>, MakeSomething},
                                 {"second", AlwaysApplies, FixedCost<29>, MakeSomething},
                                 {"third", AlwaysApplies, FixedCost<31>, MakeSomething}};
  EXPECT_EQ(Choice(rows),
            "second; first: another implementation is faster; third: another implementation is faster");
}

TEST(ChooseImplementationTest, TheFirstOfEqualCostsWins) {
  const Implementation rows[] = {{"first", AlwaysApplies, FixedCost<30>, MakeSomething},
                                 {"second", AlwaysApplies, FixedCost<30>, MakeSomething}};
  EXPECT_EQ(Choice(rows), "first; second: another implementation is faster");
}

TEST(ChooseImplementationTest, RejectedOnesHaveTheirReasons) {
  const Implementation rows[] = {{"winograd", IsRejected, FixedCost<1>, MakeSomething},
                                 {"rare", AlwaysApplies, NotByDefault, MakeSomething},
                                 {"broken", AlwaysApplies, FixedCost<2>, MakeNothing},
                                 {"usual", AlwaysApplies, FixedCost<3>, MakeSomething}};
  EXPECT_EQ(Choice(rows), "usual; winograd: filter 1x1; rare: 7 rows; broken: it cannot be made");
  EXPECT_EQ(Choice(llvm::ArrayRef<Implementation>(rows).drop_back()),
            "none; winograd: filter 1x1; rare: 7 rows; broken: it cannot be made");
}

TEST(ChooseImplementationTest, TheChoiceHasNoReasonEvenIfItsCostHasOne) {
  const Implementation rows[] = {{"unusual", AlwaysApplies, CheapWithReason, MakeSomething},
                                 {"usual", AlwaysApplies, FixedCost<2>, MakeSomething}};
  EXPECT_EQ(Choice(rows), "unusual; usual: another implementation is faster");
}

TEST(ChooseImplementationTest, ARequestedOneRunsIfItApplies) {
  const Implementation rows[] = {{"winograd", IsRejected, FixedCost<1>, MakeSomething},
                                 {"rare", AlwaysApplies, NotByDefault, MakeSomething},
                                 {"usual", AlwaysApplies, FixedCost<3>, MakeSomething}};
  EXPECT_EQ(Choice(rows, "rare"), "rare; winograd: not requested; usual: not requested");
  EXPECT_EQ(Choice(rows, "winograd"),
            "none; winograd: filter 1x1; rare: not requested; usual: not requested");
  EXPECT_EQ(Choice(rows, "other"),
            "none; winograd: not requested; rare: not requested; usual: not requested");
}

TEST(ChooseImplementationTest, TheNextTableIsTriedWithoutARequestedOne) {
  const Implementation broken[] = {{"broken", AlwaysApplies, FixedCost<1>, MakeNothing}};
  const Implementation usual[] = {{"usual", AlwaysApplies, FixedCost<1>, MakeSomething}};
  const ImplementationTable tables[] = {
      {"i32", IsRejected, usual}, {"int8", AlwaysApplies, broken}, {"f32", AlwaysApplies, usual}};
  EXPECT_EQ(Choice(tables), "usual; broken: it cannot be made");
  EXPECT_EQ(Choice(tables, "usual"), "none; broken: not requested");
  EXPECT_EQ(Choice(llvm::ArrayRef<ImplementationTable>(tables).take_front(2)),
            "none; broken: it cannot be made; i32: filter 1x1");
}

// A request states only what differs from the usual: values that nobody overwrites, in f32.
TEST(KernelRequestTest, WhatIsNotStated) {
  EXPECT_FALSE(ValueInfo().overwritable);
  EXPECT_EQ(PostOperation().chained_input, 0);
  EXPECT_EQ(PostOperation().first_operand, 0);
  const KernelRequest request;
  EXPECT_FALSE(request.has_f32_images);
  EXPECT_FALSE(request.as_codes);
  EXPECT_EQ(request.filter_magnitude, 0);
  EXPECT_EQ(PreparedKernel().in_place, -1);
  EXPECT_FALSE(PreparedKernel().in_place_required);
}

// Only fast kernels apply further operations before they store a result.
TEST(KernelRequestTest, ReferenceKernelsDeclinePostOperations) {
  KernelRegistry registry;
  RegisterReferenceKernels(registry);
  TestGraph g;
  const auto x = g.Parameter("x", {2, 3});
  const ir::Node& relu = g.graph->node(g.Op("ReLU", {x}).node);
  const ValueInfo info{.type = ElementType::kF32, .shape = {2, 3}};
  const KernelFactory& factory = *registry.Find(Backend::kReference, "opset1", "ReLU");
  const PostOperation post{.node = &relu};
  EXPECT_TRUE(factory({.node = &relu, .inputs = info, .outputs = info}).has_value());
  EXPECT_FALSE(factory({.node = &relu, .posts = post, .inputs = info, .outputs = info}).has_value());
}

TEST(FaultTest, TheFirstDiagnosticIsTheFault) {
  Emitter emitter;
  EXPECT_EQ(FirstFault(emitter, KernelFault("otherwise")).message, "otherwise");
  EXPECT_EQ(FirstFault(emitter, KernelFault("otherwise")).rule, &kRunFailed);
  emitter.Emit(kRuntimeMemory, {}, "first");
  emitter.Emit(kRunFailed, {}, "second");
  const Fault fault = FirstFault(emitter, KernelFault("otherwise"));
  EXPECT_EQ(fault.message, "first");
  EXPECT_EQ(fault.rule, &kRuntimeMemory);
}

// Output 0 of an elementwise operation may share the memory of the first input of its type and shape.
TEST(AliasingTest, TheFirstInputLikeTheOutput) {
  KernelRegistry registry;
  RegisterReferenceKernels(registry);
  TestGraph g;
  const auto x = g.Parameter("x", {2, 3}), y = g.Parameter("y", {2, 3});
  const ir::Node& add = g.graph->node(g.Op("Add", {x, y}).node);
  const auto input_of = [&](std::string_view operation, std::vector<ValueInfo> inputs,
                            const ValueInfo& output) {
    // Another value like the output follows in memory.
    const size_t count = inputs.size();
    inputs.push_back(output);
    const KernelFactory* factory = registry.Find(Backend::kReference, "opset1", operation);
    EXPECT_NE(factory, nullptr) << operation;
    const auto prepared =
        (*factory)({.node = &add, .inputs = llvm::ArrayRef(inputs).take_front(count), .outputs = output});
    EXPECT_TRUE(prepared.has_value()) << operation;
    return prepared ? prepared->in_place : -2;
  };
  const ValueInfo f32{.type = ElementType::kF32, .shape = {2, 3}},
      i32{.type = ElementType::kI32, .shape = {2, 3}}, row{.type = ElementType::kF32, .shape = {3}},
      turned{.type = ElementType::kF32, .shape = {3, 2}};
  EXPECT_EQ(input_of("Add", {f32, f32}, f32), 0);
  EXPECT_EQ(input_of("Add", {f32, row}, f32), 0);
  EXPECT_EQ(input_of("Add", {row, f32}, f32), 1);
  for (const ValueInfo& other : {i32, row, turned}) EXPECT_EQ(input_of("Add", {other, other}, f32), -1);
  EXPECT_EQ(input_of("Add", {i32, f32}, f32), 1);
  for (const char* operation : {"Clamp", "Elu", "ReLU", "Sqrt", "Abs", "Multiply", "Maximum"}) {
    EXPECT_EQ(input_of(operation, {f32}, f32), 0) << operation;
    EXPECT_EQ(input_of(operation, {row}, f32), -1) << operation;
  }
  // The elements of a product are read several times.
  EXPECT_EQ(input_of("MatMul", {f32, f32}, f32), -1);
}

}  // namespace
}  // namespace nnefc::runtime::kernels
