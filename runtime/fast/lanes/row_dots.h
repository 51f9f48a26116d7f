// Dot products of a row with unpacked matrix rows.
#pragma once

#include "runtime/fast/lanes/lanes.h"

namespace nnefc::runtime {

struct RowDots {
  const float* x;     // `inputs` elements
  const float* rows;  // consecutive rows
  int64_t inputs;
  int64_t first, last;  // index of the first row, and of the last valid one
  float* sums;          // kBlockColumns results; those past the last row repeat it
};
NNEFC_LANE_FUNCTION(MakeRowDots, void(const RowDots& dots));

}  // namespace nnefc::runtime
