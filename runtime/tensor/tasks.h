#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime {

// Where part `part` of `parts` of `count` begins; sizes of parts differ by one at most.
inline int64_t PartBegin(int64_t count, int64_t parts, int64_t part) {
  return count * part / parts;
}

// Tasks of a loop for each thread: one that is late leaves some of its share to others.
inline constexpr int64_t kTasksPerThread = 4;

// Calls work(task, member) for 0 <= task < tasks on at most `members` threads of the scope. Each begins with
// a part of its own, the same one for as many tasks, so that its cache has what it made in the step before of
// the same part of a tensor; then it helps the others.
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
