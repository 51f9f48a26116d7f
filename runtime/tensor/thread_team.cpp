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

namespace nnefc::runtime {

namespace {

using Clock = std::chrono::steady_clock;

// A thread looks this long for what it waits for, then it sleeps. Waking it
// takes some 10 microseconds, and most pauses of a network are shorter than
// this.
constexpr std::chrono::microseconds kLook{50};
// It looks this long for a while after others have taken a processor from the
// team some times in a row, each within a short time: then who sleeps early gets one sooner. Once or twice is
// what the system itself does now and then.
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

// Whether others have taken the processor from the calling thread since it asked
// before.
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

// Sleeps until the word is not `value`. Unlike its wait(), at once: that one
// yields the processor first, which on a busy machine takes a time slice.
void SleepWhile(Word& word, uint32_t value) {
  while (word.load() == value) SystemCallOn(word, FUTEX_WAIT, value);
}

void WakeSleepers(Word& word) {
  SystemCallOn(word, FUTEX_WAKE, INT_MAX);
}

}  // namespace

// A thread and the processors that it may run on. Systems put who is woken beside who wakes it, above all in
// virtual machines, where a processor that sleeps counts as one that others have taken: two threads of a team
// then share one until the system moves one of them, which takes longer than many networks.
class PlacedThread {
 public:
  explicit PlacedThread(pthread_t thread) : thread_(thread) {}

  // Lets it run on all of its processors but this one, as long as there are others for all followers; on any
  // for -1.
  void KeepOff(int processor, int followers) {
    cpu_set_t now;
    if (pthread_getaffinity_np(thread_, sizeof now, &now) != 0) return;
    // What somebody else has said since counts.
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

// Threads that work for one thread at a time, their leader.
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

  // What the leader says before it opens the work.
  llvm::function_ref<void(int)> work_ = nullptr;
  int members_ = 1;
  int threads_ = 1;
  std::exception_ptr error_;
  std::mutex error_mutex_;
  std::vector<PlacedThread> followers_;
  static constexpr int kAnyProcessor = -1, kNotSaid = -2;
  int leaders_processor_ = kNotSaid;         // that followers are kept off
  std::atomic<Clock::rep> interrupted_ = 0;  // when somebody last found that it was
  std::atomic<int> in_a_row_ = 0;            // how often, each time not long after the one before
  std::atomic<Clock::rep> crowded_ = 0;      // when that was often

  alignas(kCacheLine) std::atomic<uint64_t> untaken_ = 0;  // members whose part nobody has begun
  alignas(kCacheLine) Word pending_ = 0;                   // members that are not done
  alignas(kCacheLine) Word sleeping_ = 0;                  // followers to be woken
  Word wakes_ = 0;                                         // how often followers were woken
  alignas(kCacheLine) Word arrived_ = 0;                   // at the barrier
  Word barriers_ = 0;                                      // that all have passed
  Word at_barrier_ = 0;                                    // asleep there
};

// Whether the condition comes true in the time for which it is worth looking.
template <typename Condition>
bool ThreadTeam::LookFor(Condition condition) const {
  constexpr int kLooks = 8;  // for each look at the clock
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

// Starts followers that lack. Returns how many members there can be.
int ThreadTeam::Grow(int members) {
  const auto most = [&] { return static_cast<int>(followers_.size()) + 1; };
  while (most() < members) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the threads of the user
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
  pending_.store(static_cast<uint32_t>(members_));
  untaken_.store((~uint64_t{0} >> (kMostThreads - members_)) & ~uint64_t{1});
  Wake();
  {
    const KeptPlace place;
    RunMember(0);
    while (TakeAny()) continue;
    Join();
  }
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

// Who was woken and does not run yet is not woken again: that is a system call.
void ThreadTeam::Wake() {
  if (sleeping_.load() == 0 || sleeping_.exchange(0) == 0) return;
  HeedInterruptions();
  // Beside others any processor that is left to the team will do.
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
    // Either the leader sees that this one sleeps, or this one sees its work.
    if (!HasWork()) SleepWhile(wakes_, seen);
  }
}

bool ThreadTeam::Take(int member) {
  const uint64_t bit = uint64_t{1} << member;
  return (untaken_.load() & bit) != 0 && (untaken_.fetch_and(~bit) & bit) != 0;
}

// Does the part of the last member that nobody has begun.
bool ThreadTeam::TakeAny() {
  for (uint64_t open = untaken_.load(); open != 0; open = untaken_.load()) {
    const int member = kMostThreads - 1 - std::countl_zero(open);
    if (!Take(member)) continue;
    RunMember(member);
    return true;
  }
  return false;
}

// Who has taken a part may read what the leader said: it waits for that part.
void ThreadTeam::RunMember(int member) {
  place_of_thread = {
      .threads = threads_, .member = member, .members = members_, .in_team = true, .team = this};
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

// What RunInSteps divides: a member goes from step to step and waits for the parts of others.
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
      // Where another took it; its part is rarely the last that is done.
      Await(member, step);
    }
  }

 private:
  struct Part {
    // Who does the part reads what it begins in its own cache: others look there only when they wait.
    alignas(kCacheLine) Word begun = 0;  // steps
    alignas(kCacheLine) Word done = 0;
  };
  Part& At(int part) { return parts_[static_cast<size_t>(part)]; }

  // Does the part of a step unless somebody has begun it.
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
    constexpr int kLooks = 32;  // before it takes the part of one that is late
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

// The teams that nobody leads now. They live as long as the process.
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
  // A child of fork has none of the threads.
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
    return std::clamp(bound > 0 ? std::min(processors, bound) : processors, 1, kMostThreads);
  }();
  return threads;
}

ThreadScope::ThreadScope(int threads) : before_(place_of_thread.threads) {
  place_of_thread.threads = std::clamp(threads, 1, kMostThreads);
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
  place_of_thread.team->Run(std::min(members, kMostThreads), work);
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

}  // namespace nnefc::runtime
