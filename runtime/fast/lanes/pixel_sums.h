// Sums over the pixels of nChw16c images.
#pragma once

#include "runtime/fast/lanes/lanes.h"

namespace nnefc::runtime {

struct PixelDistances {
  const float* x;     // pixels of a channel block
  const float* from;  // one per channel
  int64_t pixels;
};

// Compute kBlockColumns sums of the distances, and of their squares.
NNEFC_LANE_FUNCTION(SumDistances, void(const PixelDistances& pixels, float* sums));
NNEFC_LANE_FUNCTION(SumSquaredDistances, void(const PixelDistances& pixels, float* sums));

}  // namespace nnefc::runtime
