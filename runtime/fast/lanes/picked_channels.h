// Channels picked from blocks of several images into those of another.
#pragma once

#include "runtime/fast/lanes/lanes.h"

namespace nnefc::runtime {

// What a block takes from one of an image: lanes[i] of it, where bit i of `taken` is set.
struct PickedLanes {
  int32_t lanes[kBlockColumns] = {};
  uint16_t taken = 0;
};

// A loop over pixels takes from so many blocks: their lanes stay in registers.
inline constexpr int64_t kMostPickedBlocks = 6;

struct PickedPixels {
  int64_t count;  // of blocks
  const PickedLanes* picked[kMostPickedBlocks];
  const float* from[kMostPickedBlocks];
  int64_t pixels;
  bool adds;  // to what `out` holds; from nothing otherwise
  float* out;
};
NNEFC_LANE_FUNCTION(PickPixels, void(const PickedPixels& pixels));

}  // namespace nnefc::runtime
