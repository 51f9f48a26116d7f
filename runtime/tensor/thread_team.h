#pragma once

#include <cstdint>

#include "llvm/ADT/STLFunctionalExtras.h"

namespace nnefc::runtime {

class ThreadTeam;

// Teams are not larger than this: the members that nobody has taken are the bits
// of a number.
inline constexpr int kMostThreads = 64;

// How many threads this process may use at a time: the processors that it may
// run on, and no more than the share of them that its control group allows.
int AvailableThreads();

// The number of threads of what the calling thread does while the scope lives.
// Scopes nest. The outermost one lends a team to its thread as soon as work is
// divided, so that sessions which run one after the other share threads, and one
// thread starts none.
class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;
};

// Where the calling thread stands: in which scope, and as which member of a team.
struct ThreadPlace {
  int threads = 0;  // of the scope; 0 outside of all
  int member = 0;
  int members = 1;
  bool in_team = false;  // a team works; what it divides further is done by one
  ThreadTeam* team = nullptr;

  bool in_scope() const { return threads > 0; }
};
const ThreadPlace& PlaceOfThread();

// The number of threads of the innermost scope; 1 outside of all.
int CurrentThreads();

// Calls work(member) for 0 <= member < members, each once, and returns when all
// of them have. The calling thread is the first member, and takes the part of
// every other one that no thread has begun when it is done with its own: a
// thread that waits for a processor keeps nobody waiting. Members may meet at
// barriers all the same: who is done has passed them all, and so all had begun.
// Within a team and outside of scopes, the work is that of one member.
void RunOnTeam(int members, llvm::function_ref<void(int member)> work);

// Calls work(step, part) for 0 <= step < steps and 0 <= part < parts, each once, those of a step when all of
// the step before have returned. A part is a member's, step after step, so that a cache may hold what it
// reads; who is done with its own takes what nobody has begun. Within a team and outside of scopes, one
// thread does all. `work` throws nothing.
void RunInSteps(int64_t steps, int parts, llvm::function_ref<void(int64_t step, int part)> work);

// Called by every member of the team: returns when all of them have called it.
void WaitForTeam();

}  // namespace nnefc::runtime
