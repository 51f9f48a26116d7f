#include "runtime/tensor/thread_team.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "runtime/tensor/control_group.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/subnormals.h"
#include "runtime/tensor/tasks.h"
#include "tests/unit/runtime/count_threads.h"

namespace nnefc::runtime::tensor {
namespace {

// Work that is worth a team of any size.
constexpr int64_t kWorth = kParallelGrain * kMaxThreads;

// Returns how often each of `count` calls was made.
std::vector<int> CallsOf(int64_t count, int threads) {
  std::vector<std::atomic<int>> calls(static_cast<size_t>(count));
  const ThreadScope scope(threads);
  ParallelFor(count, kWorth, [&](int64_t i) { ++calls[static_cast<size_t>(i)]; });
  return {calls.begin(), calls.end()};
}

// Returns the number of threads of a process after `work`, by its exit code. A child of fork begins with one,
// whatever its parent had. A joined thread may count for a moment.
template <typename Work>
void ExpectThreads(int threads, Work work) {
  EXPECT_EXIT(
      {
        const ThreadCounter counter;
        work();
        for (int wait = 0; counter.Count() > threads && wait < 1000; ++wait)
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
        std::_Exit(counter.Count());
      },
      testing::ExitedWithCode(threads), "");
}

TEST(ThreadTeamTest, EachCallIsMadeOnce) {
  for (int threads : {1, 2, 3, 7, kMaxThreads, 1000}) {
    for (int64_t count : {0, 1, 2, 3, 5, 63, 64, 1000}) {
      EXPECT_EQ(CallsOf(count, threads), std::vector<int>(static_cast<size_t>(count), 1))
          << count << " calls on " << threads << " threads";
    }
  }
}

#if defined(__x86_64__)
// Returns the sum of products of subnormal numbers by all members of a team.
float SumOfSubnormals() {
  std::vector<float> products(8);
  const ThreadScope scope(4);
  ParallelFor(8, kWorth, [&](int64_t i) {
    volatile float subnormal = 1e-39F, two = 2;
    products[static_cast<size_t>(i)] = subnormal * two;
  });
  return std::accumulate(products.begin(), products.end(), 0.0F);
}

// All threads work in the mode of the one that starts them, which ends with the scope.
TEST(ThreadTeamTest, SubnormalsAreZeroInAScope) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_GT(SumOfSubnormals(), 0);
    {
      const SubnormalsAsZero scope;
      EXPECT_EQ(SumOfSubnormals(), 0);
      {
        const SubnormalsAsZero inner;
        EXPECT_TRUE(SubnormalsAreZero());
      }
      EXPECT_TRUE(SubnormalsAreZero());
    }
    EXPECT_FALSE(SubnormalsAreZero());
  }
  EXPECT_GT(SumOfSubnormals(), 15e-39F);
}
#endif

// Returns the processors of the calling thread.
cpu_set_t AllowedProcessors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  EXPECT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  return allowed;
}

// Returns the allowed processors of the follower in a team of two, after it has restricted itself to
// `wanted`.
cpu_set_t ProcessorsOfFollower(const cpu_set_t* wanted = nullptr) {
  cpu_set_t found;
  RunOnTeam(2, [&](int member) {
    if (member == 1 && wanted != nullptr) {
      EXPECT_EQ(sched_setaffinity(0, sizeof *wanted, wanted), 0);
    }
    if (member == 1) found = AllowedProcessors();
    WaitForTeam();
  });
  return found;
}

// Runs in a separate process, whose team has no other followers. With several followers any processor is
// allowed at times.
TEST(ThreadTeamTest, FollowersAreKeptOffTheProcessorOfTheirLeader) {
  const cpu_set_t all = AllowedProcessors();
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "one processor";
  const auto is_kept_off = [] {
    const ThreadScope scope(2);
    for (int turn = 0; turn < 100; ++turn) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      const cpu_set_t found = ProcessorsOfFollower();
      if (!CPU_ISSET(sched_getcpu(), &found)) return true;
    }
    return false;
  };
  EXPECT_EXIT(std::_Exit(is_kept_off() ? 0 : 1), testing::ExitedWithCode(0), "");
}

