// The team of threads that executes parallel loops.

#include "runtime/tensor/thread_team.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <climits>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/tensor/control_group.h"
#include "runtime/tensor/subnormals.h"

namespace nnefc::runtime::tensor {

namespace {

using Clock = std::chrono::steady_clock;

// The time a thread spins before it sleeps. Waking it costs about 10 microseconds, and most pauses of a
// network are shorter than this.
constexpr std::chrono::microseconds kLook{50};
// The shorter time used for `kWhile` after the team was preempted `kInARow` times, at most `kBetween` apart:
// a thread that sleeps early is scheduled sooner. Single preemptions are normal.
constexpr std::chrono::microseconds kShortLook{3};
constexpr std::chrono::milliseconds kWhile{20};
constexpr std::chrono::milliseconds kBetween{10};
constexpr int kInARow = 3;
constexpr size_t kCacheLine = 64;

thread_local ThreadPlace place_of_thread;

class KeptPlace {
 public:
  KeptPlace() : before_(place_of_thread) {}
  ~KeptPlace() { place_of_thread = before_; }
  KeptPlace(const KeptPlace&) = delete;
  KeptPlace& operator=(const KeptPlace&) = delete;

 private:
  ThreadPlace before_;
};

void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Returns whether the calling thread was preempted since its previous call.
bool WasInterrupted() {
  thread_local long before = 0;
  rusage usage = {};
  getrusage(RUSAGE_THREAD, &usage);
  return std::exchange(before, usage.ru_nivcsw) != usage.ru_nivcsw;
}

using Word = std::atomic<uint32_t>;

void SystemCallOn(Word& word, int operation, uint32_t value) {
  syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

// Sleeps until the word differs from `value`. std::atomic::wait() yields first, at the cost of a time slice
// on a busy machine.
void SleepWhile(Word& word, uint32_t value) {
  while (word.load() == value) SystemCallOn(word, FUTEX_WAIT, value);
}

void WakeSleepers(Word& word) {
  SystemCallOn(word, FUTEX_WAKE, INT_MAX);
}

}  // namespace

// A thread and its CPU affinity. Kernels tend to place a woken thread next to its waker, above all in virtual
// machines, where an idle virtual CPU counts as busy. Two threads of a team then share a processor until the
// load balancer acts, often longer than a whole network takes.
class PlacedThread {
 public:
  explicit PlacedThread(pthread_t thread) : thread_(thread) {}

  // Excludes `processor` from the affinity if the remaining ones suffice for all followers; -1 restores the
  // full affinity.
  void KeepOff(int processor, int followers) {
    cpu_set_t now;
    if (pthread_getaffinity_np(thread_, sizeof now, &now) != 0) return;
    // Respects an affinity that was changed by somebody else.
    if (!has_others_ || !CPU_EQUAL(&now, &others_)) all_ = now;
    cpu_set_t others = all_;
    if (processor >= 0) CPU_CLR(processor, &others);
    if (CPU_COUNT(&others) < followers) others = all_;
    has_others_ = pthread_setaffinity_np(thread_, sizeof others, &others) == 0;
    others_ = others;
  }

 private:
  pthread_t thread_;
  bool has_others_ = false;
  cpu_set_t all_{}, others_{};
};

class TeamSteps;

// Threads that work for one leader at a time.
class ThreadTeam {
  friend class TeamSteps;

 public:
  void Run(int members, llvm::function_ref<void(int)> work);
  void Wait(int members);

 private:
  // Bit of `pending_`: the leader sleeps.
  static constexpr uint32_t kLeaderSleeps = 1U << 31;

  int Grow(int members);
  void KeepFollowersOff(int processor);
  void Wake();
  void Join();
  void Follow(int member);
  void RunMember(int member);
  bool Take(int member);
  bool TakeAny();
  bool IsCrowded(Clock::time_point now) const;
  bool HasWork() const { return untaken_.load() != 0; }
  template <typename Condition>
  bool LookFor(Condition condition) const;
  void HeedInterruptions();

