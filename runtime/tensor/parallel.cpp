#include "runtime/tensor/parallel.h"

#include "runtime/tensor/tasks.h"
#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime::tensor {

void RunRanges(int64_t count, int64_t cost, llvm::function_ref<void(int64_t begin, int64_t end)> run) {
  const int64_t worthwhile = kParallelGrain / std::max<int64_t>(cost, 1);  // in indices
  if (count <= std::max<int64_t>(worthwhile, 1) || CurrentThreads() == 1) return run(0, count);
  const int64_t members = 1 + count / std::max<int64_t>(worthwhile, 1);
  const int threads = static_cast<int>(std::min<int64_t>(members, CurrentThreads()));
  const int64_t ranges = std::min(count, threads * kTasksPerThread);
  RunTasks(ranges, threads, [&](int64_t range, int) {
    run(PartBegin(count, ranges, range), PartBegin(count, ranges, range + 1));
  });
}

}  // namespace nnefc::runtime::tensor