// For example the leader's own processor, which the team never selects.
TEST(ThreadTeamTest, ProcessorsThatSomebodyElseChoseForAFollowerStayChosen) {
  const auto stay_chosen = [] {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(sched_getcpu(), &only);
    const ThreadScope scope(2);
    ProcessorsOfFollower();
    bool stay = sched_setaffinity(0, sizeof only, &only) == 0;
    ProcessorsOfFollower(&only);
    for (int turn = 0; turn < 5; ++turn) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      const cpu_set_t found = ProcessorsOfFollower();
      stay = stay && CPU_EQUAL(&found, &only);
    }
    return stay;
  };
  EXPECT_EXIT(std::_Exit(stay_chosen() ? 0 : 1), testing::ExitedWithCode(0), "");
}

TEST(ThreadTeamTest, EachMemberWorksOnceAndKnowsWhoItIs) {
  for (int members : {2, 3, 8, kMaxThreads}) {
    const ThreadScope scope(members);
    for (int turn = 0; turn < 200; ++turn) {
      std::vector<std::atomic<int>> calls(static_cast<size_t>(members));
      std::atomic<int> wrong = 0;
      RunOnTeam(members, [&](int member) {
        const ThreadPlace& place = PlaceOfThread();
        if (place.member != member || place.members != members || !place.in_team) ++wrong;
        ++calls[static_cast<size_t>(member)];
      });
      EXPECT_EQ(std::vector<int>(calls.begin(), calls.end()),
                std::vector<int>(static_cast<size_t>(members), 1));
      EXPECT_EQ(wrong, 0);
    }
    EXPECT_FALSE(PlaceOfThread().in_team);
    EXPECT_EQ(PlaceOfThread().members, 1);
  }
}

TEST(ThreadTeamTest, MembersMeetAtBarriers) {
  constexpr int kMembers = 5;
  const ThreadScope scope(kMembers);
  for (int turn = 0; turn < 100; ++turn) {
    std::atomic<int> before = 0;
    std::atomic<int> between = 0;
    std::atomic<int> early = 0;
    RunOnTeam(kMembers, [&](int) {
      ++before;
      WaitForTeam();
      if (before != kMembers) ++early;
      ++between;
      WaitForTeam();
      if (between != kMembers) ++early;
    });
    EXPECT_EQ(early, 0);
  }
}

// A late thread does not delay the others: the leader runs its part.
TEST(ThreadTeamTest, TheLeaderTakesWhatNobodyHasBegun) {
  const ThreadScope scope(2);
  std::atomic<int> others = 0;
  RunTasks(8, 2, [&](int64_t task, int) {
    if (task != 0) {
      ++others;
      return;
    }
    while (others < 7) std::this_thread::yield();  // the other thread runs all other parts
  });
  EXPECT_EQ(others, 7);
}

TEST(ThreadTeamTest, EachTaskRunsOnceWhateverTheNumberOfThreads) {
  const ThreadScope scope(2);
  for (const int64_t tasks : {0, 1, 2, 3, 7}) {
    for (const int members : {tasks == 0 ? 0 : 1, 1, 2}) {
      std::vector<std::atomic<int>> runs(static_cast<size_t>(tasks));
      RunTasks(tasks, members, [&](int64_t task, int) { ++runs[static_cast<size_t>(task)]; });
      for (const std::atomic<int>& count : runs)
        EXPECT_EQ(count, 1) << tasks << " tasks, " << members << " threads";
    }
  }
}

TEST(ThreadTeamTest, StepsFollowOneAnother) {
  constexpr int64_t kSteps = 300;
  for (int parts : {1, 2, 3, 5}) {
    const ThreadScope scope(parts);
    std::vector<std::atomic<int>> calls(static_cast<size_t>(kSteps));
    std::atomic<int> wrong = 0;
    RunInSteps(kSteps, parts, [&](int64_t step, int part) {
      if (part < 0 || part >= parts) ++wrong;
      if (step > 0 && calls[static_cast<size_t>(step) - 1] != parts) ++wrong;
      ++calls[static_cast<size_t>(step)];
    });
    EXPECT_EQ(std::vector<int>(calls.begin(), calls.end()), std::vector<int>(kSteps, parts));
    EXPECT_EQ(wrong, 0);
  }
}

