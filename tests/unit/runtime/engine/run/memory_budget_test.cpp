#include "runtime/engine/run/memory_budget.h"

#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine::run {
namespace {

TEST(MemoryBudgetTest, BuffersCountWhileTheyAreHeld) {
  const MemoryBudget memory(100);
  std::shared_ptr<const Buffer> first = memory.Allocate(60);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(memory.left(), 40u);
  EXPECT_EQ(memory.Allocate(41), nullptr);
  const std::shared_ptr<const Buffer> counted = memory.Count(Buffer::Allocate(40));
  ASSERT_NE(counted, nullptr);
  EXPECT_EQ(memory.left(), 0u);
  first = nullptr;
  EXPECT_EQ(memory.left(), 60u);
}

TEST(MemoryBudgetTest, ReservationsComeBack) {
  const MemoryBudget memory(100);
  {
    Reservation reservation = memory.Reserve();
    EXPECT_TRUE(reservation.Grow(70));
    EXPECT_FALSE(reservation.Grow(31));
    const Reservation moved = std::move(reservation);
    EXPECT_EQ(memory.left(), 30u);
  }
  EXPECT_EQ(memory.left(), 100u);
}

// A reservation that another one replaces is released; what replaces it still counts.
TEST(MemoryBudgetTest, ReservationsAreReplaced) {
  const MemoryBudget memory(100), other(50);
  Reservation first = memory.Reserve(), second = other.Reserve();
  EXPECT_TRUE(first.Grow(70));
  EXPECT_TRUE(second.Grow(20));
  {
    Reservation replaced = std::move(first);
    replaced = std::move(second);
    EXPECT_EQ(other.left(), 30u);
    EXPECT_FALSE(replaced.Grow(31));
    EXPECT_TRUE(replaced.Grow(30));
    EXPECT_EQ(other.left(), 0u);
  }
  EXPECT_EQ(other.left(), 50u);
  first = Reservation();
  second = Reservation();
  EXPECT_EQ(memory.left(), 100u);
}

// Results of earlier runs that the user keeps do not count.
TEST(MemoryBudgetTest, RunsDoNotUseItUp) {
  TestGraph g;
  const ir::OutputPort x = g.PartialParameter("x", ir::PartialShape({ir::Dim(1), ir::Dim(256)}));
  g.Result(g.Op("ReLU", {x}));
  g.Result(g.Op("opset3", "NonZero", {x}, [] {
    ir::AttributeMap attributes;
    attributes.Set("output_type", ElementType::kI64);
    return attributes;
  }()));
  const auto executable =
      Compile(g.graph, {.backend = kernels::Backend::kReference, .limits = {.bytes = 16384}});
  ASSERT_NE(executable, nullptr);
  std::unique_ptr<Session> session = Session::Create(executable);
  std::vector<std::vector<TensorValue>> held;
  for (int run = 0; run < 40; ++run) {
    kernels::FaultOr<std::vector<TensorValue>> outputs = session->Run({RandomTensor({1, 256}, 3)});
    ASSERT_TRUE(outputs.ok()) << outputs.error().message;
    held.push_back(*outputs);
  }
  for (const std::vector<TensorValue>& outputs : held) {
    ExpectNear(outputs[0], held[0][0], 0);
    ExpectNear(outputs[1], held[0][1], 0);
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine::run
