#pragma once

#include <cstdint>

namespace nnefc::runtime {

// Work below this many elements is not worth waking other threads.
inline constexpr int64_t kParallelGrain = 32768;

// Calls body(i) for 0 <= i < count on the threads of the OpenMP pool, which is
// oneDNN's too. `cost` estimates the elements that one call touches. Calls
// must be independent: nothing is reduced across threads, so results do not
// depend on their number.
template <typename Body>
void ParallelFor(int64_t count, int64_t cost, Body&& body) {
  const bool worthwhile = count > 1 && count > kParallelGrain / (cost > 0 ? cost : 1);
#pragma omp parallel for schedule(static) if (worthwhile)
  for (int64_t i = 0; i < count; ++i) body(i);
}

}  // namespace nnefc::runtime