// Other threads run the part of a late thread, which may rejoin at a later step.
TEST(ThreadTeamTest, StepsGoOnWithoutAThreadThatIsLate) {
  constexpr int64_t kSteps = 200;
  const ThreadScope scope(3);
  std::vector<std::atomic<int>> calls(static_cast<size_t>(kSteps));
  std::atomic<int> wrong = 0;
  RunInSteps(kSteps, 3, [&](int64_t step, int part) {
    if (step > 0 && calls[static_cast<size_t>(step) - 1] != 3) ++wrong;
    // Longer than the others spin: they sleep.
    if (step % 50 == 10 && part == step / 50 % 3) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ++calls[static_cast<size_t>(step)];
  });
  EXPECT_EQ(std::vector<int>(calls.begin(), calls.end()), std::vector<int>(kSteps, 3));
  EXPECT_EQ(wrong, 0);
}

// With more threads than processors, threads wait for a processor at any time.
TEST(ThreadTeamTest, StepsOnManyThreads) {
  constexpr int kParts = 16;
  const ThreadScope scope(kParts);
  for (int turn = 0; turn < 20; ++turn) {
    std::vector<std::vector<int>> calls(50, std::vector<int>(kParts));
    RunInSteps(50, kParts, [&](int64_t step, int part) {
      ++calls[static_cast<size_t>(step)][static_cast<size_t>(part)];
    });
    for (const std::vector<int>& step : calls) EXPECT_EQ(step, std::vector<int>(kParts, 1));
  }
}

TEST(ThreadTeamTest, StepsWithinATeamAreOfOneThread) {
  const ThreadScope scope(2);
  std::atomic<int> calls = 0;
  RunOnTeam(2, [&](int) {
    int64_t next = 0;  // not shared
    RunInSteps(5, 2, [&](int64_t step, int part) { calls += next++ == step * 2 + part ? 1 : 0; });
  });
  EXPECT_EQ(calls, 20);
  for (const int parts : {0, 1, 2}) RunInSteps(0, parts, [&](int64_t, int) { ++calls; });
  for (const int64_t steps : {1, 5}) RunInSteps(steps, 0, [&](int64_t, int) { ++calls; });
  EXPECT_EQ(calls, 20);
}

// A control group may bound the processors of a process.
TEST(ThreadTeamTest, AvailableProcessors) {
  const int processors = static_cast<int>(std::thread::hardware_concurrency());
  const int bound = ProcessorsOfControlGroup();
  EXPECT_EQ(AvailableThreads(), bound > 0 && bound < processors ? bound : processors);
}

// Without a team, there is nothing to wait for.
TEST(ThreadTeamTest, WaitOfOneThread) {
  int calls = 0;
  std::thread([&] {
    WaitForTeam();
    RunOnTeam(1, [&](int) {
      WaitForTeam();
      ++calls;
    });
    const ThreadScope scope(1);
    RunOnTeam(2, [&](int) {
      WaitForTeam();
      ++calls;
    });
  }).join();
  EXPECT_GE(calls, 2);
}

TEST(ThreadTeamTest, DividedWorkIsNotDividedAgain) {
  const ThreadScope scope(3);
  std::atomic<int> members = 0;
  std::atomic<int> inner = 0;
  RunOnTeam(3, [&](int) {
    RunOnTeam(4, [&](int) {
      members += PlaceOfThread().members;
      RunOnTeam(2, [&](int member) { inner += 1 + member; });
      WaitForTeam();
    });
  });
  EXPECT_EQ(members, 3);
  EXPECT_EQ(inner, 3);
}

