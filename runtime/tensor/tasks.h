#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime {

// Returns the begin of part `part` when `count` elements are divided into `parts` parts. Part sizes differ by
// at most one.
inline int64_t PartBegin(int64_t count, int64_t parts, int64_t part) {
  return count * part / parts;
}

// The number of tasks per thread of a loop, so that idle threads can take over tasks of a delayed one.
inline constexpr int64_t kTasksPerThread = 4;

// Calls work(task, member) for 0 <= task < tasks on at most `members` threads of the scope. Each thread
// starts with its own contiguous share, the same one for equal task counts, so that its cache still contains
// the data of the previous step. Then it helps the others.
template <typename Work>
void RunTasks(int64_t tasks, int members, const Work& work) {
  struct alignas(64) Share {
    std::atomic<int64_t> next = 0;
    int64_t end = 0;
  };
  const int64_t count = std::clamp<int64_t>(tasks, 1, members);
  std::vector<Share> shares(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    shares[static_cast<size_t>(i)].next = PartBegin(tasks, count, i);
    shares[static_cast<size_t>(i)].end = PartBegin(tasks, count, i + 1);
  }
  RunOnTeam(static_cast<int>(count), [&](int member) {
    for (int64_t i = 0; i < count; ++i) {
      Share& share = shares[static_cast<size_t>((member + i) % count)];
      for (int64_t task = share.next++; task < share.end; task = share.next++) work(task, member);
    }
  });
}

}  // namespace nnefc::runtime
