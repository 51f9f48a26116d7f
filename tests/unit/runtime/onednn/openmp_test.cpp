#include "runtime/onednn/library/openmp.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runtime/onednn/onednn.h"
#include "runtime/tensor/thread_team.h"
#include "tests/unit/runtime/count_threads.h"

// NOLINTBEGIN(readability-identifier-naming): the names are those of GCC's OpenMP.
extern "C" {
void GOMP_parallel(void (*work)(void*), void* data, unsigned members, unsigned flags);
int omp_get_max_threads();
int omp_get_num_threads();
int omp_get_thread_num();
int omp_in_parallel();
}
// NOLINTEND(readability-identifier-naming)

namespace nnefc::runtime::onednn {
namespace {

constexpr int64_t kSize = 256;

// Multiplies matrices of ones, 256 x 256, with oneDNN's own division of work, which has barriers.
bool MultipliesRight() {
  const std::vector<float> ones(kSize * kSize, 1.0f);
  std::vector<float> product(kSize * kSize);
  const library::OneDnnLibrary* library = LoadOneDnn();
  if (library == nullptr) return false;
  const std::string error = library->MultiplyAdd({.rows = kSize,
                                                  .columns = kSize,
                                                  .terms = kSize,
                                                  .left = ones.data(),
                                                  .right = ones.data(),
                                                  .right_stride = kSize,
                                                  .out = product.data()});
  return error.empty() && product == std::vector<float>(kSize * kSize, static_cast<float>(kSize));
}

int ThreadsAfterProduct(int threads) {
  const ThreadCounter counter;
  const tensor::ThreadScope scope(threads);
  return MultipliesRight() ? counter.Count() : 0;
}

TEST(OneDnnOpenMpDeathTest, OneDnnWorksOnTheTeamOfTheScope) {
  for (int threads : {1, 2, 5})
    EXPECT_EXIT(std::_Exit(ThreadsAfterProduct(threads)), testing::ExitedWithCode(threads), "");
}

// Outside of scopes it works on the threads of the runtime, of which there may be another number.
TEST(OneDnnOpenMpDeathTest, OneDnnWorksOnTheRuntimeOutsideOfScopes) {
  const auto threads_after = [](int threads) {
    const auto set_threads = reinterpret_cast<void (*)(int)>(::dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
    const ThreadCounter counter;
    if (set_threads == nullptr) return 0;
    set_threads(threads);
    return MultipliesRight() ? counter.Count() : 0;
  };
  for (const int threads : {2, 5})
    EXPECT_EXIT(std::_Exit(threads_after(threads)), testing::ExitedWithCode(threads), "");
}

// Other users of oneDNN in the process keep GCC's OpenMP.
TEST(OneDnnOpenMpTest, OutsideOfScopesNothingChanges) {
  EXPECT_TRUE(MultipliesRight());
}

// A product within a scope does not change the number of threads of the runtime outside of scopes.
TEST(OneDnnOpenMpTest, ThreadsOutsideOfScopes) {
  const auto set_threads = reinterpret_cast<void (*)(int)>(::dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  ASSERT_NE(set_threads, nullptr);
  const int before = omp_get_max_threads();
  for (const int threads : {1, 3, 4}) {
    set_threads(threads);
    {
      const tensor::ThreadScope scope(2);
      EXPECT_TRUE(MultipliesRight());
    }
    EXPECT_EQ(omp_get_max_threads(), threads);
    EXPECT_EQ(omp_get_num_threads(), 1);
    EXPECT_EQ(omp_get_thread_num(), 0);
    EXPECT_EQ(omp_in_parallel(), 0);
  }
  set_threads(before);
}

// The same in a process that has loaded GCC's runtime for all its libraries.
TEST(OneDnnOpenMpTest, ThreadsOfTheRuntimeOfTheProcess) {
  for (const char* name : {"LD_PRELOAD", "ASAN_OPTIONS", "TSAN_OPTIONS"}) {
    if (std::getenv(name) != nullptr) GTEST_SKIP() << "another library is loaded first";
  }
  const std::string command =
      "LD_PRELOAD=libgomp.so.1 /proc/" + std::to_string(::getpid()) +
      "/exe --gtest_filter=OneDnnOpenMpTest.ThreadsOutsideOfScopes:OneDnnOpenMpDeathTest.* >/dev/null 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

// A parallel region has as many members as requested, at most those of the scope; 0 requests all.
TEST(OneDnnOpenMpTest, MembersOfParallelRegions) {
  struct Seen {
    std::mutex mutex;
    std::multiset<int> members;
    std::set<int> counts, insides;
  };
  ASSERT_TRUE(MultipliesRight());  // loads the library
  for (const int threads : {1, 3}) {
    const tensor::ThreadScope scope(threads);
    EXPECT_EQ(omp_get_max_threads(), threads);
    for (const int requested : {0, 1, 2, 3, 5}) {
      Seen seen;
      const auto work = [](void* data) {
        Seen& all = *static_cast<Seen*>(data);
        const std::lock_guard lock(all.mutex);
        all.members.insert(omp_get_thread_num());
        all.counts.insert(omp_get_num_threads());
        all.insides.insert(omp_in_parallel());
      };
      GOMP_parallel(work, &seen, static_cast<unsigned>(requested), 0);
      const int count = requested == 0 ? threads : std::min(requested, threads);
      std::multiset<int> expected;
      for (int i = 0; i < count; ++i) expected.insert(i);
      EXPECT_EQ(seen.members, expected) << requested << " of " << threads;
      EXPECT_EQ(seen.counts, std::set<int>{count}) << requested << " of " << threads;
      EXPECT_EQ(seen.insides.size(), 1) << requested << " of " << threads;
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::onednn
