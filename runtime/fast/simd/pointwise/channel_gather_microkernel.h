// Gathers channels from blocks of several images into a block of another.
#pragma once

#include "runtime/fast/simd/dispatch.h"

namespace nnefc::runtime::fast::simd {

// The selection from one source block: element lanes[i] if bit i of `taken` is set.
struct ChannelSelection {
  int32_t lanes[kBlockColumns] = {};
  uint16_t taken = 0;
};

// Maximum source blocks per loop over pixels; their index vectors stay in registers.
inline constexpr int64_t kMaxGatheredBlocks = 6;

struct ChannelGatherTile {
  int64_t count;  // number of blocks
  const ChannelSelection* picked[kMaxGatheredBlocks];
  const float* from[kMaxGatheredBlocks];
  int64_t pixels;
  bool adds;  // adds to `out`; otherwise starts with zeros
  float* out;
};
NNEFC_SIMD_FUNCTION(GatherChannels, void(const ChannelGatherTile& pixels));

}  // namespace nnefc::runtime::fast::simd
