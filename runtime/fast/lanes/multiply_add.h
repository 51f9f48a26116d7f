#pragma once

#include "runtime/fast/lanes/lanes.h"

namespace nnefc::runtime {

// FMA throughput benchmark: returns the operations of `rounds` rounds in registers. Starts with the
// kWideLanes floats of `out` and stores the result there, so that the loop is not optimised away.
NNEFC_LANE_FUNCTION(MultiplyAndAdd, double(int64_t rounds, float* out));

}  // namespace nnefc::runtime
