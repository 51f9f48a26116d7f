// Gathers channels from blocks of several images into a block of another.
#pragma once

#include "runtime/fast/lanes/lanes.h"

namespace nnefc::runtime {

// The selection from one source block: element lanes[i] if bit i of `taken` is set.
struct PickedLanes {
  int32_t lanes[kBlockColumns] = {};
  uint16_t taken = 0;
};

// Maximum source blocks per loop over pixels; their index vectors stay in registers.
inline constexpr int64_t kMostPickedBlocks = 6;

struct PickedPixels {
  int64_t count;  // number of blocks
  const PickedLanes* picked[kMostPickedBlocks];
  const float* from[kMostPickedBlocks];
  int64_t pixels;
  bool adds;  // adds to `out`; otherwise starts with zeros
  float* out;
};
NNEFC_LANE_FUNCTION(PickPixels, void(const PickedPixels& pixels));

}  // namespace nnefc::runtime
