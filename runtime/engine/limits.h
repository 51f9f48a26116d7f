#pragma once

#include <cstddef>
#include <cstdint>

namespace nnefc::runtime {

// What keeps a run from taking all time and memory: loops may go on forever,
// and a small file may ask for large values.
struct RunLimits {
  int64_t iterations = 10'000'000;  // of all loops of one run
  // Of all values of a run (MemoryBudget); 0: as many as the machine has.
  size_t bytes = 0;
};

}  // namespace nnefc::runtime
