#pragma once

#include <cstddef>
#include <cstdint>

namespace nnefc::runtime::engine {

// Bounds on the time and memory of a run, because loops may be infinite and a small file may declare huge
// values.
struct RunLimits {
  int64_t iterations = 10'000'000;  // over all loops of one run
  // Memory of all values of a run (MemoryBudget); 0 means all memory of the machine.
  size_t bytes = 0;
};

}  // namespace nnefc::runtime::engine
