// What a processor reaches at most, beside which a profile sets its steps.

#include <algorithm>
#include <chrono>
#include <vector>

#include "runtime/fast/register.h"
#include "runtime/fast/vector_math.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime {

namespace {

// As many sums as hide how long one takes.
constexpr int kSums = 10;

// Operations of `rounds` rounds; the sums go to `out`, lest they be left out.
double MultiplyAndAdd(int64_t rounds, float* out) {
  LaneSums sums[kSums] = {};
  Vectorized([&] {
    LaneSums kept[kSums];
    for (int i = 0; i < kSums; ++i) kept[i] = sums[i];
    const float step = 0x1p-20F;
    for (int64_t round = 0; round < rounds; ++round) {
      for (int i = 0; i < kSums; ++i) kept[i] = kept[i] * step + 1.0F;
    }
    for (int i = 0; i < kSums; ++i) sums[i] = kept[i];
  });
  LaneSums all = sums[0];
  for (int i = 1; i < kSums; ++i) all += sums[i];
  for (int64_t lane = 0; lane < kSumLanes; ++lane) out[lane] = all[lane];
  return 2.0 * kSums * kSumLanes * static_cast<double>(rounds);
}

}  // namespace

double MeasurePeak(int threads) {
  constexpr int64_t kRounds = 200'000;  // some milliseconds
  constexpr int kTries = 8;
  const ThreadScope scope(threads);
  std::vector<float> kept(static_cast<size_t>(CurrentThreads() * kSumLanes));
  double most = 0;
  for (int i = 0; i < kTries; ++i) {
    std::vector<double> made(static_cast<size_t>(CurrentThreads()));
    const auto start = std::chrono::steady_clock::now();
    ParallelFor(CurrentThreads(), kParallelGrain, [&](int64_t thread) {
      made[static_cast<size_t>(thread)] =
          MultiplyAndAdd(kRounds, &kept[static_cast<size_t>(thread * kSumLanes)]);
    });
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    double operations = 0;
    for (double each : made) operations += each;
    most = std::max(most, operations / seconds.count());
  }
  return most;
}

}  // namespace nnefc::runtime
