#include "runtime/engine/run/body_values.h"

#include "runtime/engine/plan/plan.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine::run {
namespace {

TEST(BufferPoolTest, AFreeBufferIsUsedAgain) {
  const MemoryBudget memory(1000);
  BufferPool pool(memory);
  std::shared_ptr<Buffer> first = pool.Take(100);
  ASSERT_NE(first, nullptr);
  const std::weak_ptr<Buffer> is_first = first;
  const std::shared_ptr<Buffer> second = pool.Take(100);
  ASSERT_NE(second, nullptr);
  EXPECT_NE(second, first);
  first = nullptr;
  EXPECT_FALSE(is_first.expired());
  std::shared_ptr<Buffer> again = pool.Take(100);
  EXPECT_EQ(again, is_first.lock());
  again = nullptr;
  EXPECT_EQ(memory.left(), 800u);
  // A buffer of another size takes its place.
  const std::shared_ptr<Buffer> larger = pool.Take(700);
  ASSERT_NE(larger, nullptr);
  EXPECT_EQ(larger->size(), 700u);
  EXPECT_TRUE(is_first.expired());
  EXPECT_EQ(memory.left(), 200u);
  // Nothing of a failure remains in the pool.
  EXPECT_EQ(pool.Take(500), nullptr);
  EXPECT_EQ(pool.Take(500), nullptr);
  EXPECT_NE(pool.Take(200), nullptr);
}

// Only a buffer of an output that is the result alone may be passed on.
TEST(WholeOutputTest, ResultsThatFillAnOutput) {
  plan::Plan plan;
  plan.values.resize(2);
  plan.values[0] = {.storage = plan::PlanValue::Storage::kOutput, .bytes = 64, .output = 3, .root = 0};
  plan.values[1] = {.storage = plan::PlanValue::Storage::kArena, .bytes = 64, .output = 5, .root = 1};
  plan.results = {{.value = 0, .root = 0}, {.value = 0, .root = 0, .offset = 4}, {.value = 1, .root = 1}};
  EXPECT_EQ(WholeOutput(plan, 0, 64), 3);
  EXPECT_EQ(WholeOutput(plan, 0, 63), -1);
  EXPECT_EQ(WholeOutput(plan, 0, 65), -1);
  EXPECT_EQ(WholeOutput(plan, 1, 64), -1);
  EXPECT_EQ(WholeOutput(plan, 2, 64), -1);
}

}  // namespace
}  // namespace nnefc::runtime::engine::run
