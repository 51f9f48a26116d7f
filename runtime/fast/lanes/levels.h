#pragma once

#include "runtime/fast/lanes/lanes.h"

namespace nnefc::runtime {

// Numbers rounded to `steps` + 1 levels from `first` to `last`, of those from `low` to `high`: as
// FakeQuantize has it, halves to the even level. NaN stays.
struct Levels {
  float low, high, first, last;
  float steps;
};
// `out` may be `x`.
NNEFC_LANE_FUNCTION(RoundToLevels, void(const Levels& levels, const float* x, int64_t count, float* out));

}  // namespace nnefc::runtime
