#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/tensor/tasks.h"

namespace nnefc::runtime::tensor {

// Loops over fewer elements run on one thread, because waking others costs more.
inline constexpr int64_t kParallelGrain = 32768;

// Calls body(i) for 0 <= i < count on the threads of the calling thread's ThreadScope. `cost` estimates the
// elements processed per call. Calls must be independent; there are no reductions across threads, so results
// do not depend on the thread count.
template <typename Body>
void ParallelFor(int64_t count, int64_t cost, Body&& body) {
  const auto run = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i);
  };
  const int64_t worthwhile = kParallelGrain / std::max<int64_t>(cost, 1);  // in calls
  if (count <= std::max<int64_t>(worthwhile, 1) || CurrentThreads() == 1) return run(0, count);
  const int64_t members = 1 + count / std::max<int64_t>(worthwhile, 1);
  const int threads = static_cast<int>(std::min<int64_t>(members, CurrentThreads()));
  const int64_t ranges = std::min(count, threads * kTasksPerThread);
  RunTasks(ranges, threads, [&](int64_t range, int) {
    run(PartBegin(count, ranges, range), PartBegin(count, ranges, range + 1));
  });
}

// Calls body(begin, end) for blocks of `count` elements in parallel, like ParallelFor.
template <typename Body>
void ParallelParts(int64_t count, Body&& body) {
  constexpr int64_t kPart = 16384;
  ParallelFor((count + kPart - 1) / kPart, kPart,
              [&](int64_t part) { body(part * kPart, std::min(count, (part + 1) * kPart)); });
}

}  // namespace nnefc::runtime::tensor
