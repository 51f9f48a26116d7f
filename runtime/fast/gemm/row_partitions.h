#pragma once

#include <cstdint>

namespace nnefc::runtime::fast::gemm {

// Returns the number of which the row partitions of a matmul with a constant matrix should be a multiple: the
// largest divisor of `threads` with at least 64 rows per partition, or 1. Each thread then computes the same
// rows in consecutive steps of a plan and reads its own results from its cache. The minimum is needed because
// each partition reads all weights.
inline int64_t RowPartitionsFor(int64_t rows, int threads) {
  constexpr int64_t kWorthAllWeights = 64;
  int64_t parts = threads;
  while (parts > 1 && (threads % parts != 0 || rows < kWorthAllWeights * parts)) --parts;
  return parts;
}

}  // namespace nnefc::runtime::fast::gemm
