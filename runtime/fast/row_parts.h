#pragma once

#include <cstdint>

namespace nnefc::runtime {

// Into how many parts rows of a product with a constant are cut for threads. A thread reads rows that it has
// made in the step before, then: they lie in its core's cache, while those of other threads are far away. All
// of them read the same weights, which is worth it for so many rows. As many parts as threads, or fewer that
// each are some threads'.
inline int64_t RowPartsFor(int64_t rows, int threads) {
  constexpr int64_t kWorthAllWeights = 64;
  int64_t parts = threads;
  while (parts > 1 && (threads % parts != 0 || rows < kWorthAllWeights * parts)) --parts;
  return parts;
}

}  // namespace nnefc::runtime
