// Sums over the pixels of images with their channels in blocks.
#pragma once

#include "runtime/fast/lanes/lanes.h"

namespace nnefc::runtime {

struct PixelDistances {
  const float* x;     // of a block of channels
  const float* from;  // a number for each of them
  int64_t pixels;
};

// The sums of the distances, and of their squares: kBlockColumns each.
NNEFC_LANE_FUNCTION(SumDistances, void(const PixelDistances& pixels, float* sums));
NNEFC_LANE_FUNCTION(SumSquaredDistances, void(const PixelDistances& pixels, float* sums));

}  // namespace nnefc::runtime
