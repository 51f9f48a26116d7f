#include "runtime/tensor/arena.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace nnefc::runtime::tensor {
namespace {

std::vector<ArenaPart> PartsOf(const ArenaRequest& request) {
  if (!request.parts.empty()) return request.parts;
  return {{.offset = 0, .bytes = request.bytes, .first = request.first, .last = request.last}};
}

bool Overlap(const ArenaPart& a, size_t place_a, const ArenaPart& b, size_t place_b) {
  const bool together = a.first <= b.last && b.first <= a.last;
  const bool apart = place_a + a.offset + a.bytes <= place_b + b.offset ||
                     place_b + b.offset + b.bytes <= place_a + a.offset;
  return together && !apart;
}

void ExpectNoOverlap(const std::vector<ArenaRequest>& requests, const ArenaPlan& plan) {
  for (size_t a = 0; a < requests.size(); ++a) {
    EXPECT_EQ(plan.offsets[a] % kArenaAlignment, 0u);
    const ArenaPart last = PartsOf(requests[a]).back();
    EXPECT_LE(plan.offsets[a] + last.offset + last.bytes, plan.size);
    for (size_t b = 0; b < a; ++b) {
      for (const ArenaPart& x : PartsOf(requests[a])) {
        for (const ArenaPart& y : PartsOf(requests[b]))
          EXPECT_FALSE(Overlap(x, plan.offsets[a], y, plan.offsets[b])) << a << " and " << b;
      }
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

// Of more than 2000 values the first plan is taken: it divides free ranges, and joins them with those before
// and after them.
TEST(ArenaTest, ManyValuesShareOneRange) {
  constexpr int64_t kRounds = 700;
  for (const bool is_first_longer : {false, true}) {
    std::vector<ArenaRequest> requests;
    for (int64_t round = 0; round < kRounds; ++round) {
      const int64_t step = 4 * round;
      requests.push_back({.bytes = 64, .first = step, .last = step + (is_first_longer ? 1 : 0)});
      requests.push_back({.bytes = 64, .first = step, .last = step + (is_first_longer ? 0 : 1)});
      requests.push_back({.bytes = 128, .first = step + 2, .last = step + 3});
    }
    const std::optional<ArenaPlan> plan = PlanArena(requests);
    ASSERT_TRUE(plan.has_value());
    EXPECT_EQ(plan->size, 128u);
    for (size_t i = 0; i < requests.size(); i += 3)
      EXPECT_EQ(plan->offsets[i] + plan->offsets[i + 1], 64u) << i;
  }
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

// The expected size is the peak of live bytes at one step, the lower bound for any plan.
TEST(ArenaTest, LargeValuesDoNotWaitForGapsOfSmallOnes) {
  // In order of time the value of 2 units does not fit the gaps of 1 between the small ones, and begins after
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

TEST(ArenaTest, PartsLeaveRoomForOthersBeforeTheyAreNeeded) {
  // A whole of 4 units whose second half is written at step 5, and a value of 2 units that is dead by then.
  const std::vector<ArenaRequest> requests = {
      {.bytes = 256,
       .first = 0,
       .last = 6,
       .parts = {{.offset = 0, .bytes = 128, .first = 0, .last = 6},
                 {.offset = 128, .bytes = 128, .first = 5, .last = 6}}},
      {.bytes = 128, .first = 1, .last = 4}};
  const std::optional<ArenaPlan> plan = PlanArena(requests);
  ASSERT_TRUE(plan.has_value());
  ExpectNoOverlap(requests, *plan);
  EXPECT_EQ(plan->size, 256u);
}

// A part may fit where earlier ones do not.
TEST(ArenaTest, RandomPartsDoNotOverlap) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    std::vector<ArenaRequest> requests;
    for (int i = 0; i < 40; ++i) {
      ArenaRequest request{.bytes = 1 + random() % 5000, .first = static_cast<int64_t>(random() % 40)};
      request.last = request.first + static_cast<int64_t>(random() % 10);
      size_t offset = random() % 3 == 0 ? random() % request.bytes : request.bytes;
      while (offset < request.bytes) {
        const size_t bytes = 1 + random() % (request.bytes - offset);
        const int64_t first =
            request.first + static_cast<int64_t>(random()) % (request.last - request.first + 1);
        const int64_t last = first + static_cast<int64_t>(random()) % (request.last - first + 1);
        request.parts.push_back({.offset = offset, .bytes = bytes, .first = first, .last = last});
        offset += bytes + random() % 100;
      }
      requests.push_back(request);
    }
    const std::optional<ArenaPlan> plan = PlanArena(requests);
    ASSERT_TRUE(plan.has_value());
    ExpectNoOverlap(requests, *plan);
  }
}

// A count for which only the fast algorithm is used.
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
  // The sizes with their alignment may fill half of the address space.
  const size_t largest = SIZE_MAX / 2 - kArenaAlignment;
  EXPECT_TRUE(PlanArena({{.bytes = largest, .first = 0, .last = 0}}).has_value());
  EXPECT_FALSE(PlanArena({{.bytes = largest + 1, .first = 0, .last = 0}}).has_value());
  const size_t half = SIZE_MAX / 4 - kArenaAlignment;
  const ArenaRequest first{.bytes = half, .first = 0, .last = 0};
  EXPECT_TRUE(PlanArena({first, {.bytes = half + 1, .first = 0, .last = 0}}).has_value());
  EXPECT_FALSE(PlanArena({first, {.bytes = half + 2, .first = 0, .last = 0}}).has_value());
}

TEST(ArenaTest, AllocationIsAligned) {
  std::optional<Arena> arena = Arena::Allocate(100);
  ASSERT_TRUE(arena.has_value());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(arena->data()) % kArenaAlignment, 0u);
  EXPECT_EQ(arena->size(), 128u);
  EXPECT_EQ(Arena::Allocate(0)->size(), kArenaAlignment);
  EXPECT_EQ(Arena::Allocate(kArenaAlignment)->size(), kArenaAlignment);
  EXPECT_EQ(Arena::Allocate(kArenaAlignment + 1)->size(), 2 * kArenaAlignment);
  EXPECT_EQ(Arena().size(), 0u);
  EXPECT_EQ(Arena().data(), nullptr);
  const Arena moved = std::move(*arena);
  EXPECT_GE(moved.size(), 100u);
}

// The largest request uses all addresses but one alignment, which half of them are for.
TEST(ArenaTest, TheLargestRequest) {
  constexpr size_t kLargest = SIZE_MAX / 2 - kArenaAlignment;
  EXPECT_TRUE(PlanArena({{.bytes = kLargest, .first = 0, .last = 1}}).has_value());
  EXPECT_FALSE(PlanArena({{.bytes = kLargest + 1, .first = 0, .last = 1}}).has_value());
  EXPECT_FALSE(PlanArena({{.bytes = SIZE_MAX, .first = 0, .last = 1}}).has_value());
  const ArenaRequest half = {.bytes = SIZE_MAX / 4 - kArenaAlignment, .first = 0, .last = 1};
  EXPECT_TRUE(PlanArena({half, half}).has_value());
  EXPECT_FALSE(PlanArena({half, half, half}).has_value());
}

TEST(ArenaTest, AnArenaWithoutMemory) {
  Arena none;
  EXPECT_EQ(none.size(), 0u);
  EXPECT_EQ(none.data(), nullptr);
  std::optional<Arena> some = Arena::Allocate(100);
  ASSERT_TRUE(some.has_value());
  EXPECT_GE(some->size(), 100u);
  none = std::move(*some);
  EXPECT_GE(none.size(), 100u);
  EXPECT_NE(none.data(), nullptr);
}

}  // namespace
}  // namespace nnefc::runtime::tensor
