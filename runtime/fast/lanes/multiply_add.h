#pragma once

#include "runtime/fast/lanes/lanes.h"

namespace nnefc::runtime {

// Products and sums that stay in registers: operations of `rounds` rounds. They begin with what lies in
// `out`, of kWideLanes floats, and what they come to goes there, lest they be left out.
NNEFC_LANE_FUNCTION(MultiplyAndAdd, double(int64_t rounds, float* out));

}  // namespace nnefc::runtime
