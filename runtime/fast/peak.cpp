// Peak floating-point throughput of the processor, a reference for profiles.

#include <algorithm>
#include <chrono>
#include <vector>

#include "runtime/fast/register.h"
#include "runtime/fast/simd/fma_throughput.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime::fast {

double MeasurePeak(int threads) {
  constexpr int64_t kRounds = 200'000;  // a few milliseconds
  constexpr int kTries = 8;
  if (!simd::HasSimd()) return 0;
  const tensor::ThreadScope scope(threads);
  std::vector<float> kept(static_cast<size_t>(tensor::CurrentThreads() * simd::kMaxSimdWidth));
  double most = 0;
  for (int i = 0; i < kTries; ++i) {
    std::vector<double> made(static_cast<size_t>(tensor::CurrentThreads()));
    const auto start = std::chrono::steady_clock::now();
    tensor::ParallelFor(tensor::CurrentThreads(), tensor::kParallelGrain, [&](int64_t thread) {
      made[static_cast<size_t>(thread)] =
          simd::MeasureFmaThroughput(kRounds, &kept[static_cast<size_t>(thread * simd::kMaxSimdWidth)]);
    });
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    double operations = 0;
    for (double each : made) operations += each;
    most = std::max(most, operations / seconds.count());
  }
  return most;
}

}  // namespace nnefc::runtime::fast
