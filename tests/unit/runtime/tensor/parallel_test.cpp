// Ranges of indices that threads run.

#include "runtime/tensor/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/tensor/tasks.h"
#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime::tensor {
namespace {

// Returns the number of ranges, which together are all indices.
size_t CountRanges(int64_t count, int64_t cost, int threads) {
  const ThreadScope scope(threads);
  std::vector<std::pair<int64_t, int64_t>> ranges;
  std::mutex mutex;
  RunRanges(count, cost, [&](int64_t begin, int64_t end) {
    const std::lock_guard lock(mutex);
    ranges.emplace_back(begin, end);
  });
  std::sort(ranges.begin(), ranges.end());
  int64_t next = 0;
  for (const auto& [begin, end] : ranges) {
    EXPECT_EQ(begin, next) << count;
    EXPECT_TRUE(begin < end || count == 0) << count;
    next = end;
  }
  EXPECT_EQ(next, count);
  return ranges.size();
}

// One thread, or too little work for two, has one range; others have four each, of one index or more.
TEST(ParallelTest, RangesOfThreads) {
  constexpr int64_t kMuch = kParallelGrain;
  EXPECT_EQ(CountRanges(1000, kMuch, 1), 1U);
  EXPECT_EQ(CountRanges(1000, kMuch, 2), size_t{2 * kTasksPerThread});
  EXPECT_EQ(CountRanges(3, kMuch, 2), 3U);
  EXPECT_EQ(CountRanges(1, kMuch, 2), 1U);
  EXPECT_EQ(CountRanges(0, kMuch, 2), 1U);
  EXPECT_EQ(CountRanges(kParallelGrain, 1, 2), 1U);
  EXPECT_GT(CountRanges(kParallelGrain + 1, 1, 2), 1U);
}

}  // namespace
}  // namespace nnefc::runtime::tensor
