#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime {

// Where part `part` of `parts` of `count` begins; sizes of parts differ by one at most.
inline int64_t PartBegin(int64_t count, int64_t parts, int64_t part) {
  return count * part / parts;
}

// Calls work(task, member) for 0 <= task < tasks on at most `members` threads of the scope: who is free takes
// the next.
template <typename Work>
void RunTasks(int64_t tasks, int members, const Work& work) {
  std::atomic<int64_t> next = 0;
  RunOnTeam(static_cast<int>(std::min<int64_t>(tasks, members)), [&](int member) {
    for (int64_t task = next++; task < tasks; task = next++) work(task, member);
  });
}

}  // namespace nnefc::runtime
