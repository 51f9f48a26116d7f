// Execution of parallel tasks on the team of threads.

#include "runtime/tensor/tasks.h"

#include <algorithm>
#include <atomic>
#include <vector>

namespace nnefc::runtime::tensor {

void RunTasks(int64_t tasks, int members, llvm::function_ref<void(int64_t task, int member)> work) {
  struct alignas(64) Share {
    std::atomic<int64_t> next = 0;
    int64_t end = 0;
  };
  const int64_t count = std::min<int64_t>(tasks, members);
  if (count <= 0) return;
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

}  // namespace nnefc::runtime::tensor
