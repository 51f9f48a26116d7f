// Sums of a convolution of few outputs: pixels of a row in registers, which each output multiplies by a
// number.
#pragma once

#include "runtime/fast/lanes/lanes.h"
#include "runtime/fast/lanes/limits.h"

namespace nnefc::runtime {

// A tile is of 1 to so many outputs.
inline constexpr int64_t kMostPlanes = 4;

struct PlaneTile {
  const float* in;  // what the first pixel sees of the first channel by the first tap
  int64_t channels, in_channel;
  int64_t rows, columns;  // taps
  int64_t in_row, in_column;
  const float* weights;  // of each output for a tap, taps of a channel, channels behind one another
  float* out;            // what the sums begin with, and become
  int64_t out_plane;     // from one output to the next
  int64_t pixels;        // a multiple of kBlockColumns
  Limits limits = {};
};
NNEFC_LANE_FUNCTION(RunPlaneTile, void(int64_t outputs, const PlaneTile& tile));

}  // namespace nnefc::runtime
