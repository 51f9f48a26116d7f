#include "runtime/tensor/arena.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace nnefc::runtime {
namespace {

void ExpectNoOverlap(const std::vector<ArenaRequest>& requests, const ArenaPlan& plan) {
  for (size_t a = 0; a < requests.size(); ++a) {
    EXPECT_EQ(plan.offsets[a] % kArenaAlignment, 0u);
    EXPECT_LE(plan.offsets[a] + requests[a].bytes, plan.size);
    for (size_t b = 0; b < a; ++b) {
      const bool together = requests[a].first <= requests[b].last && requests[b].first <= requests[a].last;
      const bool apart = plan.offsets[a] + requests[a].bytes <= plan.offsets[b] ||
                         plan.offsets[b] + requests[b].bytes <= plan.offsets[a];
      EXPECT_TRUE(!together || apart) << a << " and " << b;
    }
  }
}

TEST(ArenaTest, AChainNeedsTwoBuffers) {
  std::vector<ArenaRequest> requests;
  for (int64_t i = 0; i < 10; ++i) requests.push_back({.bytes = 640, .first = i, .last = i + 1});
  const std::optional<ArenaPlan> plan = PlanArena(requests);
  ASSERT_TRUE(plan.has_value());
  ExpectNoOverlap(requests, *plan);
  EXPECT_EQ(plan->size, 1280u);
}

TEST(ArenaTest, ValuesOfOneStepDoNotOverlap) {
  const std::vector<ArenaRequest> requests = {{.bytes = 100, .first = 0, .last = 3},
                                              {.bytes = 1, .first = 1, .last = 1},
                                              {.bytes = 0, .first = 1, .last = 2},
                                              {.bytes = 64, .first = 3, .last = 3},
                                              {.bytes = 65, .first = 2, .last = 4}};
  const std::optional<ArenaPlan> plan = PlanArena(requests);
  ASSERT_TRUE(plan.has_value());
  ExpectNoOverlap(requests, *plan);
}

TEST(ArenaTest, RandomLifetimesDoNotOverlap) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<ArenaRequest> requests;
    for (int i = 0; i < 60; ++i) {
      const int64_t first = static_cast<int64_t>(random() % 40);
      requests.push_back(
          {.bytes = random() % 5000, .first = first, .last = first + static_cast<int64_t>(random() % 10)});
    }
    const std::optional<ArenaPlan> plan = PlanArena(requests);
    ASSERT_TRUE(plan.has_value());
    ExpectNoOverlap(requests, *plan);
  }
}

// The oracle is the most that lives at one step, below which there is no plan.
TEST(ArenaTest, LargeValuesDoNotWaitForGapsOfSmallOnes) {
  // In order of time the value of 2 units finds the gaps of 1 that the small ones leave, and begins behind
  // them.
  std::vector<ArenaRequest> requests;
  const auto add = [&](size_t units, int64_t first, int64_t last) {
    requests.push_back({.bytes = units * 64, .first = first, .last = last});
  };
  add(1, 0, 0);
  add(1, 0, 2);
  add(1, 0, 0);
  add(1, 0, 2);
  add(2, 1, 2);
  const std::optional<ArenaPlan> plan = PlanArena(requests);
  ASSERT_TRUE(plan.has_value());
  ExpectNoOverlap(requests, *plan);
  EXPECT_EQ(plan->size, 4u * 64);
}

// So many that only the quick way is taken.
TEST(ArenaTest, ManyValues) {
  std::vector<ArenaRequest> requests;
  for (int64_t i = 0; i < 200000; ++i)
    requests.push_back({.bytes = static_cast<size_t>(i % 7) * 64, .first = i, .last = i + i % 5});
  const std::optional<ArenaPlan> plan = PlanArena(requests);
  ASSERT_TRUE(plan.has_value());
  EXPECT_LT(plan->size, 200u * 64);
}

TEST(ArenaTest, SizesThatDoNotFitAreRefused) {
  EXPECT_FALSE(PlanArena({{.bytes = SIZE_MAX, .first = 0, .last = 0}}).has_value());
  const std::vector<ArenaRequest> halves(3, {.bytes = SIZE_MAX / 4, .first = 0, .last = 0});
  EXPECT_FALSE(PlanArena(halves).has_value());
}

TEST(ArenaTest, AllocationIsAligned) {
  std::optional<Arena> arena = Arena::Allocate(100);
  ASSERT_TRUE(arena.has_value());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(arena->data()) % kArenaAlignment, 0u);
  const Arena moved = std::move(*arena);
  EXPECT_GE(moved.size(), 100u);
}

}  // namespace
}  // namespace nnefc::runtime
