#pragma once

#include <cstdint>

namespace nnefc::runtime::fast::gemm {

// Returns the number of row partitions of a matmul with a constant. Threads then read rows they computed in
// the previous step from their own cache; rows of other threads are remote. All partitions read the same
// weights, so a partition needs a minimum number of rows. Returns the thread count, or a divisor of it.
inline int64_t RowPartitionsFor(int64_t rows, int threads) {
  constexpr int64_t kWorthAllWeights = 64;
  int64_t parts = threads;
  while (parts > 1 && (threads % parts != 0 || rows < kWorthAllWeights * parts)) --parts;
  return parts;
}

}  // namespace nnefc::runtime::fast::gemm