  // Set by the leader before it publishes the work.
  llvm::function_ref<void(int)> work_ = nullptr;
  int members_ = 1;
  int threads_ = 1;
  bool subnormals_are_zero_ = false;
  std::exception_ptr error_;
  std::mutex error_mutex_;
  std::vector<PlacedThread> followers_;
  static constexpr int kAnyProcessor = -1, kNotSaid = -2;
  int leaders_processor_ = kNotSaid;         // excluded from the followers' affinity
  std::atomic<Clock::rep> interrupted_ = 0;  // time of the last preemption seen
  std::atomic<int> in_a_row_ = 0;            // consecutive preemptions, each soon after the previous one
  std::atomic<Clock::rep> crowded_ = 0;      // time of the last preemption that made the team crowded

  alignas(kCacheLine) std::atomic<uint64_t> untaken_ = 0;  // mask of members that nobody has started
  alignas(kCacheLine) Word pending_ = 0;                   // number of members that are not done
  alignas(kCacheLine) Word sleeping_ = 0;                  // number of sleeping followers
  Word wakes_ = 0;                                         // counter of wake-ups
  alignas(kCacheLine) Word arrived_ = 0;                   // members at the barrier
  Word barriers_ = 0;                                      // counter of completed barriers
  Word at_barrier_ = 0;                                    // members asleep at the barrier
};

// Spins until the condition is true or the time is up, and returns the condition.
template <typename Condition>
bool ThreadTeam::LookFor(Condition condition) const {
  constexpr int kLooks = 8;  // polls per clock read
  const Clock::time_point start = Clock::now();
  const Clock::time_point end = start + (IsCrowded(start) ? kShortLook : kLook);
  do {
    for (int i = 0; i < kLooks; ++i) {
      if (condition()) return true;
      Pause();
    }
  } while (Clock::now() < end);
  return condition();
}

bool ThreadTeam::IsCrowded(Clock::time_point now) const {
  return now.time_since_epoch() - Clock::duration(crowded_.load()) < kWhile;
}

void ThreadTeam::HeedInterruptions() {
  if (!WasInterrupted()) return;
  const Clock::duration now = Clock::now().time_since_epoch();
  const Clock::duration before(interrupted_.exchange(now.count()));
  if (now - before > kBetween) return in_a_row_.store(1);
  if (in_a_row_.fetch_add(1) + 1 >= kInARow) crowded_.store(now.count());
}

// Starts missing followers. Returns the possible number of members.
int ThreadTeam::Grow(int members) {
  const auto most = [&] { return static_cast<int>(followers_.size()) + 1; };
  while (most() < members) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are left to the user's threads
    bool started = true;
    try {
      std::thread follower([this, member = most()] { Follow(member); });
      followers_.emplace_back(follower.native_handle());
      leaders_processor_ = kNotSaid;
      follower.detach();
    } catch (const std::system_error&) {
      started = false;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (!started) break;
  }
  return std::min(members, most());
}

void ThreadTeam::KeepFollowersOff(int processor) {
  if (processor == leaders_processor_) return;
  leaders_processor_ = processor;
  for (PlacedThread& follower : followers_) follower.KeepOff(processor, members_ - 1);
}

void ThreadTeam::Run(int members, llvm::function_ref<void(int)> work) {
  work_ = work;
  members_ = Grow(members);
  threads_ = place_of_thread.threads;
  subnormals_are_zero_ = SubnormalsAreZero();
  pending_.store(static_cast<uint32_t>(members_));
  untaken_.store((~uint64_t{0} >> (kMaxThreads - members_)) & ~uint64_t{1});
  Wake();
  {
    const KeptPlace place;
    RunMember(0);
    while (TakeAny()) continue;
    Join();
  }
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

// Skips followers that were woken but do not run yet, to save a system call.
void ThreadTeam::Wake() {
  if (sleeping_.load() == 0 || sleeping_.exchange(0) == 0) return;
  HeedInterruptions();
  // On a busy machine followers may use all processors.
  KeepFollowersOff(IsCrowded(Clock::now()) ? kAnyProcessor : sched_getcpu());
  wakes_.fetch_add(1);
  WakeSleepers(wakes_);
}

void ThreadTeam::Join() {
  if (LookFor([&] { return pending_.load() == 0; })) return;
  uint32_t seen = pending_.fetch_or(kLeaderSleeps) | kLeaderSleeps;
  while (seen != kLeaderSleeps) {
    SleepWhile(pending_, seen);
    seen = pending_.load();
  }
}

void ThreadTeam::Follow(int member) {
  pthread_setname_np(pthread_self(), "nnefc-worker");
  const auto has_work = [&] { return HasWork(); };
  for (;;) {
    while (LookFor(has_work)) {
      if (Take(member)) {
        RunMember(member);
      } else {
        TakeAny();
      }
    }
    HeedInterruptions();
    const uint32_t seen = wakes_.load();
    sleeping_.fetch_add(1);
    // Either the leader sees this sleeper, or this thread sees the leader's work.
    if (!HasWork()) SleepWhile(wakes_, seen);
  }
}

bool ThreadTeam::Take(int member) {
  const uint64_t bit = uint64_t{1} << member;
  return (untaken_.load() & bit) != 0 && (untaken_.fetch_and(~bit) & bit) != 0;
}

// Runs the last member that nobody has started.
bool ThreadTeam::TakeAny() {
  for (uint64_t open = untaken_.load(); open != 0; open = untaken_.load()) {
    const int member = kMaxThreads - 1 - std::countl_zero(open);
    if (!Take(member)) continue;
    RunMember(member);
    return true;
  }
  return false;
}

// A thread that has claimed a member may read the leader's fields, because the leader waits for that member.
void ThreadTeam::RunMember(int member) {
  place_of_thread = {
      .threads = threads_, .member = member, .members = members_, .in_team = true, .team = this};
  SetSubnormalsAreZero(subnormals_are_zero_);
  try {
    work_(member);
  } catch (...) {
    const std::lock_guard lock(error_mutex_);
    if (!error_) error_ = std::current_exception();
  }
  if (pending_.fetch_sub(1) == (kLeaderSleeps | 1)) WakeSleepers(pending_);
}

void ThreadTeam::Wait(int members) {
  const uint32_t passed = barriers_.load();
  if (arrived_.fetch_add(1) + 1 == static_cast<uint32_t>(members)) {
    arrived_.store(0);
    barriers_.fetch_add(1);
    if (at_barrier_.load() > 0) WakeSleepers(barriers_);
    return;
  }
  if (LookFor([&] { return barriers_.load() != passed; })) return;
  at_barrier_.fetch_add(1);
  SleepWhile(barriers_, passed);
  at_barrier_.fetch_sub(1);
}

// The state of RunInSteps. A member goes from step to step and waits for the parts of others.
class TeamSteps {
 public:
  using Work = llvm::function_ref<void(int64_t, int)>;
  TeamSteps(int64_t steps, int parts, Work work)
      : steps_(static_cast<uint32_t>(steps)), parts_(static_cast<size_t>(parts)), work_(work) {}

  void Run(int member) {
    const int parts = static_cast<int>(parts_.size());
    for (uint32_t step = 0; step < steps_; ++step) {
      TryPart(member, step);
      for (int i = 1; i < parts; ++i) Await((member + i) % parts, step);
      // Another member may have claimed it. Checked last, because it is rarely the last part to finish.
      Await(member, step);
    }
  }

 private:
  struct Part {
    // On its own cache line, so that a member starting its part reads its own cache; others access it only
    // while waiting.
    alignas(kCacheLine) Word begun = 0;  // counter of steps
    alignas(kCacheLine) Word done = 0;
  };
  Part& At(int part) { return parts_[static_cast<size_t>(part)]; }

  // Runs the part of a step unless somebody has started it.
  void TryPart(int part, uint32_t step) {
    Part& own = At(part);
    uint32_t expected = step;
    if (own.begun.load(std::memory_order_relaxed) != step ||
        !own.begun.compare_exchange_strong(expected, step + 1))
      return;
    work_(step, part);
    own.done.store(step + 1);
    if (sleeping_.load() > 0) WakeSleepers(own.done);
  }

  void Await(int part, uint32_t step) {
    constexpr int kLooks = 32;  // polls before it takes over a late part
    Word& done = At(part).done;
    const auto is_done = [&] { return done.load() > step; };
    for (int look = 0; look < kLooks; ++look) {
      if (is_done()) return;
      Pause();
    }
    TryPart(part, step);
    ThreadTeam& team = *place_of_thread.team;
    if (is_done() || team.LookFor(is_done)) return;
    team.HeedInterruptions();
    sleeping_.fetch_add(1);
    for (uint32_t seen = done.load(); seen <= step; seen = done.load()) SleepWhile(done, seen);
    sleeping_.fetch_sub(1);
  }

  const uint32_t steps_;
  std::vector<Part> parts_;
  Work work_;
  alignas(kCacheLine) Word sleeping_ = 0;
};

namespace {

// The teams without a leader. They exist as long as the process.
class IdleTeams {
 public:
  static IdleTeams& Get() {
    static IdleTeams* teams = new IdleTeams;
    return *teams;
  }

  ThreadTeam* Take() {
    const std::lock_guard lock(mutex_);
    if (teams_.empty()) return new ThreadTeam;
    ThreadTeam* team = teams_.back();
    teams_.pop_back();
    return team;
  }

  void GiveBack(ThreadTeam* team) {
    const std::lock_guard lock(mutex_);
    teams_.push_back(team);
  }

 private:
  // A forked child has none of the threads.
  IdleTeams() {
    pthread_atfork([] { Get().mutex_.lock(); }, [] { Get().mutex_.unlock(); },
                   [] {
                     place_of_thread.team = nullptr;
                     Get().teams_.clear();
                     Get().mutex_.unlock();
                   });
  }

  std::mutex mutex_;
  std::vector<ThreadTeam*> teams_;
};

}  // namespace

int AvailableThreads() {
  static const int threads = [] {
    const int processors = static_cast<int>(std::thread::hardware_concurrency());
    const int bound = ProcessorsOfControlGroup();
    return std::clamp(bound > 0 ? std::min(processors, bound) : processors, 1, kMaxThreads);
  }();
  return threads;
}

ThreadScope::ThreadScope(int threads) : before_(place_of_thread.threads) {
  place_of_thread.threads = std::clamp(threads, 1, kMaxThreads);
}

ThreadScope::~ThreadScope() {
  place_of_thread.threads = before_;
  if (before_ > 0 || place_of_thread.team == nullptr) return;
  IdleTeams::Get().GiveBack(place_of_thread.team);
  place_of_thread.team = nullptr;
}

const ThreadPlace& PlaceOfThread() {
  return place_of_thread;
}

int CurrentThreads() {
  return std::max(place_of_thread.threads, 1);
}

void RunOnTeam(int members, llvm::function_ref<void(int)> work) {
  if (members <= 1 || place_of_thread.in_team || !place_of_thread.in_scope()) {
    const KeptPlace place;
    place_of_thread.member = 0;
    place_of_thread.members = 1;
    work(0);
    return;
  }
  if (place_of_thread.team == nullptr) place_of_thread.team = IdleTeams::Get().Take();
  place_of_thread.team->Run(std::min(members, kMaxThreads), work);
}

void RunInSteps(int64_t steps, int parts, llvm::function_ref<void(int64_t, int)> work) {
  if (parts <= 1 || place_of_thread.in_team || !place_of_thread.in_scope() || steps >= INT_MAX) {
    for (int64_t step = 0; step < steps; ++step) {
      for (int part = 0; part < parts; ++part) work(step, part);
    }
    return;
  }
  TeamSteps team_steps(steps, parts, work);
  RunOnTeam(parts, [&](int member) { team_steps.Run(member); });
}

void WaitForTeam() {
  if (place_of_thread.members > 1) place_of_thread.team->Wait(place_of_thread.members);
}

}  // namespace nnefc::runtime::tensor
