#pragma once

#include <cstdint>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime::tensor {

// Returns the begin of part `part` when `count` elements are divided into `parts` parts. Part sizes differ by
// at most one.
inline int64_t PartBegin(int64_t count, int64_t parts, int64_t part) {
  return count * part / parts;
}

// The number of tasks per thread of a loop, so that idle threads can take over tasks of a delayed one.
inline constexpr int64_t kTasksPerThread = 4;

// Calls work(task, member) for 0 <= task < tasks on at most `members` threads of the scope; `members` is
// positive unless `tasks` is 0. Each thread starts with its own contiguous share, the same one for equal task
// counts, so that its cache still contains the data of the previous step. Then it helps the others.
void RunTasks(int64_t tasks, int members, llvm::function_ref<void(int64_t task, int member)> work);

}  // namespace nnefc::runtime::tensor