TEST(ThreadTeamTest, AnExceptionReachesTheLeader) {
  const ThreadScope scope(2);
  for (int thrower : {0, 1}) {
    EXPECT_THROW(RunOnTeam(2,
                           [&](int member) {
                             if (member == thrower) throw std::runtime_error("no");
                           }),
                 std::runtime_error);
    EXPECT_FALSE(PlaceOfThread().in_team);
  }
  EXPECT_EQ(CallsOf(9, 2), std::vector<int>(9, 1));
}

TEST(ThreadTeamTest, ScopesNest) {
  EXPECT_EQ(CurrentThreads(), 1);
  {
    const ThreadScope outer(4);
    {
      const ThreadScope inner(1);
      EXPECT_EQ(CurrentThreads(), 1);
    }
    EXPECT_EQ(CurrentThreads(), 4);
  }
  EXPECT_EQ(CurrentThreads(), 1);
  EXPECT_FALSE(PlaceOfThread().in_scope());
}

TEST(ThreadTeamTest, ThereIsAThreadForEachProcessorAtMost) {
  // All processors, or as many as the control group allows.
  const int processors = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int bound = ProcessorsOfControlGroup();
  EXPECT_EQ(AvailableThreads(), std::min(bound == 0 ? processors : std::min(bound, processors), kMaxThreads));
}

TEST(ThreadTeamDeathTest, OneThreadStartsNoTeam) {
  ExpectThreads(1, [] { CallsOf(1000, 1); });
}

TEST(ThreadTeamDeathTest, SmallWorkStartsNoTeam) {
  ExpectThreads(1, [] {
    const ThreadScope scope(8);
    ParallelFor(kParallelGrain, 1, [](int64_t) {});
    ParallelFor(1, kWorth, [](int64_t) {});
  });
}

TEST(ThreadTeamDeathTest, WorkStartsAsManyThreadsAsItIsWorth) {
  ExpectThreads(3, [] { CallsOf(1000, 3); });
  ExpectThreads(2, [] {
    const ThreadScope scope(8);
    ParallelFor(kParallelGrain + 1, 1, [](int64_t) {});
  });
}

TEST(ThreadTeamDeathTest, ScopesAfterOneAnotherShareThreads) {
  ExpectThreads(3, [] {
    for (int i = 0; i < 10; ++i) CallsOf(1000, 3);
    std::thread([] { CallsOf(1000, 3); }).join();
    std::thread([] { CallsOf(1000, 2); }).join();
  });
}

TEST(ThreadTeamDeathTest, ScopesAtOneTimeHaveTeamsOfTheirOwn) {
  ExpectThreads(1 + 4 * 2, [] {
    std::atomic<int> ready = 0;
    std::vector<std::thread> leaders;
    leaders.reserve(4);
    for (int i = 0; i < 4; ++i) {
      leaders.emplace_back([&] {
        const ThreadScope scope(3);
        ++ready;
        while (ready < 4) std::this_thread::yield();
        for (int turn = 0; turn < 50; ++turn) RunOnTeam(3, [](int) { WaitForTeam(); });
        ++ready;
        while (ready < 8) std::this_thread::yield();
      });
    }
    for (std::thread& leader : leaders) leader.join();
  });
}

TEST(ThreadTeamDeathTest, AChildOfForkStartsItsOwn) {
  CallsOf(1000, 4);
  ExpectThreads(3, [] {
    const ThreadScope scope(3);
    RunOnTeam(3, [](int) { WaitForTeam(); });
  });
}

// The only member of a team waits for nobody, whether its thread has a team or not.
TEST(ThreadTeamTest, OneMemberDoesNotWait) {
  int runs = 0;
  const auto run = [&] {
    RunOnTeam(1, [&](int) {
      WaitForTeam();
      ++runs;
    });
  };
  std::thread([&] {
    run();
    const ThreadScope scope(2);
    run();
    RunOnTeam(2, [](int) { WaitForTeam(); });
    run();
  }).join();
  EXPECT_EQ(runs, 3);
}

}  // namespace
}  // namespace nnefc::runtime::tensor
