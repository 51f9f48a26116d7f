// Sums of a convolution of groups of channels that stay in registers.
#pragma once

#include "runtime/fast/lanes/product_tile.h"

namespace nnefc::runtime {

// A tile has 1 to so many pixels of a row, of as many output channels as a register has lanes. Windows are
// kGroupedColumns pixels wide: what a pixel of the image has is added to the sums of all pixels that see it
// while a register holds it.
inline constexpr int64_t kGroupedPixels = 12, kGroupedColumns = 3;

struct GroupedCall {
  const float* in;  // where the first tap of the first pixel sees the first of the blocks of channels
  int64_t in_block, in_row;
  // Of the pixels that the tile sees, those that lie in the image: a bit each.
  uint32_t inside;
  // Channels that each output adds, and the first of them: whole registers of outputs of one group. Of
  // narrower groups, `first` is that of the outputs.
  int64_t first, terms;
  int64_t rows;          // of taps
  const float* weights;  // [rows][terms][columns][lanes], from the first row on
  // What the sums begin with: a number for each channel, elements that lie as `out` does, both or nothing.
  const float* bias = nullptr;
  const float* start = nullptr;
  float* out;
  Limits limits = {};
};

// Groups of fewer channels than a register has lanes, as many outputs as inputs: so many fill it.
enum class GroupWidth : uint8_t { kRegisters, kFour, kEight };

// Pixels see the input `stride` pixels apart, 1 or 2.
NNEFC_LANE_FUNCTION(RunGroupedTile,
                    void(GroupWidth width, int64_t pixels, int64_t stride, const GroupedCall& call));

}  // namespace nnefc::runtime
