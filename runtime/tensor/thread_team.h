#pragma once

#include <cstdint>

#include "llvm/ADT/STLFunctionalExtras.h"

namespace nnefc::runtime::tensor {

class ThreadTeam;

// The maximum size of a team, because a 64-bit mask represents its members.
inline constexpr int kMaxThreads = 64;

// Returns the number of threads that this process may use at a time, limited by its CPU affinity and its
// control group.
int AvailableThreads();

// Sets the thread count of the calling thread's parallel work during its lifetime. Scopes nest. The outermost
// scope lends a thread team to its thread when work is first divided, so that consecutive sessions share
// threads, and single-threaded work starts none.
class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;
};

// The position of the calling thread: its scope, and its member index in a team.
struct ThreadPlace {
  int threads = 0;  // thread count of the scope; 0 outside of scopes
  int member = 0;
  int members = 1;
  bool in_team = false;  // inside parallel work; nested loops run on one thread
  ThreadTeam* team = nullptr;

  bool in_scope() const { return threads > 0; }
};
const ThreadPlace& PlaceOfThread();

// Returns the thread count of the innermost scope; 1 outside of scopes.
int CurrentThreads();

// Calls work(member) exactly once for 0 <= member < members, and returns when all calls have returned. The
// calling thread is member 0. When done, it also runs members that no thread has started, so a descheduled
// thread delays nobody. Members may still use barriers: a finished member has passed all of them, so all
// other members have started. Inside a team and outside of scopes, work(0) runs with a single member.
void RunOnTeam(int members, llvm::function_ref<void(int member)> work);

// Calls work(step, part) exactly once for 0 <= step < steps and 0 <= part < parts. The calls of a step start
// when all those of the previous step have returned. A member runs the same part in each step for cache
// locality; finished members run parts that nobody has started. Inside a team and outside of scopes, one
// thread does everything. `work` must not throw.
void RunInSteps(int64_t steps, int parts, llvm::function_ref<void(int64_t step, int part)> work);

// Blocks until all members of the team have called it.
void WaitForTeam();

}  // namespace nnefc::runtime::tensor
