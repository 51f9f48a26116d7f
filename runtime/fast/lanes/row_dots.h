// Products of a row with rows of a matrix as they lie.
#pragma once

#include "runtime/fast/lanes/lanes.h"

namespace nnefc::runtime {

struct RowDots {
  const float* x;     // of `inputs` numbers
  const float* rows;  // one behind the other
  int64_t inputs;
  int64_t first, last;  // the first row, and the last one there is
  float* sums;          // of kBlockColumns rows; those behind the last one are the last one's
};
NNEFC_LANE_FUNCTION(MakeRowDots, void(const RowDots& dots));

}  // namespace nnefc::runtime
